"""From a file to the one command that publishes it: what `zealous start` finds and proposes.

Of the log it reads the first lines, for the format and the names of its columns. No number of a
plan comes from the log; `expected_items` does count, for the owner alone, and a plan that was made
after it says so.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zealous.counting.histogram import histogram
from zealous.errors import LogError, UsageError, did_you_mean
from zealous.files.places import Place
from zealous.items import KINDS, Kind, kind_by_name, possible_kinds
from zealous.libraries import pc
from zealous.logs.column_names import (
    ROLES,
    Guess,
    Role,
    column_of,
    guess_roles,
    is_known,
    is_label,
)
from zealous.logs.log import FORMATS, Log, log_files
from zealous.logs.open_log import open_log
from zealous.logs.smaller_units import check_unit
from zealous.logs.source import count_users
from zealous.owner.draft import Draft
from zealous.owner.file_format import FileFormat, StatedFormat, find_format
from zealous.planning.part import Part
from zealous.privacy.units import PRIVACY_UNITS, Unit, is_weak_unit

USERS = 10_000_000  # where nobody says a bound: generous, which is cheap
UNITS: tuple[Unit, ...] = tuple(unit for unit in PRIVACY_UNITS if not is_weak_unit(unit))
_DROPPED: tuple[Role, ...] = ("keywords", "url", "time", "session", "query")  # if not needed
_NUMBERED = re.compile(r"(.*?)[ _.-]?\d+")
_KEY = 0
_COLUMN = "columns:"
_LISTED: Role = "keywords"


@dataclass(frozen=True, kw_only=True)
class FoundLog:
    """What was understood of a log by its first lines.

    Attributes:
        paths: The log as its owner named it.
        first: Its first file.
        format: How it is laid out.
        guesses: What each column was taken for.
        named: The roles whose column its owner named.
    """

    paths: tuple[str, ...]
    first: Place
    format: FileFormat
    guesses: tuple[Guess, ...]
    named: frozenset[str] = frozenset()

    def column(self, role: Role) -> str | None:
        """The column that has a role."""
        return column_of(self.guesses, role)

    def roles(self) -> dict[str, str]:
        """The columns of those roles that the command line knows."""
        columns = {role: self.column(role) for role in (*ROLES, _LISTED)}
        return {role: column for role, column in columns.items() if column is not None}

    def figures(self) -> dict[str, Any]:
        """All of it, for programs."""
        return {
            "file": self.first.name,
            "format": self.format.format,
            "has_header": self.format.has_header,
            "columns": [
                {"name": each.column, "taken_for": each.role, "near": each.near}
                for each in self.guesses
            ],
            "user": self.column("user"),
        }

    def is_dated(self) -> bool:
        """Whether a column tells the time with its date, as far as one can see."""
        time = self.column("time")
        return time is not None and self.format.shape(time) != "time of day"

    def units(self) -> list[Unit]:
        """The units of privacy that these columns can tell."""
        found = []
        for unit in UNITS:
            with suppress(UsageError):
                self.check_unit(unit)
                found.append(unit)
        return found

    def check_unit(self, unit: Unit) -> None:
        """Refuse a unit that these columns cannot tell."""
        roles = self.roles()
        check_unit(unit, roles)
        if not self.is_dated() and "time" in roles:
            try:
                check_unit(unit, roles.keys() - {"time"})
            except UsageError:
                raise UsageError(
                    f"--unit {unit} needs times with a date, and the times of {self.first.name} "
                    "have none: add the date to each line, or protect each user as a whole"
                ) from None


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Items that a header allows.

    Attributes:
        items: As --items takes them.
        basket: The column that tells what is together, for sets.
    """

    items: str
    basket: str | None = None

    def options(self) -> list[str]:
        """The options of the command line that ask for them."""
        basket = ["--basket", self.basket] if self.basket else []
        return ["--items", self.items, *basket]


