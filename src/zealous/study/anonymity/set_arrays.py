"""Sets of items in arrays, what those of a group share, and what makes work on arrays short."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

_LOW = np.uint64(32)
_MASK = np.uint64(2**32 - 1)


@dataclass(frozen=True, kw_only=True)
class Sets:
    """Sets of items and whose they are.

    Attributes:
        offsets: Where each set begins among the items, and where the last one ends.
        items: The distinct items of each set, numbered from 0.
        owners: The owner of each set, numbered from 0.
    """

    offsets: Ints
    items: Ints
    owners: Ints

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def lengths(self) -> Ints:
        """How many items each set has."""
        return np.diff(self.offsets)

    def numbers(self) -> Ints:
        """For each item of each set the number of the set."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def some(self, chosen: npt.NDArray[np.bool_]) -> Sets:
        """Some of the sets alone, numbered anew."""
        numbers = (np.cumsum(chosen) - 1)[self.numbers()]
        pairs = chosen[self.numbers()]
        return sets_of(numbers[pairs], self.items[pairs], self.owners[chosen])

    def of(self, pairs: npt.NDArray[np.bool_]) -> Sets:
        """The same sets with some of their items alone."""
        return sets_of(self.numbers()[pairs], self.items[pairs], self.owners)


def sets_of(numbers: Ints, items: Ints, owners: Ints) -> Sets:
    """Sets from pairs (number of the set, item) in ascending order."""
    offsets = np.zeros(len(owners) + 1, np.int64)
    np.cumsum(np.bincount(numbers, minlength=len(owners)), out=offsets[1:])
    return Sets(offsets=offsets, items=items, owners=owners)


@dataclass(frozen=True, kw_only=True)
class Held:
    """How many sets of a group hold an item: (group, item, count, size of the group)."""

    group: Ints
    item: Ints
    count: Ints
    size: Ints

    @property
    def majority(self) -> npt.NDArray[np.bool_]:
        """Where at least half of the group's sets hold the item: the representatives."""
        return 2 * self.count >= self.size

    def saved(self, size: Ints | int) -> Ints:
        """How many edits each item saves, were the group of this size."""
        saved: Ints = np.maximum(0, 2 * self.count - size)
        return saved

    def places(self, groups: Ints, items: Ints) -> Ints:
        """Where these items of these groups stand; they must be there."""
        return np.searchsorted(join_numbers(self.group, self.item), join_numbers(groups, items))


def count_held(sets: Sets, groups: Ints) -> Held:
    """The items of each group, in the order of groups and items."""
    of = np.repeat(groups, sets.lengths)
    grouped = of >= 0
    pairs = np.sort(join_numbers(of[grouped], sets.items[grouped]))
    starts = np.flatnonzero(is_first(pairs))
    group, item = split_numbers(pairs[starts])
    size = np.bincount(groups[groups >= 0], minlength=1)
    count = np.diff(np.append(starts, len(pairs)))
    return Held(group=group, item=item, count=count, size=size[group])


def count_edits(sets: Sets, groups: Ints) -> int:
    """Deletions and additions that make each set its group's representative, or delete it."""
    found = count_held(sets, groups)
    return len(sets.items) - int(found.saved(found.size).sum())


def hash_numbers(numbers: Ints) -> Hashes:
    """Hash numbers to 64 bits: splitmix64."""
    state = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def join_numbers(high: Ints, low: Ints) -> Hashes:
    """Two numbers in one, which sorts as fast as one."""
    return (high.astype(np.uint64) << _LOW) | low.astype(np.uint64)


def split_numbers(numbers: Hashes) -> tuple[Ints, Ints]:
    """The two numbers that were joined."""
    return (numbers >> _LOW).astype(np.int64), (numbers & _MASK).astype(np.int64)


def consecutive_runs(starts: Ints, lengths: Ints) -> Ints:
    """Runs of consecutive numbers, one after another, of these lengths from these starts."""
    begins = np.cumsum(lengths) - lengths
    runs: Ints = np.arange(int(lengths.sum())) + np.repeat(starts - begins, lengths)
    return runs


def occurrence_number(ordered: Ints) -> Ints:
    """Of each value of an ordered array, how many equal ones stand before it."""
    starts = np.flatnonzero(is_first(ordered))
    return consecutive_runs(
        np.zeros(len(starts), np.int64), np.diff(np.append(starts, len(ordered)))
    )


def is_first(ordered: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """Where in an ordered array a value comes for the first time."""
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first
