"""How surprising a fall between two published counts is where nothing changed in the log.

An item of release 1 is here because its noisy count passed a threshold; in release 2 it may not
have. Both are part of the law below. docs/proofs/changes.md has the argument.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from zealous.libraries import np
from zealous.privacy.accounting.intervals import Interval

if TYPE_CHECKING:
    import numpy.typing as npt

Numbers: TypeAlias = "npt.NDArray[np.float64]"
Whole: TypeAlias = "npt.NDArray[np.int64]"

_NEGLIGIBLE = 1e-13  # chance of noise so large that it is left out
UNLIKELY = 1e-9  # that a bound is passed that p-values rely on; added to each of them
_DEVIATIONS = 6.0  # of a normal law, beyond which lies less than UNLIKELY
_STEPS = 8  # means that are tried, in a deviation of the noise
_RATIO = 1.02  # of means that are rounded up to one, far above both thresholds


@dataclass(frozen=True, kw_only=True)
class CountLaw:
    """The law of a published count, given how many users are counted.

    Attributes:
        interval: That of the table: what is shown, and with which noise.
    """

    interval: Interval

    @cached_property
    def reach(self) -> int:
        """The largest noise that matters."""
        reach = max(1, self.interval.error)
        while self._tail(reach, reach) > _NEGLIGIBLE:
            reach *= 2
        return reach

    @cached_property
    def tails(self) -> Numbers:
        """P(noise > k) for k from -reach - 1 to reach."""
        inner = [self._tail(k, self.reach) for k in range(-self.reach, self.reach)]
        return np.array([1.0, *inner, 0.0])

    @cached_property
    def noise(self) -> Numbers:
        """P(noise = k) for k from -reach to reach."""
        return -np.diff(self.tails)

    @property
    def threshold(self) -> int | None:
        """No count at or below it is shown."""
        return self.interval.threshold

    def deviation(self) -> float:
        """The standard deviation of the noise."""
        k = np.arange(-self.reach, self.reach + 1)
        mean = float(self.noise @ k)
        return math.sqrt(float(self.noise @ (k - mean) ** 2))

    def shown_probability(self, users: Whole) -> Numbers:
        """The chance that an item of so many users is shown, for each of some numbers."""
        enough = users >= self.interval.fewest
        threshold = self.threshold
        if threshold is None:
            return enough.astype(np.float64)
        near = np.abs(users - threshold) <= self.reach + 1
        known = np.where(users > threshold, 1.0, 0.0)
        for place in np.flatnonzero(near & enough):
            known[place] = self.interval.chance(int(users[place]), threshold)
        return np.where(enough, known, 0.0)

    def least_bound(self, chance: float) -> int:
        """Q: the noise is below -Q with at most such a chance."""
        below = np.concatenate([[0.0], np.cumsum(self.noise)])  # P(noise < k) from -reach on
        return self.reach - int(np.searchsorted(below, chance, side="right")) + 1

    def sum_bound(self, number: int, chance: float) -> int:
        """Q: as many noises together are below -Q with at most such a chance, by Chernoff's bound.

        Provided that none is beyond the reach; see `beyond_reach`.
        """
        k = np.arange(-self.reach, self.reach + 1)
        rates = np.geomspace(1e-3, 10, 200) / self.deviation()
        moments = np.array([math.log(self.noise @ np.exp(-rate * k)) for rate in rates])
        return math.ceil(float(np.min((number * moments - math.log(chance)) / rates)))

    def beyond_reach(self, number: int) -> float:
        """At most the chance that one of as many noises is beyond the reach."""
        return 2 * number * _NEGLIGIBLE

    def _tail(self, k: int, reach: int) -> float:
        """P(noise > k), asked where the threshold plays no part."""
        users = max(self.interval.fewest, (self.threshold or 0) + reach + 2)
        return self.interval.chance(users, users + k)


def fall_p_values(
    first: CountLaw, second: CountLaw, counts: Whole, falls: Whole, *, same_key: bool
) -> Numbers:
    """At most how likely falls as large are for items that nothing happened to.

    Args:
        first: The law of the count before.
        second: The law of the count after.
        counts: The larger of both counts of each item.
        falls: The count before, less the count after; an item that is not shown after counts there
            as its threshold.
        same_key: Whether the same items of each user were counted. If not, the users who count for
            an item differ by chance, at most as much as a Poisson number does.
    """
    if not len(falls):
        return np.zeros(0)
    values, places = np.unique(falls, return_inverse=True)
    near = _means_near_thresholds(first, second)
    if same_key:
        found = _largest(first, second, map(_constant, near), values)[places]
        return np.minimum(found + UNLIKELY, 1.0)
    found = _largest(first, second, map(_poisson, _thinned_means(near)), values)[places]
    largest = _largest_means(first, second, counts)
    for mean in np.unique(largest):
        rows = np.flatnonzero(largest == mean)
        distinct, back = np.unique(falls[rows], return_inverse=True)
        here = _fall_probabilities(first, second, _poisson(float(mean)), distinct)[back]
        found[rows] = np.maximum(found[rows], here)
    return np.minimum(found + UNLIKELY, 1.0)


def significant(p_values: Numbers, rate: float) -> npt.NDArray[np.bool_]:
    """Which are small enough that at most this share of them is expected to be by chance.

    The procedure of Benjamini and Hochberg.

    >>> significant(np.array([0.001, 0.5, 0.02]), 0.05).tolist()
    [True, False, True]
    """
    number = len(p_values)
    ordered = np.sort(p_values)
    passing = np.flatnonzero(ordered <= rate * np.arange(1, number + 1) / max(number, 1))
    if not passing.size:
        return np.zeros(number, np.bool_)
    return np.asarray(p_values <= ordered[passing[-1]])


@dataclass(frozen=True, kw_only=True)
class _Users:
    """How many users count for an item: from `least` on, with these chances."""

    least: int
    chances: Numbers


def _constant(users: float) -> _Users:
    return _Users(least=round(users), chances=np.ones(1))


def _poisson(mean: float) -> _Users:
    """As many as chance leaves of a mean: the widest that independent choices can give."""
    far = 8 * math.sqrt(mean) + 30
    least, most = max(0, math.floor(mean - far)), math.ceil(mean + far)
    ratios = math.log(mean) - np.log(np.arange(least + 1, most + 1))  # of one chance to the last
    chances = np.exp(_from_largest(np.concatenate([[0.0], np.cumsum(ratios)])))
    return _Users(least=least, chances=chances / chances.sum())


def _from_largest(logarithms: Numbers) -> Numbers:
    return np.asarray(logarithms - logarithms.max())


def _means_near_thresholds(first: CountLaw, second: CountLaw) -> list[float]:
    """Numbers of users for which a threshold can matter, and one where none does."""
    thresholds = [each.threshold for each in (first, second) if each.threshold is not None]
    reach = first.reach + second.reach
    if not thresholds:
        return [float(max(first.interval.fewest, second.interval.fewest, reach))]
    fewest = max(first.interval.fewest, 1)
    low = max(fewest, min(thresholds) - reach)
    high = max(max(thresholds) + reach, fewest) + 1
    step = max(1, int(min(first.deviation(), second.deviation()) / _STEPS))
    return [*map(float, range(low, high, step)), float(high)]


def _thinned_means(means: Sequence[float]) -> list[float]:
    """Some of them, where chance spreads users around each: a part of a deviation apart."""
    found = [means[0]]
    for mean in means[1:]:
        if mean - found[-1] >= math.sqrt(mean) / _STEPS or mean == means[-1]:
            found.append(mean)
    return found


def _largest_means(first: CountLaw, second: CountLaw, counts: Whole) -> Numbers:
    """For each item the largest mean that its counts allow, a little rounded up."""
    slack = max(each.least_bound(UNLIKELY) for each in (first, second))
    users = np.maximum(counts + slack, 1).astype(np.float64)
    most = users + _DEVIATIONS * np.sqrt(users) + _DEVIATIONS**2
    return np.asarray(_RATIO ** np.ceil(np.log(most) / math.log(_RATIO)))


def _largest(first: CountLaw, second: CountLaw, users: Iterable[_Users], falls: Whole) -> Numbers:
    found = np.zeros(len(falls))
    for each in users:
        found = np.maximum(found, _fall_probabilities(first, second, each, falls))
    return np.minimum(found, 1.0)


def _fall_probabilities(first: CountLaw, second: CountLaw, users: _Users, falls: Whole) -> Numbers:
    """P(the count falls by at least that much | it is shown before), for each of some falls."""
    start, shown, weights = _law_of_shown(first, users)
    if shown <= 0:
        return np.zeros(len(falls))
    lowest, at_most = _law_of_at_most(second, users)
    # at_most[v - lowest] is P(count after <= v): 0 before it, 1 behind it.
    place = start - lowest - falls
    ends = np.concatenate([[0.0], at_most, [1.0]])
    found = [
        float(weights @ ends[np.clip(np.arange(at, at + len(weights)) + 1, 0, len(ends) - 1)])
        for at in place.tolist()
    ]
    return np.array(found) / shown


def _law_of_shown(law: CountLaw, users: _Users) -> tuple[int, float, Numbers]:
    """The first count that is shown, the chance of any, and the chance of each from there on."""
    lowest, chances = _law_of_noisy(law, users)
    if law.threshold is None:
        return lowest, float(chances.sum()), chances
    numbers = np.arange(users.least, users.least + len(users.chances))
    shown = float(users.chances @ law.shown_probability(numbers))
    start = max(law.threshold + 1, lowest)
    chances = chances[start - lowest :]
    if len(chances):
        chances[0] += shown - float(chances.sum())  # who is held to one more, at the threshold
    return start, shown, chances


def _law_of_at_most(law: CountLaw, users: _Users) -> tuple[int, Numbers]:
    """The least count, and P(count <= v) from there on, where an absent one is the threshold."""
    start, shown, chances = _law_of_shown(law, users)
    absent = max(0.0, float(users.chances.sum()) - shown)
    if law.threshold is None:
        return start, np.cumsum(chances)
    gap = np.zeros(start - law.threshold - 1)
    return law.threshold, absent + np.cumsum(np.concatenate([[0.0], gap, chances]))


def _law_of_noisy(law: CountLaw, users: _Users) -> tuple[int, Numbers]:
    """The least noisy count, and the chance of each from there on, of items with enough users."""
    few = max(0, law.interval.fewest - users.least)
    chances = users.chances[few:]
    if not len(chances):
        return users.least + few - law.reach, np.zeros(1)
    return users.least + few - law.reach, np.convolve(chances, law.noise)
