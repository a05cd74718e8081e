"""Intervals hold for what is published: coverage given that an item is shown, summed exactly.

The law of every mechanism's noise is written down here once more, as a table of chances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from zealous.mechanisms.choose import MECHANISMS
from zealous.mechanisms.domain import Domain
from zealous.mechanisms.gaussian import Gaussian
from zealous.mechanisms.laplace import Laplace
from zealous.mechanisms.listed import Listed
from zealous.mechanisms.of_keywords import OfKeywords
from zealous.mechanisms.of_smaller import OfSmaller, OfSmallerGaussian
from zealous.mechanisms.pooled import Pooled
from zealous.mechanisms.selection import Selection
from zealous.mechanisms.zealous import Zealous
from zealous.privacy.accounting.intervals import Interval
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP

Chances = npt.NDArray[np.float64]
CONFIDENCES = (0.5, 0.95, 0.9875)
FLOAT = 1e-9


@dataclass
class Law:
    """The chances of noisy counts from `first` on, as far as they are published; not normalised."""

    first: int
    chances: Chances

    def noisy(self) -> npt.NDArray[np.int64]:
        return np.arange(self.first, self.first + len(self.chances))

    def given(self, held: npt.NDArray[np.bool_]) -> float:
        """The chance of what is held, given that the item is published."""
        return float(self.chances[held].sum() / self.chances.sum())


def laplace(scale: Fraction, x: npt.NDArray[np.int64]) -> Chances:
    return np.asarray(np.exp(-np.abs(x) / float(scale)))


def gaussian(scale: Fraction, x: npt.NDArray[np.int64]) -> Chances:
    return np.asarray(np.exp(-(x**2) / (2 * float(scale) ** 2)))


def thresholded(noise: Callable[..., Chances], scale: Fraction, above: int, users: int) -> Law:
    """Noisy counts above a threshold."""
    last = max(above, users) + math.ceil(45 * scale) + 5
    return Law(above + 1, noise(scale, np.arange(above + 1, last) - users))


def unconditional(noise: Callable[..., Chances], scale: Fraction, users: int) -> Law:
    return thresholded(noise, scale, users - math.ceil(45 * scale) - 5, users)


def selected(mechanism: Selection, users: int) -> Law:
    """Capped noise, held to one of two bounds by a coin."""
    scale, least = mechanism.scale, mechanism.tau_prime
    noisy = np.arange(least + 1, users + least + 2)
    found = np.zeros(len(noisy))
    for bound, part in (
        (least, 1 - mechanism.raised_probability),
        (least + 1, mechanism.raised_probability),
    ):
        every = np.arange(-math.ceil(45 * scale), bound + 1)
        total = laplace(scale, every).sum()
        shown = (noisy > bound) & (noisy - users <= bound)
        found += np.where(shown, laplace(scale, noisy - users), 0) / total * float(part)
    return Law(least + 1, found)


@cache
def low(interval: Interval, count: int) -> int:
    return interval.low(count)


def coverage(interval: Interval, users: int, law: Law) -> float:
    lows = np.array([low(interval, int(count)) for count in law.noisy()])
    high = np.maximum(law.noisy() + interval.error, interval.fewest)
    return law.given((lows <= users) & (users <= high))


def plain(interval: Interval, users: int, law: Law) -> float:
    """What count - e .. count + e would cover."""
    return law.given(np.abs(law.noisy() - users) <= interval.error)


GOALS = [
    (ProbabilisticDP(epsilon=1, delta="0.001", users=100_000), 2),
    (ProbabilisticDP(epsilon=5, delta="0.001", users=100_000, neighbors="add-remove"), 1),
    (Indistinguishability(epsilon=1, delta="1e-6"), 3),
    (Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove"), 1),
    (Indistinguishability(epsilon=2, delta="0.3"), 2),
    (Indistinguishability(epsilon="0.4", delta="0.05", neighbors="add-remove"), 1),
]


def cases() -> list[Any]:
    """Mechanisms with a threshold, each with the law of its published counts."""
    found: list[Any] = []
    for goal, m in GOALS:
        kinds: list[Any] = [Zealous]
        if isinstance(goal, Indistinguishability):
            kinds += [Laplace, Gaussian] + ([Selection] if m == 1 else [])
        for kind in kinds:
            found.append((kind, kind.calibrate(goal, m)))
    shapes = [
        (2, 0, Fraction(0)),
        (3, 7, Fraction(1, 2)),
        (3, 7, Fraction(255, 256)),
        (20, 1, Fraction(1, 4)),
    ]
    found += [
        (
            Selection,
            Selection(
                items_per_user=1,
                scale=Fraction(scale),
                tau=1,
                tau_prime=bound,
                raised_probability=longer,
            ),
        )
        for scale, bound, longer in shapes
    ]
    found += [
        (kind, kind(items_per_user=2, scale=Fraction(scale), tau=tau, tau_prime=tau + t))
        for kind in (Zealous, Gaussian)
        for scale, tau, t in ((1, 3, 0), (6, 2, 5), (3, 5, -2), (4, 1, 60))
    ]
    return [pytest.param(each, id=f"{kind.name}-{i}") for i, (kind, each) in enumerate(found)]


def law_of(mechanism: Any, users: int) -> Law:
    if isinstance(mechanism, Selection):
        return selected(mechanism, users)
    noise = gaussian if mechanism.noise_law == "discrete-gaussian" else laplace
    return thresholded(noise, mechanism.scale, mechanism.tau_prime, users)


def reached(mechanism: Any, interval: Interval) -> list[int]:
    """Numbers of users from the first threshold to far above the second."""
    far = max(mechanism.tau, mechanism.tau_prime) + 3 * interval.error + 4
    every = range(mechanism.tau, far)
    near = range(max(mechanism.tau, mechanism.tau_prime - 3), far - interval.error)
    some = (each[:: max(1, len(each) // 25)] for each in (every, near))
    return sorted({far, mechanism.tau, *near[:6], *chain(*some)})


@pytest.mark.parametrize("mechanism", cases())
def test_it_holds_for_every_number_of_users_if_published(mechanism: Any) -> None:
    for confidence in CONFIDENCES:
        interval = mechanism.interval(confidence)
        for users in reached(mechanism, interval):
            law = law_of(mechanism, users)
            assert coverage(interval, users, law) >= confidence - FLOAT, (confidence, users)


@pytest.mark.parametrize("mechanism", cases())
def test_no_larger_lower_end_would_do(mechanism: Any) -> None:
    """With as many users as the lower end says, so high a count is not unusual."""
    interval = mechanism.interval(0.95)
    assert interval.fewest == mechanism.tau
    last, lows = math.floor(interval.certain_from), []
    for count in range(mechanism.tau_prime + 1, last, max(1, (last - mechanism.tau_prime) // 40)):
        fewest = interval.low(count)
        lows.append(fewest)
        assert interval.fewest <= fewest <= max(count - interval.error, interval.fewest)
        if interval.fewest < fewest < count - interval.error:
            law = law_of(mechanism, fewest)
            assert law.given(law.noisy() >= count) >= 0.05 - FLOAT
            law = law_of(mechanism, fewest - 1)
            assert law.given(law.noisy() >= count) <= 0.05 + FLOAT
    assert lows == sorted(lows)


@pytest.mark.parametrize("mechanism", cases())
def test_far_from_the_threshold_it_is_that_of_the_noise(mechanism: Any) -> None:
    interval = mechanism.interval(0.95)
    e = mechanism.noise_quantile(0.95)
    start = math.floor(interval.certain_from)
    above = max(mechanism.tau_prime, mechanism.tau + e)
    assert start <= above + e + 3
    for count in (start, start + 1, start + e, 10 * start + 1000):
        assert (interval.low(count), interval.high(count)) == (count - e, count + e)
    far = 10 * (start + e) + 1000
    if not isinstance(mechanism, Selection):  # whose noise is capped, if far away
        law = law_of(mechanism, far)
        smaller = Interval(error=e - 1, missed=0.05, chance=interval.chance)
        assert e == 0 or coverage(smaller, far, law) < 0.95


def test_ignoring_the_threshold_would_not_do() -> None:
    """What the tests above would see: by far too few."""
    for mechanism in (each.values[0] for each in cases()[:10]):
        interval = mechanism.interval(0.95)
        every = range(mechanism.tau, max(mechanism.tau_prime, mechanism.tau + 1))
        few = [plain(interval, users, law_of(mechanism, users)) for users in every]
        assert min(few) < 0.9


def test_gaussian_noise_leaves_less_in_doubt_than_laplace() -> None:
    """A single user's item hardly ever comes out a deviation above so high a threshold."""
    goal = Indistinguishability(epsilon=1, delta="1e-6")
    mechanism = Gaussian.calibrate(goal, 5)
    interval = mechanism.interval(0.95)
    assert interval.low(mechanism.tau_prime + 1) == 1
    deviation = math.ceil(mechanism.scale)
    assert interval.low(mechanism.tau_prime + deviation) > mechanism.tau_prime - 3 * deviation > 20
    other = Zealous.calibrate(goal, 5)
    assert other.interval(0.95).low(other.tau_prime + math.ceil(other.scale)) == 1


