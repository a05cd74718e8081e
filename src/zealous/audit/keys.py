"""Neighbouring logs that would betray somebody where keys are found first and counted then.

In rounds a user gives weights, others choose by what they see of them, and counts follow. With a
public list every count is there, and no item may tell by being absent.
"""

from __future__ import annotations

from zealous.audit.pairs import Pair, Shape, each_of, holds, others

_ITEMS = 60  # more than anybody may give in any round
_ROWS = 16
_UNDECIDED = 10  # people
_BETWEEN = 6  # items


def more_than_any_bound(_: Shape) -> Pair:
    """Those that she does not give may steer, and never appear; all others share one weight."""
    items = tuple(range(_ITEMS))
    return Pair(
        f"one user with {_ITEMS} items, alone", holds(items), None, (items,), listed=items, every=8
    )


def in_many_rows(_: Shape) -> Pair:
    """An item that she has in many rows has the weight of one."""
    return Pair(
        f"one item in {_ROWS} rows, alone", holds([0], rows=_ROWS), None, ((0,),),
        listed=(0,), every=4,
    )  # fmt: skip


def listed_many_times(_: Shape) -> Pair:
    """A public file that lists an item many times makes it count no more."""
    name = f"one item that is listed {_ROWS} times, alone"
    return Pair(name, holds([0]), None, ((0,),), listed=(0,) * _ROWS)


def found_last(shape: Shape) -> Pair:
    """Others' items become keys, and in the next round what she alone has gets all her weight."""
    rest = others([1], shape.popular) + others([2], shape.popular)
    name = "a unique item beside popular ones, alone"
    return Pair(name, rest + holds([0, 1, 2]), None, ((0,),), listed=(1, 2), every=2)


def tips(shape: Shape) -> Pair:
    """One user moves a weight by which others choose what they give next."""
    del shape
    items = range(_BETWEEN)
    rest = tuple(line for i in range(_UNDECIDED) for line in holds(items, f"w{i}-@"))
    return Pair("one user tips what others give", rest, rest + holds([0]), each_of([0, 1]), every=4)


def several_popular(shape: Shape) -> Pair:
    """However many of her items are keys, m of them count."""
    items = range(4)
    rest = tuple(line for item in items for line in others([item], shape.popular))
    name = "one user with four popular items more"
    return Pair(
        name, rest, rest + holds(items), each_of(items), pure=True, listed=tuple(items), every=4
    )
