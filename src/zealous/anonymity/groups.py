"""Similar sets in groups of k to 2k - 1, each with sets of at least k owners, and what they share.

A group takes the fewest edits where its representative holds the items of at least half its sets;
what each such item saves is the number of sets that have it, less those that do not. So a good
group is one whose sets have many items in common. Equal sets are grouped first, then sets that
have three items in common, then two, then one, and those that have nothing in common come last.

No two sets are ever compared. A set offers all threes of its 10 and all twos of its 16 most
frequent items, at most 120 each, and a group is where k owners offer the same. Each step thus sorts
at most a fixed multiple of the number of sets, and a table of counts that errs upwards alone drops
most offers before they are sorted, so that memory stays small. That bound is near linear; below it
time grows faster, because in a larger log more items have k owners and each set offers more: from
50,000 to 200,000 sets, nearly twice as much as linear growth (benchmarks/groups.py).

Tried on synthetic logs, each saved less than half a percent of the items: fours, more items a set,
and (at most, where sizes allow) moving sets to a group whose representative they hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

_OFFERED = {3: 10, 2: 16}  # so many items, out of so many of a set
_ROUNDS = 8  # after these hardly a set joins
_CHUNK = 2**20
_MOST_COUNTERS = 2**24
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

    def places(self, groups: Ints, items: Ints) -> Ints:
        """Where these items of these groups stand; they must be there."""
        return np.searchsorted(joined(self.group, self.item), joined(groups, items))


def held(sets: Sets, groups: Ints) -> Held:
    """The items of each group, in the order of groups and items."""
    of = np.repeat(groups, sets.lengths)
    grouped = of >= 0
    pairs = np.sort(joined(of[grouped], sets.items[grouped]))
    starts = np.flatnonzero(_first(pairs))
    group, item = _parted(pairs[starts])
    size = np.bincount(groups[groups >= 0], minlength=1)
    count = np.diff(np.append(starts, len(pairs)))
    return Held(group=group, item=item, count=count, size=size[group])


def edits(sets: Sets, groups: Ints) -> int:
    """Deletions and additions that make each set its group's representative, or delete it."""
    found = held(sets, groups)
    return len(sets.items) - int(np.maximum(0, 2 * found.count - found.size).sum())


def group(sets: Sets, k: int) -> Ints:
    """For each set the number of its group, from 0; -1 where it must be suppressed.

    Each group has k to 2k - 1 sets and at least k owners. As few sets as possible are suppressed:
    none, unless a few owners have most of the sets. The result depends on the numbers of items and
    sets alone.
    """
    growing = _Growing(sets.owners, k)
    growing.gather(np.arange(len(sets)), _sums(sets))
    holders = _owners_of(sets.items, sets.owners[sets.numbers()])
    useful = sets.of(holders[sets.items] >= k)
    for size, most in _OFFERED.items():
        free = _most_frequent(useful, holders, np.where(growing.groups < 0, most, 0))
        growing.gather(*_subsets(free, size, k))
    growing.gather(useful.numbers(), _mixed(useful.items))
    growing.join_rest(sets)
    return growing.groups


