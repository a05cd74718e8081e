"""How copies of tiny logs are written into one log, and found again in what is published of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zealous.audit.confidence_bounds import Counts

DIGITS = 7  # of a copy's number


class PublishedCopies(NamedTuple):
    """What was published of the copies, row by row: an item, of a copy of a side of a pair."""

    item: Counts
    pair: Counts
    side: Counts
    copy: Counts
    counts: Counts


class ItemNames(Protocol):
    """What the items of all copies are called."""

    def item_names(self, pair: int, side: int) -> list[pa.Array]:
        """The names in all copies of a side of a pair, item by item; none if `@` tells copies."""

    def published_copies(self, table: pa.Table) -> PublishedCopies:
        """The rows of a published table that belong to a copy."""


@dataclass(frozen=True)
class NamesPerCopy:
    """Each copy's items have names of their own: `q`, item, pair, side, copy."""

    column: str

    def item_names(self, pair: int, side: int) -> list[pa.Array]:
        """`@` in their names stands for the copy."""
        return []

    def published_copies(self, table: pa.Table) -> PublishedCopies:
        """All rows, by their names."""
        published = pc.cast(pc.utf8_slice_codeunits(table[self.column], 1), pa.int64()).to_numpy()
        published, copy = np.divmod(published, 10**DIGITS)
        published, side = np.divmod(published, 10)
        item, pair = np.divmod(published, 100)
        return PublishedCopies(item, pair, side, copy, table["count"].to_numpy())


class PublicList(NamedTuple):
    """What a public file holds.

    Attributes:
        header: Its columns.
        line: The line of a listed item, whose name stands for `{}`.
        always: Lines that it holds instead, whatever the copies are.
    """

    header: str
    line: str = "{}"
    always: Sequence[str] = ()


_QUERIES = PublicList("query")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A log of queries, each with its copy's number in its name, if nothing else is said.

    Attributes:
        header: The columns of the log.
        column: Where a published table has an item's name.
        lists: The public files of mechanisms that need one, by kind of items.
        shared: Makes the names where copies share some, from how many copies there are of each
            side of each pair.
    """

    header: str = "user,query"
    column: str = "query"
    lists: Mapping[str, PublicList] = field(
        default_factory=lambda: {"queries": PublicList("query")}
    )
    shared: Callable[[Sequence[int]], ItemNames] | None = None

    def names(self, sides: Sequence[int]) -> ItemNames:
        """The names of items, for so many copies of each side of each pair."""
        return NamesPerCopy(self.column) if self.shared is None else self.shared(sides)
