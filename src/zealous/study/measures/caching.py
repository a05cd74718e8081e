"""Index caching: which posting lists to keep in memory, decided by a release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError, reason
from zealous.items import words
from zealous.privacy.guarantee import positive_integer
from zealous.study.measures.measured import Measured
from zealous.study.releases.original_histogram import Ints, Original
from zealous.study.releases.released import Released

Bools = npt.NDArray[np.bool_]

Documents = Callable[[pa.Array], Ints]
"""From keywords to the number of documents that contain each; at least 1."""

_COLUMNS = ("keyword", "documents")
_SPLITTING = "2GB"  # the memory of the engine, through which the queries only pass


@dataclass(frozen=True, kw_only=True)
class Caching:
    """A cache of posting lists, filled by a release and used by the original's searches.

    A keyword's score is its count in the release over its number of documents. Lists are added
    from the highest score on until the next does not fit; of equal scores the shorter list comes
    first, then the first in the alphabet, so that the truth has no say in it. Other kinds than
    keywords have no posting lists, and no figures.

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
        lists = self.lists(workload.documents, released)
        cached = np.zeros(len(original) + 1, bool)  # the last stands for all unknown words
        cached[released.index[lists[lists < len(released.index)]]] = True
        yield Measured("hit-probability", _share(original.times, cached[:-1]))
        if self.queries is not None and workload.queries is not None:
            yield Measured("whole-queries", _share(self.queries.times, workload.queries(cached)))
        yield Measured("lists", len(lists))
        yield Measured("lists-for-most-hits", _fewest_for(original.times[cached[:-1]]))

    def lists(self, documents: Ints, released: Released) -> Ints:
        """Which rows of the release are kept in memory: those of the original, then those beyond.

        Args:
            documents: Of each keyword of the original.
            released: What decides.
        """
        beyond = self._documents(_keywords(released.beyond))
        documents = np.concatenate([documents[released.index], beyond])
        counts = np.concatenate([released.counts, released.beyond["count"].to_numpy()])
        size = np.minimum(documents, self.longest) * self.posting
        score = np.where(counts > 0, counts / documents, 0)  # nobody asks for it: never kept
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
            queries = None if self.queries is None else _split_queries(self.queries, keywords)
            found = _Workload(original, self._documents(keywords), queries)
            self._last[:] = [found]
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
        size: How many queries there are.
    """

    words: npt.NDArray[np.int32]
    starts: Ints
    rows: Ints
    size: int

    def __call__(self, cached: Bools) -> Bools:
        """Which queries have all of their words in memory; `cached` ends with False."""
        found = np.zeros(self.size, bool)
        if self.rows.size:
            found[self.rows] = np.logical_and.reduceat(cached[self.words], self.starts)
        return found


def _split_queries(queries: Original, keywords: pa.Array) -> _Queries:
    """The words of the queries, cut as keywords are."""
    numbered = queries.items.select(["query"]).append_column(
        "row", pa.array(np.arange(len(queries)))
    )
    with DuckDB(memory=_SPLITTING) as engine:
        engine.add_table("queries", numbered)
        step = Step("split", f"select row, {words('query')} as words from queries")
        table = pa.Table.from_batches(
            engine.batches([step]),
            pa.schema([("row", pa.int64()), ("words", pa.list_(pa.string()))]),
        )
    lengths = pc.list_value_length(table["words"]).to_numpy()
    found = pc.index_in(pc.list_flatten(table["words"]), value_set=keywords).fill_null(-1)
    some = lengths > 0
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    return _Queries(
        words=found.to_numpy(),
        starts=starts[some],
        rows=table["row"].to_numpy()[some],
        size=len(queries),
    )


def _keywords(table: pa.Table) -> pa.Array:
    return table["keyword"].combine_chunks()


def _shorter_first(documents: Ints, released: Released, rows: Ints) -> Ints:
    keywords = released.table()["keyword"].take(pa.array(rows))
    table = pa.table({"documents": documents, "keyword": keywords})
    order = [("documents", "ascending"), ("keyword", "ascending")]
    found: Ints = pc.sort_indices(table, sort_keys=order).to_numpy()
    return found


def _share(times: Ints, of: Bools) -> float:
    total = int(times.sum())
    return int(times[of].sum()) / total if total else 0.0


def _fewest_for(hits: Ints, share: float = 0.9) -> int:
    """How many lists, the most used first, have this share of the hits."""
    added = np.cumsum(np.sort(hits)[::-1])
    return int(np.searchsorted(added, share * added[-1])) + 1 if added.size and added[-1] else 0


def documents_from(path: Path) -> Documents:
    """Document frequencies from a file: CSV, TSV or Parquet with columns keyword and documents.

    Keywords are lower-cased, as those of a log are. What stands there more than once, be it in
    capitals, is added up. A keyword that is missing has 1 document.

    Raises:
        UsageError: The file cannot be read so.
    """
    table = _table(path)
    if any(table.column_names.count(name) != 1 for name in _COLUMNS):
        raise UsageError(f"{path} must have the columns keyword and documents, each once")
    try:
        keyword = pc.utf8_lower(_trimmed(table["keyword"]))
        counts = _whole_numbers(table["documents"])
    except pa.ArrowException:
        raise _not_whole(path) from None
    if keyword.null_count or counts.null_count or (len(counts) and pc.min(counts).as_py() < 1):
        raise _not_whole(path)
    added = pa.table({"keyword": keyword, "documents": counts}).group_by("keyword")
    added = added.aggregate([("documents", "sum")])
    known = _keywords(added)
    padded = np.append(added["documents_sum"].to_numpy(), 1)  # the last for what is missing

    def frequencies(keywords: pa.Array) -> Ints:
        place = pc.index_in(keywords.cast(pa.string()), value_set=known).fill_null(len(known))
        found: Ints = padded[place.to_numpy(zero_copy_only=False)]
        return found

    return frequencies


def _trimmed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.utf8_trim_whitespace(column.cast(pa.string()))


def _whole_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The numbers; Arrow itself would take dates, truths and hexadecimal text as well."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return column.cast(pa.int64())
    text = _trimmed(column)
    written = pc.match_substring_regex(text, "^[0-9]+$")
    return pc.if_else(written, text, None).cast(pa.int64())


def _not_whole(path: Path) -> UsageError:
    return UsageError(
        f"{path} must have a keyword and a number of documents in each row: a whole number of at "
        "least 1"
    )


def _table(path: Path) -> pa.Table:
    ending = path.suffix.lower()
    if ending not in (".csv", ".tsv", ".parquet"):
        raise UsageError(f"{path} must be a .csv, .tsv or .parquet file of document frequencies")
    try:
        with path.open("rb") as file:
            if ending == ".parquet":
                return pq.read_table(file)
            tabs = ending == ".tsv"
            text = dict.fromkeys(_COLUMNS, pa.string())  # otherwise a column's type is guessed
            return pacsv.read_csv(
                file,
                parse_options=pacsv.ParseOptions(
                    delimiter="\t" if tabs else ",", quote_char=False if tabs else '"'
                ),
                convert_options=pacsv.ConvertOptions(column_types=text),
            )
    except pa.ArrowException:
        # from None: Arrow quotes the line that it cannot read
        raise UsageError(f"{path} cannot be read as {ending[1:]}: is it damaged?") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {reason(error)}") from None