class _Growing:
    """Groups while they are made."""

    def __init__(self, owners: Ints, k: int) -> None:
        self.owners = owners
        self.k = k
        self.groups = np.full(len(owners), -1, np.int64)
        self.made = 0

    def gather(self, sets: Ints, keys: Hashes) -> None:
        """Let sets that offer the same key form groups.

        Each set takes the rarest of its keys that k owners offer. The rarest of all is taken by
        everybody who offers it, so that there is a new group in each round.

        Args:
            sets: The sets, ascending, each as often as it has keys.
            keys: What they offer.
        """
        numbers = np.unique(keys, return_inverse=True)[1].astype(np.int64)
        free, offered, keys_of = sets, numbers, [np.zeros(0, np.int64)]
        for _ in range(_ROUNDS):
            left = self.groups[free] < 0
            free, offered = free[left], offered[left]
            owners = _owners_of(offered, self.owners[free])[offered]
            enough = owners >= self.k
            free, offered, owners = free[enough], offered[enough], owners[enough]
            if not len(free):
                break
            starts = np.flatnonzero(_first(free))
            rarest = np.minimum.reduceat(joined(owners, offered), starts)
            keys_of.append(self._cut(free[starts], _parted(rarest)[1]))
        self._fill(sets, numbers, np.concatenate(keys_of))

    def _cut(self, sets: Ints, keys: Ints) -> Ints:
        """Cut the sets of each key into groups, and tell the key of each new group.

        Of each owner one set takes part, and a key that fewer than k owners have taken makes none.
        """
        order = np.lexsort((sets, self.owners[sets], keys))
        sets, keys = sets[order], keys[order]
        one = _first(joined(keys, self.owners[sets]))
        sets, keys = sets[one], keys[one]
        starts = np.flatnonzero(_first(keys))
        sizes = np.diff(np.append(starts, len(keys)))
        wanted = sizes // self.k
        number = nth(keys) * np.repeat(wanted, sizes) // np.repeat(sizes, sizes)
        number += np.repeat(self.made + np.cumsum(wanted) - wanted, sizes)
        enough = np.repeat(wanted > 0, sizes)
        self.groups[sets[enough]] = number[enough]
        self.made += int(wanted.sum())
        return np.repeat(keys[starts], wanted)

    def _fill(self, sets: Ints, keys: Ints, keys_of: Ints) -> None:
        """Let sets without a group join one whose key they offer too, while there is room.

        Args:
            sets: The sets, ascending, each as often as it has keys.
            keys: What they offer.
            keys_of: The keys of the newest groups.
        """
        room = self._room()[self.made - len(keys_of) :]
        order = np.argsort(keys_of, kind="stable")
        places = np.repeat(order, room[order])
        rooms = np.bincount(keys_of[places], minlength=int(keys.max(initial=0)) + 1)
        wanted = (self.groups[sets] < 0) & (rooms[keys] > 0)
        sets, keys = sets[wanted], keys[wanted]
        if not len(sets):
            return
        starts = np.flatnonzero(_first(sets))
        widest = _parted(np.maximum.reduceat(joined(rooms[keys], keys), starts))[1]
        order = np.argsort(widest, kind="stable")
        sets, keys = sets[starts][order], widest[order]
        turn = nth(keys)
        place = (np.cumsum(rooms) - rooms)[keys] + turn
        fits = turn < rooms[keys]
        self.groups[sets[fits]] = self.made - len(keys_of) + places[place[fits]]

    def _room(self) -> Ints:
        """How many more sets each group may have."""
        sizes = np.bincount(self.groups[self.groups >= 0], minlength=self.made)
        room: Ints = 2 * self.k - 1 - sizes
        return room

    def join_rest(self, sets: Sets) -> None:
        """Group the sets that are like no others, and give those left over to groups with room."""
        rest = np.flatnonzero(self.groups < 0)
        dealt = _dealt(self.owners[rest], self.k)
        self.groups[rest[dealt >= 0]] = dealt[dealt >= 0] + self.made
        self.made += int(dealt.max(initial=-1)) + 1
        rest = rest[dealt < 0]
        room = self._room()
        if len(rest) > room.sum():
            # A few owners have most of the sets: only dealing them out hides as many as possible.
            self.groups = _dealt(self.owners, self.k)
            return
        found = held(sets, self.groups)
        shared = np.bincount(found.group[found.majority], minlength=self.made)
        cheapest = np.argsort(shared, kind="stable")
        self.groups[rest] = np.repeat(cheapest, room[cheapest])[: len(rest)]


def _dealt(owners: Ints, k: int) -> Ints:
    """Deal sets out like cards, into as many groups as there can be; -1 where there is no room.

    g groups of k owners can be made exactly where the owners, each with at most g sets, have g * k
    sets. Each group has room for k - 1 more. So with the most groups the fewest sets are left.
    """
    most = _most_groups(np.bincount(owners), k) if len(owners) else 0
    groups = np.full(len(owners), -1, np.int64)
    if not most:
        return groups
    order = np.argsort(owners, kind="stable")
    turn = nth(owners[order])
    # An owner's first sets, at most one for each group, come one after another, so that no two of
    # hers meet; all that follows them is dealt in the same way to what room there is.
    order = np.concatenate([order[turn < most], order[turn >= most]])[: most * (2 * k - 1)]
    groups[order] = np.arange(len(order)) % most
    return groups


