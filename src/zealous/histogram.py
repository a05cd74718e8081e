"""Users per item, down to the first threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zealous.bound import Choice, Select, keep, same
from zealous.engines.engine import Counted, Stored, named
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
    weights: Sequence[int] | None = None,
    only: pa.Table | None = None,
    without: pa.Table | None = None,
    order: Stored | pa.Table | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Counted:
    """Rows of (item..., count): users per item after bounding, where at least `at_least`.

    Bounding looks at one user at a time, so a log too large for memory is worked through in
    buckets of users whose histograms are added before the threshold is applied. Nothing is dropped
    before it is bounded because of others' data: that would let one user's rare items make room
    for her frequent ones. What is public or released (`only`, `without`) may be.

    Args:
        kind: What is counted.
        source: Where it comes from.
        bound: The most items that each user keeps.
        at_least: The first threshold; with 0 even those are listed that somebody has and nobody
            kept.
        select: How each user's items are chosen.
        key: The public key of the random order.
        weights: What a kept item counts for, by how many its user keeps; 1 where not given.
        only: Items: nobody has any other.
        without: Items that nobody has any longer.
        order: (item..., count): each user keeps those of the largest count there first.
        say: Receives progress.
    """
    engine = source.engine
    if weights is None and at_least < 1:
        weights = [1] * bound
    choice = Choice(
        most=bound,
        select=select,
        key=key,
        steered_by=None if order is None else named(engine, _once(kind, order)),
        weights=None if weights is None else named(engine, _weights(weights)),
        all=at_least < 1,
    )
    item = listed(identifier(name) for name in kind.columns())
    steps = [*_of_interest(kind, source, only, without), *keep(kind, source, choice)]
    amount = "count(*)" if weights is None else "sum(weight)::bigint"
    count = f"select {item}, {amount} as count from kept group by {item}"
    number = engine.buckets(source.rows)

    @contextmanager
    def at_once() -> Iterator[list[Step]]:
        thresholded = Step("histogram", f"{count} having {amount} >= {at_least}")
        yield [*source.entries, *steps, thresholded]

    @contextmanager
    def in_buckets() -> Iterator[list[Step]]:
        for part in range(number):
            say(f"counting {kind.name()}: bucket {part + 1} of {number} of the users")
            entries = source.bucket(part, number).entries
            engine.store("partial", [*entries, *steps, Step("histogram", count)])
        added = f"select {item}, sum(count)::bigint as count from partial group by {item}"
        yield [Step("histogram", f"{added} having sum(count) >= {at_least}")]
        engine.drop("partial")

    return Counted(engine, at_once if number == 1 else in_buckets)


def _of_interest(
    kind: Kind, source: Source, only: pa.Table | None, without: pa.Table | None
) -> list[Step]:
    """The steps that yield a kind's items, the last one named `items`, without those left aside."""
    steps = kind.steps(source)
    for join, table in (("semi", only), ("anti", without)):
        if table is not None:
            # The last step gets another name, and the one that reads from it takes its place.
            *before, last = steps
            unfiltered, other = f"all_{join}", named(source.engine, table.select(kind.columns()))
            filtered = (
                f"select {unfiltered}.* from {unfiltered} {join} join {other} as known "
                f"on {same(kind, unfiltered, 'known')}"
            )
            steps = [*before, Step(unfiltered, last.sql), Step("items", filtered)]
    return steps


def _weights(weights: Sequence[int]) -> pa.Table:
    import pyarrow as pa

    given = pa.array(range(1, len(weights) + 1), pa.int64())
    return pa.table({"given": given, "weight": pa.array(weights, pa.int64())})


def _once(kind: Kind, order: Stored | pa.Table) -> Stored | pa.Table:
    """Each item once: one that were there twice would count twice for whoever has it."""
    if isinstance(order, Stored):  # a histogram has each item once
        return order
    grouped = order.group_by(list(kind.columns())).aggregate([("count", "max")])
    return grouped.rename_columns([*kind.columns(), "count"])
