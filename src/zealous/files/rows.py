"""Rows in columns that have names and types, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

AT_ONCE = 1 << 8  # rows: each may have a text of a megabyte, until it is seen to be too long
LONGEST = 1 << 20  # bytes of a text, or of all in a list: a longer one is none, as a long line is


class Rows(NamedTuple):
    """Rows that can be read from their beginning.

    Attributes:
        schema: The columns.
        batches: Reads some of the columns, in batches of at most `AT_ONCE` rows.
    """

    schema: pa.Schema
    batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
