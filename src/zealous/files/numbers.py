"""Numbers and texts between Python and Arrow, without pandas.

Arrow's own functions for this import pandas wherever it is installed, which takes a tenth of a
second and 100 MB: more than the rest of a small release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zealous.libraries import np, pa, pc

if TYPE_CHECKING:
    import numpy.typing as npt


def from_numpy(values: npt.NDArray[Any]) -> pa.Array:
    """What `pa.array` gives, of numbers."""
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def to_numpy(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """The numbers of a column; 0 where one is missing."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if column.null_count:
        column = pc.fill_null(column, from_numpy(np.zeros(1, np.int64))[0].cast(column.type))
    return np.from_dlpack(column)


def text_array(text: str) -> pa.Array:
    """One text, which its first element is as a scalar."""
    encoded = text.encode()
    ends = pa.py_buffer(np.array([0, len(encoded)], np.int64))
    return pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(encoded)])
