"""The words of `zealous start`, in sections that fit a terminal."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from zealous.logs.column_names import Role
from zealous.owner.advice import TextTable
from zealous.owner.draft import Draft, KindOutlook, Outlook, Remedy, Rung, least_users
from zealous.owner.start import FoundLog, Offer, with_values
from zealous.planning.part_text import few_items
from zealous.planning.plan import other_guarantee
from zealous.privacy.accounting.at_best import fewest_users
from zealous.privacy.guarantee import Unit, format_number, person_in_words
from zealous.privacy.levels import SUSPICION, is_weak, percent, strength
from zealous.privacy.promise import promise

TAKEN_FOR: Mapping[Role, str] = {
    "user": "the person",
    "query": "the query",
    "time": "the time",
    "url": "the clicked address",
    "session": "the session",
    "basket": "what belongs together, such as an order",
    "item": "an item to publish",
    "amount": "an amount",
    "personal": "about the person: not offered as an item",
    "attribute": "",
    "keywords": "lists: each value is a keyword, in lower case",
    "list": "lists: say --keywords to publish their values",
    "object": "an object: not usable",
}
_PROTECTED: Mapping[Unit, str] = {
    "user": "All that one person did is protected as a whole.",
    "user-day": "What one person did on one day (UTC) is protected as a whole; over n days epsilon "
    "is n times as large.",
    "session": "One session of one person is protected as a whole; over n sessions epsilon is n "
    "times as large.",
}
_EXPECT: Mapping[Outlook, str] = {
    "nothing": "Nothing can appear: an item needs more {units} than there are.",
    "next to nothing": "Expect next to nothing: hardly an item is shared by that many.",
    "only the most frequent": "Expect the most frequent items and no others.",
    "a table": "Expect a table of frequent items.",
}
_DECIDE = "This is for you to decide: --privacy strict, moderate or permissive, or --epsilon."
_MOST_OFFERS = 8
_MOST_COLUMNS = 30  # of a wider table those alone are listed that were taken for something


class Page:
    """Text that fits a width: sections with a heading, wrapped and indented."""

    def __init__(self, width: int) -> None:
        self.width = max(40, width)

    def section(self, heading: str, *blocks: str) -> str:
        """A heading, and under it paragraphs and tables; lines of a table stay as they are."""
        lines = [heading]
        for text in filter(None, blocks):
            lines += [self._block(text)]
            lines += [""] if "\n" in text else []
        return "\n".join(lines).rstrip("\n") + "\n"

    def _block(self, text: str) -> str:
        indent = "  "
        if "\n" in text:
            return textwrap.indent(text.strip("\n"), indent)
        return textwrap.fill(
            text,
            self.width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )


def align_columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows of texts as lines; numbers stand to the right, the first line may name the columns."""
    if not rows:
        return ""
    columns = []
    for texts in zip(*rows, strict=True):
        width = max(map(len, texts))
        right = all(text[:1].isdigit() and " " not in text for text in texts[1:])
        columns.append([text.rjust(width) if right else text.ljust(width) for text in texts])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True)) + "\n"


