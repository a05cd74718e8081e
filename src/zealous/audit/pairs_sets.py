"""Neighbouring logs of people with things, for tables that are made of published things.

Here an item is a set of two things of a copy. Thousands of copies
fit into one log as elsewhere, with one difference: noise goes on all sets that the things of the
log make, so that with things of its own each copy would add sets with all others. So copies share
their things, and any two of them at most one: no set belongs to two copies, and nobody holds a set
that is not of her own copy. What is published of a copy's sets is then one independent run on it,
given the table of things, in which each is far above every threshold.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zealous.audit.confidence_bounds import Counts
from zealous.audit.layout import PublishedCopies
from zealous.audit.pairs import VICTIM, Lines, Pair, Shape, item_name

COLUMNS = ("one", "two")  # of a row's things
BASKET = "basket"
_THINGS = 4  # of a copy
_SORTS = 10  # which they are of, at most
_BASKETS = 4
_DIGITS = 5  # of a thing's number


def lines_of_user(things: Sequence[int], user: str = VICTIM, basket: int = 0) -> Lines:
    """The lines of one user who has these things in one basket, two in each row."""
    rows = itertools.zip_longest(things[::2], things[1::2])
    return tuple(
        f"{user},{item_name(one)},{'' if two is None else item_name(two)},{basket}"
        for one, two in rows
    )


def lines_of_others(things: Sequence[int], number: int) -> Lines:
    """So many people who have these things together, and nothing else."""
    name = "".join(map(str, things))
    return tuple(
        line for i in range(number) for line in lines_of_user(things, f"o{name}-{i:02d}-@")
    )


def set_number(things: Sequence[int]) -> int:
    """The number of a set of two things."""
    one, two = things
    return _SORTS * one + two


def set_replaced(shape: Shape) -> Pair:
    """One user with one set or with another, both of them popular."""
    rest = lines_of_others([0, 1], shape.popular) + lines_of_others([2, 3], shape.popular)
    return Pair(
        "a popular set for another",
        rest + lines_of_user([0, 1]),
        rest + lines_of_user([2, 3]),
        ((set_number([0, 1]),), (set_number([2, 3]),)),
        pure=True,
        every=2,
    )


def user_joins_all_sets(shape: Shape) -> Pair:
    """One user more who has four things, and so all six sets of two of them."""
    pairs = list(itertools.combinations(range(_THINGS), 2))
    rest = tuple(line for pair in pairs for line in lines_of_others(pair, shape.popular))
    return Pair(
        "all popular sets of four things more",
        rest,
        rest + lines_of_user(range(_THINGS)),
        (tuple(map(set_number, pairs)),),
        pure=True,
        every=10,
    )


def set_in_many_baskets(shape: Shape) -> Pair:
    """Who has a set in many baskets counts once."""
    rest = lines_of_others([0, 1], shape.popular - 1)
    often = tuple(
        line for basket in range(_BASKETS) for line in lines_of_user([0, 1], basket=basket)
    )
    return Pair(
        "a set in many baskets",
        rest + often,
        rest + lines_of_user([0, 1]),
        ((set_number([0, 1]),),),
        same=True,
        every=4,
    )


def never_in_one_basket(shape: Shape) -> Pair:
    """Who has two things and never together does not have the set."""
    rest = lines_of_others([0, 1], shape.popular)
    alone = lines_of_user([0]) + lines_of_user([1], basket=1)
    return Pair(
        "two things in two baskets",
        rest + alone,
        rest,
        ((set_number([0, 1]),),),
        same=True,
        every=4,
    )


@dataclass(frozen=True, eq=False)
class SharedThings:
    """Which things each copy has.

    There are as many things of each of four sorts as a prime p, and p^2 lines: that of slope x
    through y has of sort g the thing x g + y, modulo p. Two lines meet once at most. A copy has the
    things of a line, which is drawn by chance: things are not all alike in how many have them.

    Attributes:
        prime: p.
        lines: The line of each copy, x p + y, in the order of pairs, sides and copies.
        starts: Where the copies of each side of each pair begin, and where the last ones end.
    """

    prime: int
    lines: Counts
    starts: Counts

    @classmethod
    def of(cls, sides: Sequence[int]) -> SharedThings:
        """For so many copies of each side of each pair."""
        starts = np.concatenate([[0], np.cumsum(sides)]).astype(np.int64)
        prime = _prime_from(max(_THINGS, math.isqrt(int(starts[-1])) + 1))
        drawn = np.frombuffer(os.urandom(8 * prime**2), np.uint64)
        return cls(prime, np.argsort(drawn)[: starts[-1]], starts)

    def item_names(self, pair: int, side: int) -> list[pa.Array]:
        """The names of the things of all copies, sort by sort."""
        place = 2 * pair + side
        slope, start = np.divmod(
            self.lines[self.starts[place] : self.starts[place + 1]], self.prime
        )
        return [_thing_names(sort, (slope * sort + start) % self.prime) for sort in range(_THINGS)]

    def published_copies(self, table: pa.Table) -> PublishedCopies:
        """The rows of a table of sets that belong to a copy; all others are nobody's."""
        one, two = (_thing_numbers(table[f"item_{n}"]) for n in (1, 2))
        (sort, place), (other, there) = (np.divmod(each, 10**_DIGITS) for each in (one, two))
        inverse = np.array([pow(n, -1, self.prime) if n else 0 for n in range(_THINGS)])
        slope = (there - place) * inverse[other - sort] % self.prime
        line = slope * self.prime + (place - slope * sort) % self.prime
        copy = np.where(sort == other, -1, self._copies[line])
        ours = copy >= 0
        copy = copy[ours]
        at = np.searchsorted(self.starts, copy, side="right") - 1
        pair, side = np.divmod(at, 2)
        items = _SORTS * sort[ours] + other[ours]
        return PublishedCopies(
            items, pair, side, copy - self.starts[at], table["count"].to_numpy()[ours]
        )

    @cached_property
    def _copies(self) -> Counts:
        """The copy of each line; -1 where it is none's."""
        found = np.full(self.prime**2, -1, np.int64)
        found[self.lines] = np.arange(len(self.lines))
        return found


def _prime_from(least: int) -> int:
    """The first prime from there on."""
    tried = itertools.count(least)
    return next(n for n in tried if all(n % each for each in range(2, math.isqrt(n) + 1)))


def _thing_names(sort: int, numbers: Counts) -> pa.Array:
    digits = pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), _DIGITS, "0")
    return pc.binary_join_element_wise(f"q{sort}", digits, "")


def _thing_numbers(names: pa.ChunkedArray) -> Counts:
    return np.asarray(pc.cast(pc.utf8_slice_codeunits(names, 1), pa.int64()).to_numpy(), np.int64)
