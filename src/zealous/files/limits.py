"""How much one person can bring: rules on her own rows alone, so that nobody can stop a run.

Guarantee:
    What is looked at of one person depends on her own rows and public rules alone, and is bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Self

from zealous.errors import UsageError
from zealous.files.text_sizes import text_sizes, without_long
from zealous.libraries import np, pa
from zealous.privacy.guarantee import positive_integer

_MOST = 2**31 - 1  # of any limit: engines cut texts and lists at numbers of 32 bits


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much is read of one person. Each limit is public, and looks only at her rows.

    Attributes:
        text: The most bytes of a text in UTF-8. A longer text is left out as if it were not there,
            and so is an entry whose user id is longer. For a list, the bytes of all its texts plus
            the number of its elements are limited.
        entries: The most entries of a person (or of whatever the unit of privacy is). Of a person
            with more, the earliest are read; without times, or at equal times, the first by the
            public key. Identical entries count once.
        words: The most words of a query, if items are made of its words, and the most elements of a
            list of keywords or addresses: the first ones are used.
    """

    text: int = 4096
    entries: int = 10_000
    words: int = 256

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if positive_integer(value, f"limits: {name}") > _MOST:
                raise UsageError(f"limits: {name} must be at most {_MOST:,}")

    @classmethod
    def from_options(cls, given: Mapping[str, int]) -> Self:
        """Those that are named, and the usual ones for the rest."""
        known = [field.name for field in fields(cls)]
        if given.keys() - set(known):
            raise UsageError(f"limits must be some of {', '.join(known)}: text=8192,entries=50000")
        return cls(**given)

    def long_text(self) -> str:
        """Why a text is left out, for the owner."""
        return f"a text of more than {self.text:,} bytes (only that text is left out)"

    def many_words(self) -> str:
        """Why words are left out, for the owner."""
        return (
            f"a query or list of more than {self.words:,} words (where words count, its first do)"
        )

    def many_entries(self) -> str:
        """Why entries are left out, for the owner."""
        return f"entries of somebody with more than {self.entries:,} (the first of them count)"


def without_long_texts(
    batch: pa.RecordBatch, limits: Limits, left_out: Counter[str]
) -> pa.RecordBatch:
    """A batch in which texts and lists over the limit are NULL, counting its rows with any."""
    columns, rows = [], np.zeros(batch.num_rows, np.bool_)
    for column in batch.columns:
        size = text_sizes(column)
        long = None if size is None else size > limits.text
        if long is not None and long.any():
            rows |= long
            column = without_long(column, long)
        columns.append(column)
    if rows.any():
        left_out[limits.long_text()] += int(rows.sum())
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
