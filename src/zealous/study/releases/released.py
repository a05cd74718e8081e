"""What a method leaves of one kind, laid beside the original."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zealous.errors import ReleaseError
from zealous.study.releases.original_histogram import Ints, Original

_BETWEEN = "\0"  # stands in no item


@dataclass(frozen=True, kw_only=True)
class Released:
    """A histogram, item by item beside the original.

    Attributes:
        original: What it is compared with.
        index: The rows of the original that it holds, ascending: below j are those of the j most
            frequent items.
        counts: Its count of each of them.
        beyond: Its rows that the original does not have, as after scrubbing: item's columns, count.
    """

    original: Original
    index: Ints
    counts: Ints
    beyond: pa.Table

    @cached_property
    def total(self) -> int:
        """The sum of all its counts."""
        return int(self.counts.sum()) + int(pc.sum(self.beyond["count"]).as_py() or 0)

    def __len__(self) -> int:
        return len(self.index) + int(self.beyond.num_rows)

    def table(self) -> pa.Table:
        """The rows as a recipient sees them, in no particular order."""
        found = self.original.items.take(self.index)
        found = found.append_column("count", pa.array(self.counts))
        return pa.concat_tables([found, self.beyond])


def released_by_index(original: Original, index: Ints, counts: Ints) -> Released:
    """A histogram whose items are known as rows of the original."""
    order = np.argsort(index, kind="stable")
    return Released(
        original=original,
        index=index[order],
        counts=counts[order],
        beyond=_schema(original).empty_table(),
    )


def released_by_text(original: Original, table: pa.Table) -> Released:
    """A histogram as it is published: the item's columns and `count`.

    Raises:
        ReleaseError: The columns are others, or hold something else.
    """
    schema = _schema(original)
    if not set(schema.names) <= set(table.column_names):
        raise ReleaseError(
            f"a table of {original.kind} must have the columns {', '.join(schema.names)}"
        )
    try:
        table = table.select(schema.names).cast(schema)
    except pa.ArrowException:
        raise ReleaseError(
            f"a table of {original.kind} must hold texts, and whole numbers as count"
        ) from None
    if any(column.null_count for column in table.columns):
        raise ReleaseError(f"a table of {original.kind} has empty cells: remove those rows")
    names = original.items.column_names
    table = table.group_by(names).aggregate([("count", "sum")])  # an item twice is one item
    table = table.rename_columns(schema.names).combine_chunks()
    place = pc.index_in(_key(original.items), value_set=_key(table))
    known = np.flatnonzero(place.is_valid().to_numpy(zero_copy_only=False))
    rows = place.drop_null().to_numpy()
    strange = np.ones(table.num_rows, bool)
    strange[rows] = False
    return Released(
        original=original,
        index=known,
        counts=table["count"].to_numpy()[rows],
        beyond=table.filter(pa.array(strange)),
    )


def original_as_release(original: Original) -> Released:
    """The original as its own release: what a perfect one would be."""
    return released_by_index(original, np.arange(len(original)), original.users)


def _schema(original: Original) -> pa.Schema:
    names = original.items.column_names
    return pa.schema([*((name, pa.string()) for name in names), ("count", pa.int64())])


def _key(table: pa.Table) -> pa.Array:
    """One text for each item."""
    columns = [table[name].combine_chunks() for name in table.column_names if name != "count"]
    if len(columns) == 1:
        return columns[0]
    return pc.binary_join_element_wise(*columns, _BETWEEN)
