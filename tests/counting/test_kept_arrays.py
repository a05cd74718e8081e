"""Noise that some threads draw: each item's once, on the true sum of what users give to it.

Seeded releases draw in one thread, so none of them would show an item that is drawn twice or never.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from threading import Barrier

import pyarrow as pa
import pytest

from zealous.counting import kept_arrays
from zealous.counting.kept_arrays import KeptArrays

# Columns of a draw.
ITEM, LISTED, EVIDENCE, WEIGHT, STRENGTH = "item", "listed", "evidence", "weight", "strength"
ITEMS, USERS, LENGTH, LARGEST = 997, 500, 1 << 20, 1 << 10
WAIT = 60  # seconds for which a thread waits for the others


def kept_by_users() -> list[list[int]]:
    """The items of each user; the last tenth of the items is kept by nobody."""
    chance = random.Random(1)
    held = range(1, ITEMS * 9 // 10)
    return [chance.sample(held, chance.randrange(1, 12)) for _ in range(USERS)]


def sums(users: list[list[int]], strength: list[int]) -> list[int]:
    """What all users give to each item, in a second implementation."""
    total = [0] * (ITEMS + 1)
    for items in users:
        root = math.isqrt(sum(strength[item] ** 2 for item in items)) + 1
        for item in items:
            total[item] += LENGTH * strength[item] // root
    return total


class Draw:
    """What is drawn: whole numbers that depend on the item and on what it is drawn for.

    Attributes:
        evidence: Of each item so far.
        strength: Of each item for the next time.
        items: Those that were drawn, as often as they were.
        parts: How many items were drawn at a time.
        first: As many parts as there are threads: each waits until all others are begun.
    """

    def __init__(self, threads: int) -> None:
        self.evidence, self.strength = [0] * (ITEMS + 1), [0] + [LARGEST] * ITEMS
        self.items: list[int] = []
        self.parts: list[int] = []
        self.first, self.together = iter(range(threads)), Barrier(threads)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        self.parts.append(batch.num_rows)
        if next(self.first, None) is not None:
            self.together.wait(WAIT)
        rows = batch.to_pylist()
        for row in rows:
            item = row[ITEM]
            assert row[LISTED] == (item % 3 == 0)
            assert row[EVIDENCE] == self.evidence[item]
            self.items.append(item)
            true = row[WEIGHT]
            self.evidence[item] = row[EVIDENCE] = true + 3 * item
            self.strength[item] = row[STRENGTH] = (true % LARGEST) * (true % 5 > 0)
        return pa.RecordBatch.from_pylist(rows, schema=batch.schema)


@pytest.mark.parametrize("threads", range(1, 9))
def test_each_item_is_drawn_once_and_by_its_own_sum(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_arrays, "_ITEMS_AT_ONCE", 50)  # so that each thread has many parts
    users = kept_by_users()
    pairs = [(person, item) for person, items in enumerate(users) for item in items]
    items = range(1, ITEMS + 1)
    marks = [int(item % 3 == 0) for item in items]
    kept = KeptArrays.read(
        pa.table(list(zip(*pairs, strict=True)), names=["person", "item"]).to_batches(),
        pa.table([items, marks], names=["item", "listed"]).to_batches(),
        lambda numbers: iter(numbers.to_batches()),
        LARGEST,
        threads,
    )
    draw = Draw(threads)
    for _ in range(3):
        before, draw.items, draw.parts = list(draw.strength), [], []
        asked = {item for item, strength in enumerate(before) if strength}
        gone = [row[ITEM] for keys in kept.weigh(LENGTH, draw) for row in keys.to_pylist()]
        assert Counter(draw.items) == dict.fromkeys(asked, 1)
        assert len(draw.parts) > 2 * threads
        true = sums(users, before)
        assert [draw.evidence[item] - 3 * item for item in asked] == [true[item] for item in asked]
        assert set(gone) == {item for item in asked if not draw.strength[item]}
        assert len(gone) == len(set(gone)) > 0
