"""Files that the embedded engine does not read itself become one local Parquet file, once."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zealous.errors import LogError, reason
from zealous.lines import Layout, Skipped, records
from zealous.remote import Place, Remote, opened, plain, why

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 16
_BUFFER = 1 << 23  # of each column at once, however large the row groups are


def must_stage(paths: Sequence[Place], layout: Layout | None) -> bool:
    """Whether the embedded engine cannot read these files where they are."""
    return layout is not None or any(isinstance(path, Remote) for path in paths)


def stage(
    paths: Sequence[Place],
    layout: Layout | None,
    names: Sequence[str],
    lists: Sequence[str],
    target: Path,
    skipped: Skipped,
) -> None:
    """Keep the named columns as one local Parquet file.

    Args:
        paths: The files, here or in an object store.
        layout: How their lines are split; None for Parquet, whose types are kept.
        names: The columns to keep.
        lists: Those of them that hold lists of text, where lines are JSON.
        target: The file to write.
        skipped: Receives the number of lines left out, by reason.
    """
    if layout is None:
        _stage_columns(paths, names, target)
    else:
        _stage_lines(paths, layout, names, lists, target, skipped)


def _stage_lines(
    paths: Sequence[Place],
    layout: Layout,
    names: Sequence[str],
    lists: Sequence[str],
    target: Path,
    skipped: Skipped,
) -> None:
    """Split the lines once."""
    import pyarrow as pa

    if layout.delimiter is not None:
        lists = []
    kinds = [(name, pa.list_(pa.string()) if name in lists else pa.string()) for name in names]
    schema = pa.schema(kinds)
    with _writing(target, schema) as writer:
        for path in paths:
            for batch in records(path, layout, names, lists, skipped):
                writer.write_batch(batch.cast(schema))


def _stage_columns(paths: Sequence[Place], names: Sequence[str], target: Path) -> None:
    """Fetch the wanted columns of Parquet files once, in pieces of bounded size."""
    import pyarrow as pa

    schema = _schema(paths[0], names)
    for path in paths[1:]:
        if _schema(path, names) != schema:
            raise LogError(
                f"the columns of {path.name} and {paths[0].name} have different types: "
                "convert them to one"
            )
    with _writing(target, schema) as writer:
        for path in paths:
            for batch in _batches(path, names):
                columns = [batch.column(batch.schema.get_field_index(name)) for name in names]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


def _schema(path: Place, names: Sequence[str]) -> pa.Schema:
    """The wanted columns and their types, as `_batches` gives them."""
    import pyarrow as pa

    with _reading(path) as file:
        found = file.schema_arrow
    return pa.schema([(name, found.field(name).type) for name in names])


def _batches(path: Place, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    with _reading(path) as file:
        yield from file.iter_batches(batch_size=_ROWS, columns=list(names))
        if isinstance(path, Remote):
            path.check_same()


@contextmanager
def _reading(path: Place) -> Iterator[Any]:
    """A Parquet file, opened; what goes wrong with it says nothing of what it holds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with opened(path) as source:
            # Nanoseconds would turn years after 2262 into others.
            yield pq.ParquetFile(source, buffer_size=_BUFFER, coerce_int96_timestamp_unit="us")
    except (OSError, pa.ArrowException) as error:
        if isinstance(path, Remote) and plain(error).errno != errno.EIO:
            raise LogError(f"{path.name} cannot be read: {why(plain(error))}") from None
        raise LogError(f"{path.name} is not a readable Parquet file, or damaged") from None


@contextmanager
def _writing(target: Path, schema: pa.Schema) -> Iterator[Any]:
    import pyarrow.parquet as pq

    try:
        target.touch(mode=0o600)  # whatever the umask: it holds the log
        with pq.ParquetWriter(target, schema, compression="snappy", use_dictionary=False) as writer:
            yield writer
    except OSError as error:
        raise not_staged(error) from None


def not_staged(error: OSError) -> LogError:
    """What to do where the temporary directory cannot take it."""
    return LogError(
        f"the log cannot be staged in the temporary directory: {reason(error)}. Name another by "
        "--temporary"
    )