# Thresholds that follow from what was published before


OF_OTHERS: list[tuple[Any, Any]] = [
    (OfSmaller(items_per_user=1, scale=Fraction(2)), laplace),
    (OfSmaller(items_per_user=1, scale=Fraction(7)), laplace),
    (OfSmallerGaussian(items_per_user=1, scale=Fraction(5)), gaussian),
    (OfKeywords(items_per_user=1, scale=Fraction(3, 2)), laplace),
]


@cache
def lowest(mechanism: Any, count: int) -> Interval:
    found: Interval = mechanism.interval(0.95, lowest=count)
    return found


@pytest.mark.parametrize(("mechanism", "noise"), OF_OTHERS)
@pytest.mark.parametrize("candidates", [0, 40, 1000])
def test_it_holds_whatever_else_is_published(
    mechanism: Any, noise: Callable[..., Chances], candidates: int
) -> None:
    """The smallest count of the table may be this one or another, anything above the threshold."""
    above = mechanism.threshold(candidates)
    interval = mechanism.interval(0.95)
    e, tightest = interval.error, mechanism.interval(0.95, lowest=above + 1)
    assert tightest.threshold == above
    assert interval.threshold >= above
    for users in range(0, above + 3 * e, max(1, (above + 3 * e) // 25)):
        law = thresholded(noise, mechanism.scale, above, users)
        for other in (above + 1, above + 2, above + e, above + 4 * e):
            lows = np.array(
                [
                    low(lowest(mechanism, min(int(count), other)), int(count))
                    for count in law.noisy()
                ]
            )
            assert law.given((lows <= users) & (users <= law.noisy() + e)) >= 0.95 - FLOAT
        assert coverage(interval, users, law) >= 0.95 - FLOAT
    if isinstance(mechanism, OfSmaller):
        assert mechanism.interval(0.95, candidates=candidates).threshold == above


def test_the_margin_above_the_smallest_count_is_always_the_same() -> None:
    for mechanism, _ in OF_OTHERS:
        margins = {
            mechanism.interval(0.95, lowest=lowest).certain_from - lowest
            for lowest in range(mechanism.noise_quantile(0.95), mechanism.noise_quantile(0.95) + 9)
        }
        assert len(margins) == 1


# Where noise does not decide what is there


@pytest.mark.parametrize(
    ("mechanism", "noise"),
    [
        (Domain(items_per_user=1, scale=Fraction(3)), laplace),
        (Listed(items_per_user=1, scale=Fraction(9, 2)), laplace),
    ],
)
def test_without_a_threshold_it_is_that_of_the_noise(mechanism: Any, noise: Any) -> None:
    interval, e = mechanism.interval(0.95, lowest=50), mechanism.noise_quantile(0.95)
    assert interval.threshold is None
    assert (interval.low(100), interval.high(100)) == (100 - e, 100 + e)
    assert (interval.low(-5 * e), interval.high(-5 * e)) == (0, 0)  # nobody is fewer than nobody
    for users in (0, 1, e, 40):
        assert coverage(interval, users, unconditional(noise, mechanism.scale, users)) >= 0.95
    # Rows that were picked because their counts were high are another matter.
    for above in (0, 5, 30):
        picked = interval.conditioned_on_above(above)
        for users in range(above + 3 * e):
            law = thresholded(noise, mechanism.scale, above, users)
            assert coverage(picked, users, law) >= 0.95 - FLOAT


def test_counts_of_keys_have_noise_of_their_own() -> None:
    goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
    mechanism = Pooled.calibrate(goal, 5)
    interval, e = mechanism.interval(0.95), mechanism.noise_quantile(0.95)
    assert interval.threshold is None
    assert (interval.low(1000), interval.high(1000)) == (1000 - e, 1000 + e)
    assert interval.low(1) == 0
    deviation = float(mechanism.scale) * math.sqrt(2)
    for above in (-3, 0, e):  # many grains to each whole one: hardly other than without grains
        there = math.erfc((above + 0.5) / deviation) / 2
        assert interval.chance(0, above) == pytest.approx(there, rel=1e-4)
        assert interval.chance(7, above + 7) == pytest.approx(there, rel=1e-4)


def test_every_mechanism_has_one() -> None:
    assert all(hasattr(each, "interval") for each in MECHANISMS.values())
