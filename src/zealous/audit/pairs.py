"""Neighbouring logs that were chosen to betray somebody.

A log is written as its lines, `user,query`, with a time where the unit needs one. Each is a tiny
world of its own: `@` stands for the number of the copy, so that thousands of copies fit into one
log without touching each other, and what is published of each copy is one independent run. An item
is `q`, two digits, `@`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

Lines = tuple[str, ...]
VICTIM = "v@"
NEXT_TABLE = 50  # is added to the number of an item in each further table


class Pair(NamedTuple):
    """Two neighbouring logs, and what of their output is looked at.

    Attributes:
        name: What the pair is about.
        left: The lines of one log.
        right: The lines of its neighbour; None where what is looked at could not appear there.
        watch: Groups of items. A single item is looked at with its noisy count, of a larger group
            it is counted how many appear, or their counts are added where `pure`.
        same: Whether both logs give everybody the same items, so that nothing at all may differ.
        pure: Whether the noise on counts alone can tell the logs apart: nothing that is looked at
            appears or not because one user has it.
        listed: The items of the public file, as often as it lists them, the most frequent first.
        every: Large logs are published less often: one run where others have so many.
        at: The part of epsilon at which it is looked at. Noise has a delta for each epsilon, and
            a violation may show sooner at a lower one.
    """

    name: str
    left: Lines
    right: Lines | None
    watch: tuple[tuple[int, ...], ...]
    same: bool = False
    pure: bool = False
    listed: tuple[int, ...] = ()
    every: int = 1
    at: float = 1.0

    def runs(self, trials: int) -> int:
        """How often each log is published; even, since half of the runs choose and half test."""
        return max(2, trials // self.every // 2 * 2)


class Shape(NamedTuple):
    """What the pairs are built around: the numbers of a plan.

    Attributes:
        m: The most items of a user that count.
        tau: The first threshold.
        popular: So many users that the noise decides; where there are rounds, so many that an
            item is sure to be found.
        users: How many are declared; 0 where that does not matter.
        given: The most items that a user may give, round by round.
    """

    m: int
    tau: int
    popular: int
    users: int
    given: tuple[int, ...]


Builder = Callable[[Shape], Pair]


def item_name(number: int) -> str:
    """An item."""
    return f"q{number:02d}@"


def lines_of_user(items: Sequence[int], user: str = VICTIM, rows: int = 1) -> Lines:
    """The lines of one user."""
    return tuple(f"{user},{item_name(item)}" for item in items for _ in range(rows))


def lines_of_others(items: Sequence[int], number: int) -> Lines:
    """So many people who hold these items, and nothing else."""
    return tuple(
        line for i in range(number) for line in lines_of_user(items, f"o{items[0]:02d}-{i:02d}-@")
    )


def each_item(items: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Each item looked at by itself."""
    return tuple((item,) for item in items)


def in_two_tables(pair: Pair) -> Pair:
    """The same, where items are looked at in a second table too, under numbers of their own."""
    second = tuple(tuple(item + NEXT_TABLE for item in group) for group in pair.watch)
    return pair._replace(watch=pair.watch + second)


def _split(m: int) -> tuple[range, range]:
    return range(m), range(m, 2 * m)


def user_arrives(shape: Shape) -> Pair:
    """An item of nobody against an item of one."""
    one, _ = _split(shape.m)
    return Pair("empty log against one user", (), lines_of_user(one), each_item(one))


def unique_items_replaced(shape: Shape) -> Pair:
    """What one user alone has, for what she alone has."""
    one, other = _split(shape.m)
    return Pair(
        "m unique items for m others",
        lines_of_user(one),
        lines_of_user(other),
        each_item([*one, *other]),
    )


def popular_items_replaced(shape: Shape) -> Pair:
    """At tau' the noise alone decides who appears: every coordinate tells all that it can."""
    one, other = _split(shape.m)
    rest = lines_of_others(one, shape.popular) + lines_of_others(other, shape.popular)
    return Pair(
        "m popular items for m others",
        rest + lines_of_user(one),
        rest + lines_of_user(other),
        each_item([*one, *other]),
        pure=True,
    )


def user_joins(shape: Shape) -> Pair:
    """One user more for what many have."""
    one, _ = _split(shape.m)
    rest = lines_of_others(one, shape.popular)
    return Pair("m popular items more", rest, rest + lines_of_user(one), each_item(one), pure=True)


