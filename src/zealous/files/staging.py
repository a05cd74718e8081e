"""Files that the embedded engine does not read itself become one local Parquet file, once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from zealous.errors import LogError, reason
from zealous.files.limits import Limits, without_long_texts
from zealous.files.lines import Layout, Skipped, records
from zealous.files.places import Place
from zealous.libraries import pa, pq

_ROWS = 1 << 8  # at once: each may have a text of a megabyte, until it is seen to be too long
_ROW_GROUP = 1 << 25  # bytes: an engine may have to hold all of it at once
_BUFFER = 1 << 23  # of each column at once, however large the row groups are


def must_stage(paths: Sequence[Place], layout: Layout | None) -> bool:
    """Whether the embedded engine cannot read these files where they are."""
    return layout is not None or any(path.local() is None for path in paths)


def stage(
    paths: Sequence[Place],
    layout: Layout | None,
    names: Sequence[str],
    lists: Sequence[str],
    target: Path,
    skipped: Skipped,
    limits: Limits | None = None,
) -> None:
    """Keep the named columns as one local Parquet file.

    Args:
        paths: The files, here or in an object store.
        layout: How their lines are split; None for Parquet, whose types are kept.
        names: The columns to keep.
        lists: Those of them that hold lists of text, where lines are JSON.
        target: The file to write.
        skipped: Receives the number of lines left out, by reason.
        limits: Texts over these are NULL.
    """
    if layout is None:
        schema, batches = _columns(paths, names)
    else:
        schema, batches = _lines(paths, layout, names, lists, skipped)
    with _writing(target, schema) as writer:
        for batch in batches:
            if limits is not None:
                batch = without_long_texts(batch, limits, skipped)
            writer.write(batch.cast(schema))


def _lines(
    paths: Sequence[Place],
    layout: Layout,
    names: Sequence[str],
    lists: Sequence[str],
    skipped: Skipped,
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Lines, split."""
    lists = layout.lists(lists)
    kinds = [(name, pa.list_(pa.string()) if name in lists else pa.string()) for name in names]
    batches = (batch for path in paths for batch in records(path, layout, names, lists, skipped))
    return pa.schema(kinds), batches


def _columns(
    paths: Sequence[Place], names: Sequence[str]
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The wanted columns of Parquet files, in pieces of bounded size."""
    schema = _schema(paths[0], names)
    for path in paths[1:]:
        if _schema(path, names) != schema:
            raise LogError(
                f"the columns of {path.name} and {paths[0].name} have different types: "
                "convert them to one"
            )
    batches = (batch.select(list(names)) for path in paths for batch in _batches(path, schema))
    return schema, batches


def _schema(path: Place, names: Sequence[str]) -> pa.Schema:
    """The wanted columns and their types, as `_batches` gives them."""
    with _reading(path) as file:
        found = file.schema_arrow
    return pa.schema([(name, found.field(name).type) for name in names])


def _batches(path: Place, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    with _reading(path) as file:
        yield from file.iter_batches(batch_size=_ROWS, columns=schema.names)
        path.check_same()


@contextmanager
def _reading(path: Place) -> Iterator[Any]:
    """A Parquet file, opened; what goes wrong with it says nothing of what it holds."""
    try:
        with path.open_file() as source:
            # Nanoseconds would turn years after 2262 into others.
            yield pq.ParquetFile(source, buffer_size=_BUFFER, coerce_int96_timestamp_unit="us")
    except (OSError, pa.ArrowException) as error:
        if (trouble := path.reason_unreadable(error)) is not None:
            raise LogError(f"{path.name} cannot be read: {trouble}") from None
        raise LogError(f"{path.name} is not a readable Parquet file, or damaged") from None


class _RowGroups:
    """Writes batches to a Parquet file, in row groups of bounded size."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._held: list[pa.RecordBatch] = []
        self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        self._bytes += batch.nbytes
        if self._bytes > _ROW_GROUP:
            self.flush()

    def flush(self) -> None:
        if self._held:
            table = pa.Table.from_batches(self._held)
            self._writer.write_table(table, row_group_size=max(1, len(table)))
        self._held, self._bytes = [], 0


@contextmanager
def _writing(target: Path, schema: pa.Schema) -> Iterator[_RowGroups]:
    try:
        target.touch(mode=0o600)  # whatever the umask: it holds the log
        with pq.ParquetWriter(target, schema, compression="snappy", use_dictionary=False) as writer:
            groups = _RowGroups(writer)
            yield groups
            groups.flush()
    except OSError as error:
        raise staging_error(error) from None


def staging_error(error: OSError) -> LogError:
    """What to do where the temporary directory cannot take it."""
    return LogError(
        f"the log cannot be staged in the temporary directory: {reason(error)}. Name another by "
        "--temporary"
    )
