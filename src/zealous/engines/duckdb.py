"""DuckDB, embedded: the default engine."""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from zealous.engines.engine import Each, Opened, Option, register
from zealous.engines.sql import Step, comma_separated, identifier, literal, statement
from zealous.errors import LogError, UsageError, ZealousError, reason
from zealous.files import interrupts, parquet, standard_input
from zealous.files.frames import Frame, is_frame
from zealous.files.limits import Limits
from zealous.files.lines import Layout, Skipped, columns
from zealous.files.places import Place, place_of
from zealous.files.scratch import working_directory
from zealous.files.staging import must_stage, stage
from zealous.libraries import duckdb, pq

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS = 1 << 14  # each with texts of a few kilobytes at most
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_OVERHEAD = 600 * 10**6  # what the interpreter, Arrow and DuckDB use outside the counted memory
_LEAST_MEMORY = 10**9
# What distinct, bounding and counting hold of an entry at their peak, and how often its text.
_BYTES_PER_ROW = 120
_COPIES = 2
_SIZED = ("string", "list<element: string>")
_QUOTING = ("Invalid Input Error", "Conversion Error")  # Arrow keeps a text, but not its class
_INTERRUPTED = ("INTERRUPT Error", "Query interrupted")  # by `interrupt`; by a signal


@register
class DuckDB:
    """The embedded engine: reads and counts a log on this machine, within a memory limit.

    Args:
        memory: The most memory that the process should use, such as "4GB". By default, half of the
            machine's. Beyond it the engine spills to disk.
        threads: The number of threads. By default, one for each core.
        temporary: Where the private working directory is created.
    """

    name: ClassVar[str] = "duckdb"
    title: ClassVar[str] = "DuckDB"
    summary: ClassVar[str] = ""
    options: ClassVar[tuple[Option, ...]] = ()
    directory: Path

    def __init__(
        self,
        *,
        memory: str | None = None,
        threads: int | None = None,
        temporary: Path | None = None,
    ) -> None:
        self.memory = _bytes(memory) if memory else _physical_memory() // 2
        if self.memory < _LEAST_MEMORY:
            raise UsageError("memory must be at least 1GB")
        self.threads = threads or os.cpu_count() or 1
        self.temporary = temporary

    def __repr__(self) -> str:
        return f"DuckDB(memory='{self.memory}B', threads={self.threads})"

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> Self:
        return cls(memory=given["memory"], threads=given["threads"], temporary=given["temporary"])

    def with_resources(self, *, memory: int | None = None, temporary: Path | None = None) -> DuckDB:
        return DuckDB(
            memory=f"{memory or self.memory}B",
            threads=self.threads,
            temporary=temporary or self.temporary,
        )

    def local(self) -> DuckDB:
        """Itself: it works on this machine."""
        return self

    def place(self, given: object) -> Place | None:
        """What this process alone can look at: a table, or what is piped into it."""
        if isinstance(given, str) and given == standard_input.NAME:
            return standard_input.StandardInput(temporary=self.temporary)
        if is_frame(given):
            return Frame.of(given, self.temporary)
        if not isinstance(given, str | Path | Place):
            raise UsageError(
                "a log is named by its path or URL, or is a table that hands over Arrow, such as "
                "one of pandas, Polars, Arrow or DuckDB; a frame of Spark is read by --engine "
                "spark: engine=Spark(session)"
            )
        return None

    def columns(
        self, paths: Sequence[Path | Place], layout: Layout | None
    ) -> dict[str, str] | None:
        if layout is None:
            return parquet.common_columns(paths)
        return dict.fromkeys(columns(paths, layout) or (), "string") or None

    def __enter__(self) -> Self:
        self._until_exit = ExitStack()
        try:
            self.directory = self._until_exit.enter_context(working_directory(self.temporary))
        except OSError:
            raise UsageError("the temporary directory cannot be written: name another") from None
        self._errors = duckdb.Error
        config: dict[str, Any] = {
            "threads": self.threads,
            "memory_limit": f"{self.working_memory}B",
            "temp_directory": str(self.directory / "spill"),
            "max_temp_directory_size": f"{shutil.disk_usage(self.directory).free // 2}B",
            "preserve_insertion_order": "false",
            "TimeZone": "UTC",
            "autoinstall_known_extensions": "false",
        }
        try:
            self._connection = duckdb.connect(config=config)
            self._until_exit.callback(self._connection.close)
            # Else a query that is given up first finishes what its threads are at.
            self._until_exit.enter_context(interrupts.calling_off(self._connection.interrupt))
            _measure_progress(self._connection)
        except duckdb.Error:
            self._until_exit.close()
            raise UsageError("the engine does not take this --memory or --threads") from None
        except BaseException:  # interrupted
            self._until_exit.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._until_exit.close()

    @property
    def working_memory(self) -> int:
        """What the engine may use for its tables and sorts."""
        return max(_LEAST_MEMORY // 2, self.memory - _OVERHEAD)

    def open(
        self,
        name: str,
        paths: Sequence[Path | Place],
        layout: Layout | None = None,
        names: Sequence[str] = (),
        lists: Sequence[str] = (),
        limits: Limits | None = None,
    ) -> Opened:
        skipped, sizes = Skipped(), None
        places = [place_of(path) for path in paths]
        if not must_stage(places, layout):
            sizes = parquet.sizes(places, names)
        longest: Mapping[str, int] | None = {}
        if limits is not None and sizes is not None:
            longest = None if self._is_bulky(sizes) else self._longest_values(paths, names)
        if sizes is None or longest is None:
            staged = self.directory / f"staged-{name}.parquet"
            longest = stage(places, layout, names, lists, staged, skipped, limits, self.threads)
            paths, sizes = [staged], parquet.sizes([staged], names)
        types = parquet.column_types(paths, names)
        self._run(f"create or replace temp view {name} as {_selecting(types)} {_reading(paths)}")
        return Opened(types, skipped, sizes, longest)

    def _longest_values(
        self, paths: Sequence[Path | Place], names: Sequence[str]
    ) -> dict[str, int] | None:
        """The size of the longest value of each column of text, from one look at the files.

        None where a value cannot be read: it would end the run.
        """
        types = parquet.column_types(paths, names)
        doubtful = {name: kind for name, kind in types.items() if parquet.may_be_unreadable(kind)}
        if not doubtful:
            return {}
        sizes = [_size_of_value(identifier(name), kind) for name, kind in doubtful.items()]
        looked_at = comma_separated(f"max({each})" for each in sizes)
        try:
            found = self._run(f"select {looked_at} from {_reading(paths)}").fetchone()
        except LogError:
            return None
        return {
            name: size or 0
            for (name, kind), size in zip(doubtful.items(), found, strict=True)
            if kind in _SIZED
        }

    def _is_bulky(self, sizes: parquet.Sizes) -> bool:
        """Whether a few rows of Parquet files could hold more than there is room for.

        A thread reads 2,048 rows at a time, and all of a row group may be in them.
        """
        return sizes.largest > self.working_memory // (4 * self.threads)

    def share_done(self) -> float | None:
        with suppress(AttributeError, duckdb.Error):  # not begun, or ended
            percent = self._connection.query_progress()
            return percent / 100 if percent > 0 else None
        return None

    def add_table(self, name: str, table: pa.Table) -> None:
        path = self.directory / f"put-{name}.parquet"
        with _writing():
            pq.write_table(table, path)
        self.open(name, [path])

    def batches(self, steps: Sequence[Step], each: Each | None = None) -> Iterator[pa.RecordBatch]:
        batches = self._batches(steps)
        return map(each, batches) if each else batches

    def _batches(self, steps: Sequence[Step]) -> Iterator[pa.RecordBatch]:
        with self._wrapping():
            reader = self._connection.sql(statement(steps)).to_arrow_reader(_BATCH_ROWS)
            while (batch := next(reader, None)) is not None:
                yield batch

    @contextmanager
    def _wrapping(self) -> Iterator[None]:
        try:
            yield
        except (self._errors, OSError, ValueError, RuntimeError) as error:
            # Arrow wraps what is raised in a read; an interrupted query raises a RuntimeError.
            raise _without_data(error) from None

    def rows(self, steps: Sequence[Step]) -> list[tuple[Any, ...]]:
        result = self._run(statement(steps))
        try:
            return list(result.fetchall())
        except (self._errors, RuntimeError) as error:
            raise _without_data(error) from None

    def append_rows(self, name: str, steps: Sequence[Step]) -> None:
        known = self._run(
            f"select count(*) from duckdb_tables() where temporary and table_name = {literal(name)}"
        ).fetchone()[0]
        into = f"insert into {name}" if known else f"create temp table {name} as"
        self._run(f"{into} {statement(steps)}")

    def drop(self, name: str) -> None:
        """Forget a table, and remove the file of one that was materialized."""
        file = self._materialized_file(name)
        self._run(f"drop {'view' if file.exists() else 'table'} if exists {name}")
        file.unlink(missing_ok=True)

    def _materialized_file(self, name: str) -> Path:
        return self.directory / f"kept-{name}.parquet"

    def materialize(self, name: str, steps: Sequence[Step], each: Each) -> None:
        path = self._materialized_file(name)
        with self._wrapping():
            reader = self._connection.sql(statement(steps)).to_arrow_reader(_BATCH_ROWS)
            with _writing(), pq.ParquetWriter(path, reader.schema) as writer:
                for batch in reader:
                    writer.write_batch(each(batch))
        self.open(name, [path])

    def buckets(self, rows: int, text: int) -> int:
        needed = rows * _BYTES_PER_ROW + text * _COPIES
        return max(1, math.ceil(needed / self.working_memory))

    def rank_key(self, key: int, columns: Sequence[str]) -> str:
        """An order of a user's items that looks random and is fixed by the key.

        The inner hash alone is biased when it is ranked; hashed twice it is not (a test compares
        how often each item is selected with its expectation).
        """
        ranked = comma_separated(identifier(column) for column in columns)
        return f"hash(hash({key}::ubigint, {ranked}))"

    def rank_bin(self, rank: str) -> str:
        """The bin of a rank key, 0 to 62: finer for low ranks, which are those that are kept.

        Each operation rounds, and none of them turns the order of two ranks around.
        """
        return f"floor(62 * sqrt({rank} / 18446744073709551616.0))::tinyint"

    def kth_smallest(self, value: str, number: int) -> str:
        """Of the so many smallest values of a group, the largest; it holds no others."""
        return f"list_max(min({value}, {number}))"

    def row_identifier(self) -> str:
        return "row_number() over ()"

    def bucket(self, column: str, buckets: int) -> str:
        return f"hash({identifier(column)}) % {buckets}"

    def _run(self, sql: str) -> Any:
        try:
            return self._connection.execute(sql)
        except (self._errors, RuntimeError) as error:
            raise _without_data(error) from None


def hide_progress_bar(connection: Any) -> None:
    """Leave standard output to data.

    DuckDB refuses the setting in a notebook that cannot show a bar, and then shows none.
    """
    with suppress(duckdb.InvalidInputException):
        connection.execute("set enable_progress_bar = false")


def _measure_progress(connection: Any) -> None:
    """Let a connection tell how far a query is, and print no bar of its own."""
    with suppress(duckdb.InvalidInputException):
        connection.execute("set enable_progress_bar_print = false")
        connection.execute("set enable_progress_bar = true")


def _selecting(types: Mapping[str, str]) -> str:
    """SQL: the named columns; all where none is named.

    Only those: behind a `select *` DuckDB fails at what it cannot convert in a column that nobody
    asked for. Moments by the nanosecond in UTC have a type of their own, which it casts to few.
    """
    columns = [
        f"{name}::timestamptz as {name}" if kind.startswith("timestamp[ns, tz") else name
        for name, kind in ((identifier(each), kind) for each, kind in types.items())
    ]
    return f"select {comma_separated(columns) or '*'} from"


def _size_of_value(name: str, kind: str) -> str:
    """SQL: what a text or a list of texts counts for where texts are limited, once it was read.

    `strlen` would tell it without a look at the text.
    """
    if kind == "string":
        return f"octet_length(encode({name}))"
    if kind in _SIZED:
        text = f"octet_length(encode(array_to_string({name}, '')))"  # NULL of NULLs alone
        return f"coalesce({text}, 0) + array_length({name})"
    return f"hash({name})"


def _reading(paths: Sequence[Path | Place]) -> str:
    """SQL: the rows of Parquet files. No name is a pattern, and no folder user=x adds a column."""
    exact = (re.sub(r"[*?[]", r"[\g<0>]", str(path)) for path in paths)
    files = comma_separated(literal(path) for path in exact)
    return f"read_parquet([{files}], hive_partitioning = false)"


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = reason(error)
        raise ZealousError(
            f"the temporary directory cannot be written: {why}. Name another by --temporary"
        ) from None


def _without_data(error: BaseException) -> BaseException:
    """An error that says what to do and, unlike the engine's own, quotes no data."""
    kind, text = type(error).__name__, str(error)
    if text.startswith(_QUOTING):  # a value that it quotes may read like another error
        text = re.split("[\"']", text, maxsplit=1)[0]
    if text.startswith(_INTERRUPTED):
        return KeyboardInterrupt()
    if "OutOfMemory" in kind or "Out of Memory" in text:
        if "max_temp_directory_size" in text:
            return ZealousError(
                "the temporary directory is too small: name one with more space by --temporary"
            )
        return ZealousError("the memory limit is too small for this log: raise --memory")
    if "No space left" in text:
        return ZealousError("no space left on the disk: name another directory by --temporary")
    if "parquet" in text.lower() or kind == "Error":  # the latter for a page that is damaged
        return LogError("a Parquet file of the log is damaged or holds text that is not UTF-8")
    if kind == "ConversionException":
        return LogError("the log holds a value that is not of the type that a step reads it as")
    return ZealousError(f"the engine could not run a step ({kind})")


def _bytes(text: str) -> int:
    found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)i?B?\s*", text, flags=re.IGNORECASE)
    try:
        if found is None:
            raise ValueError
        return int(float(found[1]) * _UNITS[found[2].upper()])
    except ValueError:
        raise UsageError("memory must be a size such as 4GB or 800MB") from None


def _physical_memory() -> int:
    return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
