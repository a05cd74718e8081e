"""Query substitution (Jones et al. 2006): what to ask instead, learned from a release alone.

A *unit* is a whole query or a phrase. From each pair of subsequent queries the whole queries are a
pair of units; and where the two, cut into phrases, differ in exactly one phrase in the same place,
these phrases are another. Pairs of units are scored by Dunning's log-likelihood ratio.

Candidates for a query are the units that followed it as a whole, and the query with one phrase
replaced by a unit that followed it. A candidate that comes about in several ways has the best of
its scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zealous.errors import UsageError
from zealous.evaluate.association import Floats, log_likelihood_ratio
from zealous.evaluate.original import Ints
from zealous.evaluate.phrases import Phrases, Words, find_phrases, words

# The 5 % point of chi-squared with one degree of freedom. Jones et al. ask for far more on a far
# larger log; a constant that suits a release of 300 pairs as well must be modest, and what is
# weak ranks last anyhow.
LEAST_SCORE = 3.84
_QUERIES, _PHRASES = ("query", "next_query"), ("phrase", "next_phrase")


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

    def top(self, queries: pa.Array | pa.ChunkedArray, most: int) -> Ranked:
        """The best substitutions for each query.

        They are ordered by score; of equal ones the text that sorts first comes first.

        Args:
            queries: What is asked about, normalised as in the histograms that were learned from.
            most: How many for each query at most.
        """
        asked = _array(queries)
        slots = self._slots(asked)
        taken = self._with_ties(most)[slots.unit]
        slot = np.repeat(np.arange(len(taken)), taken)
        rows = _ranges(self.start[:-1][slots.unit], taken)
        each = pa.array(slot)
        texts = pc.binary_join_element_wise(
            slots.before.take(each), self.instead.take(pa.array(rows)), slots.after.take(each),
            " ", null_handling="skip",
        )  # fmt: skip
        table = _ranked(asked, slots.place[slot], texts, self.scores[rows], most)
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

    def _slots(self, asked: pa.Array) -> _Slots:
        cut = words(asked)
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


def learn(pairs: pa.Table, queries: pa.Table | None = None) -> Substitutions:
    """Learn from histograms.

    Pairs of phrases are pairs of units already.

    Args:
        pairs: query, next_query, count; or phrase, next_phrase, count.
        queries: query, count: what phrases are cut by. Where it is not given, the pairs' own
            queries are; and with pairs of phrases, any run of a query's words may be replaced.
            That finds more, and more that is of no use: york in new york.

    Raises:
        UsageError: A table has other columns.
    """
    phrases = None
    if queries is not None:
        phrases = find_phrases(_array(_column(queries, "query")), _counts(queries))
    if set(_PHRASES) <= set(pairs.column_names):
        units, codes, counts = _coded(pairs, _PHRASES)
        return _scored(phrases, units, codes[0], codes[1], counts)
    texts, codes, counts = _coded(pairs, _QUERIES)
    if phrases is None:
        weights = sum(np.bincount(each, counts, len(texts)) for each in codes)
        phrases = find_phrases(texts, np.asarray(weights, np.int64))
    units, unit, start = _cut(texts, phrases)
    pair, place = _changed(unit, start, codes[0], codes[1])
    first = np.concatenate([codes[0], unit[start[codes[0][pair]] + place]])
    second = np.concatenate([codes[1], unit[start[codes[1][pair]] + place]])
    return _scored(phrases, units, first, second, np.concatenate([counts, counts[pair]]))


def _coded(pairs: pa.Table, names: tuple[str, str]) -> tuple[pa.Array, tuple[Ints, Ints], Ints]:
    """The texts of both columns, the rows as numbers of texts, and their counts."""
    counts = _counts(pairs)
    used = pa.array(counts > 0)
    columns = [_array(_column(pairs, name)).filter(used) for name in names]
    coded = pa.concat_arrays(columns).dictionary_encode()
    codes = coded.indices.to_numpy().astype(np.int64)
    half = len(codes) // 2
    return coded.dictionary, (codes[:half], codes[half:]), counts[counts > 0]


def _cut(texts: pa.Array, phrases: Phrases) -> tuple[pa.Array, Ints, Ints]:
    """Units, of which texts are the first, and the phrases of each text as numbers of units."""
    cut = words(texts)
    low = np.flatnonzero(phrases.starts(cut))
    joined = cut.join(low, np.concatenate([low[1:], [len(cut.flat)]])[: len(low)])
    coded = pa.concat_arrays([texts, joined]).dictionary_encode()
    unit = coded.indices.to_numpy().astype(np.int64)[len(texts) :]
    return coded.dictionary, unit, np.searchsorted(low, cut.start)


def _changed(unit: Ints, start: Ints, first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """The pairs of texts that differ in exactly one phrase, not being it, and in which place."""
    number = np.diff(start)
    same = np.flatnonzero((number[first] == number[second]) & (number[first] > 0))
    sizes = number[first[same]]
    pair = np.repeat(same, sizes)
    place = _ranges(np.zeros(len(sizes), np.int64), sizes)
    one, other = unit[start[first[pair]] + place], unit[start[second[pair]] + place]
    differs = np.flatnonzero(one != other)
    once = np.bincount(pair[differs], minlength=len(first))[pair[differs]] == 1
    chosen = differs[once]
    # Where a query is one phrase the pair is there already, as a pair of whole queries.
    new = (one[chosen] != first[pair[chosen]]) | (other[chosen] != second[pair[chosen]])
    return pair[chosen[new]], place[chosen[new]]


def _scored(
    phrases: Phrases | None, units: pa.Array, first: Ints, second: Ints, counts: Ints
) -> Substitutions:
    """Add up the pairs of units, score them, and keep what goes together."""
    number = max(len(units), 1)
    pairs, which = np.unique(first * number + second, return_inverse=True)
    both = np.bincount(which, counts, len(pairs)).astype(np.int64)
    first, second = pairs // number, pairs % number
    firsts, seconds = (np.bincount(each, both)[each].astype(np.int64) for each in (first, second))
    scores = log_likelihood_ratio(both, firsts, seconds, int(both.sum()))
    kept = np.flatnonzero((scores > LEAST_SCORE) & (first != second))
    kept = kept[np.lexsort((-scores[kept], first[kept]))]
    known, start = np.unique(first[kept], return_index=True)
    texts = units.take(pa.array(known))
    return Substitutions(
        phrases=phrases,
        known=texts,
        start=np.append(start, len(kept)),
        instead=units.take(pa.array(second[kept])),
        scores=scores[kept],
        longest=int(words(texts).lengths().max(initial=0)),
    )


def _ranked(asked: pa.Array, place: Ints, texts: pa.Array, scores: Floats, most: int) -> pa.Table:
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


def _ranges(low: Ints, sizes: Ints) -> Ints:
    """low, low + 1, ... of the given size, one range after the other."""
    ends = np.cumsum(sizes)
    return np.arange(int(sizes.sum())) + np.repeat(low - ends + sizes, sizes)


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        raise UsageError(
            "substitutions are learned from query pairs (query, next_query, count) or phrase "
            f"pairs (phrase, next_phrase, count), and queries (query, count): {name} is missing"
        )
    return table[name]


def _counts(table: pa.Table) -> Ints:
    counts: Ints = _column(table, "count").to_numpy().astype(np.int64)
    return counts


def _array(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    chunked = texts if isinstance(texts, pa.ChunkedArray) else pa.chunked_array([texts])
    return chunked.cast(pa.string()).combine_chunks()
