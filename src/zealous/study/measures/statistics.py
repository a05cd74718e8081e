"""How well counts and the most frequent items are preserved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from zealous.study.measures.measured import Measured
from zealous.study.releases.original_histogram import Ints, Original
from zealous.study.releases.released import Released

_A_DECADE = 6  # bins
_DECADES = 19  # as many as 64 bits can count


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """Size, top-j precision and coverage, differences of counts, distribution of counts.

    All work on what the release holds: of the original's other items only sums are needed.

    Attributes:
        top: Every j of top-j; one above the number of the original's items is left out.
    """

    top: Sequence[int]

    def __call__(self, original: Original, released: Released) -> Iterator[Measured]:
        """All figures."""
        yield Measured("distinct", len(released))
        yield Measured("empty", int(len(released) == 0))
        yield Measured("total", released.total)
        yield from top_item_measures(original, released, self.top)
        yield from count_differences(original, released)
        yield from count_distribution(np.concatenate([released.counts, _unknown_counts(released)]))


def top_item_measures(
    original: Original, released: Released, top: Sequence[int]
) -> Iterator[Measured]:
    """For the original's j most frequent items how well the release keeps them.

    Frequencies are relative to the sum over these j items, in both. `l1` is the average difference
    of an item's two frequencies. `kl` is the divergence of the release's frequencies from the
    original's, in nats. It would be infinite as soon as one item is absent, and the paper does not
    say what it does then: here an absent item enters it with the count 1, before frequencies are
    taken. So an absent item costs more the more frequent it truly is, and next to nothing where it
    has hardly more than one user; a release that holds none of the items counts as the uniform
    distribution. Elsewhere absence is a frequency of 0.
    """
    top = sorted({j for j in top if 1 <= j <= len(original)})
    for j, held in zip(top, np.searchsorted(released.index, top), strict=True):
        rows, counts = released.index[:held], released.counts[:held]
        users, truth = original.users[:j], original.users[rows]
        yield Measured("l1", _distance(users, truth, counts) / j, j)
        yield Measured("kl", _divergence(users, truth, counts), j)
        yield Measured("missing", j - int(held), j)
        yield Measured("missing-share", (j - int(held)) / j, j)


def _distance(users: Ints, truth: Ints, counts: Ints) -> float:
    """The sum of differences of frequencies; what is not in `counts` has the frequency 0."""
    total, published = int(users.sum()), int(counts.sum())
    absent = total - int(truth.sum())
    if published <= 0:  # nothing, or a foreign mechanism's negative noise
        return 1.0
    return float(np.abs(truth / total - counts / published).sum()) + absent / total


def _divergence(users: Ints, truth: Ints, counts: Ints) -> float:
    """KL, an absent item or one with less than 1 having the count 1."""
    total, counts = int(users.sum()), np.maximum(counts, 1)
    published = int(counts.sum()) + len(users) - len(counts)
    # The sum of p log(p/q), without the terms log 1 of the absent.
    ratios = float((users * np.log(users)).sum()) - float((truth * np.log(counts)).sum())
    return max(0.0, ratios / total - math.log(total / published))


def count_differences(original: Original, released: Released) -> Iterator[Measured]:
    """How far the counts are from the original's, over all its items.

    The release's counts are multiplied by one factor that makes its total, with the rows that the
    original lacks, the original's. Such rows enter the total variation alone: the averages are over
    the original's items. An empty release is 0 everywhere, and its total variation is 1.
    """
    truth = original.users[released.index]
    total, published = int(original.users.sum()), released.total
    if not len(original):
        return
    counts = released.counts * (total / published if published > 0 else 0.0)
    off = np.abs(truth - counts)
    absent = total - int(truth.sum())
    # Exact in 64 bits, so that what is held cancels: users * total stays far below 2^63.
    squares = int(original.users @ original.users) - int(truth @ truth)
    beyond = float(np.abs(_unknown_counts(released)).sum())
    varied = (float(off.sum()) + absent) / total + beyond / published if published > 0 else 2.0
    yield Measured("average-difference", (float(off.sum()) + absent) / len(original))
    yield Measured("rms-difference", math.sqrt((float(off @ off) + squares) / len(original)))
    yield Measured("total-variation", varied / 2)


def count_distribution(counts: Ints) -> Iterator[Measured]:
    """How many items have a count, in bins whose width grows with the count.

    Below 10 each count is a bin of its own; from there on there are six bins a decade. The value is
    a density: items for each whole number in the bin. Empty bins are left out.
    """
    edges = bins()
    found = np.bincount(np.searchsorted(edges, counts[counts > 0], "right"), minlength=1)
    for place in np.flatnonzero(found):
        first, after = int(edges[place - 1]), int(edges[place])
        middle = math.sqrt(first * (after - 1))
        yield Measured("items-with-count", int(found[place]) / (after - first), middle)


def bins() -> Ints:
    """Where bins of counts begin: 1, 2, ..., 9, 10, 15, 22, 32, 47, 69, 100, 147, ..."""
    wide = (
        math.ceil(10 ** (step / _A_DECADE) - 1e-9)
        for step in range(_A_DECADE, _A_DECADE * (_DECADES - 1) + 1)
    )
    return np.array([*range(1, 10), *wide], np.int64)


def _unknown_counts(released: Released) -> Ints:
    counts: Ints = released.beyond["count"].to_numpy()
    return counts