def item_reaches_tau(shape: Shape) -> Pair:
    """One user makes the first threshold."""
    one, other = _split(shape.m)
    rest = lines_of_others(one, shape.tau - 1) + lines_of_others(other, shape.tau - 1)
    return Pair(
        "counts tau - 1 against tau",
        rest + lines_of_user(one),
        rest + lines_of_user(other),
        each_item([*one, *other]),
    )


def repeated_rows(shape: Shape) -> Pair:
    """Who holds an item in many rows counts once."""
    rest = lines_of_others([0], max(1, shape.popular - 1))
    return Pair(
        "half the rows",
        rest + lines_of_user([0], rows=4),
        rest + lines_of_user([0], rows=2),
        ((0,),),
        same=True,
    )


def id_spellings(shape: Shape) -> Pair:
    """One id written in four ways is one user, and lines without an id are nobody's."""
    rest = lines_of_others([0], shape.popular - 1) + lines_of_others([1], shape.popular)
    ways = ("v@,q00@", " v@,q00@", '"v@",q00@', 'v@ ,"q00@"')
    nobody = (",q01@", "  ,q01@", '"",q01@', "\u00a0,q01@")
    return Pair(
        "missing, empty, duplicate ids",
        rest + ways + nobody,
        rest + ways[:1],
        each_item([0, 1]),
        same=True,
    )


def broken_quotes(shape: Shape) -> Pair:
    """Lines that cannot be understood, before, between and after those of others."""
    rest = lines_of_others([0], shape.popular)
    broken = ('v@,"q01@', '"v@,q01@', "v@")
    left = broken[:1] + rest[:1] + broken[1:] + rest[1:]
    return Pair("lines with broken quotes", left, rest, each_item([0, 1]), same=True)


def permuted_rows(shape: Shape) -> Pair:
    """The same lines in another order."""
    lines = tuple(
        line for i in range(shape.popular + 1) for line in lines_of_user([0, 1, 2], f"o{i}-@")
    )
    return Pair("permuted rows", lines, lines[::-1], each_item([0, 1, 2]), same=True)


def more_than_m_items(shape: Shape) -> Pair:
    """No more than m of her items count."""
    items = range(10 * shape.m)
    return Pair("one user with 10 m items, alone", lines_of_user(items), None, (tuple(items),))


def m_items_of_one_user(shape: Shape) -> Pair:
    """Without her none of her items could appear: each that does is a breach."""
    items = range(shape.m)
    return Pair("one user with m items, alone", lines_of_user(items), None, (tuple(items),))


def item_spellings(_: Shape) -> Pair:
    """Two spellings of an item are one item: who holds both counts once."""
    ways = ("v@,q00@", "v@,Q00@", "v@,  q00@", "v@,q00@\u00a0", "v@,Q00@ ")
    return Pair("one item in five spellings, alone", ways, None, ((0,),))


def rare_beside_frequent(shape: Shape) -> Pair:
    """Users who prefer a rare item keep it, whether or not others make it less rare."""
    undecided = tuple(
        line
        for i in range(shape.tau - 1)
        for line in (*lines_of_user([0], f"w{i}-@", rows=2), *lines_of_user([1], f"w{i}-@"))
    )
    rest = undecided + lines_of_others([1], shape.popular - shape.tau + 3)
    return Pair(
        "rare items beside frequent ones", rest, rest + lines_of_user([0]), each_item([0, 1])
    )


def popularity_tipped(shape: Shape) -> Pair:
    """One user decides which of two items more people hold; nobody's choice may follow it."""
    undecided = tuple(line for i in range(6) for line in lines_of_user([0, 1], f"w{i}-@"))
    rest = undecided + lines_of_others([0], shape.tau) + lines_of_others([1], shape.tau)
    left, right = rest + lines_of_user([0]), rest + lines_of_user([1])
    return Pair("one user tips which item is popular", left, right, each_item([0, 1]), pure=True)


def all_items_at_tau(shape: Shape) -> Pair:
    """As many items at exactly tau as the users can hold: each that appears is a breach."""
    items = shape.users * shape.m // shape.tau
    slots = range(items * shape.tau)
    lines = tuple(f"o{slot % shape.users}-@,{item_name(slot // shape.tau)}" for slot in slots)
    return Pair("every item at exactly tau", lines, None, (tuple(range(items)),))


def all_items_below_tau(shape: Shape) -> Pair:
    """What has fewer than tau users never appears, not even rarely."""
    items = range(4)
    lines = tuple(line for item in items for line in lines_of_others([item], shape.tau - 1))
    return Pair("items below tau", lines, None, (tuple(items),), pure=True)
