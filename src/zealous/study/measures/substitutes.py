"""Substitutes of whole queries and phrases, and what they make of queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zealous.study.measures.association import Floats
from zealous.study.measures.phrases import Phrases, Words, words
from zealous.study.releases.original_histogram import Ints


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """Substitutions for a list of queries, best first.

    Attributes:
        table: place (of the query in the list that was asked about, int64), candidate (text),
            score (double), rank (int64, from 0): ordered by place, then rank.
        asked: How many queries were asked about.
    """

    table: pa.Table
    asked: int


class _Slots(NamedTuple):
    """Runs of words, in queries that were asked about, for which there are substitutes."""

    place: Ints  # of the query
    unit: Ints  # its row in `known`
    before: pa.Array  # the query's words before the run, null without any
    after: pa.Array


@dataclass(frozen=True, kw_only=True)
class Substitutions:
    """What was learned.

    Attributes:
        phrases: What queries are cut by. None where any run of words may be replaced.
        known: The units that have substitutes.
        start: Where the substitutes of each start, and at last where they end.
        instead: The substitutes of each, best first.
        scores: Of the substitutes.
        longest: How many words the longest known unit has.
    """

    phrases: Phrases | None
    known: pa.Array
    start: Ints
    instead: pa.Array
    scores: Floats
    longest: int

    def top(
        self, queries: pa.Array | pa.ChunkedArray, most: int, cut: Words | None = None
    ) -> Ranked:
        """The best substitutions for each query.

        They are ordered by score; of equal ones the text that sorts first comes first.

        Args:
            queries: What is asked about, normalised as in the histograms that were learned from.
            most: How many for each query at most.
            cut: The words of the queries, where they are known from before.
        """
        asked = as_array(queries)
        slots = self._slots(asked, cut or words(asked))
        taken = self._with_ties(most + 1)[slots.unit]  # one of them may be the query itself
        slot = np.repeat(np.arange(len(taken)), taken)
        rows = ranges(self.start[:-1][slots.unit], taken)
        each = pa.array(slot)
        texts = pc.binary_join_element_wise(
            slots.before.take(each),
            self.instead.take(pa.array(rows)),
            slots.after.take(each),
            " ",
            null_handling="skip",
        )
        table = _rank_candidates(asked, slots.place[slot], texts, self.scores[rows], most)
        return Ranked(table=table, asked=len(asked))

    def _with_ties(self, most: int) -> Ints:
        """How many substitutes of each unit can be among the best `most` of a query.

        Those as good as the last are among them: which text sorts first is seen in the query.
        """
        number = np.diff(self.start)
        if not len(number):
            return number
        last = self.scores[self.start[:-1] + np.minimum(number, most) - 1]
        good = self.scores >= np.repeat(last, number)
        return np.add.reduceat(good.astype(np.int64), self.start[:-1])

    def _slots(self, asked: pa.Array, cut: Words) -> _Slots:
        low, high = self._runs(cut)
        text = cut.text()[low]
        units = pa.concat_arrays([asked, cut.join(low, high)])
        found = pc.index_in(units, value_set=self.known)
        hit = np.flatnonzero(found.is_valid().to_numpy(zero_copy_only=False))
        unit = found.drop_null().to_numpy().astype(np.int64)
        whole = hit < len(asked)
        run = hit[~whole] - len(asked)
        place = np.concatenate([hit[whole], text[run]])
        before = cut.join(cut.start[text[run]], low[run])
        after = cut.join(high[run], cut.start[text[run] + 1])
        nothing = pa.array([""] * int(whole.sum()), pa.string())
        before, after = (
            pc.if_else(pc.equal(side, ""), pa.scalar(None, pa.string()), side)
            for side in (pa.concat_arrays([nothing, each]) for each in (before, after))
        )
        return _Slots(place=place, unit=unit, before=before, after=after)

    def _runs(self, cut: Words) -> tuple[Ints, Ints]:
        """From where to where words may be replaced together."""
        if self.phrases is not None:
            low = np.flatnonzero(self.phrases.starts(cut))
            return low, np.concatenate([low[1:], [len(cut.flat)]])[: len(low)]
        every, end = np.arange(len(cut.flat)), cut.start[1:][cut.text()]
        lows = [every[every + size <= end] for size in range(1, self.longest + 1)]
        highs = [low + size for size, low in enumerate(lows, 1)]
        none = np.zeros(0, np.int64)
        return np.concatenate([none, *lows]), np.concatenate([none, *highs])


def _rank_candidates(
    asked: pa.Array, place: Ints, texts: pa.Array, scores: Floats, most: int
) -> pa.Table:
    """The best candidates of each place, each once."""
    other = pc.not_equal(texts, asked.take(pa.array(place)))
    new = other.to_numpy(zero_copy_only=False)
    coded = texts.dictionary_encode()
    alphabet = np.empty(len(coded.dictionary), np.int64)
    alphabet[pc.sort_indices(coded.dictionary).to_numpy()] = np.arange(len(alphabet))
    text = alphabet[coded.indices.to_numpy()]
    rows = np.flatnonzero(new)
    rows = rows[np.lexsort((-scores[rows], text[rows], place[rows]))]
    again = (np.diff(place[rows]) == 0) & (np.diff(text[rows]) == 0)
    rows = rows[np.concatenate([[True], ~again])[: len(rows)]]
    rows = rows[np.lexsort((text[rows], -scores[rows], place[rows]))]
    starts = np.searchsorted(place[rows], place[rows])
    rank = np.arange(len(rows)) - starts
    rows, rank = rows[rank < most], rank[rank < most]
    return pa.table(
        {
            "place": pa.array(place[rows], pa.int64()),
            "candidate": texts.take(pa.array(rows)),
            "score": pa.array(scores[rows], pa.float64()),
            "rank": pa.array(rank, pa.int64()),
        }
    )


def ranges(low: Ints, sizes: Ints) -> Ints:
    """low, low + 1, ... of the given size, one range after the other."""
    ends = np.cumsum(sizes)
    return np.arange(int(sizes.sum())) + np.repeat(low - ends + sizes, sizes)


def as_array(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Texts in one piece."""
    chunked = texts if isinstance(texts, pa.ChunkedArray) else pa.chunked_array([texts])
    return chunked.cast(pa.string()).combine_chunks()