def _most_groups(counts: Ints, k: int) -> int:
    low, high = 0, int(counts.sum()) // k
    while low < high:
        middle = (low + high + 1) // 2
        enough = int(np.minimum(counts, middle).sum()) >= middle * k
        low, high = (middle, high) if enough else (low, middle - 1)
    return low


def _most_frequent(sets: Sets, holders: Ints, most: Ints) -> Sets:
    """Of each set the items that most owners hold, at most so many."""
    frequent = np.lexsort((np.arange(len(holders)), -holders))
    rank = np.empty_like(frequent)
    rank[frequent] = np.arange(len(frequent))
    numbers, ranks = _parted(np.sort(joined(sets.numbers(), rank[sets.items])))
    few = nth(numbers) < most[numbers]
    return sets_of(numbers[few], frequent[ranks[few]], sets.owners)


def _subsets(sets: Sets, size: int, k: int) -> tuple[Ints, Hashes]:
    """The subsets of so many items that may be in k sets: (set, key), sets ascending."""
    lengths = np.bincount(sets.lengths, minlength=1).tolist()
    total = sum(number * comb(length, size) for length, number in enumerate(lengths))
    counters = min(_MOST_COUNTERS, 2 ** total.bit_length())
    slots = np.uint64(counters - 1)
    # Two subsets may share a counter: it then says too much, and never too little.
    count = np.zeros(counters, np.int32)
    for _, keys in _chunks(sets, size):
        np.add.at(count, keys.reshape(-1) & slots, 1)
    numbers, kept = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
    for chunk, keys in _chunks(sets, size):
        often = count[keys & slots] >= k
        numbers.append(np.repeat(chunk, often.sum(axis=1)))
        kept.append(keys[often])
    ordered = np.concatenate(numbers)
    order = np.argsort(ordered, kind="stable")
    return ordered[order], np.concatenate(kept)[order]


def _chunks(sets: Sets, size: int) -> Iterator[tuple[Ints, Hashes]]:
    """Some sets of equal length, and for each the keys of all its subsets of so many items."""
    for length in range(size, int(sets.lengths.max(initial=0)) + 1):
        chosen = np.array(list(combinations(range(length), size)))
        equal = np.flatnonzero(sets.lengths == length)
        rows = max(1, _CHUNK // len(chosen))
        for start in range(0, len(equal), rows):
            some = equal[start : start + rows]
            hashes = _mixed(sets.items[sets.offsets[some, None] + np.arange(length)])
            yield some, hashes[:, chosen].sum(axis=2, dtype=np.uint64)


def _sums(sets: Sets) -> Hashes:
    """A key of each set: the sum of its items' hashes."""
    total = np.zeros(len(sets.items) + 1, np.uint64)
    np.cumsum(_mixed(sets.items), out=total[1:])
    return np.diff(total[sets.offsets])


def _owners_of(keys: Ints, owners: Ints) -> Ints:
    """For each key how many different owners have it."""
    pairs = np.sort(joined(keys, owners))
    return np.bincount(_parted(pairs[_first(pairs)])[0])


def _mixed(numbers: Ints) -> Hashes:
    """Hash numbers to 64 bits: splitmix64."""
    state = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def joined(high: Ints, low: Ints) -> Hashes:
    """Two numbers in one, which sorts as fast as one."""
    return (high.astype(np.uint64) << _LOW) | low.astype(np.uint64)


def _parted(joined: Hashes) -> tuple[Ints, Ints]:
    return (joined >> _LOW).astype(np.int64), (joined & _MASK).astype(np.int64)


def repeated(starts: Ints, lengths: Ints) -> Ints:
    """Runs of consecutive numbers, one after another, of these lengths from these starts."""
    begins = np.cumsum(lengths) - lengths
    runs: Ints = np.arange(int(lengths.sum())) + np.repeat(starts - begins, lengths)
    return runs


def nth(ordered: Ints) -> Ints:
    """Of each value of an ordered array, how many equal ones stand before it."""
    starts = np.flatnonzero(_first(ordered))
    return repeated(np.zeros(len(starts), np.int64), np.diff(np.append(starts, len(ordered))))


def _first(ordered: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """Where in an ordered array a value comes for the first time."""
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first
