"""What can be made of published smaller sets: a list that everybody knows, whoever holds what.

Things are numbered in the order of their names. A set of k things is its parent, the published set
of its first k - 1 things by its place, and its last thing: two numbers, whatever the size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from zealous.errors import UsageError
from zealous.libraries import np, pa, pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

Whole: TypeAlias = "NDArray[np.int64]"

PARENT, LAST, PLACE = "grown:parent", "grown:last", "grown:place"
NAME, CODE, WORTH = "grown:name", "grown:code", "order:worth"
MAX_CANDIDATES = 1 << 23  # candidates that are looked at: those of the most frequent smaller sets


@dataclass(frozen=True, eq=False)
class Level:
    """The published sets of one size, by place: in the order of parent, then last thing.

    Attributes:
        codes: Their things, a row each.
        parent: The place of each one's first things among the sets of one thing less.
        counts: What they were published with.
        things: How many things there are, of whatever size of set.
    """

    codes: Whole
    parent: Whole
    counts: Whole
    things: int

    @cached_property
    def keys(self) -> Whole:
        """Parent and last thing as one number, rising."""
        return self.parent * self.things + self.codes[:, -1]

    def find(self, parent: Whole, last: Whole) -> Whole:
        """The places of some sets; -1 where one was not published, or its parent was not."""
        return np.where(parent < 0, -1, find_places(self.keys, parent * self.things + last))


@dataclass(frozen=True, eq=False)
class CandidateSets:
    """All sets of one size whose smaller sets were published.

    Attributes:
        names: The names of the things.
        levels: The published sets, from single things on.
        parent: Of each candidate; rising, and `last` rises where it is the same.
        last: Of each candidate.
        worth: The least published count of the smaller sets that a candidate holds, which its own
            can hardly exceed.
        limit: What each one's own count cannot exceed but for noise; None where that is not known.
    """

    names: pa.Array
    levels: tuple[Level, ...]
    parent: Whole
    last: Whole
    worth: Whole
    limit: Whole | None = None

    KEY: ClassVar[tuple[str, str]] = (PARENT, LAST)

    def __len__(self) -> int:
        return len(self.parent)

    def with_count_limits(self, counts: Whole | None = None) -> CandidateSets:
        """The same, knowing that nobody counts for a set and not for its parts.

        Args:
            counts: Of single things, where these are not the counts that they are ordered by.
        """
        if counts is None:
            return replace(self, limit=self.worth)
        return replace(self, limit=np.minimum(counts[self.parent], counts[self.last]))

    def possibly_above(self, count: int) -> CandidateSets:
        """Those that can truly be above a count."""
        if self.limit is None:
            return self
        kept = self.limit > count
        some = (each[kept] for each in (self.parent, self.last, self.worth, self.limit))
        return CandidateSets(self.names, self.levels, *some)

    def items(self, places: Whole) -> pa.RecordBatch:
        """(grown:parent, grown:last) of the candidates at some places."""
        return pa.record_batch([self.parent[places], self.last[places]], names=self.KEY)

    def places(self, items: pa.Table) -> Whole:
        """Where in the list some candidates are; -1 for what is none."""
        parent, last = (items[name].to_numpy() for name in self.KEY)
        things = len(self.names)
        found = find_places(self._keys, parent * things + last)
        return np.where((parent >= 0) & (last >= 0) & (last < things), found, -1)

    @cached_property
    def _keys(self) -> Whole:
        return self.parent * len(self.names) + self.last

    def columns(self, parent: Whole, last: Whole) -> list[pa.Array]:
        """The names of the things of some candidates, first to last."""
        codes = self.levels[-1].codes[parent]
        return [self.names.take(pa.array(each)) for each in (*codes.T, last)]

    def numbers(self, things: Sequence[pa.ChunkedArray]) -> tuple[Whole, Whole]:
        """Parent and last thing of some sets by their names; -1 where that was not published."""
        codes = _codes(things, self.names)
        known = (codes >= 0).all(axis=1)
        return np.where(known, _find_sets(self.levels, codes[:, :-1]), -1), codes[:, -1]

    def things(self) -> pa.Table:
        """(grown:name, grown:code, order:worth) of all published things."""
        codes = np.arange(len(self.names))
        return pa.table({NAME: self.names, CODE: codes, WORTH: self.levels[0].counts})

    def used_things(self) -> pa.Table:
        """Those of the things of which there are candidates."""
        codes = np.unique(self.levels[-1].codes[np.unique(self.parent)])
        return self.things().take(np.union1d(codes, self.last))

    def smaller_sets(self, size: int) -> pa.Table:
        """(grown:parent, grown:last, grown:place) of the published sets of such a size."""
        level = self.levels[size - 1]
        places = np.arange(len(level.codes))
        return pa.table({PARENT: level.parent, LAST: level.codes[:, -1], PLACE: places})

    def candidate_table(self) -> pa.Table:
        """(grown:parent, grown:last, order:worth) of all candidates of three things and more."""
        return pa.table({PARENT: self.parent, LAST: self.last, WORTH: self.worth})


def find_places(keys: Whole, wanted: Whole) -> Whole:
    """The places of some numbers among others that rise; -1 where one is not there."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[found] == wanted, found, -1)