def columns_section(page: Page, found: FoundLog, *, asks: bool = False) -> str:
    """The columns and what each was taken for; where it asks, options need not be named."""
    rows = []
    for guess in found.guesses:
        taken = TAKEN_FOR[guess.role]
        near = f" (near: {guess.near})" if guess.near and taken else ""
        shape = (
            "" if found.format.has_header else f", looks like: {found.format.shape(guess.column)}"
        )
        rows.append((guess.column, f"{taken}{near}{shape}".removeprefix(", ")))
    rows = rows if len(rows) <= _MOST_COLUMNS else [row for row in rows if row[1]]
    names = [_fit_width(name, page.width // 2) for name, _ in rows]
    widest = max(map(len, names), default=0)
    room = max(page.width - widest - 4, 12)
    lines = []
    for name, (_, taken) in zip(names, rows, strict=True):
        first, *others = textwrap.wrap(taken, room) or [""]
        lines.append(f"{name:<{widest}}  {first}".rstrip())
        lines += [f"{'':<{widest}}  {other}" for other in others]
    if more := len(found.guesses) - len(rows):
        lines.append(f"and {more} other columns")
    named = (
        ""
        if found.format.has_header
        else "The first line is taken for data. Which column is the person is guessed by its "
        "place: check that above all."
        if asks
        else "The first line is taken for data. Which column is the person is guessed by its "
        "place: check that above all, or say --user COLUMN. Other names are said with --columns, "
        "in order; if the first line does name the columns, say --header."
    )
    heading = f"{found.first.name}: {found.format.describe()}"
    return page.section(heading, "\n".join([*lines, ""]), named, _times_text(found))


def _times_text(found: FoundLog) -> str:
    """Which of several columns with times was taken, and how to choose another."""
    taken = found.column("time")
    others = [
        each.column
        for each in found.guesses
        if each.role not in ("time", "user") and found.format.shape(each.column) == "time"
    ]
    if not others:
        return ""
    return (
        f"{taken} is taken for the time. Dates or times are also in "
        f"{', '.join(others)}: to use another column, say --time {shlex.quote(others[0])}."
        if taken
        else f"No column is taken for the time. Dates or times are in {', '.join(others)}: to use "
        f"one, say --time {shlex.quote(others[0])}."
    )


def unit_section(page: Page, found: FoundLog, unit: Unit) -> str:
    """Whose data is protected as a whole."""
    others = [each for each in found.units() if each != unit]
    said = [
        f"{person_in_words(found.column('user'))} To use another column: --user COLUMN.",
        _PROTECTED[unit],
    ]
    if others:
        said.append(f"Other units: --unit {' or '.join(others)}.")
    if not found.is_dated():
        said.append(
            "To protect days instead, name a column with the time: --time COLUMN."
            if found.column("time") is None
            else "The times have no date, so days cannot be told apart."
        )
    return page.section("Whose data is protected", " ".join(said))


def items_section(page: Page, draft: Draft, offered: Sequence[Offer], told: bool) -> str:
    """What is published, and what else of what is offered could be.

    Args:
        page: Where it is to fit.
        draft: What is published.
        offered: All that could be.
        told: Whether somebody or the name of a column tells that this is wanted.
    """
    chosen = ", ".join(
        f"{name} (at most {most} a {draft.goal.unit})" for name, most in draft.items.items()
    )
    others = [each for each in offered if each.items not in draft.items]
    lines = [shlex.join(with_values(each.options())) for each in others[:_MOST_OFFERS]]
    if len(others) > _MOST_OFFERS:
        lines.append("--items columns:NAME for any other column")
    return page.section(
        "What is published",
        f"{chosen}.",
        "" if told else "No name tells what is wanted: this is the first column that may be it.",
        "These columns also allow:" if lines else "",
        "\n".join([*(f"  {line}" for line in lines), ""]),
        "Several kinds share the budget, so fewer items of each appear: --items A,B."
        if lines
        else "",
    )


def ladder_section(page: Page, draft: Draft, decided: bool) -> str:
    """Choices of epsilon, with the odds in words."""
    return page.section(
        "How much privacy",
        *ladder_blocks(draft.ladder(), draft.goal.units()),
        "Of several kinds of items, that is the one that needs most."
        if len(draft.items) > 1
        else "",
        "" if decided else f"{_DECIDE} What follows is an example: moderate.",
    )


def ladder_only(page: Page, rungs: Sequence[Rung], units: str) -> str:
    """Choices of epsilon, none of which is made."""
    return page.section("How much privacy", *ladder_blocks(rungs, units), _DECIDE)


def ladder_blocks(rungs: Sequence[Rung], units: str) -> tuple[str, str]:
    """What the table of choices shows, and the table."""
    grid = TextTable(
        title="",
        names=["epsilon", "", "becomes at most", f"{units} an item needs"],
        rows=[
            (
                format_number(each.epsilon),
                each.level or ("weak" if is_weak(each.epsilon) else ""),
                percent(each.suspicion),
                each.users_to_appear,
            )
            for each in rungs
        ],
    )
    before = percent(SUSPICION)
    said = (
        f"Suppose somebody is {before} sure that a person did one thing rather than another. What "
        f"that can become after seeing the release, and how many {units} an item needs to appear:"
    )
    return said, str(grid)


def outlook_section(page: Page, draft: Draft, stated_users: bool) -> str:
    """What will probably appear, and what would change that, from public figures."""
    units, users = draft.goal.units(), draft.goal.users or 0
    kinds = draft.by_kind()
    expected = _one_kind(kinds[0], draft, stated_users) if len(kinds) == 1 else ""
    said = f"An item appears if it is among the counted items of about this many {units}:"
    bound = (
        f"The bound is {users:,} {units}. State yours by --users: a number known without counting "
        "the log, and rather too large than too small."
    )
    remedies = [] if stated_users and draft.outlook() == "a table" else draft.remedies()
    return page.section(
        "What will appear",
        expected or said,
        "" if expected else _kinds_table(kinds, units, stated_users),
        _few_items(draft),
        "" if stated_users else bound,
        *_remedy_blocks(page, draft, remedies),
    )


def _one_kind(kind: KindOutlook, draft: Draft, stated_users: bool) -> str:
    """What to expect where one kind alone is published."""
    needed, most, units = kind.users_to_appear, kind.items_per_user, draft.goal.units()
    users = draft.goal.users or 0
    among = f"the {most} counted items" if most > 1 else "the one counted item"
    about = f"An item appears if it is among {among} of each of about {needed:,} {units}"
    if not stated_users:
        least = least_users(needed)
        return f"{about}. With fewer than about {least:,} {units} expect next to nothing."
    share = f", one in {users // needed:,} of {users:,}" if 2 * needed <= users else ""
    return f"{about}{share}. {_EXPECT[kind.outlook].format(units=units)}"


def _kinds_table(kinds: Sequence[KindOutlook], units: str, stated_users: bool) -> str:
    """The same for each of several kinds."""
    last = "expect" if stated_users else f"next to nothing below, {units}"
    rows = [
        (
            each.kind,
            str(each.items_per_user),
            f"{each.users_to_appear:,}",
            each.outlook if stated_users else f"{least_users(each.users_to_appear):,}",
        )
        for each in kinds
    ]
    return align_columns([("kind", "items that count", units, last), *rows])


def _few_items(draft: Draft) -> str:
    """How many items such a log yields at best, where these are few."""
    deciding = draft.deciding_items_per_user()
    few = "" if deciding is None else few_items(draft.goal, deciding)
    return f"{few}, whatever the mechanism." if few else ""


def _limit(draft: Draft) -> list[str]:
    """What no mechanism can exceed, at this epsilon and delta."""
    least = fewest_users(draft.goal)
    if least is None:
        return []
    return [
        f"At this epsilon and delta no mechanism publishes an item of fewer than {least:,} "
        f"{draft.goal.units()} in half of all cases."
    ]


def _remedy_blocks(page: Page, draft: Draft, remedies: Sequence[Remedy]) -> list[str]:
    """What lowers the number of units that an item needs, and at what price."""
    if not remedies:
        return []
    item = "an item of the kind that needs most" if len(draft.by_kind()) > 1 else "an item"
    lines = [
        textwrap.fill(
            f"{each.users_to_appear:>5,} with {each.words}: {shlex.join(each.options)}",
            page.width - 2,
            subsequent_indent=" " * 6,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for each in remedies
    ]
    return [
        f"Instead of {draft.users_to_appear:,} {draft.goal.units()}, {item} would need:",
        "\n".join([*lines, ""]),
        *filter(None, (each.caveat for each in remedies)),
        *_limit(draft),
        "With a public list of all items there is no threshold: zealous publish --domain FILE.",
    ]


def promise_section(page: Page, draft: Draft) -> str:
    """The guarantee in words, and the other one that it gives too."""
    other = other_guarantee(draft.planned)
    return page.section(
        "The promise",
        promise(draft.goal),
        f"The same parameters also give {other.title}. {promise(other)}" if other else "",
        strength(draft.goal.epsilon) if is_weak(draft.goal.epsilon) else "",
    )


def look_section(
    page: Page, users: int, drafts: Sequence[Draft], expected: Sequence[Mapping[str, float]]
) -> str:
    """Internal: what this very log would give."""
    names = list(expected[0])
    grid = TextTable(
        title="",
        names=["epsilon", *names],
        rows=[
            (format_number(draft.goal.epsilon), *(round(each[name], 1) for name in names))
            for draft, each in zip(drafts, expected, strict=True)
        ],
    )
    return page.section(
        "INTERNAL: true figures of this log, not for publication",
        f"It holds {users:,} {drafts[0].goal.units()}. Items that would appear, on average:",
        str(grid),
        "Whoever chooses by these figures lets the plan depend on the log, which no guarantee "
        "covers: the plan and the release say `parameters_from: this-log`.",
    )


def command_section(
    page: Page, line: str, *, decided: bool, stated: bool, plan: Path | None, approved: bool
) -> str:
    """The one command to copy; `approved` where the ledger takes none but approved plans."""
    heading = "The command" if decided else "The command, for the example"
    if plan:
        note = f"The plan is in {plan}: once it is approved, the command carries out exactly that."
        note += f" Who approves it runs: zealous approve {plan}" if approved else ""
    elif approved:
        note = (
            "The ledger of the log takes approved plans alone, and refuses this command as it is: "
            "add -o plan.json to start, and have the plan signed by `zealous approve`."
        )
    else:
        note = (
            "It charges the ledger of the log before noise is drawn, and writes a new directory. "
            "To have the plan approved first, add -o plan.json to start."
        )
    unstated = (
        "If you did not look at the log to choose these numbers, add --parameters-from "
        f"public-facts to {'start' if plan else 'it'}: otherwise the release states that "
        "you did not say how you chose them."
    )
    return f"{page.section(heading, note, '' if stated else unstated)}\n{line}\n"


def _fit_width(name: str, width: int) -> str:
    """A name as a terminal can show it."""
    text = "".join(each if each.isprintable() else "�" for each in name)
    return text if len(text) <= width else f"{text[: width - 3]}..."
