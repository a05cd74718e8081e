"""How good a ranking is beside the original's: precision, recall, MAP, NDCG, coverage.

The measures are those of the library `ir_measures`, asked about lists that are cut at j first: the
original's best j are what is relevant, and the release's best j are what was found. So precision
is the paper's, hits by the number found, and a short list is not punished for being short.

They depend on a query only through its *pattern*: how long the original's list is, and for each
candidate of the release where, if at all, the original has it. Of 100,000 queries a few hundred
have different patterns, so that the library is asked about these alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from zealous.study.extra import ir_measures
from zealous.study.measures.measured import Measured
from zealous.study.measures.substitution import Ranked
from zealous.study.releases.original_histogram import Ints

_Lists = dict[str, dict[str, int]]
_ABSENT = np.iinfo(np.int64).max


def ranking_quality(
    truth: Ranked, found: Ranked, top: Sequence[int] = (2, 5)
) -> Iterator[Measured]:
    """How well the best j of a release agree with those of the original, for each j (as `at`).

    `coverage` is the share of the queries for which the original yields something for which the
    release does. All else is an average over the queries for which the release yields something,
    and is not measured if there is none. Where the original yields nothing for such a query, each
    of these is 0 for it.

    - `precision`: of what the release gives, the share that is among the original's.
    - `recall`: of what the original gives, the share that the release gives.
    - `average-precision`: precision at each hit, added up and divided by what the original gives.
    - `ndcg`: normalised discounted cumulative gain; the original's best gains j, its next j - 1,
      and so on.
    - `map-printed`: the formula that the paper prints as MAP, the sum over the original's
      candidates i = 0, 1, ... of (i + 1) / (rank + 1), where rank is the place in the release's
      list, and 0 if it is not there. It is neither a mean nor bounded by 1, and more is not
      better: equal lists of length j give j, while a candidate that is missing counts i + 1, as if
      it were ranked first, so that a release that misses all of them gets j (j + 1) / 2, the most.

    Args:
        truth: What the original yields.
        found: What a release yields for the same queries.
        top: Each j. Both must hold as many for a query as the largest of them.
    """
    place = _column(found, "place")
    places, row = np.unique(place, return_inverse=True)
    wanted, lengths = np.unique(_column(truth, "place"), return_counts=True)
    right = np.zeros(len(places), np.int64)
    right[np.isin(places, wanted)] = lengths[np.isin(wanted, places)]
    ranks = _ranks(truth, found)
    for j in top:
        if len(wanted):
            yield Measured("coverage", float(np.isin(wanted, places).mean()), j)
        if not len(places):
            continue
        patterns = np.full((len(places), j + 1), j + 1)  # j + 1: the list has ended
        patterns[:, j] = np.minimum(right, j)
        given = _column(found, "rank")
        near = given < j
        patterns[row[near], given[near]] = np.minimum(ranks, j)[near]  # j: not the original's
        for name, value in _mean_measures(patterns, j).items():
            yield Measured(name, value, j)


def _ranks(truth: Ranked, found: Ranked) -> Ints:
    """For each candidate of the release its rank in the original's list."""
    asked = np.isin(_column(truth, "place"), _column(found, "place"))
    truth = Ranked(table=truth.table.filter(pa.array(asked)), asked=truth.asked)
    texts = [each.table["candidate"].combine_chunks() for each in (truth, found)]
    codes = pa.concat_arrays(texts).dictionary_encode().indices.to_numpy().astype(np.int64)
    number = codes.max(initial=0) + 1
    right, given = codes[: len(texts[0])], codes[len(texts[0]) :]
    right = right + number * _column(truth, "place")
    given = given + number * _column(found, "place")
    order = np.argsort(right)
    ranks = np.append(_column(truth, "rank")[order], _ABSENT)
    at = np.searchsorted(right, given, sorter=order)
    same = np.append(right[order], -1)[at] == given
    return np.where(same, ranks[at], _ABSENT)


def _mean_measures(patterns: Ints, j: int) -> dict[str, float]:
    """The average of each measure over queries with these patterns."""
    names = {
        ir_measures.SetP: "precision",
        ir_measures.SetR: "recall",
        ir_measures.AP @ j: "average-precision",
        ir_measures.nDCG @ j: "ndcg",
    }
    different, often = np.unique(patterns, axis=0, return_counts=True)
    right, given = _lists(different, j)
    sums = dict.fromkeys(("map-printed", *names.values()), 0.0)
    for query, times in enumerate(often.tolist()):
        sums["map-printed"] += times * _paper_map(list(right[str(query)]), list(given[str(query)]))
    some = {query: relevant for query, relevant in right.items() if relevant}
    for figure in ir_measures.iter_calc(list(names), some, given) if some else ():
        sums[names[figure.measure]] += int(often[int(figure.query_id)]) * figure.value
    return {name: value / len(patterns) for name, value in sums.items()}


def _lists(patterns: Ints, j: int) -> tuple[_Lists, _Lists]:
    """What is relevant and what was found, best first; the best is worth j, the next j - 1."""
    right, given = {}, {}
    for query, (*ranks, length) in enumerate(patterns.tolist()):
        right[str(query)] = {f"right {rank}": j - rank for rank in range(length)}
        given[str(query)] = {
            f"right {rank}" if rank < j else f"wrong {place}": j - place
            for place, rank in enumerate(ranks)
            if rank <= j
        }
    return right, given


def _paper_map(right: list[str], given: list[str]) -> float:
    """The paper's MAP of one query, as printed."""
    rank = {candidate: place for place, candidate in enumerate(given)}
    return sum((i + 1) / (rank.get(each, 0) + 1) for i, each in enumerate(right))


def _column(ranked: Ranked, name: str) -> Ints:
    values: Ints = ranked.table[name].to_numpy()
    return values
