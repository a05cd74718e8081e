"""Every item of a list with its count, those that nobody has too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

_PLACE, _COUNT = "zealous:place", "zealous:count"  # no item's column is called so


def every(keys: pa.Table, batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """All keys with their counts, in the order of the keys.

    Args:
        keys: The items; a column `count` is left aside. One that is listed twice comes once: shown
            under two noises, it would cost twice its epsilon.
        batches: Counted items (item..., count). What is no key is left out.

    Returns:
        (item..., count), with 0 where nothing was counted. Which rows there are, and in which
        order, depends on the keys alone.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    names, size = [name for name in keys.column_names if name != "count"], keys.num_rows
    listed = keys.select(names)
    parts = [_placed(listed, _array(np.arange(size)), _array(np.zeros(size, np.int64)))]
    for batch in batches:
        counted = pa.Table.from_batches([batch])
        nowhere = pa.nulls(counted.num_rows, pa.int64())
        items = counted.select(names).cast(listed.schema)
        parts.append(_placed(items, nowhere, counted["count"].cast(pa.int64())))
    # One row an item; its place is the first in the list, or null where it is in no list.
    found = pa.concat_tables(parts).group_by(names).aggregate([(_PLACE, "min"), (_COUNT, "sum")])
    found = found.filter(pc.is_valid(found[f"{_PLACE}_min"]))
    places, sums = (
        np.from_dlpack(found[name].combine_chunks()) for name in (f"{_PLACE}_min", f"{_COUNT}_sum")
    )
    counts, first = np.zeros(size, np.int64), np.zeros(size, np.int64)
    counts[places], first[places] = sums, 1
    return listed.append_column("count", _array(counts)).filter(pc.equal(_array(first), 1))


def _placed(
    items: pa.Table, places: pa.Array | pa.ChunkedArray, counts: pa.Array | pa.ChunkedArray
) -> pa.Table:
    return items.append_column(_PLACE, places).append_column(_COUNT, counts)


def _array(values: npt.NDArray[np.int64]) -> pa.Array:
    """What `pa.array` gives, which would import pandas."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])
