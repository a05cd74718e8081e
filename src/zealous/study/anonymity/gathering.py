"""Groups of sets that offer the same: how they are gathered, dealt out, filled and broken up."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np

from zealous.study.anonymity.set_arrays import (
    Hashes,
    Ints,
    Sets,
    count_held,
    hash_numbers,
    is_first,
    join_numbers,
    occurrence_number,
    sets_of,
    split_numbers,
)

ROUNDS = 8  # after these hardly a set joins
_OFFERED = {3: 10, 2: 16}  # so many items, out of so many of a set
_CHUNK = 2**20
_MOST_COUNTERS = 2**24


class GrowingGroups:
    """Groups while they are made."""

    def __init__(self, owners: Ints, k: int, *, exact: bool = False) -> None:
        self.owners = owners
        self.k = k
        self.exact = exact
        self.groups = np.full(len(owners), -1, np.int64)
        self.made = 0

    def gather_all(self, sets: Sets) -> None:
        """Let sets that are equal, or have three, two items or one in common form groups."""
        self.gather(np.arange(len(sets)), _set_keys(sets))
        holders = _owners_of(sets.items, sets.owners[sets.numbers()])
        useful = sets.of(holders[sets.items] >= self.k)
        for size, most in _OFFERED.items():
            free = _most_frequent(useful, holders, np.where(self.groups < 0, most, 0))
            self.gather(*_subsets(free, size, self.k))
        self.gather(useful.numbers(), hash_numbers(useful.items))

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
        for _ in range(ROUNDS):
            left = self.groups[free] < 0
            free, offered = free[left], offered[left]
            owners = _owners_of(offered, self.owners[free])[offered]
            enough = owners >= self.k
            free, offered, owners = free[enough], offered[enough], owners[enough]
            if not len(free):
                break
            starts = np.flatnonzero(is_first(free))
            rarest = np.minimum.reduceat(join_numbers(owners, offered), starts)
            keys_of.append(self._cut(free[starts], split_numbers(rarest)[1]))
        if not self.exact:
            self._fill(sets, numbers, np.concatenate(keys_of))

    def _cut(self, sets: Ints, keys: Ints) -> Ints:
        """Cut the sets of each key into groups, and tell the key of each new group.

        Of each owner one set takes part, and a key that fewer than k owners have taken makes none.
        """
        order = np.lexsort((sets, self.owners[sets], keys))
        sets, keys = sets[order], keys[order]
        one = is_first(join_numbers(keys, self.owners[sets]))
        sets, keys = sets[one], keys[one]
        starts = np.flatnonzero(is_first(keys))
        sizes = np.diff(np.append(starts, len(keys)))
        wanted = sizes // self.k
        if self.exact:
            number = occurrence_number(keys) // self.k
            enough = number < np.repeat(wanted, sizes)
        else:
            number = occurrence_number(keys) * np.repeat(wanted, sizes) // np.repeat(sizes, sizes)
            enough = np.repeat(wanted > 0, sizes)
        number += np.repeat(self.made + np.cumsum(wanted) - wanted, sizes)
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
        free = self.groups[sets] < 0
        newest = self.made - len(keys_of)
        joining, at = assign_places(sets[free], keys[free], keys_of, self.room()[newest:])
        self.groups[joining] = newest + at

    def room(self) -> Ints:
        """How many more sets each group may have."""
        sizes = np.bincount(self.groups[self.groups >= 0], minlength=self.made)
        room: Ints = 2 * self.k - 1 - sizes
        return room

    def break_up(self, sets: Sets, needed: int) -> None:
        """Break up groups until the rest can make as many as are needed.

        Groups of k come first, and of these the ones that save least.
        """
        found = count_held(sets, self.groups)
        saved = np.zeros(self.made, np.int64)
        np.add.at(saved, found.group, found.saved(found.size))
        sizes = np.bincount(self.groups[self.groups >= 0], minlength=self.made)
        rank = np.full(self.made + 1, -1)  # the last is that of no group
        rank[np.lexsort((saved, sizes))] = np.arange(self.made)
        rank_of = rank[self.groups]

        low, high = 0, self.made
        while low < high:
            broken = (low + high) // 2
            left = np.bincount(self.owners[rank_of < broken], minlength=1)
            enough = self.made - broken + most_groups(left, self.k) >= needed
            low, high = (low, broken) if enough else (broken + 1, high)
        self.groups = np.where(rank_of < high, -1, rank_of - high)
        self.made -= high

    def deal_rest(self, most: int) -> None:
        """Group the sets that are like no others, at most so many in a group."""
        rest = np.flatnonzero(self.groups < 0)
        dealt = _deal_out(self.owners[rest], self.k, most)
        self.groups[rest[dealt >= 0]] = dealt[dealt >= 0] + self.made
        self.made += int(dealt.max(initial=-1)) + 1


def _deal_out(owners: Ints, k: int, size: int) -> Ints:
    """Deal sets out like cards, into as many groups as there can be; -1 where there is no room.

    g groups of k owners can be made exactly where the owners, each with at most g sets, have g * k
    sets. Each group has room for k - 1 more. So with the most groups the fewest sets are left.
    """
    most = most_groups(np.bincount(owners), k) if len(owners) else 0
    groups = np.full(len(owners), -1, np.int64)
    if not most:
        return groups
    order = np.argsort(owners, kind="stable")
    turn = occurrence_number(owners[order])
    # An owner's first sets, at most one for each group, come one after another, so that no two of
    # hers meet; all that follows them is dealt in the same way to what room there is.
    order = np.concatenate([order[turn < most], order[turn >= most]])[: most * size]
    groups[order] = np.arange(len(order)) % most
    return groups


def most_groups(counts: Ints, k: int) -> int:
    """The most groups of k owners, from how many sets each owner has."""
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
    numbers, ranks = split_numbers(np.sort(join_numbers(sets.numbers(), rank[sets.items])))
    few = occurrence_number(numbers) < most[numbers]
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
            hashes = hash_numbers(sets.items[sets.offsets[some, None] + np.arange(length)])
            yield some, hashes[:, chosen].sum(axis=2, dtype=np.uint64)


def _set_keys(sets: Sets) -> Hashes:
    """A key of each set: the sum of its items' hashes."""
    total = np.zeros(len(sets.items) + 1, np.uint64)
    np.cumsum(hash_numbers(sets.items), out=total[1:])
    return np.diff(total[sets.offsets])


