"""The published rows of one kind of items, as a mapping from each item to its count.

Guarantee:
    The order of rows depends on the rows alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from zealous.errors import NotPublished, UsageError
from zealous.files.numbers import from_numpy, to_numpy
from zealous.libraries import np, pa, pq
from zealous.notebook import ROWS, block, grid, line, note
from zealous.record.record import PartRecord
from zealous.release.text.method_wording import count_interval, meaning_of_absence

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Item: TypeAlias = str | tuple[str, ...]
INTERVAL = ("count_low", "count_high")


@dataclass(frozen=True, kw_only=True, repr=False)
class Table(Mapping[Item, int]):
    """The published rows of one kind: `table["weather"]` is the count of an item.

    An item is a text, or a tuple of texts if it has several columns. Iterating gives the items,
    the most frequent first.

    Attributes:
        arrow: The item's columns and `count`.
        part: What release.json says about how it was made; None for a table that is not from a
            release.
    """

    arrow: pa.Table
    part: PartRecord | None = field(default=None, compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The item's columns."""
        return tuple(self.arrow.column_names[:-1])

    @cached_property
    def _counts(self) -> dict[Item, int]:
        *columns, counts = (column.to_pylist() for column in self.arrow.columns)
        items = columns[0] if len(columns) == 1 else zip(*columns, strict=True)
        return dict(zip(items, counts, strict=True))

    def __getitem__(self, item: Item) -> int:
        try:
            return self._counts[item]
        except (KeyError, TypeError):
            several = len(self.columns) > 1
            form = f"a tuple of {', '.join(self.columns)}" if several else "a text"
            raise NotPublished(
                f"the table has no such item (an item is {form}). {self._absence()}".strip()
            ) from None

    def __iter__(self) -> Iterator[Item]:
        return iter(self._counts)

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    def intervals(self) -> pa.Table:
        """The rows with `count_low` and `count_high`, the 95 % interval of each count.

        Raises:
            UsageError: The table is not from a release, so nothing says how large its noise is.
        """
        if self.part is None:
            raise UsageError("only a table of a release has intervals")
        return with_intervals(self.arrow, self.part)

    def as_written(self) -> pa.Table:
        """The rows as the files of a release have them: with intervals."""
        return self.arrow if self.part is None else self.intervals()

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame, with the columns that the files have."""
        return self.as_written().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The rows as a Polars frame, with the columns that the files have."""
        try:
            import polars as pl
        except ImportError:
            raise UsageError("this needs Polars: pip install polars") from None
        frame = pl.from_arrow(self.as_written())
        assert isinstance(frame, pl.DataFrame)  # noqa: S101
        return frame

    def title(self) -> str:
        """What it holds, in a few words."""
        name = f"{self.part.kind}: " if self.part else ""
        return f"{name}{len(self):,} row{'' if len(self) == 1 else 's'}"

    def first_rows(self) -> str:
        """The first rows with their intervals, as a notebook shows them."""
        if not len(self):
            return line(f"No row. {self._absence()}")
        if self.part is None:
            return grid(self.arrow.column_names, _rows(self.arrow))
        names = [*self.arrow.column_names, "95 % interval"]
        rows = [[*row, f"{low:,} to {high:,}"] for *row, low, high in _rows(self.intervals())]
        left = len(self) - len(rows)
        return grid(names, rows) + note(f"and {left:,} more" if left else "")

    def _absence(self) -> str:
        return meaning_of_absence([self.part]) if self.part else ""

    def __repr__(self) -> str:
        return f"Table({self.title()} of {', '.join(self.arrow.column_names)})"

    def _repr_html_(self) -> str:
        return block(self.title(), self.first_rows())


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.slice(0, ROWS).columns), strict=True))


def write_parquet(table: pa.Table, sink: Path | pa.BufferOutputStream) -> None:
    """Write the rows of a kind; with one version of Arrow the same rows are the same bytes."""
    pq.write_table(table.combine_chunks(), sink, compression="zstd")


def counted_schema(columns: Sequence[str]) -> pa.Schema:
    """The item's columns and `count`."""
    return pa.schema([*((name, pa.string()) for name in columns), ("count", pa.int64())])


def written_schema(columns: Sequence[str]) -> pa.Schema:
    """The columns of a file: those of `counted_schema`, and the interval."""
    return pa.schema([*counted_schema(columns), *((name, pa.int64()) for name in INTERVAL)])


def with_intervals(table: pa.Table, part: PartRecord) -> pa.Table:
    """Rows with the 95 % interval of each count, which holds given that the item is published."""
    counts = to_numpy(table["count"])
    lowest = int(counts.min()) if len(counts) else None
    ends = count_interval(part, lowest).endpoints(counts)
    for name, values in zip(INTERVAL, ends, strict=True):
        table = table.append_column(name, from_numpy(values.astype(np.int64)))
    return table


def sorted_table(table: pa.Table, columns: tuple[str, ...]) -> Table:
    """Rows by count from the top, then by item: an order that tells no more than the rows do."""
    keys = [("count", "descending"), *((name, "ascending") for name in columns)]
    return Table(arrow=table.sort_by(keys).combine_chunks())
