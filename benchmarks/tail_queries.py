"""The different queries of a log, with their words as numbers: counted once, looked at often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.items import has_word, normalized_query, words
from zealous.logs.source import Source
from zealous.study.releases.original_histogram import Ints

Bools = npt.NDArray[np.bool_]
_SCHEMA = pa.schema(
    [("query", pa.string()), ("words", pa.list_(pa.string())), ("entries", pa.int64())]
)
_LARGEST = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Different queries, and how often each was asked. Internal: nothing of it may be published.

    Attributes:
        queries: The normalised queries.
        entries: How many entries of the log each has.
        vocabulary: The different words.
        words: The words of the first query, then those of the second and so on, as places in the
            vocabulary.
        start: Where the words of each query start in `words`, and at last where they end.
    """

    queries: pa.Array
    entries: Ints
    vocabulary: pa.Array
    words: Ints
    start: Ints

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def lengths(self) -> Ints:
        """How many words each query has."""
        return np.diff(self.start)

    def runs(self, size: int) -> Ints:
        """Where in `words` so many words of one query stand in a row."""
        query = np.repeat(np.arange(len(self)), self.lengths)
        low = np.arange(max(len(query) - size + 1, 0))
        return np.asarray(low[query[low] == query[low + size - 1]], np.int64)

    def coded(self, known: pa.Array) -> Ints:
        """The words as places in another vocabulary, -1 for those that it does not have."""
        return places(self.vocabulary, known)[self.words]

    def within(self, published: pa.Table) -> Bools:
        """For each query, whether it is among the published ones."""
        found = pc.is_in(self.queries, value_set=one_piece(published["query"]))
        return np.asarray(found.to_numpy(zero_copy_only=False), bool)

    def only(self, kept: Bools) -> Asked:
        """Some of the queries."""
        lengths = self.lengths[kept]
        return Asked(
            queries=self.queries.filter(pa.array(kept)),
            entries=self.entries[kept],
            vocabulary=self.vocabulary,
            words=self.words[np.repeat(kept, self.lengths)],
            start=np.concatenate([[0], np.cumsum(lengths)]),
        )


def read_asked(source: Source) -> Asked:
    """Count the different queries of a log, normalised and split into words as items are."""
    normalised = f"select {normalized_query(False)} as query from entries where {has_word('query')}"
    steps = [
        *source.entries,
        Step("normalised", normalised),
        Step("different", "select query, count(*) as entries from normalised group by query"),
        Step("worded", f"select query, {words('query')} as words, entries from different"),
    ]
    batches = [batch.cast(_SCHEMA) for batch in source.engine.batches(steps)]
    table = pa.Table.from_batches(batches, _SCHEMA).combine_chunks()
    split = one_piece(table["words"])
    coded = split.flatten().dictionary_encode()
    lengths = pc.list_value_length(split).to_numpy().astype(np.int64)
    return Asked(
        queries=one_piece(table["query"]),
        entries=table["entries"].to_numpy(),
        vocabulary=coded.dictionary,
        words=coded.indices.to_numpy().astype(np.int64),
        start=np.concatenate([[0], np.cumsum(lengths)]),
    )


def one_piece(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    found = column.combine_chunks()
    return found if isinstance(found, pa.Array) else pa.concat_arrays(found.chunks)


def places(texts: pa.Array, known: pa.Array) -> Ints:
    """Where texts stand in a vocabulary; -1 for those that it does not have."""
    return np.asarray(pc.index_in(texts, value_set=known).fill_null(-1), np.int64)


def keys(columns: Sequence[Ints], size: int, rows: int) -> Ints:
    """One number for each row of words, which are places in a vocabulary.

    Args:
        columns: The first word of each row, the second, and so on; without any, all rows are alike.
        size: How many words the vocabulary has.
        rows: How many rows there are.

    Returns:
        The numbers; -1 for a row with a word that is not in the vocabulary.
    """
    if size ** len(columns) > _LARGEST:
        raise UsageError(f"{size:,} different words are too many: measure on fewer users")
    found = np.zeros(rows, np.int64)
    for column in columns:
        found = np.where((found < 0) | (column < 0), -1, found * size + column)
    return found