def look_at_log(
    paths: Sequence[str], stated: StatedFormat, said: Mapping[Role, str | None] | None = None
) -> FoundLog:
    """Find out how a log is laid out and what its columns are.

    Args:
        paths: Files, folders or patterns.
        stated: What its owner says of the format.
        said: The columns that the owner names for some roles.

    Raises:
        LogError: There is no log, or no table in it.
        UsageError: A column that its owner names is not there.
    """
    first = log_files(paths, stated.format)[0]
    found = find_format(first, stated)
    if not all(map(str.isprintable, found.columns)):
        raise LogError(f"the name of a column of {first.name} cannot be printed: rename it")
    preset = FORMATS.get(found.format)
    usable = [column for column in found.columns if column not in found.nested]
    guessed = {each.column: each for each in guess_roles(usable)}
    guesses = {
        column: guessed.get(column, Guess(column=column, role="object")) for column in found.columns
    }
    for column in found.lists:
        if guesses[column].role != "url":
            guesses[column] = Guess(column=column, role="list")
    if preset is not None and preset.layout is not None and preset.layout.names:
        for role, column in preset.columns.assigned().items():
            _give_role(guesses, role, column)  # type: ignore[arg-type]
    if found.person is not None:
        guesses[found.person] = Guess(column=found.person, role="user")
    named = {role: column for role, column in (said or {}).items() if column is not None}
    for wanted, column in named.items():
        _check_column(column, found)
        _give_role(guesses, wanted, column)
    listed = column_of(tuple(guesses.values()), "list")
    if listed and not {"query", _LISTED} & {each.role for each in guesses.values()}:
        guesses[listed] = Guess(column=listed, role=_LISTED)
    return FoundLog(
        paths=tuple(paths),
        first=first,
        format=found,
        guesses=tuple(guesses.values()),
        named=frozenset(named),
    )


def _give_role(guesses: dict[str, Guess], role: Role, column: str) -> None:
    """Give a role to one column, and take it from any other; another id of people is no item."""
    without: Role = "personal" if role == "user" else "attribute"
    for other in [each for each in guesses.values() if each.role == role]:
        guesses[other.column] = Guess(column=other.column, role=without)
    guesses[column] = Guess(column=column, role=role)


def _check_column(column: str, layout: FileFormat) -> None:
    name, _, key = column.partition(".")
    if column in layout.nested or (name in layout.nested and column not in layout.columns):
        raise UsageError(f"the column {name!r} holds objects: {unnest_hint(name, key or 'KEY')}")
    if column in layout.columns:
        return
    if layout.certain_names:
        there, quotable = f"it has {', '.join(layout.columns)}", list(layout.columns)
    else:
        there = "`zealous start` lists its columns, with --header if the first line names them"
        quotable = [each for each in layout.columns if is_known(each)]
    raise UsageError(f"the log has no column {column!r}: {there}{did_you_mean(column, quotable)}")


def unnest_hint(column: str, key: str = "KEY") -> str:
    """How what is in objects becomes a column."""
    return (
        "make a column of what is in them, such as with "
        f"jq -c '.NAME = .{column}.{key}' LOG > NEW.jsonl"
    )


def column_with_word(found: FoundLog, word: str) -> str:
    """The end of a message about --items that name no kind: the column that was probably meant."""
    columns = [each for each in found.format.columns if _can_be_item(each)]
    if not found.format.certain_names:  # no message quotes what may be data
        columns = [each for each in columns if is_known(each)]
    near = [each for each in columns if word.lower() in each.lower()]
    near = near or difflib.get_close_matches(word, columns, n=1, cutoff=0.7)
    return f". Did you mean --items {shlex.quote(f'columns:{near[0]}')}?" if near else ""


def check_kinds(found: FoundLog, kinds: Sequence[Kind]) -> None:
    """Refuse items that these columns do not give."""
    for kind in kinds:
        kind.check(found.roles())
        for column in kind.extra_columns():
            _check_column(column, found.format)
            if column in found.format.lists:
                raise UsageError(
                    f"the column {column!r} holds lists: to publish their values, name it by "
                    "--keywords and say --items keywords"
                )


