"""What an engine is: it runs the steps of a pipeline next to the data, and decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from zealous.engines.sql import Step
from zealous.lines import Layout, Skipped

if TYPE_CHECKING:
    import pyarrow as pa

Each = Callable[["pa.RecordBatch"], "pa.RecordBatch"]


class Counted:
    """Rows that are still where they were counted: they come when they are asked for, once.

    Args:
        batches: Streams them, each batch as the function it is given leaves it.
    """

    def __init__(self, batches: Callable[[Each | None], Iterator[pa.RecordBatch]]) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._batches(None)

    def through(self, each: Each) -> Iterator[pa.RecordBatch]:
        """The rows as `each` leaves them, which runs where they are: only what it keeps comes."""
        return self._batches(each)


class Opened(NamedTuple):
    """A source that can be selected from.

    Attributes:
        types: The named columns and their Arrow types.
        rows: How many rows there are, as far as metadata tells; only sizes work by it.
        skipped: Lines that were left out, by reason.
    """

    types: dict[str, str]
    rows: int
    skipped: Skipped


class Engine(Protocol):
    """Runs SQL of DuckDB's dialect, inside a `with` block at whose end nothing of it is left."""

    def __enter__(self) -> Self:
        """Begin."""
        ...

    def __exit__(self, *_: object) -> None:
        """End, and remove what was made on the way."""
        ...

    def open(
        self,
        name: str,
        paths: Sequence[Any],
        layout: Layout | None = None,
        names: Sequence[str] = (),
        lists: Sequence[str] = (),
    ) -> Opened:
        """Let files be selected from under a name.

        Args:
            name: The name.
            paths: Where they are.
            layout: How lines are split; None for Parquet.
            names: The columns that are needed.
            lists: Those of them that hold lists of text, where lines are JSON.
        """
        ...

    def put(self, name: str, table: pa.Table) -> None:
        """Let a table that Python made be selected from under a name."""
        ...

    def batches(self, steps: Sequence[Step], each: Each | None = None) -> Iterator[pa.RecordBatch]:
        """Stream the rows of the last step, each batch as `each` leaves it.

        `each` runs where the rows are, keeps the columns and their types, and is applied once to
        every row of what is yielded.
        """
        ...

    def rows(self, steps: Sequence[Step]) -> list[tuple[Any, ...]]:
        """A small result."""
        ...

    def store(self, name: str, steps: Sequence[Step]) -> None:
        """Append the rows of the last step to a temporary table."""
        ...

    def drop(self, name: str) -> None:
        """Forget a temporary table."""
        ...

    def buckets(self, rows: int) -> int:
        """In how many parts of its users a log of so many rows must be worked through."""
        ...

    def rank_key(self, key: int, columns: Sequence[str]) -> str:
        """SQL: an order of a user's items that looks random and is fixed by the key."""
        ...

    def rank_place(self, rank: str) -> str | None:
        """SQL: a rank key's place, 0 to 62, which never falls as the rank rises.

        None where the engine is faster without looking ahead for who can be among the first.
        """
        ...

    def bucket(self, column: str, buckets: int) -> str:
        """SQL: the bucket of a user, the same for all of her rows."""
        ...
