"""Users per item, down to the first threshold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from zealous.bound import Select, keep
from zealous.engines.sql import Step, identifier, listed
from zealous.items import Kind
from zealous.source import Source

if TYPE_CHECKING:
    import pyarrow as pa

_BYTES_PER_ROW = 160  # what distinct, bounding and counting hold of an entry at their peak


def histogram(
    kind: Kind,
    source: Source,
    *,
    bound: int,
    at_least: int,
    select: Select,
    key: int,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[pa.RecordBatch]:
    """Stream (item..., count): users per item after bounding, where at least `at_least`.

    Bounding looks at one user at a time, so a log too large for memory is worked through in
    buckets of users whose histograms are added before the threshold is applied. Nothing is dropped
    before it is bounded: that would let one user's rare items make room for her frequent ones.
    """
    item = listed(identifier(name) for name in kind.columns())
    steps = [*kind.steps(source), *keep(kind, source, most=bound, select=select, key=key)]
    count = f"select {item}, count(*) as count from kept group by {item}"
    number = buckets(source)
    if number == 1:
        thresholded = Step("histogram", f"{count} having count(*) >= {at_least}")
        yield from source.engine.batches([*source.entries, *steps, thresholded])
        return
    for part in range(number):
        say(f"counting {kind.name()}: bucket {part + 1} of {number} of the users")
        entries = source.bucket(part, number).entries
        source.engine.store("partial", [*entries, *steps, Step("histogram", count)])
    added = f"select {item}, sum(count)::bigint as count from partial group by {item}"
    yield from source.engine.batches(
        [Step("histogram", f"{added} having sum(count) >= {at_least}")]
    )
    source.engine.drop("partial")


def buckets(source: Source) -> int:
    """In how many parts of its users a log must be worked through to fit in memory."""
    return max(1, math.ceil(source.rows * _BYTES_PER_ROW / source.engine.working_memory))
