"""Options that several commands share, and the values they become."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import click

from zealous.engines.duckdb import DuckDB
from zealous.engines.engine import ENGINES, Engine
from zealous.errors import UsageError
from zealous.files.limits import Limits
from zealous.files.places import Place, place_of
from zealous.items import KINDS, Keywords, Kind, Queries, QueryClicks, Unnamed, asked_for, tail
from zealous.logs.log import FORMATS, Cleaning, Columns, Log, read_log
from zealous.mechanisms.choose import MECHANISMS
from zealous.planning.plan import PARAMETERS_FROM, Plan, plan
from zealous.privacy.guarantee import (
    DEFINITIONS,
    SESSION_GAP,
    Guarantee,
    Indistinguishability,
    Number,
    exact,
)
from zealous.privacy.levels import LEVELS
from zealous.privacy.period import Period
from zealous.release.charging import Account


class _Place(click.ParamType[Place]):
    """A directory, here or in an object store."""

    name = "place"

    def convert(self, value: Any, *_: object) -> Place:
        return place_of(value)


class _Number(click.ParamType[int]):
    """A whole number as people write it: 500000, 500,000, 500_000, 500k, 2m."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, _: object) -> int:
        if isinstance(value, int):
            return value
        digits = str(value).strip().lower().replace(",", "").replace("_", "")
        times = {"k": 10**3, "m": 10**6}.get(digits[-1:], 1)
        try:
            number = exact(digits[:-1] if times > 1 else digits, "number") * times
        except UsageError:
            number = Fraction(1, 2)
        if number.denominator != 1:
            self.fail(f"{value!r} is not a valid integer.", param)
        return int(number)


PLACE = _Place()
NUMBER = _Number()
F = TypeVar("F", bound=Callable[..., Any])
Given = dict[str, Any]

_SEARCHES = (
    click.option("--format", "preset", metavar="F",
                 help=f"{', '.join(FORMATS)}; from the file's ending if left out."),
    click.option("--user", metavar="COLUMN", help="The column with the user's id."),
    click.option("--query", metavar="COLUMN", help="The column with the query."),
    click.option("--time", metavar="COLUMN", help="The column with the time."),
)  # fmt: skip
_BESIDE = (
    click.option("--url", metavar="COLUMN", help="The column with the clicked URL, or a list."),
    click.option("--session", metavar="COLUMN", help="The column with the session's id."),
    click.option("--keywords", metavar="COLUMN", help="A column with lists of keywords."),
)  # fmt: skip
_READING = (
    click.option("--columns", "names", metavar="A,B,..",
                 help="The columns in order, for files without a header."),
    click.option("--delimiter", help="Between fields, where it is not the format's."),
    click.option("--encoding", help="Where it is not UTF-8: latin-1, gb18030, shift_jis, ..."),
    click.option("--time-format", metavar="F",
                 help="epoch, epoch-ms or a pattern such as %d/%m/%Y %H:%M."),
    click.option("--exclude-users", type=click.Path(path_type=Path), metavar="FILE",
                 help="Ids to leave out, one a line: deletion requests, minors, staff."),
    click.option("--max-entries-per-user", type=int, metavar="N",
                 help="Leave out users with more entries than this (robots)."),
    click.option("--limits", metavar="NAME=N,..",
                 help="How much one person can bring: text=4096 (bytes) and entries=10000."),
)  # fmt: skip

LOG = (
    click.argument("paths", nargs=-1, required=True, metavar="LOG..."),
    *_SEARCHES, *_BESIDE, *_READING,
)  # fmt: skip
READING = (*_SEARCHES, *_BESIDE, *_READING)  # of a log that is named by an option
SEARCHES = (  # users, times and queries alone, of a log that need not be given
    click.argument("paths", nargs=-1, metavar="[LOG...]"),
    *_SEARCHES, *_READING,
)  # fmt: skip

