"""Discrete Laplace noise that never exceeds a cap: the optimal choice of keys, with counts.

Counts get noise X on condition that X <= k, and those above k are published: an item that nobody
has is not. One that a single user has is published with the chance p(k) that X = k, which is delta.
A delta between p(k) and p(k + 1) is met by holding a part of the items to k + 1 instead. The proofs
are in docs/proofs/selection.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

from zealous.errors import UsageError
from zealous.privacy.accounting.sparse import least_integer
from zealous.privacy.calibrate import scale_for
from zealous.privacy.guarantee import SMALLEST, Guarantee

PARTS = 1 << 28  # of one, in which raised_probability is counted

_CONTEXT = Context(prec=100, Emin=MIN_EMIN, Emax=MAX_EMAX)
_ROUND_UP = 1 + Fraction(1, 10**30)
_LEAST = Decimal(1) / Decimal(SMALLEST.denominator)


@dataclass(frozen=True, kw_only=True)
class CappedThreshold:
    """The noise, and what an item must pass.

    Attributes:
        scale: The scale of the noise, lambda.
        tau_prime: The cap and the threshold, k.
        raised_probability: The chance that an item is held to one more than that.
    """

    scale: Fraction
    tau_prime: int
    raised_probability: Fraction

    def __post_init__(self) -> None:
        if self.scale <= 0:
            raise UsageError("scale must be above 0")
        if type(self.tau_prime) is not int or self.tau_prime < 0:
            raise UsageError("tau_prime must be a whole number of at least 0")
        if not 0 <= self.raised_probability < 1 or PARTS % self.raised_probability.denominator:
            raise UsageError("longer must be at least 0 and below 1, and in parts of 2^-28")

    def delta(self, goal: Guarantee) -> Fraction:
        """The least delta at the goal's epsilon and neighbours, rounded up; 1 below M/lambda."""
        if goal.epsilon * self.scale < goal.moved_counts(1):
            return Fraction(1)
        first, second = (
            probability_at_cap(self.scale, self.tau_prime),
            probability_at_cap(self.scale, self.tau_prime + 1),
        )
        return (1 - self.raised_probability) * first + self.raised_probability * second

    def probability_above(self, count: int, t: int) -> float:
        """The chance that an item of this many users is published with a count above t >= tau'."""
        first, second = (
            capped_tail(self.scale, cap, max(t, cap) - count)
            for cap in (self.tau_prime, self.tau_prime + 1)
        )
        return first + float(self.raised_probability) * (second - first)


def optimal_threshold(goal: Guarantee) -> CappedThreshold:
    """The threshold that uses the whole delta, at the scale at which epsilon covers all else.

    >>> from zealous.privacy.guarantee import Indistinguishability
    >>> goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
    >>> found = optimal_threshold(goal)
    >>> found.scale, found.tau_prime, round(float(found.raised_probability), 3)
    (Fraction(1, 1), 13, 0.067)
    """
    scale = scale_for(goal, 1)
    enough = least_integer(lambda cap: probability_at_cap(scale, cap) <= goal.delta, 0)
    if enough is None:
        raise UsageError("no threshold keeps delta: raise delta")
    if enough == 0:
        return CappedThreshold(scale=scale, tau_prime=0, raised_probability=Fraction(0))
    short, long = probability_at_cap(scale, enough - 1), probability_at_cap(scale, enough)
    parts = math.ceil((short - goal.delta) / (short - long) * PARTS)
    if parts == PARTS:
        return CappedThreshold(scale=scale, tau_prime=enough, raised_probability=Fraction(0))
    return CappedThreshold(
        scale=scale, tau_prime=enough - 1, raised_probability=Fraction(parts, PARTS)
    )


def probability_at_cap(scale: Fraction, cap: int) -> Fraction:
    """p(k) = P(X = k), rounded up.

    >>> [f"{float(probability_at_cap(Fraction(1), k)):.3g}" for k in (0, 1, 13)]
    ['0.632', '0.189', '1.04e-06']
    """
    with localcontext(_CONTEXT):
        alpha, power = _alpha(scale, 1), _alpha(scale, cap)
        found = power * (1 - alpha) / (1 + alpha - alpha * power)
        if found < _LEAST:  # before it becomes a fraction with a million digits
            return SMALLEST
        return Fraction(found) * _ROUND_UP


def capped_tail(scale: Fraction, cap: int, t: int) -> float:
    """P(X > t)."""
    if t >= cap:
        return 0.0
    with localcontext(_CONTEXT):
        mass = 1 + _alpha(scale, 1) - _alpha(scale, cap + 1)
        if t < 0:
            return float(1 - _alpha(scale, -t) / mass)
        return float((_alpha(scale, t + 1) - _alpha(scale, cap + 1)) / mass)


def _alpha(scale: Fraction, power: int) -> Decimal:
    return (Decimal(-power * scale.denominator) / Decimal(scale.numerator)).exp()
