"""What was understood of a log, for its owner's eyes: internal figures that quote no query."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate
from typing import Any

from zealous.engines.engine import Engine
from zealous.engines.sql import Step, comma_separated, identifier, literal
from zealous.items import KINDS, Kind, possible_kinds
from zealous.logs.column_names import column_of, guess_roles
from zealous.logs.id_doubts import id_doubts
from zealous.logs.log import Log
from zealous.logs.open_log import open_log
from zealous.logs.source import Source, unreadable_lines
from zealous.owner.file_format import columns_of_lines
from zealous.owner.value_shapes import MISSING

_ANY = 1  # how many items a user would keep plays no role here
_LOST_SHARE = 0.05


@dataclass(frozen=True, kw_only=True)
class ItemsPerUser:
    """How many items of one kind users have: occurrences and distinct ones."""

    kind: str
    occurrences: float
    distinct: float
    median: float
    most: int
    items: int


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Internal: true figures of the log. Not for publication."""

    names: tuple[str, ...] | None
    columns: dict[str, str]
    overall: dict[str, Any]
    kinds: list[ItemsPerUser]
    skipped: dict[str, int]
    warnings: list[str] = field(default_factory=list)


def inspect(log: Log, kinds: Sequence[Kind] = (), engine: Engine | None = None) -> Inspection:
    """Read a log and say what was understood, and what would spoil a release of it.

    What is made of published items, such as sets, has no items before they are: of these kinds
    nothing is said, and what they are made of is among the others.
    """
    for kind in kinds:
        kind.check(log.columns.assigned())
    names = columns_of_lines(log)
    with log.engine_for(engine) as running:
        source = open_log(log, running, [name for kind in kinds for name in kind.extra_columns()])
        overall = _overall_figures(source)
        kinds = [kind for kind in kinds or _possible_kinds(source) if not kind.builds_on()]
        return Inspection(
            names=names,
            columns={
                role: column
                for role, column in log.columns.assigned().items()
                if names is None or column in names
            },
            overall=overall,
            kinds=[_items_per_user(kind, source, overall["users"]) for kind in kinds]
            if overall["users"]
            else [],
            skipped=dict(+source.skipped),
            warnings=_warnings(source, overall, kinds) + _misnamed_user(log, names, overall),
        )


def _possible_kinds(source: Source) -> list[Kind]:
    """The kinds that the log's columns allow, of those that need no column's name."""
    asked = [each for each in KINDS.values() if each.usage]
    named = (each.from_name(each.label, _ANY, {}) for each in asked)
    return possible_kinds([kind for kind in named if kind is not None], source.roles)


def _overall_figures(source: Source) -> dict[str, Any]:
    time = "time" in source.roles
    figures = ["count(*)", "count(distinct user)"]
    figures += ["min(time)", "max(time)", "count(*) - count(time)"] if time else []
    sql = f"select {comma_separated(figures)} from entries"
    entries, users, *times = source.engine.rows([*source.entries, Step("overall", sql)])[0]
    rows = source.engine.rows([Step("rows", "select count(*) from source")])[0][0]
    largest = "select max(n) from (select count(*) as n from entries group by user)"
    overall: dict[str, Any] = {
        "rows": rows,
        "entries": entries,
        "rows_left_out": rows - entries,
        "users": users,
        "largest_user_entries": source.engine.rows([*source.entries, Step("most", largest)])[0][0],
    }
    if time:
        first, last, unread = times
        overall |= {
            "first": _format_moment(first),
            "last": _format_moment(last),
            "without_time": unread,
        }
    return overall


def _format_moment(time: datetime | None) -> str | None:
    return time.isoformat(sep=" ", timespec="seconds") if time else None


def _items_per_user(kind: Kind, source: Source, users: int) -> ItemsPerUser:
    item = comma_separated(identifier(name) for name in kind.columns())
    steps = [
        *kind.steps(source),
        Step("held", f"select user, {item}, count(*) as often from items group by user, {item}"),
        Step("each", "select sum(often) as often, count(*) as held from held group by user"),
        Step(
            "figures",
            "select held, count(*) as users, sum(often) as often, "
            f"(select count(*) from (select distinct {item} from held)) as items "
            "from each group by held",
        ),
    ]
    found = source.engine.rows([*source.entries, *steps])
    holders = {held: number for held, number, _, _ in found}
    return ItemsPerUser(
        kind=kind.name(),
        occurrences=sum(int(often) for _, _, often, _ in found) / users,
        distinct=sum(held * number for held, number in holders.items()) / users,
        median=_median(holders),
        most=max(holders, default=0),
        items=found[0][3] if found else 0,
    )


def _median(holders: dict[int, int]) -> float:
    """The median of numbers, given how many users have each; no function of both engines.

    >>> _median({1: 2, 4: 2})
    2.5
    """
    numbers = sorted(holders)
    ends = list(accumulate(holders[number] for number in numbers))
    if not ends:
        return 0.0
    middle = ((ends[-1] - 1) // 2, ends[-1] // 2)
    low, high = (numbers[bisect_right(ends, place)] for place in middle)
    return (low + high) / 2


def _warnings(source: Source, overall: dict[str, Any], kinds: Sequence[Kind]) -> list[str]:
    entries = overall["entries"]
    if not entries:
        return ["No entry was understood: check --format, --user and the encoding."]
    found = [doubt.text for doubt in id_doubts(source)]
    if (unknown := _count_placeholder_ids(source) / entries) > 0.001:
        found.append(
            f"{unknown:.1%} of the entries have an id such as NULL, nan or - that looks like a "
            "missing one, and count as one user: leave such ids out with --exclude-users."
        )
    lost = overall["rows_left_out"]
    if lost > _LOST_SHARE * overall["rows"]:
        found.append(f"{lost / overall['rows']:.0%} of the rows have no user id and are left out.")
    skipped = unreadable_lines(source)
    if skipped > _LOST_SHARE * (skipped + overall["rows"]):
        found.append(f"{skipped:,} lines were skipped: check --format and --encoding.")
    if overall.get("without_time", 0) > _LOST_SHARE * entries:
        found.append(
            f"{overall['without_time'] / entries:.0%} of the times were not understood: say "
            "--time-format."
        )
    return [*found, *filter(None, (kind.data_warning(source) for kind in kinds))]


def _misnamed_user(log: Log, names: Sequence[str] | None, overall: dict[str, Any]) -> list[str]:
    """Which column may be meant where lines name their own, and none as the log's user."""
    if overall["entries"] or not names or log.columns.user in names:
        return []
    near = column_of(guess_roles(names), "user")
    return [f"No line has {log.columns.user!r}. Did you mean --user {near}?"] if near else []


def _count_placeholder_ids(source: Source) -> int:
    """Entries whose id is what programs write for a missing value."""
    ids = comma_separated(literal(each) for each in MISSING)
    sql = f"select count(*) from entries where lower(trim(user::varchar)) in ({ids})"
    return int(source.engine.rows([*source.entries, Step("unknown", sql)])[0][0])
