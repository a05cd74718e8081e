"""Neighbouring logs that would betray somebody where keys are found first and counted then.

In rounds a user gives weights, others choose by what they see of them, and counts follow. With a
public list some or all of what could be published is known, and no item of it may tell by being
absent.
"""

from __future__ import annotations

from zealous.audit.pairs import Lines, Pair, Shape, each_item, lines_of_others, lines_of_user

_ROWS = 16
_UNDECIDED = 8  # people
_POPULAR = 6  # items
_MORE = 40  # items than anybody may give


def more_than_any_bound(shape: Shape) -> Pair:
    """Those that she does not give may steer, and never appear; all others share one weight."""
    items = tuple(range(max(shape.given) + _MORE))
    name = "more items than she may give, alone"
    return Pair(name, lines_of_user(items), None, (items,), every=16)


def item_in_many_rows(_: Shape) -> Pair:
    """An item that she has in many rows has the weight of one."""
    return Pair(
        "one item in many rows, alone", lines_of_user([0], rows=_ROWS), None, ((0,),), every=8
    )


def key_found_last(shape: Shape) -> Pair:
    """Others' items become keys, and in the next round what she alone has gets all her weight."""
    rest = lines_of_others([1], shape.popular) + lines_of_others([2], shape.popular)
    name = "unique item beside popular ones, alone"
    return Pair(name, rest + lines_of_user([0, 1, 2]), None, ((0,),), every=4)


def weight_tipped(_: Shape) -> Pair:
    """One user moves a weight by which others choose what they give next.

    Nobody else gives it first: each has two items of her own that she has more often.
    """
    rest = _undecided(0, 10)
    return Pair("one user tips what others give", rest, rest + lines_of_user([0]), ((0,),), every=4)


def weights_tipped_both_ways(_: Shape) -> Pair:
    """Replaced, she lowers one such weight and raises another."""
    rest = _undecided(0, 10) + _undecided(1, 10 + 2 * _UNDECIDED)
    left, right = rest + lines_of_user([0]), rest + lines_of_user([1])
    return Pair(
        "one user tips what others give, both ways", left, right, each_item([0, 1]), every=4
    )


def _undecided(item: int, own: int) -> Lines:
    """People who have an item, and before it two of their own, whose numbers begin there."""
    return tuple(
        line
        for i in range(_UNDECIDED)
        for line in (
            *lines_of_user([own + 2 * i, own + 2 * i + 1], f"w{item}{i}-@", rows=2),
            *lines_of_user([item], f"w{item}{i}-@"),
        )
    )


def several_popular_items(shape: Shape) -> Pair:
    """However many of her items are sure to be published, m of them count."""
    items = tuple(range(_POPULAR))
    rest = tuple(line for item in items for line in lines_of_others([item], shape.popular))
    return Pair(
        "one user with six popular items more",
        rest,
        rest + lines_of_user(items),
        (items,),
        pure=True,
        every=8,
        at=0.25,
    )


def several_listed_items(shape: Shape) -> Pair:
    """However many of her items are on the list, m of them count."""
    items = range(4)
    rest = tuple(line for item in items for line in lines_of_others([item], shape.popular))
    name = "one user with four listed items more"
    return Pair(name, rest, rest + lines_of_user(items), each_item(items), pure=True)


def all_listed_items(shape: Shape) -> Pair:
    """Listed items become keys by noise alone, also where nobody has them."""
    items = tuple(range(max(shape.given)))
    name = "as many listed items as she may give"
    return Pair(name, (), lines_of_user(items), (items,), listed=items, every=8)


def item_listed_many_times(shape: Shape) -> Pair:
    """A public file that lists an item many times makes it count no more."""
    name = "an item that is listed many times"
    return Pair(name, (), lines_of_user([0]), ((0,),), listed=(0,) * max(shape.given), every=16)
