"""A table in this process: of pandas, Polars, Arrow, DuckDB, or of whatever library has Arrow.

What has a length holds its rows and is read whenever they are needed. Anything else is a stream,
which can be read once: its rows are staged then, and the file is there for as long as the log is.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from zealous.errors import LogError, UsageError, ZealousError
from zealous.files.arrow_types import as_stored, stored_type, without_views
from zealous.files.on_engine import OnEngine
from zealous.files.parquet import open_parquet
from zealous.files.places import place_of
from zealous.files.rows import AT_ONCE, Rows
from zealous.files.scratch import working_directory
from zealous.files.single_values import column_of, column_type
from zealous.files.staging import staging_error, writing_parquet
from zealous.libraries import pa


def is_frame(given: object) -> bool:
    """Whether something is a table in this process, or a stream of rows."""
    return hasattr(given, "__arrow_c_stream__") and not isinstance(given, type)


@dataclass(frozen=True, kw_only=True, eq=False)
class Frame(OnEngine):
    """A table in this process.

    Attributes:
        given: The table.
        read_once: Its rows, where they can be read only once; None where it holds them.
    """

    given: Any = field(repr=False)
    read_once: _Stream | None = field(default=None, repr=False)

    @classmethod
    def of(cls, given: Any, temporary: Path | None) -> Self:
        """The place of a table.

        Args:
            given: The table.
            temporary: Where a stream is staged; the system's own place where not given.
        """
        stream = None if hasattr(given, "__len__") else _Stream(given, temporary)
        return cls(name=f"the {type(given).__name__}", given=given, read_once=stream)

    @contextmanager
    def open_rows(self, lists: Sequence[str]) -> Iterator[Rows]:
        """Its rows, in the types that a Parquet file has."""
        if self.read_once is not None:
            with _reading(self.name):
                yield stored_rows(self.read_once.rows(), self.name)
        elif hasattr(self.given, "iloc"):
            with _reading(self.name):
                yield _pandas_rows(self.given, self.name, lists)
        else:
            with _reading(self.name):
                reader = pa.RecordBatchReader.from_stream(self.given)
                yield stored_rows(arrow_rows(reader), self.name)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """What another library says of its rows may quote them."""
    try:
        yield
    except (ZealousError, MemoryError):
        raise
    except Exception as error:
        raise LogError(f"{name} cannot be read to its end ({type(error).__name__})") from None


def arrow_rows(reader: Any) -> Rows:
    """The rows of a reader, in pieces of bounded size."""

    def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in reader:
            chosen = pa.record_batch([without_views(batch[each]) for each in names], list(names))
            for start in range(0, len(chosen), AT_ONCE):
                yield chosen.slice(start, AT_ONCE)

    return Rows(reader.schema, batches)


def stored_rows(rows: Rows, name: str) -> Rows:
    """The same rows in the types that a Parquet file has."""
    names = _distinct(rows.schema.names, name)
    types = {each: stored_type(rows.schema.field(each).type) for each in names}
    schema = _schema(types).with_metadata(rows.schema.metadata)

    def batches(wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        chosen = pa.schema([schema.field(each) for each in wanted])
        for each in wanted:
            if types[each] is None:
                raise unreadable_type(each, rows.schema.field(each).type)
        for batch in rows.batches(wanted):
            columns = map(as_stored, batch.columns, chosen.types)
            yield pa.RecordBatch.from_arrays(list(columns), schema=chosen)

    return Rows(schema, batches)


def _schema(types: Mapping[str, pa.DataType | None]) -> pa.Schema:
    """The columns; one whose type is refused where it is used stands for binary values."""
    return pa.schema([(name, kind or pa.binary()) for name, kind in types.items()])


def unreadable_type(column: str, kind: object) -> UsageError:
    """What to do with a column whose values are neither ids nor items nor times."""
    what = str(kind).partition("<")[0].partition("(")[0]
    return UsageError(
        f"column {column!r} holds {what} values, which are neither text nor numbers nor times: "
        "convert it to text, or name another one, such as by --user COLUMN"
    )


def _distinct(names: Sequence[Any], frame: str) -> list[str]:
    if not all(isinstance(each, str) for each in names):
        raise LogError(f"{frame} has columns whose names are no texts: rename them")
    if len(set(names)) < len(names):
        raise LogError(f"{frame} has two columns of one name: rename one of them")
    return list(names)


class _Stream:
    """The rows of what can be read once: staged when they are first asked for, and kept."""

    def __init__(self, given: Any, temporary: Path | None) -> None:
        with _reading(f"the {type(given).__name__}"):
            self._reader = pa.RecordBatchReader.from_stream(given)
        self._schema = self._reader.schema
        self._temporary = temporary
        self._staged: Path | None = None

    def rows(self) -> Rows:
        return Rows(self._schema, self._batches)

    def _batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        if self._staged is None:
            self._staged = self._stage()
        with open_parquet(place_of(self._staged)) as rows:
            yield from rows.batches(names)

    def _stage(self) -> Path:
        """A private file with all that can be kept, which is removed with this, or at exit."""
        kept, process = ExitStack(), os.getpid()
        try:
            target = kept.enter_context(working_directory(self._temporary)) / "stream.parquet"
        except OSError as error:
            raise staging_error(error) from None
        rows = stored_rows(arrow_rows(self._reader), "the stream")
        names = [each.name for each in self._schema if stored_type(each.type) is not None]
        try:
            with writing_parquet(target, pa.schema([rows.schema.field(n) for n in names])) as file:
                for batch in rows.batches(names):
                    file.write(batch)
        except BaseException:
            kept.close()
            raise
        weakref.finalize(self, _close_if_own_process, process, kept.close)
        return target


def _close_if_own_process(process: int, close: Callable[[], None]) -> None:
    """A process that was forked off does not remove what is another's."""
    if os.getpid() == process:
        close()


def _pandas_rows(frame: Any, name: str, lists: Sequence[str]) -> Rows:
    """The rows of a pandas frame, whose `object` columns may hold anything in every row."""
    names = _distinct(list(frame.columns), name)
    types = {each: _pandas_type(frame[each], each in lists) for each in names}

    def batches(wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for each in wanted:
            if types[each] is None:
                raise unreadable_type(each, frame[each].dtype)
        for start in range(0, len(frame), AT_ONCE):
            piece = frame.iloc[start : start + AT_ONCE]
            columns = [_pandas_column(piece[each], types[each], each in lists) for each in wanted]
            yield pa.RecordBatch.from_arrays(columns, names=list(wanted))

    return Rows(_schema(types), batches)


def _holds_anything(dtype: Any) -> bool:
    """Whether each value has a type of its own, or may be half a character."""
    inside = getattr(dtype, "categories", None)
    return str(dtype if inside is None else inside.dtype) in ("object", "string", "str")


def _pandas_type(column: Any, is_list: bool) -> pa.DataType | None:
    if _holds_anything(column.dtype):
        return column_type(is_list=is_list)
    try:
        return stored_type(pa.Array.from_pandas(column.iloc[:0]).type)
    except (pa.ArrowException, TypeError, ValueError):
        return None


def _pandas_column(column: Any, kind: Any, is_list: bool) -> Any:
    if _holds_anything(column.dtype):
        return column_of(column.tolist(), is_list=is_list)
    found = pa.Array.from_pandas(column)  # in pieces, where pandas holds it so
    pieces = found.chunks if isinstance(found, pa.ChunkedArray) else [found]
    return pa.concat_arrays([as_stored(each, kind) for each in pieces])
