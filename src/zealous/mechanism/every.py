"""Every item of a list with its count, those that nobody has too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_LISTED, _COUNT = "zealous:listed", "zealous:count"  # no item's column is called so


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
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [name for name in keys.column_names if name != "count"]
    listed = keys.select(names)
    parts = [_marked(listed, pa.repeat(pa.scalar(0, pa.int64()), keys.num_rows), 1)]
    for batch in batches:
        counted = pa.Table.from_batches([batch])
        parts.append(_marked(counted.select(names).cast(listed.schema), counted["count"], 0))
    # Groups come in the order in which they are first seen, which is one thread's promise alone.
    groups = pa.concat_tables(parts).group_by(names, use_threads=False)
    found = groups.aggregate([(_LISTED, "max"), (_COUNT, "sum")])
    found = found.filter(pc.equal(found[f"{_LISTED}_max"], 1))
    return found.select([*names, f"{_COUNT}_sum"]).rename_columns([*names, "count"])


def _marked(items: pa.Table, counts: pa.Array | pa.ChunkedArray, listed: int) -> pa.Table:
    import pyarrow as pa

    marks = pa.repeat(pa.scalar(listed, pa.int8()), items.num_rows)
    return items.append_column(_LISTED, marks).append_column(_COUNT, counts.cast(pa.int64()))
