"""The columns of Parquet files and their types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from zealous.errors import LogError
from zealous.files.lines import other_columns
from zealous.files.places import Place, place_of
from zealous.files.rows import AT_ONCE, Rows
from zealous.libraries import pa, pc, pq

_LIST = re.compile(r"(large_|fixed_size_)?list(_view)?<")
_SAME = {"large_string": "string", "string_view": "string", "null": "int32"}
_ELEMENT = 16  # bytes that an engine holds of each element of a list, however it is compressed
_BUFFER = 1 << 23  # of each column at once, however large the row groups are
YEARS_IN_MILLISECONDS = (-62_135_596_800_000, 253_402_300_799_999)  # 1 to 9999
_ARROW_TYPES = b"\x0cARROW:schema"  # a text of 12 bytes: the key of these types in the metadata
_LAST_BYTES = 8  # of a file: the length of the metadata before them, and PAR1
_FEW_ROWS = 1 << 10  # to look at: the first of them come with all of a dictionary


class Sizes(NamedTuple):
    """What metadata tells of how much files hold; only sizes work by it.

    Attributes:
        rows: How many rows.
        columns: Bytes of each of some columns, before they are compressed.
        largest: Bytes of the largest of these columns in a row group.
    """

    rows: int
    columns: dict[str, int]
    largest: int


def sizes(paths: Sequence[Path | Place], names: Sequence[str]) -> Sizes:
    """How much files hold of the named columns."""
    rows, columns, largest = 0, dict.fromkeys(names, 0), 0
    for path in paths:
        try:
            lists = _in_lists(path, names)
            with pq.ParquetFile(path, read_dictionary=lists, pre_buffer=False) as file:
                rows += file.metadata.num_rows
                for number in range(file.metadata.num_row_groups if names else 0):
                    found = _row_group_sizes(file, number, names)
                    largest = max(largest, *found.values(), 0)
                    columns = {name: size + found[name] for name, size in columns.items()}
        except (OSError, pa.ArrowException) as error:
            raise _unreadable(path, error) from None
    return Sizes(rows, columns, largest)


def _in_lists(path: Path | Place, names: Sequence[str]) -> list[str]:
    """What Parquet calls the elements of those of the named columns that are lists."""
    paths = _leaves(pq.read_metadata(path))
    return [each for each in paths if _column_of(each, names) not in (each, None)]


def _leaves(metadata: Any) -> list[str]:
    """What Parquet calls all that holds values: a column that is a list is not one of them."""
    columns = metadata.schema
    return [columns.column(number).path for number in range(len(columns))]


def _column_of(path: str, names: Sequence[str]) -> str | None:
    """Which of the named columns something is, or is a part of; None for none of them."""
    if path in names:
        return path
    return next((each for each in names if path.startswith(f"{each}.")), None)


def _row_group_sizes(file: Any, number: int, names: Sequence[str]) -> dict[str, int]:
    """The bytes of each of the named columns in a row group, before they are compressed."""
    group, found = file.metadata.row_group(number), dict.fromkeys(names, 0)
    for chunk in map(group.column, range(group.num_columns)):
        name, size = _column_of(chunk.path_in_schema, names), chunk.total_uncompressed_size
        if name is None:
            continue
        if name != chunk.path_in_schema:  # of what is in lists an engine makes a copy for each row
            element = _ELEMENT
            if chunk.has_dictionary_page:
                element += _longest_in_dictionary(file, number, chunk.path_in_schema)
            size = max(size, element * chunk.num_values)
        found[name] += size
    return found


def _longest_in_dictionary(file: Any, number: int, column: str) -> int:
    """The bytes of the longest text in a row group's dictionary of a column.

    A file holds such a text once, however many rows have it.
    """
    for batch in file.iter_batches(_FEW_ROWS, row_groups=[number], columns=[column]):
        values = batch.column(0)
        while hasattr(values, "values"):
            values = values.values
        if not pa.types.is_dictionary(values.type):
            return 0  # numbers
        if len(values.dictionary):
            return int(pc.max(pc.binary_length(values.dictionary)).as_py() or 0)
    return 0


@contextmanager
def open_parquet(path: Place) -> Iterator[Rows]:
    """The rows of a Parquet file; what goes wrong with it says nothing of what it holds."""
    try:
        with path.open_file() as source:
            file = _parquet_file(source)
            schema = file.schema_arrow
            checked = [field.name for field in schema if _is_checked_when_read(field.type)]
            if checked:
                file = _parquet_file(source, _without_arrow_types(source), checked)

            def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
                yield from file.iter_batches(batch_size=AT_ONCE, columns=list(names))
                path.check_same()

            yield Rows(schema, batches)
    except (OSError, pa.ArrowException) as error:
        if (trouble := path.reason_unreadable(error)) is not None:
            raise LogError(f"{path.name} cannot be read: {trouble}") from None
        raise _unreadable(path, error) from None


def _unreadable(path: Path | Place, error: Exception) -> LogError:
    if isinstance(error, MemoryError):
        return LogError(
            f"{path.name} takes more memory than there is, perhaps for one long list: rewrite it "
            "without long lists (docs/reference/reading-logs.md, Limits on one person's data)"
        )
    return LogError(f"{path.name} is not a readable Parquet file, or damaged")


def _parquet_file(source: Any, metadata: Any = None, dictionaries: Sequence[str] = ()) -> Any:
    """A file to read from, by its own metadata or by others; some columns as dictionaries."""
    paths = [] if metadata is None else _leaves(metadata)
    return pq.ParquetFile(
        source,
        metadata=metadata,
        read_dictionary=[each for each in paths if _column_of(each, dictionaries)],
        buffer_size=_BUFFER,
        coerce_int96_timestamp_unit="us",  # nanoseconds would turn years after 2262 into others
    )


def _is_checked_when_read(kind: pa.DataType) -> bool:
    """Whether Arrow reads such a column only if all of its texts are UTF-8.

    It reads texts into dictionaries with indices of 32 bits, and makes others of these.
    """
    if pa.types.is_dictionary(kind):
        return bool(kind.index_type.bit_width != 32)
    return any(
        _is_checked_when_read(kind.field(number).type)
        for number in range(kind.num_fields if pa.types.is_nested(kind) else 0)
    )


def _without_arrow_types(source: Any) -> Any:
    """The metadata of a file, without the types of the Arrow table that it was made of.

    Its columns are then read by the types that the file has itself, as engines read them.
    """
    with pa.OSFile(str(source)) if isinstance(source, Path) else nullcontext(source) as file:
        file.seek(file.size() - _LAST_BYTES)
        length = int.from_bytes(file.read(_LAST_BYTES)[:4], "little")
        file.seek(max(0, file.size() - _LAST_BYTES - length))
        footer = file.read(length + _LAST_BYTES)
    before, found, after = footer.rpartition(_ARROW_TYPES)
    renamed = found.replace(b":", b"-")  # as long as before: what is not known is passed over
    return pq.read_metadata(pa.BufferReader(footer[-4:] + before + renamed + after))


def schema(path: Path | Place) -> dict[str, str]:
    """The columns of a Parquet file, or of another place that has typed columns, by Arrow type."""
    with place_of(path).open_rows(()) as rows:
        found = rows.schema
    # The engine cannot tell such names apart: it would take one column for the other.
    if len({name.lower() for name in found.names}) < len(found.names):
        raise LogError(f"{path.name} has columns whose names differ in case at most: rename them")
    return {field.name: _kind(field.type) for field in found}


def common_columns(paths: Sequence[Path | Place]) -> dict[str, str]:
    """The columns of the first file; all others must have the same in the same order."""
    first = schema(paths[0])
    for path in paths[1:]:
        if tuple(schema(path)) != tuple(first):
            raise other_columns(path, paths[0])
    return first


def in_milliseconds(kind: str) -> bool:
    """Whether a column has moments of which 64 bits hold more than engines read."""
    return "timestamp[ms" in kind


def may_be_unreadable(kind: str) -> bool:
    """Whether a column can hold a value at which an engine stops.

    A text may not be UTF-8, a time may not be within a day, and of milliseconds 64 bits hold more
    than of microseconds.
    """
    return in_milliseconds(kind) or any(each in kind for each in ("string", "time32[", "time64["))


def column_types(paths: Sequence[Path | Place], wanted: Sequence[str]) -> dict[str, str]:
    """The types of the wanted columns, which must be the same in all files."""
    known = schema(paths[0])
    first = {name: known[name] for name in wanted}
    for path in paths[1:]:
        other = schema(path)
        if {name: other.get(name) for name in wanted} != first:
            raise LogError(
                f"the columns of {path.name} and {paths[0].name} have different types: "
                "convert them to one"
            )
    return first


def _kind(found: pa.DataType) -> str:
    """An Arrow type's name; types that are stored and read alike have one name."""
    name = str(found)
    if pa.types.is_dictionary(found):
        return _kind(found.value_type)
    if _LIST.match(name):
        return f"list<element: {_kind(found.value_type)}>"
    if "binary" in name:
        return "binary"
    return "int64" if name.startswith("duration") else _SAME.get(name, name)
