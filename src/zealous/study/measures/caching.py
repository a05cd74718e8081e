"""Index caching: which posting lists to keep in memory, decided by a release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.items import words
from zealous.privacy.guarantee import positive_integer
from zealous.study.measures.document_frequencies import Documents
from zealous.study.measures.measured import Measured
from zealous.study.releases.original_histogram import Ints, Original
from zealous.study.releases.released import Released

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_SPLITTING = "2GB"  # the memory of the engine, through which the queries only pass


@dataclass(frozen=True, kw_only=True)
class Caching:
    """A cache of posting lists, filled by a release and used by the original's searches.

    A keyword's score is its count in the release over its number of documents. Lists are added
    from the highest score on until the next does not fit; of equal scores the shorter list comes
    first, then the first in the alphabet, so that the truth has no say in it. Other kinds than
    keywords have no posting lists, and no figures.

    That is the paper's score. It divides by all documents, while memory holds the best of a long
    list only, so that a long list in frequent use is worth more than its score. With
    `hit-probability-by-memory` the score divides by the postings that memory holds.

    A query whose lists are all in memory is answered from there, unless the lists have no document
    in common and one of them was cut: then the rest of it is read from disk. Which documents they
    have in common is not known. They are taken to be independent, among as many documents as the
    most frequent keyword of the log has: n lists of l1, l2, ... postings then have
    l1 l2 .../pages^(n - 1) in common on average, and none with the probability that a Poisson
    variable is 0. Words that are asked together are found together more often than that.

    Attributes:
        documents: From keywords to document frequencies.
        queries: The original's queries, for whole queries; None where the log has none, or has
            keywords of its own.
        memory: In bytes.
        posting: Bytes of a posting.
        longest: Postings after which a list is cut.
    """

    documents: Documents
    queries: Original | None = None
    memory: int = 10**9
    posting: int = 8
    longest: int = 200_000
    _last: list[_Workload] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check before anything is counted."""
        for name in ("memory", "posting", "longest"):
            positive_integer(getattr(self, name), name)

    def __call__(self, original: Original, released: Released) -> Iterator[Measured]:
        """The hit probability, that of whole queries, how many lists there are and matter."""
        if original.items.column_names != ["keyword"]:
            return
        workload = self._workload(original)
        beyond = self._documents(_keywords(released.beyond))
        documents = np.concatenate([workload.documents[released.index], beyond])
        lists = self.lists(documents, released)
        cached = _cached(released, lists)
        others = _cached(released, self.lists(documents, released, by_memory=True))
        yield Measured("hit-probability", _share(original.times, cached[:-1]))
        yield Measured("hit-probability-by-memory", _share(original.times, others[:-1]))
        if self.queries is not None and workload.queries is not None:
            whole = workload.queries(cached)
            yield Measured("whole-queries", _share(self.queries.times, whole))
            answered = whole * workload.queries.from_memory
            yield Measured("answered-from-memory", _share(self.queries.times, answered))
        yield Measured("lists", len(lists))
        yield Measured("lists-for-most-hits", _fewest_for_most(original.times[cached[:-1]]))

    def lists(self, documents: Ints, released: Released, *, by_memory: bool = False) -> Ints:
        """Which rows of the release are kept in memory: those of the original, then those beyond.

        Args:
            documents: Of each row of the release.
            released: What decides.
            by_memory: Whether the score divides by the postings in memory, not by all documents.
        """
        counts = np.concatenate([released.counts, released.beyond["count"].to_numpy()])
        postings = np.minimum(documents, self.longest)
        size = postings * self.posting
        # What nobody asks for is never kept.
        score = np.where(counts > 0, counts / (postings if by_memory else documents), 0)
        order = np.argsort(-score)[: int((score > 0).sum())]
        fits = int(np.searchsorted(np.cumsum(size[order]), self.memory, side="right"))
        if fits == len(order):
            return order
        # Among equal scores the order is not settled yet, and matters only where memory ends.
        last = score[order[fits]]
        sure, tied = np.flatnonzero(score > last), np.flatnonzero(score == last)
        tied = tied[_shorter_first(documents[tied], released, tied)]
        room = self.memory - int(size[sure].sum())
        return np.concatenate([sure, tied[np.cumsum(size[tied]) <= room]])

    def _workload(self, original: Original) -> _Workload:
        """What is the same for all releases of an original, which come one after the other."""
        if not self._last or self._last[0].original is not original:
            keywords = _keywords(original.items)
            documents, queries = self._documents(keywords), None
            if self.queries is not None:
                queries = _split_queries(self.queries, keywords, documents, self.longest)
            self._last[:] = [_Workload(original, documents, queries)]
        return self._last[0]

    def _documents(self, keywords: pa.Array) -> Ints:
        if not len(keywords):
            return np.zeros(0, np.int64)
        found = np.asarray(self.documents(keywords))
        if found.shape != (len(keywords),) or found.dtype.kind not in "iu" or (found < 1).any():
            raise UsageError(
                "documents must give one whole number of at least 1 for each keyword of an array"
            )
        return found.astype(np.int64)


