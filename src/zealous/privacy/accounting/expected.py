"""What a plan will publish, expected from counts that are public.

The counts come from an earlier release or a synthetic log, never from the log to be published:
whoever chooses parameters by them has not looked at anybody's data. Each item is published or not
by its own noise, so expectations and variances add over items.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from zealous.errors import UsageError
from zealous.privacy.calibrate import (
    Calibration,
    any_published_probability,
    calibrate,
    most_items_at_tau,
    publication_probability,
    tail,
    theorem_allows,
)
from zealous.privacy.guarantee import Guarantee, positive_integer

_NORMAL_95 = 1.959964


class Thresholds(NamedTuple):
    """The least tau' for one tau, and the delta that the two achieve."""

    tau: int
    tau_prime: int
    delta: Fraction


def tau_prime_curve(goal: Guarantee, items_per_user: int, taus: Iterable[int]) -> list[Thresholds]:
    """The least tau' for each tau; `calibrate` finds the lowest point.

    >>> from zealous.privacy.guarantee import ProbabilisticDP
    >>> goal = ProbabilisticDP(epsilon=1, delta="0.001", users=500_000)
    >>> [each.tau_prime for each in tau_prime_curve(goal, 2, range(1, 10))]
    [81, 79, 79, 79, 79, 79, 79, 80, 80]
    """
    scale = calibrate(goal, items_per_user).scale
    curve = []
    for tau in taus:
        positive_integer(tau, "tau")
        if goal.users is not None and goal.needs_users and tau > goal.users:
            raise UsageError("tau must not be above users: nothing could ever be published")
        items = most_items_at_tau(goal, items_per_user, tau)
        t = _least_t(goal, scale, items)
        curve.append(Thresholds(tau, tau + t, any_published_probability(scale, t, items)))
    return curve


@dataclass(frozen=True, kw_only=True)
class Published:
    """How many items will be published.

    Attributes:
        mean: The expectation, exact but for the rounding of floats.
        deviation: The standard deviation, likewise.
        most: How many items could be published at all.
    """

    mean: float
    deviation: float
    most: int

    @property
    def low(self) -> int:
        """The lower end of a range that holds the number in about 95 of 100 releases."""
        return max(0, math.floor(self.mean - _NORMAL_95 * self.deviation))

    @property
    def high(self) -> int:
        """The upper end of that range; normal approximation, rounded outwards."""
        return min(self.most, math.ceil(self.mean + _NORMAL_95 * self.deviation))


def expected_published(calibration: Calibration, counts: Mapping[int, int]) -> Published:
    """How many items to expect, with what deviation.

    Args:
        calibration: The parameters.
        counts: From a number of users, after bounding, to the number of items that have it.
    """
    mean = variance = 0.0
    most = 0
    for count, items in counts.items():
        p = publication_probability(calibration, count)
        mean += items * p
        variance += items * p * (1 - p)
        most += items if count >= calibration.tau else 0
    return Published(mean=mean, deviation=math.sqrt(variance), most=most)


def expected_coverage(calibration: Calibration, top: Iterable[int]) -> float:
    """The expected share of some items, such as the true top j, that is published.

    Args:
        calibration: The parameters.
        top: For each of the items its users after bounding; 0 where none kept it.
    """
    counts = list(top)
    if not counts:
        raise UsageError("the coverage of no items is not defined: give at least one count")
    kept = math.fsum(publication_probability(calibration, count) for count in counts)
    return kept / len(counts)


def expected_error(calibration: Calibration, top: Iterable[tuple[int, int]]) -> float:
    """How far the relative frequencies among some items are expected to be off.

    With f the true shares of the items in their total and g the published ones (0 for an absent
    item), the expected sum of |f - g|: 0 is perfect, 1 is as bad as publishing nothing, 2 the
    worst. The published total is taken at its expectation given that there is one, from which it
    deviates little where many items are published.

    Args:
        calibration: The parameters.
        top: For each of the items its true users and its users after bounding.
    """
    pairs = list(top)
    truth = sum(true for true, _ in pairs)
    if truth == 0:
        raise UsageError("the items have no users at all: give those of a log that has some")
    nothing = math.prod(1 - publication_probability(calibration, count) for _, count in pairs)
    if nothing == 1:
        return 1.0
    # The total given that something is published. An empty release is off by 1, which is what the
    # distances of its items to their shares of the total add up to as well.
    total = math.fsum(_published_count(calibration, count) for _, count in pairs) / (1 - nothing)
    return math.fsum(
        _distance(calibration, count, true * total / truth) / total for true, count in pairs
    )


def _least_t(goal: Guarantee, scale: Fraction, items: int) -> int:
    """The least t of at least 0 that the theorem allows; it then allows all that are larger."""
    low, high = 0, 1
    while not theorem_allows(goal, scale, high, items):
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        if theorem_allows(goal, scale, middle, items):
            high = middle
        else:
            low = middle + 1
    return low


def _published_count(calibration: Calibration, count: int) -> float:
    """E[N if N > tau' else 0], N the noisy count of an item with this many users."""
    if count < calibration.tau:
        return 0.0
    t = calibration.tau_prime - count
    # E[eta; eta > t] = E[(eta - t)+] + t P(eta > t)
    return (count + t) * tail(calibration.scale, t) + _excess(calibration.scale, t)


def _distance(calibration: Calibration, count: int, wanted: float) -> float:
    """E|N - wanted|, where N is the published count, 0 if the item is absent."""
    if count < calibration.tau:
        return wanted
    scale, t = calibration.scale, calibration.tau_prime - count
    present = tail(scale, t)
    absent = wanted * (1 - present)
    y = wanted - count
    if y <= t:  # published counts are all above what is wanted
        return absent + _excess(scale, t) + (t - y) * present
    below = _excess(scale, -y) - (y - t) * (1 - present) - _excess(scale, -t)
    return absent + _excess(scale, y) + below


def _excess(scale: Fraction, y: float) -> float:
    """E[(eta - y)+] for discrete Laplace noise eta."""
    if y < 0:  # x+ = x + (-x)+, and eta is as likely as -eta
        return -y + _excess(scale, -y)
    alpha = math.exp(-1 / scale)
    n = math.floor(y) + 1
    first = (n - y) - alpha / math.expm1(-1 / scale)
    return first * math.exp(-n / scale) / (1 + alpha)
