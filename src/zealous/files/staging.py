"""What the embedded engine does not read itself becomes one local Parquet file, once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from zealous.errors import LogError, reason
from zealous.files.arrow_types import as_stored, stored_type
from zealous.files.limits import Limits, without_long_texts
from zealous.files.lines import Layout, Skipped, records
from zealous.files.places import Place
from zealous.files.text_sizes import text_sizes
from zealous.libraries import pa, pq

_ROW_GROUP = 1 << 25  # bytes: an engine may have to hold all of it at once
_INVALID = "a text that is not UTF-8 (only that text is left out)"


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
    threads: int = 1,
) -> dict[str, int]:
    """Keep the named columns as one local Parquet file.

    Args:
        paths: The files, frames or queries, wherever they are.
        layout: How their lines are split; None where columns have types, which are kept.
        names: The columns to keep.
        lists: Those of them that hold lists of text, where each value has a type of its own.
        target: The file to write.
        skipped: Receives the number of lines left out, by reason.
        limits: Texts over these are NULL.
        threads: How many blocks of text are split at once.

    Returns:
        The size of the longest value of each column of text that was kept; of a list of texts, what
        it counts for where texts are limited.
    """
    longest: dict[str, int] = {}
    if layout is None:
        schema, batches = _columns(paths, names, lists)
    else:
        schema, batches = _lines(paths, layout, names, lists, skipped, threads)
    with writing_parquet(target, schema) as writer:
        for batch in batches:
            if limits is not None:
                batch = without_long_texts(batch, limits, skipped)
            if layout is None:
                batch = _without_invalid_values(batch, schema, skipped)
            batch = batch.cast(schema)
            _add_longest(longest, batch)
            writer.write(batch)
    return longest


def _add_longest(longest: dict[str, int], batch: pa.RecordBatch) -> None:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        sizes = text_sizes(column)
        if sizes is not None and len(sizes):
            longest[name] = max(longest.get(name, 0), int(sizes.max()))


def _lines(
    paths: Sequence[Place],
    layout: Layout,
    names: Sequence[str],
    lists: Sequence[str],
    skipped: Skipped,
    threads: int,
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Lines, split."""
    lists = layout.lists(lists)
    kinds = [(name, pa.list_(pa.string()) if name in lists else pa.string()) for name in names]
    found = (records(path, layout, names, lists, skipped, threads) for path in paths)
    batches = itertools.chain.from_iterable(found)
    return pa.schema(kinds), batches


def _columns(
    paths: Sequence[Place], names: Sequence[str], lists: Sequence[str]
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The types in which the wanted columns are kept, and their rows in pieces of bounded size."""
    schema = _schema(paths[0], names, lists)
    for path in paths[1:]:
        if _schema(path, names, lists) != schema:
            raise LogError(
                f"the columns of {path.name} and {paths[0].name} have different types: "
                "convert them to one"
            )
    return schema, (batch for path in paths for batch in _batches(path, names, lists))


def _schema(path: Place, names: Sequence[str], lists: Sequence[str]) -> pa.Schema:
    """The wanted columns and the types in which they are kept."""
    with path.open_rows(lists) as rows:
        types = {name: rows.schema.field(name).type for name in names}
    return pa.schema([(name, stored_type(kind) or kind) for name, kind in types.items()])


def _batches(path: Place, names: Sequence[str], lists: Sequence[str]) -> Iterator[pa.RecordBatch]:
    with path.open_rows(lists) as rows:
        for batch in rows.batches(names):
            yield batch.select(list(names))


def _without_invalid_values(
    batch: pa.RecordBatch, schema: pa.Schema, skipped: Skipped
) -> pa.RecordBatch:
    """A batch in which texts that are not UTF-8, and times that are none, are NULL."""
    columns = (
        as_stored(column, kind) if stored_type(column.type) is not None else column
        for column, kind in zip(batch.columns, schema.types, strict=True)
    )
    valid = [_valid(column, skipped) for column in columns]
    return pa.RecordBatch.from_arrays(valid, schema=schema)


def _valid(column: pa.Array, skipped: Skipped) -> pa.Array:
    if hasattr(column, "offsets"):
        values = _valid(column.values, skipped)
        return type(column).from_arrays(column.offsets, values, column.type, mask=column.is_null())
    if _is_valid(column):
        return column
    kept = [number if _is_valid(column.slice(number, 1)) else None for number in range(len(column))]
    if pa.types.is_string(column.type):
        skipped[_INVALID] += kept.count(None)
    return column.take(pa.array(kept, pa.int64()))


def _is_valid(column: pa.Array) -> bool:
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


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
def writing_parquet(target: Path, schema: pa.Schema) -> Iterator[_RowGroups]:
    """A new Parquet file that its owner alone can read, for batches."""
    try:
        target.touch(mode=0o600)  # whatever the umask: it holds the log
        with pq.ParquetWriter(target, schema, compression="none", use_dictionary=False) as writer:
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