def default_offer(found: FoundLog) -> Offer | None:
    """What is most likely wanted; None where no name tells it and several columns may be it."""
    first = next(iter(offers(found)), None)
    if first is None or not first.items.startswith(_COLUMN) or found.column("item"):
        return first
    likely = [
        each.column
        for each in found.guesses
        if each.role == "attribute"
        and _can_be_item(each.column)
        and not is_label(each.column)
        and found.format.shape(each.column) in (None, "text")
    ]
    return Offer(items=f"{_COLUMN}{likely[0]}") if len(likely) == 1 else None


def first_offer(found: FoundLog) -> Offer | None:
    """What may be wanted where no name tells it: the first column that is no id, number or time."""
    columns = [each.column for each in found.guesses if each.role == "attribute"]
    likely = [each for each in columns if _can_be_item(each) and not is_label(each)]
    texts = [each for each in likely if found.format.shape(each) in (None, "text")]
    return Offer(items=f"{_COLUMN}{(texts or likely)[0]}") if likely else None


def offers(found: FoundLog) -> list[Offer]:
    """The items that a header allows, what is most likely wanted first."""
    plain = [each.label for each in KINDS.values() if each.usage == Kind.usage]
    searches = possible_kinds([kind_by_name(name, 1) for name in plain], found.roles())
    return [*(Offer(items=kind.name()) for kind in searches), *_column_offers(found)]


def _column_offers(found: FoundLog) -> Iterator[Offer]:
    """Single columns, likely ones first; then sets of what is in them."""
    things = [each.column for each in found.guesses if each.role == "item"]
    others = [each.column for each in found.guesses if each.role == "attribute"]
    # Ids and numbers of rows are hardly wanted: texts first, and these last.
    others.sort(key=lambda name: (is_label(name), found.format.shape(name) not in (None, "text")))
    for column in [*things, *others]:
        if _can_be_item(column):
            yield Offer(items=f"{_COLUMN}{column}")
    basket = found.column("basket")
    groups: dict[str, list[str]] = {}
    for column in filter(_can_be_item, things):
        numbered = _NUMBERED.fullmatch(column)
        groups.setdefault(numbered[1] if numbered else column, []).append(column)
    for columns in groups.values():
        yield Offer(items=f"itemsets:{'/'.join(columns)}", basket=basket)


def _can_be_item(column: str) -> bool:
    """Whether the command line can name such a column."""
    try:
        kind: Kind = kind_by_name(f"columns:{column}", 1)
    except UsageError:
        return False
    return kind.columns() == (column,) and not set(column) & set(",/=") and column.strip() == column


def reading_options(found: FoundLog, draft: Draft, time_format: str | None) -> list[str]:
    """The options that say how to read the log: columns that a draft needs or the owner named."""
    said = found.format.options(found.first)
    roles = _needed_roles(found, draft)
    preset = FORMATS[found.format.format].columns.assigned()
    for role, column in roles.items():
        if preset.get(role) != column:
            said += [f"--{role}", column]
    time = roles.get("time", preset.get("time"))
    form = time_format or found.format.time_formats.get(time or "")
    return [*said, "--time-format", form] if form and time in found.format.columns else said


def _needed_roles(found: FoundLog, draft: Draft) -> dict[str, str]:
    """The roles that the draft needs, and those whose column the owner named: for a period, say."""
    kept = found.roles()
    listed = any(_LISTED in kind.may_use for kind in draft.kinds())
    for role in _DROPPED[1:] if listed else _DROPPED:
        if role in found.named:
            continue
        without = {name: column for name, column in kept.items() if name != role}
        with suppress(UsageError):
            check_unit(draft.goal.unit, without)
            for kind in draft.kinds():
                kind.check(without)
            kept = without
    return kept


