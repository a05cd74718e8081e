"""What a mechanism counts with: one kind of items of one log, under one key.

Guarantee:
    Every count of one part bounds contributions by the same rule and key; a mechanism is given
    counts of users (of all who keep an item, or who choose it), or sums of the weights that users
    give to items, and nothing else of the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from zealous.counting.chosen import ChosenItems, choose_items
from zealous.counting.histogram import histogram
from zealous.counting.kept import KeptTables, keep_items
from zealous.counting.kept_arrays import KeptArrays
from zealous.counting.restriction import Restriction
from zealous.items import Kind
from zealous.libraries import pa
from zealous.logs.source import Source
from zealous.privacy.units import Select


@dataclass(frozen=True, kw_only=True)
class LogCount:
    """Counts a log each time it is called; see `mechanisms.protocol.Count`.

    Attributes:
        kind: What is counted.
        source: Where it comes from.
        select: How each user's items are chosen.
        key: The public key of the random order.
        only: What each user's items must meet in every count.
        ordered: Whether rows come in the order of their items, all at once, so that noise from a
            seed falls on the same item in every run.
        say: Receives progress.
    """

    kind: Kind
    source: Source
    select: Select
    key: int
    only: tuple[Restriction, ...] = ()
    ordered: bool = False
    say: Callable[[str], None] = lambda _: None

    def __call__(
        self, *, bound: int, at_least: int, only: Sequence[Restriction] = ()
    ) -> Iterable[pa.RecordBatch]:
        """Count once."""
        counted = histogram(
            self.kind,
            self.source,
            bound=bound,
            at_least=at_least,
            select=self.select,
            key=self.key,
            only=(*self.only, *only),
            say=self.say,
        )
        if not self.ordered:
            return counted
        batches = list(counted)
        order = [(name, "ascending") for name in self.kind.counted_columns()]
        return pa.Table.from_batches(batches).sort_by(order).to_batches() if batches else []

    def kept_items(
        self, bound: int, listed: pa.Table | None = None
    ) -> AbstractContextManager[KeptTables | KeptArrays]:
        """Which items each user keeps, in numbers, until the block is left."""
        return keep_items(
            self.kind,
            self.source,
            bound=bound,
            select=self.select,
            key=self.key,
            only=self.only,
            listed=listed,
            ordered=self.ordered,
        )

    def chosen_items(self, bound: int) -> AbstractContextManager[ChosenItems]:
        """Which one of at most `bound` items each user counts for, chosen once and again."""
        return choose_items(
            self.kind,
            self.source,
            bound=bound,
            select=self.select,
            key=self.key,
            only=self.only,
            ordered=self.ordered,
        )