PRIVACY = click.option(
    "--privacy",
    type=click.Choice(list(LEVELS)),
    help="An epsilon of 1, 2 or 4 by its name, instead of --epsilon.",
)
GOAL = (
    PRIVACY,
    click.option("--epsilon", metavar="E", help="How far anybody's odds may move: exp(E). Total."),
    click.option("--delta", metavar="D", help="What epsilon does not cover. Total."),
    click.option("--users", type=NUMBER, metavar="U",
                 help="A public upper bound on the number of users (or of other units)."),
    click.option("--guarantee", type=click.Choice(list(DEFINITIONS)),
                 default="probabilistic", show_default=True),
    click.option("--neighbors", type=click.Choice(["replace", "add-remove"]), default="replace",
                 show_default=True, help="Which two logs must be hard to tell apart."),
    click.option("--unit", type=click.Choice(["user", "user-day", "session"]), default="user",
                 show_default=True, help="Whose data is protected as a whole."),
    click.option("--items-per-user", metavar="M",
                 help="The most items of a user that count: 5, or keywords=20,queries=5."),
    click.option("--split", metavar="KIND=W,..", help="Weights of the kinds in the budget."),
    click.option("--accept-delta", is_flag=True,
                 help="Confirm a per-person delta above 1/(10 x users)."),
)  # fmt: skip

ITEMS = (
    click.option("--by", metavar="COLUMN", help="A public attribute to make part of the item."),
    click.option("--fold-words", is_flag=True, help="A query is a set of words: order is ignored."),
    click.option("--rates", is_flag=True,
                 help="Count clicks for those queries alone that count for their user: clicked "
                      "over asked is then a rate, and is published too."),
    click.option("--max-size", type=int, metavar="S",
                 help="The most things in a set or sequence. [default: 3]"),
    click.option("--basket", metavar="COLUMN",
                 help="What tells which things are together, such as an invoice. [default: all "
                      "that a user has]"),
    click.option("--session-gap", type=int, default=SESSION_GAP, show_default=True, metavar="MIN",
                 help="Minutes without a query that end a session."),
)  # fmt: skip
TAIL = (
    click.option("--tail", metavar="E",
                 help="Tell of queries that are not published what can be told, for this much "
                      "epsilon more; with queries,keywords."),
)  # fmt: skip

CHOICE = (
    click.option("--select", type=click.Choice(["random", "first", "frequent"]), default="random",
                 show_default=True, help="Which of a user's items count."),
    click.option("--parameters-from", type=click.Choice(PARAMETERS_FROM), default="unstated",
                 show_default=True, help="How the parameters were chosen."),
)  # fmt: skip

MECHANISM = (
    click.option("--mechanism", metavar="NAME",
                 help=f"{', '.join(MECHANISMS)}, or auto; or queries=NAME,keywords=NAME. "
                      "[default: zealous, or what a public file is for]"),
)  # fmt: skip
FILES = (
    click.option("--domain", multiple=True, metavar="FILE",
                 help="A public list of the items: all of them are published, and no others. "
                      "KIND=FILE where there are several kinds."),
    click.option("--prior", multiple=True, metavar="FILE",
                 help="A public list with frequencies, or an earlier release: it steers which of "
                      "their items people give. KIND=FILE where there are several kinds."),
    click.option("--results", multiple=True, metavar="FILE",
                 help="A public list of query, url and perhaps rank: clicks on these documents of "
                      "published queries are published, for queries,query-clicks."),
)  # fmt: skip

PLAN = (*GOAL, *ITEMS, *TAIL, *CHOICE, *MECHANISM)  # all that a plan says

ACCOUNT = (
    click.option("--period", metavar="P",
                 help="The days to publish: 2026-03, 2026-Q1, 2026-03-05..2026-03-20."),
    click.option("--all-in-period", is_flag=True,
                 help="Declare that a log without times is of that period."),
    click.option("--again", is_flag=True, help="Publish a period again, and pay again."),
    click.option("--people", metavar="NAME",
                 help="Claim, on record, that no other NAME of the ledger holds these people."),
    click.option("--ledger", type=click.Path(path_type=Path), metavar="FILE",
                 help="The ledger to charge. [default: the one of the log]"),
    click.option("--no-ledger", is_flag=True, help="Charge none: the release says so."),
    click.option("--id", "release_id", metavar="ID",
                 help="A run repeated with the id of a finished release returns that release."),
    click.option("--signed-by", metavar="WHO", help="Who publishes. [default: the login]"),
)  # fmt: skip