def new_output_name(found: FoundLog, folder: Path) -> str:
    """The name of a directory that does not exist yet, after the log's."""
    first = default_output(found.first.name)
    names = (first, *(f"{first}-{number}" for number in range(2, 1000)))
    return next(name for name in names if not (folder / name).exists())


def default_output(log: str) -> str:
    """The directory of a release, after the name of its log; nothing of a URL that may be secret.

    >>> default_output("logs/shop.csv.gz"), default_output("logs/*.txt")
    ('shop-release', 'log-release')
    >>> default_output("postgresql://ann:secret@host/shop?password=secret")
    'shop-release'
    """
    if "://" in log:
        log = log.partition("://")[2].partition("?")[0].rpartition("@")[2]
    stem = re.sub(r"[^\w-]", "", Path(log).name.partition(".")[0]).lstrip("-")
    return f"{stem or 'log'}-release"


def with_values(options: Sequence[str]) -> list[str]:
    """Options that each have a value, as arguments: no value can be taken for an option.

    >>> with_values(["--user", "-x", "--query", "q"])
    ['--user=-x', '--query', 'q']
    """
    found: list[str] = []
    for option, value in zip(options[::2], options[1::2], strict=True):
        found += [f"{option}={value}"] if value.startswith("-") else [option, value]
    return found


def command_line(arguments: Sequence[str], width: int = 78) -> str:
    """A command to copy, on lines of such a width; an option stays with its value.

    Guarantee:
        A shell takes it for these arguments and runs nothing else, whatever names are among them.
    """
    groups: list[str] = []
    before = ""
    for argument in arguments:
        of_option = before.startswith("-") and "=" not in before and not argument.startswith("-")
        if of_option:
            groups[-1] += " " + shlex.quote(argument)
        else:
            groups.append(shlex.quote(argument))
        before = argument
    lines = [groups[0]]
    for group in groups[1:]:
        if len(lines[-1]) + len(group) + 3 <= width:
            lines[-1] += " " + group
        else:
            lines.append("    " + group)
    return " \\\n".join(lines)


def expected_items(log: Log, drafts: Sequence[Draft]) -> tuple[int, list[dict[str, float]]]:
    """Internal: the true number of users, and how many items each draft would publish of a log.

    Guarantee:
        None: these are true figures. Whoever chooses by them must say that the parameters are from
        this log. Of kinds that are made of others nothing is said.

    Args:
        log: The log that is to be published.
        drafts: The same items at different guarantees.
    """
    users, counts = count_items(log, drafts[0])
    expected = []
    for draft in drafts:
        parts = {part.name(): part for part in draft.planned.parts}
        expected.append({name: expected_number(parts[name], held) for name, held in counts.items()})
    return users, expected


def count_items(log: Log, draft: Draft) -> tuple[int, dict[str, Counter[int]]]:
    """Internal: the true number of users, and by kind how many items so many of them have.

    Guarantee:
        None, unless the log is an invented one: these are true figures.
    """
    kinds = [kind for kind in draft.kinds() if not kind.builds_on()]
    with log.engine_for(None) as running:
        extra = [name for kind in kinds for name in kind.extra_columns()]
        source = open_log(log, running, extra, unit=draft.goal.unit)
        users = count_users(source)
        counts: dict[str, Counter[int]] = {}
        for kind in kinds:
            counts[kind.name()] = Counter()
            rows = histogram(
                kind, source, bound=kind.items_per_user, at_least=1, select="random", key=_KEY
            )
            for batch in rows:
                for each in pc.value_counts(batch["count"]):
                    counts[kind.name()][each["values"].as_py()] += each["counts"].as_py()
    return users, counts


def expected_number(part: Part, counts: Mapping[int, int]) -> float:
    """How many items would be published on average.

    Args:
        part: What is published, and how.
        counts: How many items so many users have.
    """
    chance = part.mechanism.publication_probability
    return sum(chance(count) * items for count, items in counts.items())
