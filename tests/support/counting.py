"""A count of a few lines, as mechanisms are given one; it shares nothing with the engines'."""

import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

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

    def kept_items(self, bound: int) -> "Kept":
        self.asked.append({"kept": bound})
        return Kept({user: self.given(user, bound=bound)[1] for user in self.log})

    def given(
        self,
        user: str,
        *,
        bound: int,
        only: pa.Table | None = None,
        without: pa.Table | None = None,
        steered_by: Sequence[pa.Table] = (),
        **_: Any,
    ) -> tuple[list[str], list[str]]:
        """What a user has, and the first of it, which she gives."""
        steers = [dict(zip(listed(by), by["count"].to_pylist(), strict=True)) for by in steered_by]
        has = set(self.log.get(user, ())) - set(listed(without))
        if only is not None:
            has &= set(listed(only))

        def place(item: str) -> Any:
            return [(item not in by, -by.get(item, 0)) for by in steers], self.rank(user, item)

        ranked = sorted(has, key=place)
        return ranked, ranked[:bound]

    def total(self, weights: list[int] | None = None, **asked: Any) -> dict[str, int]:
        """The weight or count of every item that somebody has."""
        total: Counter[str] = Counter()
        for user in self.log:
            has, gives = self.given(user, **asked)
            total.update(dict.fromkeys(has, 0))
            total.update(dict.fromkeys(gives, weights[len(gives) - 1] if weights else 1))
        return total


class Kept:
    """What users keep, weighed with Python's whole numbers; it remembers what it was given."""

    def __init__(self, kept: Mapping[str, Sequence[str]]) -> None:
        self.kept = kept
        self.items = sorted({item for items in kept.values() for item in items})
        self.given: list[pa.Table | None] = []

    def weights(self, user: str, strengths: Mapping[str, int], length: int) -> dict[str, int]:
        """What one user gives to each of her items."""
        mine = {item: strengths[item] for item in self.kept[user] if strengths.get(item)}
        root = math.isqrt(sum(each**2 for each in mine.values())) + 1
        return {item: length * each // root for item, each in mine.items()}

    def weigh(self, strengths: pa.Table | None, length: int) -> list[pa.RecordBatch]:
        self.given.append(strengths)
        before = dict.fromkeys(self.items, (0, 1 << 20))
        if strengths is not None:
            columns = (strengths[name].to_pylist() for name in ("item", "evidence", "weight"))
            before = {self.items[i]: (e, w) for i, e, w in zip(*columns, strict=True) if w}
        by_item = {item: weight for item, (_, weight) in before.items()}
        total = Counter(dict.fromkeys(before, 0))
        for user in self.kept:
            total.update(self.weights(user, by_item, length))
        made = {
            "item": [self.items.index(item) for item in before],
            "evidence": [evidence for evidence, _ in before.values()],
            "weight": [total[item] for item in before],
        }
        return pa.table(
            {name: pa.array(each, pa.int64()) for name, each in made.items()}
        ).to_batches()

    def without_strength(self, strengths: pa.Table) -> list[pa.RecordBatch]:
        rows = zip(strengths["item"].to_pylist(), strengths["weight"].to_pylist(), strict=True)
        found = table({self.items[item]: 0 for item, weight in rows if weight == 0})
        return found.drop_columns(["count"]).to_batches()


def published(batches: Iterable[pa.RecordBatch]) -> dict[str, int]:
    found: dict[str, int] = {}
    for batch in batches:
        assert batch.schema.names == [*COLUMNS, "count"]
        rows = pa.Table.from_batches([batch])
        for item, count in zip(listed(rows), rows["count"].to_pylist(), strict=True):
            assert item not in found, "published twice"
            found[item] = count
    return found
