"""How long the texts of a column are, however it holds them; and the column without long ones."""

from __future__ import annotations

from typing import Any, TypeAlias

from zealous.files.numbers import to_numpy
from zealous.libraries import np, pa, pc

Sizes: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Flags: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"

_AT_ONCE = 1 << 20  # elements of lists


def text_sizes(column: pa.Array) -> Sizes | None:
    """The bytes of each value; None for a column of neither texts nor lists of them."""
    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return list_sizes(column.values, column.offsets.to_numpy())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return np.asarray(to_numpy(pc.binary_length(column)), np.int64)
    if pa.types.is_string_view(kind):  # Arrow has no function for them: a view begins with its size
        views = np.frombuffer(column.buffers()[1], np.int32).reshape(-1, 4)
        size = views[column.offset : column.offset + len(column), 0].astype(np.int64)
        return np.where(_present(column), size, 0)
    if pa.types.is_dictionary(kind):  # of a large one, only the values of these rows
        used = column.indices.dictionary_encode()
        once = text_sizes(column.dictionary.take(used.dictionary))
        if once is None:
            return None
        with_null = np.append(once, 0)
        return np.asarray(with_null[used.indices.fill_null(len(once)).to_numpy()], np.int64)
    return None


def list_sizes(elements: pa.Array, ends: Sizes) -> Sizes | None:
    """What lists count for: the bytes of their elements, and how many these are.

    Elements are looked at in pieces: one list may have hundreds of millions.

    Args:
        elements: Those of all lists, one list after the other.
        ends: Where the first begins, and where each ends.
    """
    passed, before = np.zeros(len(ends), np.int64), 0
    for first in range(0, max(1, len(elements)), _AT_ONCE):
        sizes = text_sizes(elements.slice(first, _AT_ONCE))
        if sizes is None:
            return None
        sums = before + np.cumsum(sizes + 1)
        here = (ends > first) & (ends <= first + len(sums))
        passed[here] = sums[ends[here] - first - 1]
        before += int((sizes + 1).sum())
    return np.diff(passed)


def without_long(column: pa.Array, long: Flags) -> pa.Array:
    """NULL in the place of values that are too long: the rest is copied, and they are let go."""
    if pa.types.is_string_view(column.type):  # no rows can be taken of them
        kept = np.concatenate([np.zeros(column.offset, np.bool_), _present(column) & ~long])
        buffers = [pa.array(kept).buffers()[1], *column.buffers()[1:]]
        return pa.Array.from_buffers(column.type, len(column), buffers, offset=column.offset)
    places = pc.if_else(pa.array(long), None, pa.array(range(len(column)), pa.int64()))
    return column.take(places)


def _present(column: pa.Array) -> Flags:
    return np.asarray(column.is_valid().to_numpy(zero_copy_only=False), np.bool_)
