"""At most m distinct items a user: the step that makes one person's influence finite.

Guarantee:
    Each user keeps at most m distinct items. Which ones follows from her own entries, the public
    key and what is public or already published: never from what others have in the log.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import get_args

from zealous.engines.sql import Step, comma_separated, identifier
from zealous.errors import UsageError
from zealous.items import Kind
from zealous.logs.source import Source
from zealous.privacy.units import Select

_LOOK_AHEAD = 20  # the largest m for which looking ahead leaves out enough rows to pay


@dataclass(frozen=True, kw_only=True)
class ContributionBound:
    """Which of her items each user keeps.

    Attributes:
        most: How many.
        select: `random` by the key; `first` in time; `frequent`, the user's own most frequent.
            Not used for a kind that ranks items itself (`Kind.priority_column`): those of the
            largest priority come first, and of equals random ones.
        key: The public key of the random order.
    """

    most: int
    select: Select
    key: int


def bound_contributions(kind: Kind, source: Source, choice: ContributionBound) -> list[Step]:
    """The steps from `items` (user, item..., time) to `kept` (user, item...).

    Guarantee:
        Each user keeps at most `most` distinct items, chosen by her own history, public rules and
        the key alone, and the key is drawn before the log is read. Ties are broken by the item
        itself, so `kept` does not depend on the order of the log's lines.
    """
    check_select(choice.select, source.roles)
    steps, order = _distinct_items(kind, source, choice)
    if choice.most > 1 and kind.kept_columns() != kind.counted_columns():
        raise UsageError(f"{kind.label}: two items that a user keeps would count as one item twice")
    item = comma_separated(identifier(name) for name in kind.counted_columns())
    position = f"row_number() over (partition by user order by {order})"
    kept = f"select user, {item} from distinct_items qualify {position} <= {choice.most}"
    return [*steps, Step("kept", kept)]


def _distinct_items(
    kind: Kind, source: Source, choice: ContributionBound
) -> tuple[list[Step], str]:
    """The steps from `items` to `distinct_items`, each user's distinct items; and their order."""
    names = [identifier(name) for name in kind.kept_columns()]
    item = comma_separated(names)
    rank = source.engine.rank_key(choice.key, ["user", *kind.kept_columns()])
    order = comma_separated([rank, *names])
    ranked_by = kind.priority_column()
    if ranked_by is not None:
        priority = identifier(ranked_by)
        largest = f"max({priority}) as {priority}"
        distinct = f"select user, {item}, {largest} from items group by user, {item}"
        return [Step("distinct_items", distinct)], f"{priority} desc, {order}"
    since, often = identifier("order:since"), identifier("order:often")  # no item's column
    if choice.select == "first":
        distinct = f"select user, {item}, min(time) as {since} from items group by user, {item}"
        return [Step("distinct_items", distinct)], f"{since} nulls last, {order}"
    if choice.select == "frequent":
        distinct = f"select user, {item}, count(*) as {often} from items group by user, {item}"
        return [Step("distinct_items", distinct)], f"{often} desc, {order}"
    rank_bin = source.engine.rank_bin(rank)
    if rank_bin is None or choice.most > _LOOK_AHEAD:
        return [Step("distinct_items", f"select distinct user, {item} from items")], order
    ahead = _look_ahead(item, rank_bin, choice.most)
    return [*ahead, Step("distinct_items", f"select distinct user, {item} from near")], order


def equal_columns(columns: Sequence[str], one: str, other: str) -> str:
    """SQL: rows of two tables have the same in some columns."""
    names = map(identifier, columns)
    return " and ".join(f"{one}.{name} = {other}.{name}" for name in names)


def _look_ahead(item: str, rank_bin: str, most: int) -> list[Step]:
    """The steps from `items` to `near` (user, item...), with all that will be kept among them.

    Distinct and rank are then worked out for far fewer rows. An item's bin is its rank, coarsely:
    items in different bins are different, so up to the m-th lowest of a user's bins she has m
    items, and none beyond it is among her first m. A user with fewer bins keeps all her items
    here. It takes one integer a user, whose bits are her bins.
    """
    at, taken, last = (identifier(f"order:{name}") for name in ("bin", "taken", "last"))
    bits = f"select user, bit_or(1::bigint << {at}) as {taken} from binned group by user"
    for _ in range(most - 1):  # takes away the lowest bit
        bits = f"select user, {taken} & ({taken} - 1) as {taken} from ({bits})"
    lowest = f"bit_count(({taken} & -{taken}) - 1)"
    limits = f"select user, case when {taken} = 0 then 63 else {lowest} end as {last} from ({bits})"
    near = f"binned semi join limits on binned.user = limits.user and {at} <= {last}"
    return [
        Step("binned", f"select user, {item}, {rank_bin} as {at} from items", shared=True),
        Step("limits", limits),
        Step("near", f"select user, {item} from {near}"),
    ]


def check_select(select: Select, roles: Collection[str]) -> None:
    """Refuse a way to choose that a log's columns do not allow."""
    if select not in get_args(Select):
        raise UsageError("select must be random, first or frequent")
    if select == "first" and "time" not in roles:
        raise UsageError("--select first needs a column with the time: say --time COLUMN")
