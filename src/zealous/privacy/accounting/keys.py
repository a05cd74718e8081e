"""The delta of keys that are found first, and of the counts bought for them afterwards.

Every user spreads a fixed weight over some of her items, in rounds; noise goes on the weights, and
what passes a threshold is a key. Counts of the keys follow, with noise and without a threshold.
Here is what noise tells; docs/proofs/pooled.md has the proofs.

Claims are computed with 80 decimal digits and rounded up; floats only shorten the search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import localcontext
from fractions import Fraction

from zealous.errors import UsageError
from zealous.privacy.composition.normal import CONTEXT, decimal, gaussian_square, hockey_stick
from zealous.privacy.guarantee import CannotGive, Guarantee, Indistinguishability

WEIGHT = 1000  # what a user gives in a round, as the length of her vector of weights
GRAIN = 101  # of a count's noise, in parts of one; odd, so that no half must be rounded
LARGEST_SCALE = 1 << 23  # that the exact sampler takes as a whole number
LEAST_DELTA = Fraction(1, 10**100)
NEARLY_ALL = Fraction(9, 10)

_LARGEST_EPSILON = 100  # what holds there holds beyond
_LOGARITHM = Fraction(1, 10**70)  # above the error of one


def told_by_noise(moved: Fraction, goal: Guarantee, exposed: Fraction) -> Fraction:
    """What noise tells of one user who moves so much, as a delta at the goal's epsilon; rounded up.

    Args:
        moved: The mu^2 of all that she moves.
        goal: Whose epsilon and neighbours matter.
        exposed: The chance that items of hers alone show, or more.
    """
    told = hockey_stick(moved, goal.epsilon)
    if goal.neighbors == "add-remove" or exposed >= 1:
        return told
    hidden = 1 - exposed
    with localcontext(CONTEXT):
        less = goal.epsilon + Fraction(decimal(hidden).ln()) - _LOGARITHM
    return min(told + exposed, hockey_stick(moved, less) / hidden, Fraction(1))


def mu_squared(scales: Sequence[int], scale: Fraction, items_per_user: int) -> Fraction:
    """How far one user who comes or goes moves weights under such noise, and counts of keys."""
    grains, unit = scale.as_integer_ratio()
    found = items_per_user * unit**2 * gaussian_square(Fraction(grains))
    for each in scales:
        found += WEIGHT**2 * gaussian_square(Fraction(each))
    return found


def count_scale(deviation: float) -> Fraction:
    """The scale of the noise on counts: a standard deviation of at least that, in odd parts."""
    grains = math.ceil(GRAIN * deviation)
    if grains > LARGEST_SCALE:  # then whole numbers are fine enough
        return Fraction(math.ceil(deviation))
    return Fraction(grains + (grains % GRAIN == 0), GRAIN)  # no fraction to be reduced


def mu_for(goal: Guarantee, noise_share: Fraction) -> float:
    """About the largest mu that a share of the goal's delta leaves room for.

    Raises:
        UsageError: The guarantee is not one that keys in rounds can give.
    """
    if not isinstance(goal, Indistinguishability):
        raise CannotGive(
            "keys in rounds cannot give the probabilistic guarantee: ask for the indistinguishable "
            "one, or use the zealous mechanism"
        )
    if goal.delta < LEAST_DELTA:
        raise UsageError("keys in rounds need a delta of at least 1e-100: raise delta")
    epsilon = float(min(goal.epsilon, Fraction(_LARGEST_EPSILON)))
    return _largest_shift(epsilon, float(goal.delta * noise_share))


def _largest_shift(epsilon: float, delta: float) -> float:
    """About the largest mu with h(mu, epsilon) <= delta."""
    low, high = 0.0, 30.0
    for _ in range(60):
        mu = (low + high) / 2
        far = math.exp(epsilon) * math.erfc((epsilon / mu + mu / 2) / math.sqrt(2))
        over = (math.erfc((epsilon / mu - mu / 2) / math.sqrt(2)) - far) / 2 > delta
        low, high = (low, mu) if over else (mu, high)
    return low
