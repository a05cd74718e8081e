"""Query substitution (Jones et al. 2006): what to ask instead, learned from a release alone.

A *unit* is a whole query or a phrase. From each pair of subsequent queries the whole queries are a
pair of units; and where the two, cut into phrases, differ in exactly one phrase in the same place,
these phrases are another. Pairs of units are scored by Dunning's log-likelihood ratio.

Candidates for a query are the units that followed it as a whole, and the query with one phrase
replaced by a unit that followed it. A candidate that comes about in several ways has the best of
its scores.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from zealous.errors import UsageError
from zealous.study.measures.association import log_likelihood_ratio
from zealous.study.measures.phrases import Phrases, find_phrases, words
from zealous.study.measures.substitutes import Ranked as Ranked
from zealous.study.measures.substitutes import Substitutions, as_array, ranges
from zealous.study.releases.original_histogram import Ints

# The 5 % point of chi-squared with one degree of freedom. The ratio grows with the log, and a
# constant that suits a release of 300 pairs as well must be modest; what is weak ranks last anyhow.
LEAST_SCORE = 3.84
_QUERIES, _PHRASES = ("query", "next_query"), ("phrase", "next_phrase")


def learn(
    pairs: pa.Table,
    queries: pa.Table | None = None,
    *,
    least_score: float = LEAST_SCORE,
    containing: bool = False,
) -> Substitutions:
    """Learn from histograms.

    Pairs of phrases are pairs of units already.

    Args:
        pairs: query, next_query, count; or phrase, next_phrase, count.
        queries: query, count: what phrases are cut by. Where it is not given, the pairs' own
            queries are; and with pairs of phrases, any run of a query's words may be replaced.
            That finds more, and more that is of no use: york in new york.
        least_score: What pairs of units must exceed.
        containing: Whether each phrase of the first query and each of the second are a pair, where
            neither stands in both, and not only the one phrase that was changed.

    Raises:
        UsageError: A table has other columns.
    """
    phrases = None
    if queries is not None:
        phrases = find_phrases(as_array(_column(queries, "query")), _counts(queries))
    if set(_PHRASES) <= set(pairs.column_names):
        units, codes, counts = _encode_pairs(pairs, _PHRASES)
        return _score_pairs(phrases, units, codes[0], codes[1], counts, least_score)
    texts, codes, counts = _encode_pairs(pairs, _QUERIES)
    if phrases is None:
        weights = sum(np.bincount(each, counts, len(texts)) for each in codes)
        phrases = find_phrases(texts, np.asarray(weights, np.int64))
    units, unit, start = _cut_into_phrases(texts, phrases)
    find = _pairs_of_containing if containing else _pairs_with_one_change
    pair, before, after = find(unit, start, codes[0], codes[1])
    first = np.concatenate([codes[0], unit[before]])
    second = np.concatenate([codes[1], unit[after]])
    weights = np.concatenate([counts, counts[pair]])
    return _score_pairs(phrases, units, first, second, weights, least_score)


def _encode_pairs(
    pairs: pa.Table, names: tuple[str, str]
) -> tuple[pa.Array, tuple[Ints, Ints], Ints]:
    """The texts of both columns, the rows as numbers of texts, and their counts."""
    counts = _counts(pairs)
    used = pa.array(counts > 0)
    columns = [as_array(_column(pairs, name)).filter(used) for name in names]
    coded = pa.concat_arrays(columns).dictionary_encode()
    codes = coded.indices.to_numpy().astype(np.int64)
    half = len(codes) // 2
    return coded.dictionary, (codes[:half], codes[half:]), counts[counts > 0]


def _cut_into_phrases(texts: pa.Array, phrases: Phrases) -> tuple[pa.Array, Ints, Ints]:
    """Units, of which texts are the first, and the phrases of each text as numbers of units."""
    cut = words(texts)
    low = np.flatnonzero(phrases.starts(cut))
    joined = cut.join(low, np.concatenate([low[1:], [len(cut.flat)]])[: len(low)])
    coded = pa.concat_arrays([texts, joined]).dictionary_encode()
    unit = coded.indices.to_numpy().astype(np.int64)[len(texts) :]
    return coded.dictionary, unit, np.searchsorted(low, cut.start)


def _pairs_with_one_change(
    unit: Ints, start: Ints, first: Ints, second: Ints
) -> tuple[Ints, Ints, Ints]:
    """The pairs of texts that differ in exactly one phrase, not being it, and where both stand."""
    number = np.diff(start)
    same = np.flatnonzero((number[first] == number[second]) & (number[first] > 0))
    sizes = number[first[same]]
    pair = np.repeat(same, sizes)
    place = ranges(np.zeros(len(sizes), np.int64), sizes)
    one, other = unit[start[first[pair]] + place], unit[start[second[pair]] + place]
    differs = np.flatnonzero(one != other)
    once = np.bincount(pair[differs], minlength=len(first))[pair[differs]] == 1
    chosen = differs[once]
    # Where a query is one phrase the pair is there already, as a pair of whole queries.
    new = (one[chosen] != first[pair[chosen]]) | (other[chosen] != second[pair[chosen]])
    pair, place = pair[chosen[new]], place[chosen[new]]
    return pair, start[first[pair]] + place, start[second[pair]] + place


def _pairs_of_containing(
    unit: Ints, start: Ints, first: Ints, second: Ints
) -> tuple[Ints, Ints, Ints]:
    """For each phrase of a text and each of the next where both stand, and of which pair.

    Phrases that both texts have were not replaced and are left out, and so are whole texts.
    """
    number = np.diff(start)
    sizes = number[first] * number[second]
    pair = np.repeat(np.arange(len(first)), sizes)
    place = ranges(np.zeros(len(sizes), np.int64), sizes)
    each = np.maximum(number[second][pair], 1)
    before, after = start[first[pair]] + place // each, start[second[pair]] + place % each
    many = int(unit.max(initial=0)) + 1
    of_first = np.unique(pair * many + unit[before])
    of_second = np.unique(pair * many + unit[after])
    kept = ~np.isin(pair * many + unit[before], of_second)
    kept &= ~np.isin(pair * many + unit[after], of_first)
    kept &= (unit[before] != first[pair]) | (unit[after] != second[pair])
    return pair[kept], before[kept], after[kept]


def _score_pairs(
    phrases: Phrases | None,
    units: pa.Array,
    first: Ints,
    second: Ints,
    counts: Ints,
    least_score: float,
) -> Substitutions:
    """Add up the pairs of units, score them, and keep what goes together."""
    number = max(len(units), 1)
    pairs, which = np.unique(first * number + second, return_inverse=True)
    both = np.bincount(which, counts, len(pairs)).astype(np.int64)
    first, second = pairs // number, pairs % number
    firsts, seconds = (np.bincount(each, both)[each].astype(np.int64) for each in (first, second))
    scores = log_likelihood_ratio(both, firsts, seconds, int(both.sum()))
    kept = np.flatnonzero((scores > least_score) & (first != second))
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
