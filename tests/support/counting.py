"""A count of a few lines, as mechanisms are given one; it shares nothing with the engines'."""

import math
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pyarrow as pa

from zealous.counting.restriction import InTable
from zealous.engines.engine import Each

Log = Mapping[str, Iterable[str]]  # each user's items: the first letter is one column, the rest one

COLUMNS = ("query", "url")


def table(amounts: Mapping[str, int]) -> pa.Table:
    items = list(amounts)
    return pa.table(
        {
            "query": pa.array([item[0] for item in items], pa.string()),
            "url": pa.array([item[1:] for item in items], pa.string()),
            "count": pa.array([amounts[item] for item in items], pa.int64()),
        }
    )


def listed(rows: pa.Table | None) -> list[str]:
    if rows is None:
        return []
    columns = (rows[name].to_pylist() for name in COLUMNS)
    return ["".join(item) for item in zip(*columns, strict=True)]


def by_chance(user: str, item: str) -> int:
    return zlib.crc32(f"{user} {item}".encode())


class Counting:
    """Counts a log as the protocol says, and remembers what it was asked and answered last.

    Args:
        log: Each user's items.
        rank: Which of her items a user gives first, as far as nothing steers her.
        parts: In how many batches rows come: nothing may depend on it.
    """

    def __init__(
        self, log: Log, rank: Callable[[str, str], Any] = by_chance, parts: int = 2
    ) -> None:
        self.log, self.rank, self.parts = log, rank, parts
        self.asked: list[dict[str, Any]] = []
        self.answered: dict[str, int] = {}

    def __call__(self, **asked: Any) -> list[pa.RecordBatch]:
        self.asked.append(asked)
        total = self.total(**asked)
        self.answered = {item: total[item] for item in total if total[item] >= asked["at_least"]}
        rows = list(self.answered.items())
        parts = (dict(rows[part :: self.parts]) for part in range(self.parts))
        return [batch for part in parts for batch in table(part).to_batches()]

    def kept_items(
        self, bound: int, known: pa.Table | None = None
    ) -> AbstractContextManager["Kept"]:
        self.asked.append({"kept": bound})
        kept = {user: self.given(user, bound=bound) for user in self.log}
        return nullcontext(Kept(kept, listed(known)))

    def chosen_items(self, bound: int) -> AbstractContextManager["Chosen"]:
        self.asked.append({"chosen": bound})
        return nullcontext(Chosen({user: self.given(user, bound=bound) for user in self.log}))

    def given(
        self, user: str, *, bound: int, only: Collection[str] | None = None, **_: Any
    ) -> list[str]:
        """The first of what a user has."""
        has = {item for item in self.log.get(user, ()) if only is None or item in only}
        return sorted(has, key=lambda item: self.rank(user, item))[:bound]

    def total(self, only: Sequence[InTable] = (), **asked: Any) -> dict[str, int]:
        """How many users give each item."""
        for each in only:
            asked["only"] = set(listed(each.table))
        return Counter(item for user in self.log for item in self.given(user, **asked))


class Kept:
    """What users keep, weighed with Python's whole numbers; it remembers what was drawn."""

    def __init__(self, kept: Mapping[str, Sequence[str]], known: Iterable[str] = ()) -> None:
        self.kept, self.known = kept, set(known)
        self.items = sorted({item for items in kept.values() for item in items} | self.known)
        self.numbers = {item: number for number, item in enumerate(self.items)}
        self.drawn: list[pa.Table] = []

    def weights(self, user: str, strengths: Mapping[str, int], length: int) -> dict[str, int]:
        """What one user gives to each of her items."""
        mine = {item: strengths[item] for item in self.kept[user] if strengths.get(item)}
        root = math.isqrt(sum(each**2 for each in mine.values())) + 1
        return {item: length * each // root for item, each in mine.items()}

    def weighed(self, before: pa.Table | None, length: int) -> pa.Table:
        """Rows of (item, listed, evidence, strength, weight) without noise."""
        state = dict.fromkeys(self.items, (0, 1 << 20))
        if before is not None:
            columns = (before[name].to_pylist() for name in ("item", "evidence", "strength"))
            state = {self.items[i]: (e, s) for i, e, s in zip(*columns, strict=True) if s}
        total = Counter(dict.fromkeys(state, 0))
        strengths = {item: strength for item, (_, strength) in state.items()}
        for user in self.kept:
            total.update(self.weights(user, strengths, length))
        made = {
            "item": [self.numbers[item] for item in state],
            "listed": [int(item in self.known) for item in state],
            "evidence": [evidence for evidence, _ in state.values()],
            "strength": list(strengths.values()),
            "weight": [total[item] for item in state],
        }
        return pa.table({name: pa.array(each, pa.int64()) for name, each in made.items()})

    def weigh(self, length: int, draw: Each) -> list[pa.RecordBatch]:
        weighed = self.weighed(self.drawn[-1] if self.drawn else None, length)
        self.drawn.append(pa.Table.from_batches(map(draw, weighed.to_batches()), weighed.schema))
        return self.keys(self.drawn[-1])

    def keys(self, drawn: pa.Table) -> list[pa.RecordBatch]:
        """What a round made keys."""
        rows = zip(drawn["item"].to_pylist(), drawn["strength"].to_pylist(), strict=True)
        found = table({self.items[item]: 0 for item, strength in rows if strength == 0})
        return found.drop_columns(["count"]).to_batches()


class Chosen:
    """Which item each user chooses, the first of hers or the nearest; what was drawn is kept."""

    def __init__(self, kept: Mapping[str, Sequence[str]]) -> None:
        self.kept = kept
        self.items = sorted({item for items in kept.values() for item in items})
        self.first: dict[str, tuple[int, int]] = {}

    def count_first(self, draw: Each) -> pa.Table:
        total = Counter(items[0] for items in self.kept.values() if items)
        rows = table({item: total[item] for item in self.items})
        rows = rows.append_column("chosen:published", pa.array([0] * len(rows), pa.int64()))
        drawn = pa.Table.from_batches(map(draw, rows.to_batches()), rows.schema)
        columns = (drawn[name].to_pylist() for name in ("count", "chosen:published"))
        self.first = dict(zip(self.items, zip(*columns, strict=True), strict=True))
        return drawn

    def count_nearest(self, first: pa.Table, target: int) -> list[pa.RecordBatch]:
        total = Counter[str]()
        for items in self.kept.values():
            left = [item for item in items if not self.first[item][1]]
            total.update(sorted(left, key=lambda item: abs(self.first[item][0] - target))[:1])
        return table(total).to_batches()

    def published(self, first: pa.Table) -> list[pa.RecordBatch]:
        found = {item: count for item, (count, shown) in self.first.items() if shown}
        return table(found).to_batches()


def published(batches: Iterable[pa.RecordBatch]) -> dict[str, int]:
    found: dict[str, int] = {}
    for batch in batches:
        assert batch.schema.names == [*COLUMNS, "count"]
        rows = pa.Table.from_batches([batch])
        for item, count in zip(listed(rows), rows["count"].to_pylist(), strict=True):
            assert item not in found, "published twice"
            found[item] = count
    return found
