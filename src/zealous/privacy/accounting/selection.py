"""Discrete Laplace noise that never exceeds a bound: the optimal choice of keys, with counts.

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

PARTS = 1 << 28  # of one, in which the part that is held longer is counted

_CONTEXT = Context(prec=100, Emin=MIN_EMIN, Emax=MAX_EMAX)
_ROUND_UP = 1 + Fraction(1, 10**30)
_LEAST = Decimal(1) / Decimal(SMALLEST.denominator)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The noise, and what an item must pass.

    Attributes:
        scale: The scale of the noise, lambda.
        bound: The least k.
        longer: The chance that an item is held to one more than that.
    """

    scale: Fraction
    bound: int
    longer: Fraction

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn exactly."""
        if self.scale <= 0:
            raise UsageError("scale must be above 0")
        if type(self.bound) is not int or self.bound < 0:
            raise UsageError("tau_prime must be a whole number of at least 0")
        if not 0 <= self.longer < 1 or PARTS % self.longer.denominator:
            raise UsageError("longer must be at least 0 and below 1, and in parts of 2^-28")

    def delta(self, goal: Guarantee) -> Fraction:
        """The least delta at the goal's epsilon and neighbours, rounded up; 1 below M/lambda."""
        if goal.epsilon * self.scale < goal.moved_counts(1):
            return Fraction(1)
        first, second = (
            probability_at_bound(self.scale, self.bound),
            probability_at_bound(self.scale, self.bound + 1),
        )
        return (1 - self.longer) * first + self.longer * second

    def publication_probability(self, count: int) -> float:
        """The chance that an item of this many users is published."""
        return self.probability_above(count, self.bound)

    def probability_above(self, count: int, t: int) -> float:
        """The chance that an item of this many users is published with a count above t >= bound."""
        first, second = (
            capped_tail(self.scale, bound, max(t, bound) - count)
            for bound in (self.bound, self.bound + 1)
        )
        return first + float(self.longer) * (second - first)


def optimal_bounds(goal: Guarantee) -> Bounds:
    """The bounds that use the whole delta, at the scale at which epsilon covers all else.

    >>> from zealous.privacy.guarantee import Indistinguishability
    >>> goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
    >>> found = optimal_bounds(goal)
    >>> found.scale, found.bound, round(float(found.longer), 3)
    (Fraction(1, 1), 13, 0.067)
    """
    scale = scale_for(goal, 1)
    enough = least_integer(lambda bound: probability_at_bound(scale, bound) <= goal.delta, 0)
    if enough is None:
        raise UsageError("no threshold keeps delta: raise delta")
    if enough == 0:
        return Bounds(scale=scale, bound=0, longer=Fraction(0))
    short, long = probability_at_bound(scale, enough - 1), probability_at_bound(scale, enough)
    parts = math.ceil((short - goal.delta) / (short - long) * PARTS)
    if parts == PARTS:
        return Bounds(scale=scale, bound=enough, longer=Fraction(0))
    return Bounds(scale=scale, bound=enough - 1, longer=Fraction(parts, PARTS))


def probability_at_bound(scale: Fraction, bound: int) -> Fraction:
    """p(k) = P(X = k), rounded up.

    >>> [f"{float(probability_at_bound(Fraction(1), k)):.3g}" for k in (0, 1, 13)]
    ['0.632', '0.189', '1.04e-06']
    """
    with localcontext(_CONTEXT):
        alpha, power = _alpha(scale, 1), _alpha(scale, bound)
        found = power * (1 - alpha) / (1 + alpha - alpha * power)
        if found < _LEAST:  # before it becomes a fraction with a million digits
            return SMALLEST
        return Fraction(found) * _ROUND_UP


def capped_tail(scale: Fraction, bound: int, t: int) -> float:
    """P(X > t)."""
    if t >= bound:
        return 0.0
    with localcontext(_CONTEXT):
        mass = 1 + _alpha(scale, 1) - _alpha(scale, bound + 1)
        if t < 0:
            return float(1 - _alpha(scale, -t) / mass)
        return float((_alpha(scale, t + 1) - _alpha(scale, bound + 1)) / mass)


def _alpha(scale: Fraction, power: int) -> Decimal:
    return (Decimal(-power * scale.denominator) / Decimal(scale.numerator)).exp()
