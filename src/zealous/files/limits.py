"""How much one person can bring: rules on her own rows alone, so that nobody can stop a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from zealous.errors import UsageError
from zealous.libraries import np, pa, pc
from zealous.privacy.guarantee import positive_integer

MOST_WORDS = 256  # of a query: lists of words are made for 2,048 rows at a time, in every thread


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most that is looked at. Each limit is public, and looks at one person's rows alone.

    Attributes:
        text: Bytes of a text in UTF-8. A longer one is left out as if it were not there; an entry
            whose user's id is longer is nobody's. Of a list it limits the bytes of all its texts
            and the number of its elements, added up.
        entries: Entries of a person (or whatever the unit of privacy is). Of a person with more,
            the first of them in time count, or the first by the public key where the log has no
            times or they are the same; and the same entry counts once.
    """

    text: int = 4096
    entries: int = 10_000

    def __post_init__(self) -> None:
        """Check before anything is read."""
        for name, value in asdict(self).items():
            positive_integer(value, f"limits: {name}")

    @classmethod
    def from_options(cls, given: Mapping[str, int]) -> Self:
        """Those that are named, and the usual ones for the rest."""
        known = [field.name for field in fields(cls)]
        if given.keys() - set(known):
            raise UsageError(f"limits must be some of {', '.join(known)}: text=8192,entries=50000")
        return cls(**given)

    def as_record(self) -> dict[str, int]:
        """For release.json: with the number of words of a query, which cannot be set."""
        return {**asdict(self), "words": MOST_WORDS}


def without_long_texts(
    batch: pa.RecordBatch, limits: Limits, left_out: Counter[str]
) -> pa.RecordBatch:
    """A batch in which texts and lists over the limit are NULL, counting its rows with any."""
    columns, rows = [], np.zeros(batch.num_rows, np.bool_)
    for column in batch.columns:
        size = _sizes(column)
        long = None if size is None else size > limits.text
        if long is not None and long.any():
            rows |= long
            column = _without(column, long)
        columns.append(column)
    if rows.any():
        reason = f"a text of more than {limits.text:,} bytes (only that text is left out)"
        left_out[reason] += int(rows.sum())
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _sizes(column: pa.Array) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    """What each value counts for; None for a column of neither texts nor lists of them."""
    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        values = _sizes(column.values)
        if values is None:
            return None
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(values + 1)])
        offsets = column.offsets.to_numpy()
        return np.asarray(ends[offsets[1:]] - ends[offsets[:-1]], np.int64)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        length = pc.fill_null(pc.binary_length(column), 0)
        return np.asarray(length.to_numpy(zero_copy_only=False), np.int64)
    return None


def _without(column: pa.Array, long: np.ndarray[Any, np.dtype[np.bool_]]) -> pa.Array:
    """NULL in the place of values that are too long: the rest is copied, and they are let go."""
    places = pc.if_else(pa.array(long), None, pa.array(range(len(column)), pa.int64()))
    return column.take(places)