class _Workload(NamedTuple):
    original: Original
    documents: Ints
    queries: _Queries | None


class _Queries(NamedTuple):
    """The words of all queries, one after the other.

    Attributes:
        words: As rows of the original's keywords; -1 where it lacks the word.
        starts: Where the words of each query that has any begin.
        rows: Which query that is.
        from_memory: For each query the probability that its lists need not be read on from disk,
            where all of them are in memory.
    """

    words: npt.NDArray[np.int32]
    starts: Ints
    rows: Ints
    from_memory: Floats

    def __call__(self, cached: Bools) -> Bools:
        """Which queries have all of their words in memory; `cached` ends with False."""
        found = np.zeros(len(self.from_memory), bool)
        if self.rows.size:
            found[self.rows] = np.logical_and.reduceat(cached[self.words], self.starts)
        return found


def _split_queries(
    queries: Original, keywords: pa.Array, documents: Ints, longest: int
) -> _Queries:
    """The words of the queries, cut as keywords are, each once."""
    numbered = queries.items.select(["query"]).append_column(
        "row", pa.array(np.arange(len(queries)))
    )
    with DuckDB(memory=_SPLITTING) as engine:
        engine.add_table("queries", numbered)
        each = f"list_distinct({words('query')})"
        step = Step("split", f"select row, {each} as words from queries")
        table = pa.Table.from_batches(
            engine.batches([step]),
            pa.schema([("row", pa.int64()), ("words", pa.list_(pa.string()))]),
        )
    lengths = pc.list_value_length(table["words"]).to_numpy()
    found = pc.index_in(pc.list_flatten(table["words"]), value_set=keywords).fill_null(-1)
    numbers, some = found.to_numpy(), lengths > 0
    starts = (np.cumsum(lengths, dtype=np.int64) - lengths)[some]
    rows = table["row"].to_numpy()[some]
    from_memory = np.zeros(len(queries))
    if len(rows):
        from_memory[rows] = _answer_probability(numbers, starts, lengths[some], documents, longest)
    return _Queries(words=numbers, starts=starts, rows=rows, from_memory=from_memory)


def _answer_probability(
    numbers: npt.NDArray[np.int32], starts: Ints, lengths: Ints, documents: Ints, longest: int
) -> Floats:
    """The probability that lists in memory have a document in common, or that none was cut."""
    known = np.append(documents, 1)  # the last for unknown words, whose list is never in memory
    pages = np.log(known.max())
    postings = np.log(np.minimum(known, longest))[numbers]
    common = np.add.reduceat(postings, starts) - (lengths - 1) * pages
    cut = np.logical_or.reduceat((known > longest)[numbers], starts)
    return np.where(cut & (lengths > 1), -np.expm1(-np.exp(common)), 1.0)


def _cached(released: Released, lists: Ints) -> Bools:
    """For each keyword of the original whether its list is among these; False at last."""
    cached = np.zeros(len(released.original) + 1, bool)  # the last stands for all unknown words
    cached[released.index[lists[lists < len(released.index)]]] = True
    return cached


def _keywords(table: pa.Table) -> pa.Array:
    return table["keyword"].combine_chunks()


def _shorter_first(documents: Ints, released: Released, rows: Ints) -> Ints:
    keywords = released.table()["keyword"].take(pa.array(rows))
    table = pa.table({"documents": documents, "keyword": keywords})
    order = [("documents", "ascending"), ("keyword", "ascending")]
    found: Ints = pc.sort_indices(table, sort_keys=order).to_numpy()
    return found


def _share(times: Ints, of: Bools | Floats) -> float:
    """The share of all times that these have, each wholly, not at all, or in part."""
    total = int(times.sum())
    return float(times @ of) / total if total else 0.0


def _fewest_for_most(hits: Ints) -> int:
    """How many lists, the most used first, have nine tenths of the hits."""
    added = np.cumsum(np.sort(hits)[::-1])
    return int(np.searchsorted(added, 0.9 * added[-1])) + 1 if added.size and added[-1] else 0
