"""Columns of any Arrow producer as those that a Parquet file holds and every engine reads."""

from __future__ import annotations

from typing import Any

from zealous.files.rows import LONGEST
from zealous.files.text_sizes import list_sizes, text_sizes, without_long
from zealous.libraries import np, pa, pc

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6}
_MOST_SECONDS = 2**63 // 10**6 - 1  # that a timestamp in microseconds can be from 1970


def stored_type(kind: pa.DataType) -> pa.DataType | None:
    """The type in which such a column is kept; None where there is none."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        counts = kind.extension_name == "pandas.period"  # months, weeks, ... since 1970: no time
        return None if counts else stored_type(kind.storage_type)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return stored_type(kind.value_type)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return pa.string()
    if _is_list(kind):
        values = stored_type(kind.value_type)
        return None if values is None else pa.list_(values)
    if types.is_timestamp(kind):
        zone = "UTC" if kind.tz else None
        return pa.timestamp("ns" if kind.unit == "ns" else "us", zone)
    if types.is_date(kind):
        return pa.date32()
    if types.is_decimal(kind):
        held = 0 <= kind.scale <= kind.precision <= 38
        return pa.decimal128(kind.precision, kind.scale) if held else None
    if types.is_time(kind):
        return pa.time64("us")
    if types.is_duration(kind):
        return pa.int64()
    if types.is_float16(kind):
        return pa.float32()
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return kind
    return pa.string() if types.is_null(kind) else None


def _is_list(kind: pa.DataType) -> bool:
    tests = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    return any(getattr(pa.types, f"is_{each}")(kind) for each in tests)


def without_views(column: Any) -> Any:
    """A column that can be taken apart: Arrow picks no rows of texts that are views."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or not pa.types.is_string_view(kind.value_type):
        return column
    return pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.large_string()))


def as_stored(column: Any, target: pa.DataType) -> Any:
    """A column as it is kept; a value that has no place there is NULL, and stops nothing."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return as_stored(column.storage, target)
    if pa.types.is_run_end_encoded(kind):
        return as_stored(_as_dictionary(column), target)
    column = _without_long(without_views(column))
    if pa.types.is_dictionary(kind):
        return as_stored(column.dictionary.take(column.indices), target)
    if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
        return _in_microseconds(column, target)
    if _is_list(kind):
        return _stored_lists(column, target)
    return column.cast(target, safe=False)


def _as_dictionary(column: Any) -> Any:
    """Runs as a dictionary, in which a value is held once however long its run is."""
    rows = np.arange(column.offset, column.offset + len(column))
    places = np.searchsorted(column.run_ends.to_numpy(), rows, side="right")
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int64()), column.values)


def _without_long(column: Any) -> Any:
    """A column without texts that a batch could not hold in every row."""
    sizes = None if _is_list(column.type) else text_sizes(column)
    return (
        column
        if sizes is None or (sizes <= LONGEST).all()
        else without_long(column, sizes > LONGEST)
    )


def _in_microseconds(column: Any, target: pa.DataType) -> Any:
    """Times of which a Parquet file could not hold all: those of the year 292,000 are no times."""
    number = column.cast(pa.int64())
    per_second = _PER_SECOND[column.type.unit]
    most = _MOST_SECONDS * per_second
    within = pc.and_(pc.less_equal(number, most), pc.greater_equal(number, -most))
    kept = pc.if_else(within, number, None)
    return pc.multiply(kept, 10**6 // per_second).cast(target)


def _stored_lists(column: Any, target: pa.DataType) -> Any:
    """Lists; only the elements of these rows are looked at, however long the whole column is."""
    lengths = pc.list_value_length(column).fill_null(0).cast(pa.int64()).to_numpy()
    missing = column.is_null().to_numpy(zero_copy_only=False)
    values = _elements(column.flatten())  # without what is in lists that are NULL
    sizes = list_sizes(values, _ends(lengths))
    long = None if sizes is None else sizes > LONGEST
    if long is not None and long.any():
        values = _without_views(values).filter(pa.array(np.repeat(~long, lengths)))
        lengths, missing = np.where(long, 0, lengths), missing | long
    offsets = pa.array(_ends(lengths), pa.int32())
    found = as_stored(values, target.value_type)
    return pa.ListArray.from_arrays(offsets, found, target, mask=pa.array(missing))


def _elements(values: Any) -> Any:
    """Elements whose sizes can be told."""
    kind = values.type
    if isinstance(kind, pa.BaseExtensionType):
        return _elements(values.storage)
    return without_views(_as_dictionary(values) if pa.types.is_run_end_encoded(kind) else values)


def _without_views(values: Any) -> Any:
    """Arrow filters no views either."""
    is_view = pa.types.is_string_view(values.type)
    return _without_long(values).cast(pa.large_string()) if is_view else values


def _ends(lengths: Any) -> Any:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
