"""Users per item, down to the first threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from zealous.bound import Select, keep
from zealous.engines.engine import Counted, Each
from zealous.engines.sql import Step, identifier, listed
from zealous.items import Kind
from zealous.source import Source

if TYPE_CHECKING:
    import pyarrow as pa


def histogram(
    kind: Kind,
    source: Source,
    *,
    bound: int,
    at_least: int,
    select: Select,
    key: int,
    say: Callable[[str], None] = lambda _: None,
) -> Counted:
    """Rows of (item..., count): users per item after bounding, where at least `at_least`.

    Bounding looks at one user at a time, so a log too large for memory is worked through in
    buckets of users whose histograms are added before the threshold is applied. Nothing is dropped
    before it is bounded: that would let one user's rare items make room for her frequent ones.
    """
    item = listed(identifier(name) for name in kind.columns())
    steps = [*kind.steps(source), *keep(kind, source, most=bound, select=select, key=key)]
    count = f"select {item}, count(*) as count from kept group by {item}"
    number = source.engine.buckets(source.rows)
    if number == 1:
        thresholded = Step("histogram", f"{count} having count(*) >= {at_least}")
        return Counted(partial(source.engine.batches, [*source.entries, *steps, thresholded]))

    def in_buckets(each: Each | None) -> Iterator[pa.RecordBatch]:
        for part in range(number):
            say(f"counting {kind.name()}: bucket {part + 1} of {number} of the users")
            entries = source.bucket(part, number).entries
            source.engine.store("partial", [*entries, *steps, Step("histogram", count)])
        added = f"select {item}, sum(count)::bigint as count from partial group by {item}"
        thresholded = Step("histogram", f"{added} having sum(count) >= {at_least}")
        yield from source.engine.batches([thresholded], each)
        source.engine.drop("partial")

    return Counted(in_buckets)
