"""At most m distinct items a user: the step that makes one person's influence finite."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, get_args

from zealous.engines.sql import Step, identifier, listed
from zealous.errors import UsageError
from zealous.items import Kind
from zealous.source import Source

Select = Literal["random", "first", "frequent"]


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
    if select == "random":
        held = f"select distinct user, {item} from items"
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
    return [Step("held", held), Step("kept", kept)]


def check_select(select: Select, roles: Collection[str]) -> None:
    """Refuse a way to choose that a log's columns do not allow."""
    if select not in get_args(Select):
        raise UsageError("select must be random, first or frequent")
    if select == "first" and "time" not in roles:
        raise UsageError("--select first needs a column with the time: say --time COLUMN")
