"""Discrete Gaussian noise between two thresholds, accounted on the integers it lives on.

P(z) is proportional to exp(-z^2/(2 sigma^2)) for every integer z. What k counts, each moved by one,
tell of each other through such noise depends on the sum of k draws alone, and that sum is a
discrete Gaussian of variance k sigma^2 up to a factor that is bounded here. The proofs are in
docs/proofs/gaussian.md.

Sums are decimals of 50 digits; what they lose and what is cut off stays below one part in 1e25, by
which every chance is raised or lowered, whichever is against us.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from zealous.errors import UsageError
from zealous.privacy.accounting.sparse import (
    NoiseFamily,
    ScaleAndThreshold,
    SparseHistogram,
    grid_number,
    least_integer,
    least_threshold,
)
from zealous.privacy.composition.loss import Loss
from zealous.privacy.composition.normal import decimal
from zealous.privacy.guarantee import SMALLEST, Guarantee

_CONTEXT = Context(prec=50, Emin=MIN_EMIN, Emax=MAX_EMAX)
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
_MARGIN = Decimal("1e-25")
_CUT = Decimal("1e-30")
_LEAST = Decimal(1) / Decimal(SMALLEST.denominator)
_LARGEST_EPSILON = Fraction(10**6)  # what holds there holds beyond
_PARTS = 64  # of one, in which the least scales are counted
_MOST_SCALE = 1 << 23  # what the exact sampler takes
_WIDTH = 128  # steps to a standard deviation in which sums of wide noise are taken


def hockey_stick(scale: Fraction, shifts: int, epsilon: Fraction) -> Fraction:
    """h(k, epsilon): how far the noise of k counts, each moved by one, exceeds epsilon.

    With Z the sum of k draws, P(Z > epsilon sigma^2 - k/2) - exp(epsilon) P(Z > epsilon sigma^2 +
    k/2). Rounded up. For k > 1 it is above the truth by some 1e-4 of the first chance at sigma = 1,
    1e-9 at sigma = 1.5, 1e-16 at sigma = 2; where Z deviates by 256 or more, by 1e-8 to 1e-5 of it.

    >>> f"{float(hockey_stick(Fraction('4.225'), 1, Fraction(1))):.5g}"
    '1.0187e-06'
    """
    _check_scale(scale)
    epsilon = min(epsilon, _LARGEST_EPSILON)
    with localcontext(_CONTEXT):
        factor = decimal(epsilon).exp()
        if shifts == 0:
            return Fraction(max(Decimal(0), (1 - factor) * (1 + _MARGIN)))
        first = math.floor(epsilon * scale**2 - Fraction(shifts, 2)) + 1
        apart, variance = _distance_from_gaussian(scale, shifts), shifts * scale**2
        _, near = _upper_tail(variance, first)
        far, _ = _upper_tail(variance, first + shifts)
        found = near * apart * (1 + _MARGIN) - factor * far / apart * (1 - _MARGIN)
        return Fraction(min(max(found, _LEAST), Decimal(1)))


def tail(scale: Fraction, t: int) -> Fraction:
    """P(eta > t) for any integer t, rounded up.

    >>> f"{float(tail(Fraction('4.25'), 20)):.4g}"
    '6.671e-07'
    """
    _check_scale(scale)
    with localcontext(_CONTEXT):
        _, upper = _upper_tail(scale**2, t + 1)
        return Fraction(min(max(upper * (1 + _MARGIN), _LEAST), Decimal(1)))


def chance_above(scale: Fraction, t: int) -> float:
    """P(eta > t) for any integer t."""
    return float(tail(scale, t))


def histogram_loss(*, scale: Fraction, t: int, items: int, shifts: int) -> Loss:
    """Each of her items at tau may be shown by its noise; all other counts shift under it."""
    return Loss.thresholded(shown=tail(scale, t), items=items, shifts=shifts, scale=scale)


def delta(
    *, scale: Fraction, tau: int, tau_prime: int, items_per_user: int, goal: Guarantee
) -> Fraction:
    """The delta of (epsilon, delta)-indistinguishability for one histogram, at the goal's epsilon.

    Guarantee:
        No log, neighbour and set of outputs exceeds it. Logs with many users come near it: see
        `SparseHistogram`.
    """
    return SparseHistogram(_NOISE, _check_scale(scale), items_per_user, goal).delta(tau_prime - tau)


def scale_and_threshold(goal: Guarantee, items_per_user: int) -> ScaleAndThreshold:
    """Sigma and tau' for the least tau', and the least sigma for it.

    Sigma is at least 1: a multiple of 1/64 below 16, and one of 512 to each doubling above.

    >>> from zealous.privacy.guarantee import Indistinguishability
    >>> goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
    >>> scale_and_threshold(goal, 5)
    ScaleAndThreshold(scale=Fraction(605, 64), tau_prime=49)
    """
    return least_threshold(_NOISE, goal, items_per_user)


def least_scale(goal: Guarantee, items_per_user: int) -> Fraction:
    """The least sigma for counts without a threshold, of those that `scale_and_threshold` tries.

    >>> from zealous.privacy.guarantee import Indistinguishability
    >>> least_scale(Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove"), 1)
    Fraction(271, 64)
    """
    moved = goal.moved_counts(items_per_user)
    place = least_integer(
        lambda at: hockey_stick(_scale_at(at), moved, goal.epsilon) <= goal.delta, 0
    )
    if place is None:
        raise UsageError("epsilon is too small for this many items per user: raise it")
    return _scale_at(place)


def quantile(scale: Fraction, confidence: float) -> int:
    """The least x with P(|eta| <= x) >= confidence."""
    low, high = -1, 1
    while 2 * tail(scale, high) > 1 - confidence:
        high += high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if 2 * tail(scale, middle) > 1 - confidence else (low, middle)
    return high


def _scale_at(place: int) -> Fraction:
    scale = Fraction(grid_number(_PARTS + place), _PARTS)
    if scale > _MOST_SCALE:
        raise UsageError("epsilon is too small for this many items per user: raise it")
    return scale


_NOISE = NoiseFamily(hockey_stick=hockey_stick, tail=tail, scales=_scale_at)


def _distance_from_gaussian(scale: Fraction, shifts: int) -> Decimal:
    """How far the sum of k draws can be from a discrete Gaussian of k times the variance.

    Adding the j+1st draw to the others costs a factor of (1 + r)/(1 - r) with v = j/(j+1) sigma^2,
    r = 2 (exp(-2 pi^2 v) + exp(-8 pi^2 v) + ...). From j = 3 on v is at least 3/4 sigma^2.
    """
    found = Decimal(1)
    for drawn, times in ((1, min(shifts - 1, 1)), (2, min(shifts - 2, 1)), (3, shifts - 3)):
        if times > 0:
            once = (-2 * _PI * _PI * decimal(Fraction(drawn, drawn + 1) * scale**2)).exp()
            r = 2 * once / (1 - once)  # exponents grow as 1, 4, 9: at least as 1, 2, 3
            found *= ((1 + r) / (1 - r)) ** times
    return found


@lru_cache(maxsize=4096)  # a plan, its forecasts and its check ask for the same ones
def _upper_tail(variance: Fraction, first: int) -> tuple[Decimal, Decimal]:
    """Bounds of P(Z >= first) for a discrete Gaussian, but for rounding."""
    spread = decimal(variance)
    # Poisson summation; what is left out is below 1e-76 for a variance of at least 1.
    once = (-2 * _PI * _PI * spread).exp()
    whole = (2 * _PI * spread).sqrt() * (1 + 2 * (once + once**4))
    low, high = _sum(variance, max(first, 1 - first))
    return (low / whole, high / whole) if first > 0 else (1 - high / whole, 1 - low / whole)


def _sum(variance: Fraction, first: int) -> tuple[Decimal, Decimal]:
    """Bounds of the sum of f(z) = exp(-z^2/(2 variance)) over z >= first >= 0, but for rounding."""
    stride = max(1, math.isqrt(math.floor(variance)) // _WIDTH)
    term = (-decimal(first * first / (2 * variance))).exp()
    ratio = (-decimal((2 * first * stride + stride**2) / (2 * variance))).exp()
    bend = (-decimal(stride**2 / variance)).exp()
    # Terms fall at least as fast as a geometric series from any of them on, and the rest is at most
    # term / (1 - ratio) <= term (2 variance / stride^2 + 2).
    rest = 2 * decimal(variance / stride**2) + 2
    total, least, leading = Decimal(0), term * _CUT / rest, term
    while term > least:
        total += term
        term *= ratio
        ratio *= bend
    if stride == 1:
        return total, total
    more, error = _stride_error(stride, leading, decimal(variance).sqrt(), first)
    return stride * total + more - error, stride * total + more + error


def _stride_error(
    stride: int, leading: Decimal, deviation: Decimal, first: int
) -> tuple[Decimal, Decimal]:
    """What a sum of f over all integers from a = first on is above s times that in strides of s.

    Euler and Maclaurin: -(s - 1)/2 f(a) + (s^2 - 1)/12 f'(a) - (s^4 - 1)/720 f'''(a), up to
    (s^4 + 1)/720 times the total variation of f''' from a on.
    """
    u = first / deviation
    slope, third = -u * leading / deviation, (3 * u - u**3) * leading / deviation**3
    # Where u^2 is above 3 + sqrt(6) f''' turns no more; before, it goes to and fro by less than 4.
    varies = abs(third) if u * u > Decimal("5.45") else 4 / deviation**3
    more = (stride**2 - 1) * slope / 12 - (stride - 1) * leading / 2
    more -= (stride**4 - 1) * third / 720
    return more, (stride**4 + 1) * varies / 720


def _check_scale(scale: Fraction) -> Fraction:
    if not 1 <= scale <= _MOST_SCALE:
        raise UsageError(f"scale must lie between 1 and {_MOST_SCALE} for Gaussian noise")
    return scale
