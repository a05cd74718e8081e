"""What an engine is: it runs the steps of a pipeline next to the data, and decides nothing."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from zealous.engines.sql import Step, identifier
from zealous.files.limits import Limits
from zealous.files.lines import Layout, Skipped
from zealous.files.parquet import Sizes

if TYPE_CHECKING:
    import pyarrow as pa

Each = Callable[["pa.RecordBatch"], "pa.RecordBatch"]
_numbers = itertools.count()  # of tables, so that none is put in the place of another


class Counted:
    """Rows of (item..., count) that are still where they are counted, when they are asked for.

    Args:
        engine: Where they are counted.
        steps: Gives the steps that count them, and removes what that took when it is left.
    """

    def __init__(
        self, engine: Engine, steps: Callable[[], AbstractContextManager[Sequence[Step]]]
    ) -> None:
        self._engine = engine
        self._steps = steps

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        with self._steps() as steps:
            yield from self._engine.batches(steps)

    def through(self, each: Each) -> Iterator[pa.RecordBatch]:
        """The rows as `each` leaves them, which runs where they are: only what it keeps comes."""
        with self._steps() as steps:
            yield from self._engine.batches(steps, each)

    def stored(self, each: Each) -> Stored:
        """The rows as `each` leaves them, drawn once, for later counts of the same log to use."""
        found = Stored.new(self._engine)
        with self._steps() as steps:
            self._engine.keep(found.name, steps, each)
        return found


class Stored(NamedTuple):
    """Rows of (item..., count) that stay where they were counted, with the noise they got."""

    engine: Engine
    name: str

    @classmethod
    def new(cls, engine: Engine) -> Self:
        """Under a name that no other table has, for the engine to fill."""
        return cls(engine, f"stored_{next(_numbers)}")

    def of(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        """Those of the items of a table."""
        other = named(self.engine, table)
        same = " and ".join(
            f"kept.{identifier(name)} = known.{identifier(name)}" for name in table.column_names
        )
        sql = f"select kept.* from {self.name} as kept semi join {other} as known on {same}"
        return self.engine.batches([Step("of", sql)])

    def above(self, threshold: int) -> Iterator[pa.RecordBatch]:
        """Those with a count strictly above a threshold."""
        sql = f"select * from {self.name} where count > {threshold}"
        return self.engine.batches([Step("above", sql)])


def named(engine: Engine, table: pa.Table | Stored) -> str:
    """The name under which a table can be selected from on an engine."""
    if isinstance(table, Stored):
        return table.name
    name = f"given_{next(_numbers)}"
    engine.put(name, table)
    return name


class Opened(NamedTuple):
    """A source that can be selected from.

    Attributes:
        types: The named columns and their Arrow types.
        skipped: Lines that were left out, by reason.
        sizes: How much there is; None where metadata does not tell.
    """

    types: dict[str, str]
    skipped: Skipped
    sizes: Sizes | None = None


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
        limits: Limits | None = None,
    ) -> Opened:
        """Let files be selected from under a name.

        Args:
            name: The name.
            paths: Where they are.
            layout: How lines are split; None for Parquet.
            names: The columns that are needed.
            lists: Those of them that hold lists of text, where lines are JSON.
            limits: Texts over these may be NULL; the steps leave out all others.
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

    def keep(self, name: str, steps: Sequence[Step], each: Each) -> None:
        """Keep the rows of the last step, as `each` leaves them, under a name.

        `each` is applied once to every row, however often they are then selected: noise is not
        drawn again.
        """
        ...

    def buckets(self, rows: int, text: int) -> int:
        """In how many parts of its users a log must be worked through.

        Args:
            rows: How many rows it has.
            text: How many bytes there are in the columns that are worked on.
        """
        ...

    def rank_key(self, key: int, columns: Sequence[str]) -> str:
        """SQL: an order of a user's items that looks random and is fixed by the key."""
        ...

    def rank_place(self, rank: str) -> str | None:
        """SQL: a rank key's place, 0 to 62, which never falls as the rank rises.

        None where the engine is faster without looking ahead for who can be among the first.
        """
        ...

    def last_of_smallest(self, value: str, number: int) -> str | None:
        """SQL: of the so many smallest values of a group, the largest.

        None where the engine has no way to tell but sorting them all.
        """
        ...

    def bucket(self, column: str, buckets: int) -> str:
        """SQL: the bucket of a user, the same for all of her rows."""
        ...
