"""Which of several substitutions is best: features of a query and a candidate, and a model of them.

Jones et al. had editors judge candidates, and fitted a linear model of features to the judgements.
A log has no judgements. What it has is what people asked next: the model is a logistic regression
for whether a candidate is asked after the query by people whose queries it was not learned from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zealous.study.measures.association import Floats

FEATURES = (
    "edit distance",
    "word distance",
    "prefix overlap",
    "phrases replaced",
    "whole query",
    "words more",
    "log-likelihood ratio",
    "frequency of the candidate",
)
_RIDGE = 1.0  # of weights of features of deviation 1, against a likelihood summed over candidates
_STEPS = 25  # of Newton's method, which needs about six
_LEAST_OF_EACH = 10  # candidates that were asked, and that were not: with fewer nothing is fitted


class Candidate(NamedTuple):
    """A query to ask instead.

    Attributes:
        text: The query.
        score: The log-likelihood ratio of the change, the least of several.
        replaced: How many phrases are others; 0 where the whole query is.
    """

    text: str
    score: float
    replaced: int


def features(query: str, candidates: Sequence[Candidate], asked: Mapping[str, int]) -> Floats:
    """A row for each candidate, a column for each of `FEATURES`.

    Args:
        query: What is asked.
        candidates: What might be instead.
        asked: How many people ask each query, for those that are known.
    """
    words = query.split()
    return np.array(
        [_row(query, words, each, np.log1p(max(asked.get(each.text, 0), 0))) for each in candidates]
    ).reshape(len(candidates), len(FEATURES))


def _row(query: str, words: Sequence[str], candidate: Candidate, often: float) -> Sequence[float]:
    text = candidate.text
    others = text.split()
    longest = max(len(query), len(text), 1)
    return (
        edit_distance(query, text) / longest,
        edit_distance(words, others) / max(len(words), len(others), 1),
        _common_prefix(query, text) / longest,
        candidate.replaced,
        not candidate.replaced,
        len(others) - len(words),
        np.log1p(candidate.score),
        often,
    )


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Levenshtein's distance of two texts, or of two lists of words.

    >>> edit_distance("kitten", "sitting"), edit_distance(["cheap", "hotel"], ["hotel"])
    (3, 1)
    """
    same = _common_prefix(one, other)
    one, other = one[same:], other[same:]
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def _common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    """How many letters, or words, both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


@dataclass(frozen=True, kw_only=True)
class Model:
    """A logistic regression.

    Attributes:
        weights: Of each feature, divided by its deviation: larger ones say more.
        center: The mean of each feature where it was fitted.
        deviation: Its deviation.
    """

    weights: Floats
    center: Floats
    deviation: Floats

    def rank(self, rows: Floats) -> Floats:
        """How good candidates are, in an order alone: the constant makes no difference."""
        values: Floats = ((rows - self.center) / self.deviation) @ self.weights
        return values


def fit(rows: Floats, wanted: Floats) -> Model | None:
    """Fit weights to candidates that were asked next and to others.

    Newton's method from zero, with a ridge, so that the same rows give the same weights.

    Args:
        rows: The features of each candidate.
        wanted: 1 where it was asked, else 0.

    Returns:
        None where too few of either kind are known.
    """
    if min(wanted.sum(), len(wanted) - wanted.sum()) < _LEAST_OF_EACH:
        return None
    center, deviation = rows.mean(axis=0), rows.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    scaled = np.column_stack([np.ones(len(rows)), (rows - center) / deviation])
    ridge = np.full(scaled.shape[1], _RIDGE)
    ridge[0] = 1e-6  # the constant is free
    weights = np.zeros(scaled.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(scaled @ weights, -30, 30)))
        slope = scaled.T @ (wanted - chance) - ridge * weights
        bend = (scaled * (chance * (1 - chance))[:, None]).T @ scaled + np.diag(ridge)
        step = np.linalg.solve(bend, slope)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return Model(weights=weights[1:], center=center, deviation=deviation)
