"""What an engine is: it runs the steps of a pipeline next to the data, and decides nothing."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.files.limits import Limits
from zealous.files.lines import Layout, Skipped
from zealous.files.parquet import Sizes
from zealous.files.places import Place
from zealous.registry import Registry

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

    def map_batches(self, each: Each) -> Iterator[pa.RecordBatch]:
        """The rows as `each` leaves them, which runs where they are: only what it keeps comes."""
        with self._steps() as steps:
            yield from self._engine.batches(steps, each)

    def store(self, each: Each) -> Stored:
        """The rows as `each` leaves them, drawn once, for later counts of the same log to use."""
        found = Stored.new(self._engine)
        with self._steps() as steps:
            self._engine.materialize(found.name, steps, each)
        return found


class Stored(NamedTuple):
    """Rows of (item..., count) that stay where they were counted, with the noise they got."""

    engine: Engine
    name: str

    @classmethod
    def new(cls, engine: Engine) -> Self:
        """Under a name that no other table has, for the engine to fill."""
        return cls(engine, f"stored_{next(_numbers)}")


def table_name(engine: Engine, table: pa.Table | Stored) -> str:
    """The name under which a table can be selected from on an engine."""
    if isinstance(table, Stored):
        return table.name
    name = f"given_{next(_numbers)}"
    engine.add_table(name, table)
    return name


class Opened(NamedTuple):
    """A source that can be selected from.

    Attributes:
        types: The named columns and their Arrow types.
        skipped: Lines that were left out, by reason.
        sizes: How much there is; None where metadata does not tell.
        longest: Of columns of text, or of lists of text, that were looked at: what the longest
            value counts for where texts are limited.
    """

    types: dict[str, str]
    skipped: Skipped
    sizes: Sizes | None = None
    longest: Mapping[str, int] = MappingProxyType({})


class Option(NamedTuple):
    """A setting of an engine on the command line, which takes a text.

    Attributes:
        name: Without the dashes, such as `spark-master`.
        metavar: What its value is, in capitals.
        help: What it means.
        repeated: Whether it may be given more than once.
    """

    name: str
    metavar: str
    help: str
    repeated: bool = False


class Engine(Protocol):
    """Runs SQL of DuckDB's dialect, inside a `with` block at whose end nothing of it is left.

    Attributes:
        name: What it is called by --engine, and in what is recorded.
        title: What it is called in messages.
        summary: When to choose it, in one sentence; empty for the default.
        options: Its settings on the command line, besides --memory, --threads and --temporary.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[tuple[Option, ...]]

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> Self:
        """One as the command line asks for it.

        Args:
            given: `memory`, `threads`, `temporary` and `options`, with _ for -; None or empty where
                they are not given.
        """

    def local(self) -> LocalEngine | None:
        """Itself, if the rows it works on are on this machine; else None."""

    def place(self, given: object) -> Place | None:
        """Where a log is, if this engine alone can look there; else None."""

    def columns(
        self, paths: Sequence[Path | Place], layout: Layout | None
    ) -> dict[str, str] | None:
        """The columns that all files have and their Arrow types; None where lines may differ."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(self, *_: object) -> None:
        """End, and remove what was made on the way."""

    def open(
        self,
        name: str,
        paths: Sequence[Path | Place],
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
            lists: Those of them that may hold lists of text.
            limits: Texts over these may be NULL; the steps leave out all others.
        """

    def share_done(self) -> float | None:
        """How much of what it works on now is done, 0 to 1; None where nobody knows.

        For whoever waits for it: asked from another thread, at any moment, and never part of what
        is published.
        """

    def add_table(self, name: str, table: pa.Table) -> None:
        """Let a table that Python made be selected from under a name."""

    def batches(self, steps: Sequence[Step], each: Each | None = None) -> Iterator[pa.RecordBatch]:
        """Stream the rows of the last step, each batch as `each` leaves it.

        `each` runs where the rows are, keeps the columns and their types, and is applied once to
        every row of what is yielded.
        """

    def rows(self, steps: Sequence[Step]) -> list[tuple[Any, ...]]:
        """A small result."""

    def append_rows(self, name: str, steps: Sequence[Step]) -> None:
        """Append the rows of the last step to a temporary table.

        The steps must give the same rows whenever they are run, so without noise and without
        `row_identifier`: an engine may run them again to make what it lost.
        """

    def drop(self, name: str) -> None:
        """Forget a temporary table that `append_rows` or `materialize` made, and free its rows."""

    def materialize(self, name: str, steps: Sequence[Step], each: Each) -> None:
        """Keep the rows of the last step, as `each` leaves them, under a name.

        `each` is applied once to every row, however often they are then selected: noise is not
        drawn again.
        """

    def buckets(self, rows: int, text: int) -> int:
        """In how many parts of its users a log must be worked through.

        Args:
            rows: How many rows it has.
            text: How many bytes there are in the columns that are worked on.
        """

    def rank_key(self, key: int, columns: Sequence[str]) -> str:
        """SQL: an order of a user's items that looks random and is fixed by the key."""

    def rank_bin(self, rank: str) -> str | None:
        """SQL: the bin of a rank key, 0 to 62, which never falls as the rank rises.

        None where the engine is faster without looking ahead for who can be among the first.
        """

    def kth_smallest(self, value: str, number: int) -> str | None:
        """SQL: of the so many smallest values of a group, the largest.

        None where the engine has no way to tell but sorting them all.
        """

    def row_identifier(self) -> str:
        """SQL: a whole number that no other row of a step has.

        It may be another whenever the step is run: `materialize` keeps it.
        """

    def bucket(self, column: str, buckets: int) -> str:
        """SQL: the bucket of a user, the same for all of her rows."""


class LocalEngine(Engine, Protocol):
    """An engine that works on this machine, so that Python can work on the rows too.

    What `append_rows` appends is worked out once, and may hold a `row_identifier`.

    Attributes:
        memory: The most memory it should use, in bytes.
        threads: How many threads it has.
        temporary: Where its working directory is made; None for the system's own place.
        directory: The private working directory, inside the `with` block.
    """

    memory: int
    threads: int
    temporary: Path | None
    directory: Path

    def with_resources(
        self, *, memory: int | None = None, temporary: Path | None = None
    ) -> LocalEngine:
        """One more with the same settings, but for these."""


ENGINES: Registry[type[Engine]] = Registry(
    "zealous.engines", key=lambda engine: engine.name, first=("duckdb", "spark")
)
register = ENGINES.register


def require_local(engine: Engine, what: str) -> LocalEngine:
    """An engine for what needs more than counting.

    Args:
        engine: Where to run.
        what: What is to be done, as in "k-keyword does more than count".

    Raises:
        UsageError: The rows are elsewhere.
    """
    local = engine.local()
    if local is None:
        raise UsageError(
            f"{what}, and does not run on {engine.title}: give it a log on this machine"
        )
    return local
