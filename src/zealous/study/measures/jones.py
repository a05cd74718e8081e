"""Query substitution as Jones, Rey, Madani and Greiner describe it (2006).

Beyond `substitution`, on which it is built:

- pairs of units must exceed a log-likelihood ratio of 100;
- a pair of phrases is a query with the first followed by one with the second, as Götz et al. say,
  and need not be all that was changed;
- one phrase or several are replaced at once;
- candidates are ranked by a model of their features, learned from the same histograms: counts are
  divided by chance into two halves, candidates come from the one, and are right if they follow the
  query in the other.

What could not be had: see docs/study/README.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise, product

import numpy as np
import pyarrow as pa

from zealous.study.measures.candidate_model import Candidate, Model, features, fit
from zealous.study.measures.phrases import Words, words
from zealous.study.measures.substitutes import Ranked, Substitutions, as_array
from zealous.study.measures.substitution import LEAST_SCORE as WEAKER
from zealous.study.measures.substitution import learn
from zealous.study.releases.original_histogram import Ints
from zealous.synthetic.chance import mix

LEAST_SCORE = 100.0
_MOST_REPLACED = 3  # phrases at once
_OF_EACH = {1: 8, 2: 3, 3: 2}  # substitutes of each phrase, by how many phrases are replaced
_WHOLE = 10  # substitutes of the whole query
_TRAINED_ON = 3_000  # queries: the most frequent of those that others follow
_SEED = 2006
_Units = Mapping[str, Sequence[tuple[str, float]]]


@dataclass(frozen=True, kw_only=True)
class ModelledSubstitutions:
    """What was learned.

    Attributes:
        learned: Units and their substitutes.
        model: What ranks candidates; None where too little was known, and the ratio does.
        asked: How many people ask each query.
    """

    learned: Substitutions
    model: Model | None
    asked: Mapping[str, int]

    def top(
        self, queries: pa.Array | pa.ChunkedArray, most: int, cut: Words | None = None
    ) -> Ranked:
        """The best substitutions for each query, as `Substitutions.top` gives them."""
        texts = as_array(queries)
        rows: list[tuple[int, str, float, int]] = []
        for place, query, candidates in _candidates(self.learned, texts, cut):
            values = self._values(query, candidates)
            ordered = sorted(zip(values, candidates, strict=True), key=_best_first)
            rows += [
                (place, each.text, value, rank) for rank, (value, each) in enumerate(ordered[:most])
            ]
        names = {"place": pa.int64(), "candidate": pa.string(), "score": pa.float64()}
        columns = list(zip(*rows, strict=True)) or [()] * 4
        table = {
            name: pa.array(column, kind)
            for (name, kind), column in zip(
                {**names, "rank": pa.int64()}.items(), columns, strict=True
            )
        }
        return Ranked(table=pa.table(table), asked=len(texts))

    def _values(self, query: str, candidates: Sequence[Candidate]) -> Sequence[float]:
        if self.model is None:
            return [each.score for each in candidates]
        ranks: Sequence[float] = self.model.rank(features(query, candidates, self.asked)).tolist()
        return ranks


def learn_with_model(
    pairs: pa.Table, queries: pa.Table | None = None, *, least_score: float = LEAST_SCORE
) -> ModelledSubstitutions:
    """Learn from histograms: query, next_query, count, or of phrases; and query, count."""
    asked = {} if queries is None else _as_counts(queries)
    return ModelledSubstitutions(
        learned=learn(pairs, queries, least_score=least_score, containing=True),
        model=_train_model(pairs, queries, asked, least_score),
        asked=asked,
    )


def _train_model(
    pairs: pa.Table, queries: pa.Table | None, asked: Mapping[str, int], least_score: float
) -> Model | None:
    """A model of what half of the people ask, from candidates of the other half."""
    if "query" not in pairs.column_names:
        return None  # what follows a whole query is not known
    counts = np.maximum(pairs["count"].to_numpy(), 0)
    held_out = _held_out_people(counts)
    at = pairs.schema.get_field_index("count")
    half = pairs.set_column(at, "count", pa.array(counts - held_out))
    follows: dict[str, set[str]] = {}
    often: dict[str, int] = {}
    texts = (pairs[name].to_pylist() for name in ("query", "next_query"))
    for query, following, number in zip(*texts, held_out.tolist(), strict=True):
        if number:
            follows.setdefault(query, set()).add(following)
            often[query] = often.get(query, 0) + number
    chosen = sorted(often, key=lambda query: (-often[query], query))[:_TRAINED_ON]
    learned = learn(half, queries, least_score=least_score / 2, containing=True)
    rows, wanted = [], []
    for _, query, candidates in _candidates(learned, pa.array(chosen, pa.string()), None):
        rows.append(features(query, candidates, asked))
        wanted += [float(each.text in follows[query]) for each in candidates]
    return fit(np.concatenate(rows), np.array(wanted)) if rows else None


def _held_out_people(counts: Ints) -> Ints:
    """How many of the people of each row are held out, each by a coin; the same in every run."""
    row = np.repeat(np.arange(len(counts)), counts)
    coins = mix(_SEED, np.arange(len(row))) & np.uint64(1)
    return np.bincount(row, coins, len(counts)).astype(np.int64)


def _candidates(
    learned: Substitutions, queries: pa.Array, cut: Words | None
) -> Iterator[tuple[int, str, list[Candidate]]]:
    """For each query that has any its place and its candidates, each text once."""
    cut = cut or words(queries)
    units, texts = _substitutes(learned), queries.to_pylist()
    for place, segments in _segments(learned, cut):
        query = texts[place]
        found: dict[str, Candidate] = {}
        for each in (*_whole_query_candidates(units, query), *_replaced(units, segments)):
            known = found.get(each.text)
            if each.text != query and (known is None or known.score < each.score):
                found[each.text] = each
        if found:
            yield place, query, list(found.values())


def _whole_query_candidates(units: _Units, query: str) -> Iterator[Candidate]:
    for text, score in units.get(query, ())[:_WHOLE]:
        yield Candidate(text, score, 0)


def _replaced(units: _Units, segments: Sequence[str]) -> Iterator[Candidate]:
    """The query with one phrase or several replaced."""
    known = [place for place, each in enumerate(segments) if each in units]
    for size in range(1, min(len(known), _MOST_REPLACED) + 1):
        if len(segments) == 1:
            return  # that is the whole query
        for places in combinations(known, size):
            choices = [units[segments[place]][: _OF_EACH[size]] for place in places]
            for chosen in product(*choices):
                parts = list(segments)
                for place, (text, _) in zip(places, chosen, strict=True):
                    parts[place] = text
                yield Candidate(" ".join(parts), min(score for _, score in chosen), size)


def _segments(learned: Substitutions, cut: Words) -> Iterator[tuple[int, list[str]]]:
    """The phrases of each text; its words where nothing is known of phrases."""
    low = np.arange(len(cut.flat))
    if learned.phrases is not None:
        low = np.flatnonzero(learned.phrases.starts(cut))
    joined = cut.join(low, np.append(low[1:], len(cut.flat))[: len(low)]).to_pylist()
    ends = np.searchsorted(low, cut.start).tolist()
    for place, (start, end) in enumerate(pairwise(ends)):
        yield place, joined[start:end]


def _substitutes(learned: Substitutions) -> _Units:
    """The substitutes of each unit, best first."""
    known, start = learned.known.to_pylist(), learned.start.tolist()
    most = max(_WHOLE, *_OF_EACH.values())
    return {
        unit: list(
            zip(
                learned.instead[low : min(high, low + most)].to_pylist(),
                learned.scores[low : min(high, low + most)].tolist(),
                strict=True,
            )
        )
        for unit, low, high in zip(known, start[:-1], start[1:], strict=True)
    }


def _best_first(row: tuple[float, Candidate]) -> tuple[float, str]:
    value, candidate = row
    return -value, candidate.text


def _as_counts(queries: pa.Table) -> dict[str, int]:
    return dict(zip(queries["query"].to_pylist(), queries["count"].to_pylist(), strict=True))


Learn = Callable[[pa.Table, pa.Table | None], Substitutions | ModelledSubstitutions]
LEARNERS: Mapping[str, Learn] = {
    "ratio": learn,
    "jones": learn_with_model,
    "model": partial(learn_with_model, least_score=WEAKER),
}
"""How substitutions are learned, by the names that a study has for it.

`model` is `jones` with the least ratio of `ratio`, which suits smaller logs: the ratio grows with
the log.
"""