ENGINE = (
    click.option("--memory", metavar="SIZE", help="The most memory to use: 4GB. [default: half]"),
    click.option("--threads", type=click.IntRange(min=1), metavar="N", help="[default: all cores]"),
    click.option("--temporary", type=click.Path(path_type=Path), metavar="DIR",
                 help="Where to make the private working directory, which holds a copy of the log "
                      "and what does not fit in memory. [default: TMPDIR, or /tmp]"),
)  # fmt: skip


class _EngineName(click.Choice[str]):
    """One of the engines, also of those that other packages add."""

    def convert(self, value: Any, *context: Any) -> str:
        return str(value) if value in ENGINES else super().convert(value, *context)


ANY_ENGINE = (
    *ENGINE,
    click.option("--engine", type=_EngineName(list(ENGINES)), default=DuckDB.name,
                 show_default=True,
                 help=" ".join(filter(None, (each.summary for each in ENGINES.values())))),
    *(click.option(f"--{each.name}", metavar=each.metavar, help=each.help, multiple=each.repeated)
      for engine in ENGINES.values() for each in engine.options),
)  # fmt: skip

DOCUMENTS = click.option("--documents", type=click.Path(path_type=Path), metavar="FILE",
                         help="Columns keyword and documents: in how many documents each keyword "
                              "is. [default: a synthetic corpus]")  # fmt: skip
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def options(*groups: Iterable[Callable[[F], F]]) -> Callable[[F], F]:
    """Give a command several groups of options, listed in this order."""

    def decorate(command: F) -> F:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return decorate


def names_of(*groups: Iterable[Callable[[Any], Any]]) -> list[str]:
    """What the values of such options are called."""

    @click.command()
    @options(*groups)
    def command(**_: Any) -> None:
        """Nothing is done."""

    return [option.name or "" for option in command.params]


