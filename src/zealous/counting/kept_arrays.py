"""Which items each user keeps, as arrays of numbers in memory: the fast way to weigh them.

Guarantee:
    A user's weights are worked out from her own items and from what was drawn before, in whole
    numbers; nothing else of the log is in the arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zealous.engines.engine import Each
from zealous.errors import ZealousError
from zealous.files.threads import in_threads
from zealous.libraries import np, pa

if TYPE_CHECKING:
    import numpy.typing as npt

BYTES_PER_PAIR = 48  # 4 of the pair, and if each item is kept once 44 of the item, at the most
_PAIRS_AT_ONCE = 1 << 22  # that are weighed
_ITEMS_AT_ONCE = 1 << 20  # that get noise, in all threads together


@dataclass(kw_only=True, eq=False)
class KeptArrays:
    """Who keeps what, and what was drawn so far; users and items are numbers, items from 1 on.

    Attributes:
        items: The items that users keep, one user after the other.
        starts: Where each user's begin.
        listed: For each item whether it is on a public list, 1 or 0.
        evidence: Of each item.
        strength: What users give in proportion to; 0 for a key, and for 0, which is no item.
        names: Gives rows of (item...) for a table of the column `item`.
        threads: How many draw noise at a time; 1 draws it in the order of the items.
    """

    items: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    listed: npt.NDArray[np.int8]
    evidence: npt.NDArray[np.int64]
    strength: npt.NDArray[np.int32]
    names: Callable[[pa.Table], Iterator[pa.RecordBatch]]
    threads: int = 1

    @classmethod
    def read(
        cls,
        by_person: Iterable[pa.RecordBatch],
        listed: Iterable[pa.RecordBatch],
        names: Callable[[pa.Table], Iterator[pa.RecordBatch]],
        strength: int,
        threads: int = 1,
    ) -> KeptArrays:
        """Read rows of (person, item), ordered by person, and of (item, listed).

        All items begin with the same strength and without evidence.

        Raises:
            ZealousError: The rows are not in order: a user in two places would give twice.
        """
        on_list = [(each["item"].to_numpy(), each["listed"].to_numpy()) for each in listed]
        number = sum(len(numbers) for numbers, _ in on_list)
        marks = np.zeros(number + 1, np.int8)
        for numbers, marked in on_list:
            marks[numbers] = marked
        items, changes, last, rows = [], [], -1, 0
        for each in by_person:
            persons = each["person"].to_numpy()
            if np.any(np.diff(persons, prepend=last) < 0):
                raise ZealousError("the engine did not sort what users keep by user")
            first = rows + np.flatnonzero(np.diff(persons)) + 1
            changes += [first if len(persons) == 0 or persons[0] == last else [rows, *first]]
            items.append(each["item"].to_numpy().astype(np.int32))
            last, rows = (persons[-1] if len(persons) else last), rows + len(persons)
        strengths = np.full(number + 1, strength, np.int32)
        strengths[0] = 0
        return cls(
            items=np.concatenate([np.zeros(0, np.int32), *items]),
            starts=np.concatenate([np.zeros(0, np.int64), *changes]).astype(np.int64),
            listed=marks,
            evidence=np.zeros(number + 1, np.int64),
            strength=strengths,
            names=names,
            threads=threads,
        )

    def weigh(self, length: int, draw: Each) -> Iterator[pa.RecordBatch]:
        """One round, and the new keys; see `KeptTables.weigh`."""
        weights = self._sums(length)
        left = np.flatnonzero(self.strength)

        def draw_some(numbers: npt.NDArray[np.intp]) -> None:
            columns = {
                "item": numbers,
                "listed": self.listed[numbers].astype(np.int64),
                "evidence": self.evidence[numbers],
                "strength": self.strength[numbers].astype(np.int64),
                "weight": weights[numbers],
            }
            arrays = [pa.array(each) for each in columns.values()]
            drawn = draw(pa.RecordBatch.from_arrays(arrays, names=list(columns)))
            self.evidence[numbers] = drawn["evidence"].to_numpy()
            self.strength[numbers] = drawn["strength"].to_numpy()

        size = max(1, min(_ITEMS_AT_ONCE, len(left) + self.threads - 1) // self.threads)
        parts = [left[first : first + size] for first in range(0, len(left), size)]
        for _ in in_threads(draw_some, parts, self.threads):
            pass  # each item is in one part, and drawn once
        keys = left[self.strength[left] == 0]
        return self.names(pa.table({"item": keys})) if len(keys) else iter(())

    def _sums(self, length: int) -> npt.NDArray[np.int64]:
        """What all users together give to each item."""
        total = np.zeros(len(self.listed), np.int64)
        ends = np.append(self.starts[1:], len(self.items))
        first = 0
        while first < len(self.starts):
            # as many users as keep at most _PAIRS_AT_ONCE items together, and at least one
            last = int(np.searchsorted(ends, self.starts[first] + _PAIRS_AT_ONCE, side="right"))
            last = max(last, first + 1)
            begin, end = int(self.starts[first]), int(ends[last - 1])
            items, starts = self.items[begin:end], self.starts[first:last] - begin
            given = self.strength[items].astype(np.int64)
            squares = np.add.reduceat(given * given, starts)
            # Above the root of the sum of squares, however it is rounded: docs/proofs/pooled.md
            roots = np.floor(np.sqrt(squares.astype(np.float64))).astype(np.int64) + 1
            of_user = np.repeat(roots, np.diff(np.append(starts, end - begin)))
            # Sums of whole numbers below 2^53 are exact as floats too.
            total += np.bincount(items, length * given // of_user, len(total)).astype(np.int64)
            first = last
        return total

    def drop(self) -> None:
        """Do nothing: it is in memory alone, and goes with this object."""