def _owners_of(keys: Ints, owners: Ints) -> Ints:
    """For each key how many different owners have it."""
    pairs = np.sort(join_numbers(keys, owners))
    return np.bincount(split_numbers(pairs[is_first(pairs)])[0])


def assign_places(sets: Ints, keys: Ints, keys_of: Ints, room: Ints) -> tuple[Ints, Ints]:
    """Sets and which of some places, each of one key and so much room, they may have.

    Args:
        sets: The sets, ascending, each as often as it has keys.
        keys: What they offer.
        keys_of: The keys of the places.
        room: How many sets each place may take.
    """
    order = np.argsort(keys_of, kind="stable")
    places = np.repeat(order, room[order])
    rooms = np.bincount(keys_of[places], minlength=int(keys.max(initial=0)) + 1)
    wanted = rooms[keys] > 0
    sets, keys = sets[wanted], keys[wanted]
    if not len(sets):
        return sets, keys
    starts = np.flatnonzero(is_first(sets))
    widest = split_numbers(np.maximum.reduceat(join_numbers(rooms[keys], keys), starts))[1]
    order = np.argsort(widest, kind="stable")
    sets, keys = sets[starts][order], widest[order]
    turn = occurrence_number(keys)
    place = (np.cumsum(rooms) - rooms)[keys] + turn
    fits = turn < rooms[keys]
    return sets[fits], places[place[fits]]