def candidate_itemsets(released: Sequence[pa.Table], most: int = MAX_CANDIDATES) -> CandidateSets:
    """The sets of one thing more than the last table's, all of whose parts were published.

    Args:
        released: (item..., count) of sets of 1, 2, ... things, each set in the order of its names.
        most: No more candidates than this are looked at: those of sets with the largest counts.
    """
    names, levels = _levels(released)
    top = levels[-1]

    def others(kept: Whole) -> tuple[Whole, Whole]:
        """Those with the same things but the last, and a later last."""
        parent = top.parent[kept]
        return np.arange(1, len(kept) + 1), np.searchsorted(parent, parent, "right")

    parent, other = _joined_pairs(top, most, others)
    whole = np.column_stack([top.codes[parent], top.codes[other, -1]])
    worth = np.minimum(top.counts[parent], top.counts[other])
    published = np.ones(len(parent), np.bool_)
    size = whole.shape[1]
    for part in combinations(range(size), size - 1) if size > 2 else ():
        place = _find_sets(levels, whole[:, part])
        published &= place >= 0
        worth = np.minimum(worth, top.counts[place])
    return CandidateSets(names, levels, parent[published], whole[published, -1], worth[published])


def candidate_sequences(released: Sequence[pa.Table], most: int = MAX_CANDIDATES) -> CandidateSets:
    """The sequences of one thing more whose beginning and whose end were both published.

    Args:
        released: (item..., count) of sequences of 1, 2, ... things.
        most: No more candidates than this are looked at: those of the largest counts.
    """
    names, levels = _levels(released)
    top = levels[-1]

    def others(kept: Whole) -> tuple[Whole, Whole]:
        """Those that begin as it ends."""
        parent, end = top.parent[kept], _find_sets(levels, top.codes[kept, 1:])
        return np.searchsorted(parent, end, "left"), np.searchsorted(parent, end, "right")

    parent, other = _joined_pairs(top, most, others)
    worth = np.minimum(top.counts[parent], top.counts[other])
    return CandidateSets(names, levels, parent, top.codes[other, -1], worth)


def _joined_pairs(
    top: Level, most: int, others: Callable[[Whole], tuple[Whole, Whole]]
) -> tuple[Whole, Whole]:
    """Two sets that make a larger one, by their places, for as many as may be looked at.

    Args:
        top: Published sets.
        most: How many pairs there may be.
        others: From the places of some of them, in order, to the first and the end of those
            positions there whose sets each can be joined with.
    """
    order = np.lexsort((np.arange(len(top.counts)), -top.counts))
    few, many = 0, len(order) + 1  # so many are few enough, and so many are too many
    while many - few > 1:
        size = len(order) if many > len(order) and few == 0 else (few + many) // 2
        first, end = others(np.sort(order[:size]))
        few, many = (size, many) if (end - first).sum() <= most else (few, size)
    kept = np.sort(order[:few])
    first, end = others(kept)
    left = np.repeat(np.arange(len(kept)), end - first)
    within = np.arange(len(left)) - np.repeat(np.cumsum(end - first) - (end - first), end - first)
    return kept[left], kept[first[left] + within]


def _levels(released: Sequence[pa.Table]) -> tuple[pa.Array, tuple[Level, ...]]:
    """The names of the things, and the published sets of each size."""
    first = released[0]
    names = pc.unique(first.column(0).combine_chunks()).sort()
    levels: list[Level] = []
    for table in released:
        columns = [name for name in table.column_names if name != "count"]
        codes = _codes([table[name] for name in columns], names)
        counts = table["count"].to_numpy().astype(np.int64)
        parent = _find_sets(levels, codes[:, :-1])
        known = (parent >= 0) & (codes >= 0).all(axis=1)
        codes, counts, parent = codes[known], counts[known], parent[known]
        order = np.lexsort((codes[:, -1], parent))
        level = Level(codes[order], parent[order], counts[order], len(names))
        if (np.diff(level.keys) <= 0).any():
            raise UsageError("what was published twice cannot be told apart in larger sets")
        levels.append(level)
    return names, tuple(levels)


def _codes(things: Sequence[pa.ChunkedArray], names: pa.Array) -> Whole:
    """The numbers of things by their names, a row a set; -1 for a name that is none."""
    coded = (pc.index_in(each, value_set=names) for each in things)
    return np.column_stack([pc.fill_null(each, -1).to_numpy() for each in coded]).astype(np.int64)


def _find_sets(levels: Sequence[Level], codes: Whole) -> Whole:
    """The places of sets by their things; -1 where one was not published."""
    place = np.zeros(len(codes), np.int64)
    for level, last in zip(levels, codes.T, strict=False):
        place = level.find(place, last)
    return place
