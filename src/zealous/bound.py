"""At most m distinct items a user: the step that makes one person's influence finite."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, get_args

from zealous.engines.sql import Step, identifier, listed
from zealous.errors import UsageError
from zealous.items import Kind
from zealous.source import Source

Select = Literal["random", "first", "frequent"]
_LOOK_AHEAD = 20  # with a larger m most of what a user has is near enough to be looked at


def keep(kind: Kind, source: Source, *, most: int, select: Select, key: int) -> list[Step]:
    """The steps from `items` (user, item..., time) to `kept` (user, item...).

    Guarantee:
        Each user keeps at most `most` distinct items, chosen by her own history, public rules and
        the key alone, and the key is drawn before the log is read. Ties are broken by the item
        itself, so `kept` does not depend on the order of the log's lines.

    Args:
        kind: The kind of items.
        source: Where the items come from.
        most: m.
        select: `random` by the key; `first` in time; `frequent`, the user's own most frequent.
        key: The public key of the random order.
    """
    check_select(select, source.roles)
    names = [identifier(name) for name in kind.columns()]
    item = listed(names)
    rank = source.engine.rank_key(key, ["user", *kind.columns()])
    order = listed([rank, *names])
    since, often = identifier("order:since"), identifier("order:often")  # no item's column
    ahead: list[Step] = []
    if select == "random":
        place = source.engine.rank_place(rank)
        if place is not None and most <= _LOOK_AHEAD:
            ahead = _look_ahead(item, place, most)
        rows = "near" if ahead else "items"
        held = f"select distinct user, {item} from {rows}"
    elif select == "first":
        held = f"select user, {item}, min(time) as {since} from items group by user, {item}"
        order = f"{since} nulls last, {order}"
    else:
        held = f"select user, {item}, count(*) as {often} from items group by user, {item}"
        order = f"{often} desc, {order}"
    kept = (
        f"select user, {item} from held "
        f"qualify row_number() over (partition by user order by {order}) <= {most}"
    )
    return [*ahead, Step("held", held), Step("kept", kept)]


def _look_ahead(item: str, place: str, most: int) -> list[Step]:
    """The steps from `items` to `near` (user, item...), with all that will be kept among them.

    Distinct and rank are then worked out for far fewer rows. An item's place is its rank, coarsely:
    items in different places are different, so up to the m-th lowest of a user's places she has m
    items, and none beyond it is among her first m. A user with fewer places keeps all her items
    here. It takes one integer a user, whose bits are her places.
    """
    at, taken, last = (identifier(f"order:{name}") for name in ("place", "taken", "last"))
    bits = f"select user, bit_or(1::bigint << {at}) as {taken} from placed group by user"
    for _ in range(most - 1):  # takes away the lowest bit
        bits = f"select user, {taken} & ({taken} - 1) as {taken} from ({bits})"
    lowest = f"bit_count(({taken} & -{taken}) - 1)"
    limits = f"select user, case when {taken} = 0 then 63 else {lowest} end as {last} from ({bits})"
    near = f"placed semi join limits on placed.user = limits.user and {at} <= {last}"
    return [
        Step("placed", f"select user, {item}, {place} as {at} from items", shared=True),
        Step("limits", limits),
        Step("near", f"select user, {item} from {near}"),
    ]


def check_select(select: Select, roles: Collection[str]) -> None:
    """Refuse a way to choose that a log's columns do not allow."""
    if select not in get_args(Select):
        raise UsageError("select must be random, first or frequent")
    if select == "first" and "time" not in roles:
        raise UsageError("--select first needs a column with the time: say --time COLUMN")
