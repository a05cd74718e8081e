"""Neighbouring logs that would betray somebody where keys are found first and counted then.

In rounds a user gives weights, others choose by what they see of them, and counts follow. With a
public list some or all of what could be published is known, and no item of it may tell by being
absent.
"""

from __future__ import annotations

from zealous.audit.pairs import Pair, Shape, each_of, holds, others

_ROWS = 16
_LISTED = 50
_UNDECIDED = 10  # people
_POPULAR = 6  # items


def more_than_any_bound(shape: Shape) -> Pair:
    """Those that she does not give may steer, and never appear; all others share one weight."""
    items = tuple(range(max(shape.given) + 10))
    name = "one user with more items than she may give, alone"
    return Pair(name, holds(items), None, (items,), every=16)


def all_listed(shape: Shape) -> Pair:
    """Listed items appear by noise alone, so that her having them must not show."""
    pair = more_than_any_bound(shape)
    return Pair(
        "more listed items than she may give", (), pair.left, pair.watch,
        listed=pair.watch[0], every=16,
    )  # fmt: skip


def in_many_rows(_: Shape) -> Pair:
    """An item that she has in many rows has the weight of one."""
    return Pair("one item in many rows, alone", holds([0], rows=_ROWS), None, ((0,),), every=4)


def listed_many_times(_: Shape) -> Pair:
    """A public file that lists an item many times makes it count no more."""
    name = "an item that is listed many times"
    return Pair(name, (), holds([0]), ((0,),), listed=(0,) * _LISTED, every=8)


def found_last(shape: Shape) -> Pair:
    """Others' items become keys, and in the next round what she alone has gets all her weight."""
    rest = others([1], shape.popular) + others([2], shape.popular)
    name = "a unique item beside popular ones, alone"
    return Pair(name, rest + holds([0, 1, 2]), None, ((0,),), listed=(1, 2), every=4)


def tips(shape: Shape) -> Pair:
    """One user moves a weight by which others choose what they give next.

    They have more items than they may give before the last round: some nobody else gives then.
    """
    items = range(shape.given[-2] + 3)
    rest = tuple(line for i in range(_UNDECIDED) for line in holds(items, f"w{i}-@"))
    return Pair("one user tips what others give", rest, rest + holds([0]), each_of([0, 1]), every=8)


def several_popular(shape: Shape) -> Pair:
    """However many of her items are sure to be published, m of them count."""
    items = tuple(range(_POPULAR))
    rest = tuple(line for item in items for line in others([item], shape.popular))
    return Pair(
        "one user with six popular items more", rest, rest + holds(items), (items,),
        pure=True, every=8, at=0.25,
    )  # fmt: skip


def several_listed(shape: Shape) -> Pair:
    """However many of her items are on the list, m of them count."""
    items = range(4)
    rest = tuple(line for item in items for line in others([item], shape.popular))
    name = "one user with four listed items more"
    return Pair(name, rest, rest + holds(items), each_of(items), pure=True, every=2)