def log_from(given: Given) -> Log:
    """The log that LOG options describe."""
    roles = ("user", "query", "time", "url", "session", "keywords")
    delimiter = given["delimiter"]
    return read_log(
        given["paths"],
        given["preset"],
        columns=Columns(**{role: given.get(role) for role in roles}),
        names=[name.strip() for name in given["names"].split(",")] if given["names"] else (),
        delimiter={"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter),
        encoding=given["encoding"],
        time_format=given["time_format"],
        cleaning=Cleaning(
            exclude_users=given["exclude_users"],
            max_entries_per_user=given["max_entries_per_user"],
            limits=_limits(given["limits"]),
        ),
        engine=engine_from(given) if "engine" in given else None,
    )


def epsilon_from(given: Given) -> Fraction | None:
    """The total epsilon, by its number or by its name; None where neither is said."""
    privacy, epsilon = given["privacy"], given["epsilon"]
    if privacy and epsilon:
        raise UsageError("--privacy and --epsilon say the same: leave one of them out")
    if privacy:
        return LEVELS[privacy]
    return None if epsilon is None else exact(epsilon, "epsilon")


def goal_from(given: Given) -> Guarantee:
    """The guarantee that GOAL options ask for."""
    epsilon, delta = epsilon_from(given), given["delta"]
    if delta is None and given.get("domain"):
        delta = "0"  # a part that needs one says so
    if epsilon is None or delta is None:
        name = "--epsilon" if epsilon is None else "--delta"
        raise UsageError(f"{name} is missing: there is no default for how much to protect")
    if given["items_per_user"] is None:
        raise UsageError("--items-per-user is missing: how many items of one user may count?")
    definition = DEFINITIONS[given["guarantee"]]
    if definition.needs_users and given["users"] is None and not exact(delta, "delta"):
        definition = Indistinguishability  # with delta = 0 both say the same, for any number
    return definition(
        epsilon=epsilon,
        delta=delta,
        users=given["users"],
        neighbors=given["neighbors"],
        unit=given["unit"],
    )


def period_from(given: Given) -> Period | None:
    """The days to publish, as ACCOUNT options say."""
    if given["period"] is None:
        return None
    return Period.parse(given["period"], all_in_period=given["all_in_period"])


def account_from(given: Given) -> Account | None:
    """Who pays, as ACCOUNT options say; None where nobody does."""
    declared = {
        "ledger": given["ledger"],
        "people": given["people"],
        "again": given["again"],
        "by": given["signed_by"],
        "id": given["release_id"],
    }
    if not given["no_ledger"]:
        return Account(**declared)
    if any(declared.values()):
        raise UsageError(
            "--no-ledger goes with none of --ledger, --people, --again, --signed-by and --id"
        )
    return None


def engine_from(given: Given) -> Engine:
    """The engine that ANY_ENGINE options ask for, or the embedded one by ENGINE options."""
    chosen = ENGINES[given.get("engine", DuckDB.name)]
    for other in ENGINES.values():
        names = [each.name for each in other.options]
        if other is not chosen and any(given.get(name.replace("-", "_")) for name in names):
            options = " and ".join(f"--{name}" for name in names)
            raise UsageError(f"{options} go with --engine {other.name}")
    return chosen.from_options(given)


def embedded_from(given: Given) -> DuckDB:
    """The embedded engine as ENGINE options ask for it."""
    return DuckDB.from_options(given)


def kinds_from(items: str, given: Given) -> list[Kind]:
    """The kinds of items that --items, --items-per-user and ITEMS options ask for."""
    names = [name.strip() for name in items.split(",") if name.strip()]
    if given["rates"] and QueryClicks.label not in names:
        raise UsageError("--rates needs queries and query-clicks among the --items")
    settings = {
        "by": given["by"],
        "fold": given["fold_words"],
        "session_gap": given["session_gap"],
        "follow": given["rates"],
        "basket": given["basket"],
        "max_size": given["max_size"],
    }
    if given["max_size"] is not None and given["max_size"] < 1:
        raise UsageError("--max-size must be a whole number of at least 1")
    most = items_per_user_from(given["items_per_user"], names)
    kinds: list[Kind] = []
    for name in names:
        found = asked_for(name, most[name], **settings)
        brought, known = _before(found), {kind.name() for kind in kinds}
        kinds += [kind for kind in found if kind.name() not in brought & known]
    _check_used(kinds, given)
    return kinds


def _before(kinds: Sequence[Kind]) -> set[str]:
    """All but the last: what two kinds need before them is published once."""
    return {kind.name() for kind in kinds[:-1]}


def _check_used(kinds: Sequence[Kind], given: Given) -> None:
    """Refuse options that serve other kinds alone than those that are asked for."""
    for option in sorted({option for each in KINDS.values() for option in each.options}):
        serves = [each for each in KINDS.values() if option in each.options]
        if given[option] is not None and not any(option in kind.options for kind in kinds):
            usage = " or ".join(
                each.usage.format(label=each.label).partition("[")[0] for each in serves
            )
            raise UsageError(f"--{option.replace('_', '-')} goes with --items {usage}")


def _with_tail(
    kinds: list[Kind], given: Given, goal: Guarantee, roles: Collection[str] | None
) -> tuple[list[Kind], Guarantee, dict[str, Fraction]]:
    """The kinds with those of the tail, at an epsilon of their own; and all their shares."""
    extra = exact(given["tail"], "--tail")
    if extra <= 0:
        raise UsageError("--tail must be above 0: it is the epsilon that it costs")
    most = {kind.name(): kind.items_per_user for kind in kinds}
    if not {Queries.label, Keywords.label} <= set(most):
        raise UsageError("--tail needs queries and keywords among the --items")
    if given["by"] or given["fold_words"]:
        raise UsageError("--tail goes with neither --by nor --fold-words")
    about = tail(most[Keywords.label])
    if roles is not None and "time" not in roles:
        about = [kind for kind in about if "time" not in kind.needs]
    own: Mapping[str, Number] = split_from(given) or {k.name(): k.share() for k in kinds}
    if set(own) != set(most):
        raise UsageError("--split must name the --items, each once: --tail has its own epsilon")
    shares: dict[str, Fraction] = {}
    for epsilon, weights in (
        (goal.epsilon, {name: exact(weight, "split") for name, weight in own.items()}),
        (extra, {kind.name(): kind.share() for kind in about}),
    ):
        total = sum(weights.values(), Fraction(0))
        if total <= 0:
            raise UsageError("the weights of --split must be above 0")
        shares |= {name: epsilon * weight / total for name, weight in weights.items()}
    whole_goal = goal.of(type(goal), epsilon=goal.epsilon + extra, delta=goal.delta)
    return [*kinds, *about], whole_goal, shares


def plan_from(items: str | None, given: Given, roles: Collection[str] | None = None) -> Plan:
    """The plan that PLAN and FILES options ask for; where it is known, for such a log."""
    goal = goal_from(given)
    split: Mapping[str, Number] | None = split_from(given)
    if items:
        kinds = kinds_from(items, given)
    else:
        most = whole_number(given["items_per_user"], "--items-per-user")
        kinds = [Unnamed(items_per_user=most)]
    if given["tail"] is not None:
        kinds, goal, split = _with_tail(kinds, given, goal, roles)
    return plan(
        goal,
        kinds,
        split=split,
        accept_delta=given["accept_delta"],
        mechanism=_mechanism(given["mechanism"]),
        select=given["select"],
        parameters_from=given["parameters_from"],
        **files_from(given, kinds),
    )


def files_from(given: Given, kinds: Sequence[Kind]) -> dict[str, Any]:
    """The public files of FILES options, by what they are for and by name of kind."""
    names = [kind.name() for kind in kinds]
    found = {use: _by_kind(given[use], names, f"--{use}") for use in ("domain", "prior")}
    return {**found, "results": _by_kind(given["results"], [QueryClicks.label], "--results")}


def _by_kind(texts: Sequence[str], names: Sequence[str], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        kinds = [name for name in names if text.startswith(f"{name}=")]
        name = kinds[0] if kinds else names[0]
        if name in found or (not kinds and len(names) > 1):
            raise UsageError(f"{option} must say which kind a file is for, once each: KIND=FILE")
        found[name] = text.removeprefix(f"{name}=")
    return found


def _mechanism(text: str | None) -> str | dict[str, str] | None:
    if text is None or "=" not in text:
        return text
    return _pairs(text, "--mechanism")


def split_from(given: Given) -> dict[str, str] | None:
    """The weights of --split."""
    return _pairs(given["split"], "--split") if given["split"] else None


def _limits(text: str | None) -> Limits:
    pairs = _pairs(text, "--limits") if text else {}
    return Limits.of({name: whole_number(n, f"--limits {name}") for name, n in pairs.items()})


def whole_number(text: str | None, name: str) -> int:
    """Read a whole number."""
    try:
        return int(text or "")
    except ValueError:
        raise UsageError(f"{name} must be a whole number of at least 1") from None


def items_per_user_from(text: str, names: list[str]) -> dict[str, int]:
    """The most items of a user, by name of kind."""
    if "=" not in text:
        return dict.fromkeys(names, whole_number(text, "--items-per-user"))
    pairs = _pairs(text, "--items-per-user")
    if set(pairs) != set(names):
        raise UsageError("--items-per-user must name each of the --items once: queries=5,clicks=3")
    return {name: whole_number(number, "--items-per-user") for name, number in pairs.items()}


def _pairs(text: str, option: str) -> dict[str, str]:
    parts = [part.strip().rpartition("=") for part in text.split(",")]
    if any(not name or not value for name, _, value in parts):
        raise UsageError(f"{option} must look like keywords=20,queries=5")
    return {name: value for name, _, value in parts}
