"""What Gaussian noise tells, and what other noise tells in its terms.

mu is by how many deviations the mean of Gaussian noise moves; squares of mu add. Everything here is
an upper bound, computed with 80 decimal digits: each bound is widened by one part in 1e60, far more
than those digits lose. docs/proofs/composition.md has the proofs.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache, lru_cache

from zealous.errors import UsageError
from zealous.privacy.guarantee import SMALLEST

CONTEXT = Context(prec=80, Emin=MIN_EMIN, Emax=MAX_EMAX)
LEAST = Decimal(1) / Decimal(SMALLEST.denominator)

# Literals, since arithmetic outside a context of our own would round them to 1.
_WIDER = Decimal(f"1.{'0' * 59}1")
_NARROWER = Decimal(f"0.{'9' * 60}")
_LARGEST_EPSILON = Fraction(10**6)  # what holds there holds beyond
_LARGE_RATE = 1000
_FAR = 1000  # deviations, beyond which less than LEAST is left
_DIGITS = 20  # of a figure that is kept
_SERIES_UNTIL = 8  # deviations
_BITS = 320  # 96 digits
_ONE = 1 << _BITS
_CLOSE = 10**50
_SQRT_PLACES = 10**60
_RARE = Fraction(1, 10**20)  # so rare that items are hardly ever shown together
_MOST_EXACT = 1000  # items


def round_up(value: Fraction) -> Fraction:
    """A number of twenty digits that is not below another.

    >>> round_up(Fraction(2, 3))
    Fraction(66666666666666666667, 100000000000000000000)
    """
    if not value:
        return value
    rounding = Context(prec=_DIGITS, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return Fraction(rounding.divide(Decimal(value.numerator), Decimal(value.denominator)))


def any_shown(shown: Fraction, items: int) -> Fraction:
    """1 - (1 - p)^m, or a little more: the chance that one of m items is shown.

    >>> any_shown(Fraction(1, 10), 2)
    Fraction(19, 100)
    >>> round(float(any_shown(Fraction(1, 10**6), 10**6)), 6)
    0.632121
    """
    if shown <= _RARE:
        return items * shown  # too large by less than one part in 1e17
    if shown >= 1:
        return Fraction(1)
    if items <= _MOST_EXACT:
        return 1 - (1 - shown) ** items
    # Exact powers have items times the digits. Here 1 - p has 80 more than p and m take from it.
    digits = CONTEXT.prec + len(str(_RARE.denominator)) + len(str(items))
    with localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        none = 1 - Decimal(shown.numerator) / Decimal(shown.denominator)
        return Fraction((1 - (none.ln() * items).exp()) * _WIDER)


@lru_cache(maxsize=4096)
def hockey_stick(square: Fraction, epsilon: Fraction) -> Fraction:
    """h(mu, epsilon) of Gaussian noise whose mean moves by mu deviations, mu^2 given; rounded up.

    Epsilon may be negative, as it is where other noise has told more than all of it.

    >>> f"{float(hockey_stick(Fraction(1, 20), Fraction(1))):.6e}"
    '2.915321e-07'
    """
    with localcontext(CONTEXT):
        e = decimal(min(epsilon, _LARGEST_EPSILON))
        factor = e.exp()
        if not square:
            return Fraction(max(Decimal(0), 1 - factor * _NARROWER))
        mu = decimal(square).sqrt()
        found = normal_tail(e / mu - mu / 2)[1]
        found -= factor * normal_tail(e / mu + mu / 2)[0] * _NARROWER
        return Fraction(min(max(found, LEAST), Decimal(1)))


def normal_tail(x: Decimal) -> tuple[Decimal, Decimal]:
    """Bounds of P(N(0, 1) > x), within a context of `CONTEXT`.

    >>> with localcontext(CONTEXT):
    ...     low, high = normal_tail(Decimal(6))
    >>> f"{low:.12e}", f"{high:.12e}"
    ('9.865876450377e-10', '9.865876450377e-10')
    """
    if x > _FAR:  # exact bounds would have millions of digits
        return Decimal(0), LEAST
    if x < 0:
        low, high = normal_tail(-x)
        return (1 - high) * _NARROWER, min((1 - low) * _WIDER, Decimal(1))
    density = (-x * x / 2).exp() / _root_of_two_pi()
    if x < _SERIES_UNTIL:
        value = Decimal("0.5") - density * _series(x)  # not below 1e-16: 60 of 80 digits are left
        return value * _NARROWER, value * _WIDER
    low, high = _mills_ratio(x)
    return density * low * _NARROWER, density * high * _WIDER


def _series(x: Decimal) -> Decimal:
    """The series x + x^3/3 + x^5/(3 5) + ..., in whole numbers of 1/_ONE: faster than decimals.

    Each term loses less than one of them. Where a term is none, each has long been less than half
    of the one before, so all the rest is less than that.
    """
    point = int(x * _ONE)
    square = point * point >> _BITS
    term, total, odd = point, 0, 1
    while term:
        total += term
        odd += 2
        term = (term * square >> _BITS) // odd
    return Decimal(total) / _ONE


def _mills_ratio(x: Decimal) -> tuple[Decimal, Decimal]:
    """Bounds of P(N(0, 1) > x) / phi(x) = 1/(x + 1/(x + 2/(x + 3/...))), within 1e-90.

    What the fraction is cut to lies above and below by turns.
    """
    point = int(x * _ONE)
    over, under = (0, _ONE), (_ONE, point)  # convergents as quotients
    last, value, n = 0, _ONE * _ONE // point, 1
    while abs(value - last) > value // _CLOSE:
        over = over[1], (point * over[1] >> _BITS) + n * over[0]
        under = under[1], (point * under[1] >> _BITS) + n * under[0]
        last, value, n = value, (over[1] << _BITS) // under[1], n + 1
    return Decimal(min(last, value)) / _ONE, Decimal(max(last, value)) / _ONE


@cache
def gaussian_square(scale: Fraction) -> Fraction:
    """mu^2 of discrete Gaussian noise on a whole number that moves by one; rounded up.

    A little above 1/sigma^2, which would be right for noise on real numbers: 6 (1 - sqrt(1 -
    1/(3 sigma^2))). By w in place of one it is w^2 times that.

    >>> round(float(gaussian_square(Fraction(2)) * 4), 6)
    1.021749
    """
    if scale < 1:
        raise UsageError("scale must be at least 1 for Gaussian noise")
    third = 1 - 1 / (3 * scale**2)
    over, under = third.as_integer_ratio()
    root = Fraction(math.isqrt(over * under * _SQRT_PLACES**2), under * _SQRT_PLACES)  # or less
    return round_up(2 / scale**2 / (1 + root))


@cache
def response_square(rate: Fraction) -> Fraction:
    """The least mu^2 of which randomised response at a rate is a function; rounded up.

    >>> round(float(response_square(Fraction(1, 10))) ** 0.5, 5)
    0.12531
    """
    if rate > _LARGE_RATE:
        return 8 * rate  # P(N(0, 1) > x) <= exp(-x^2/2)/2, at x^2 = 2 rate
    with localcontext(CONTEXT):
        wrong = 1 / (1 + decimal(rate).exp()) * _NARROWER
        low, high = Decimal(0), Decimal(_FAR)
        while high - low > high * Decimal("1e-22"):
            middle = (low + high) / 2
            low, high = (low, middle) if normal_tail(middle)[1] <= wrong else (middle, high)
        return round_up(Fraction(4 * high * high * _WIDER))


def decimal(value: Fraction) -> Decimal:
    """A fraction in the digits of the context."""
    return Decimal(value.numerator) / Decimal(value.denominator)


@cache
def _root_of_two_pi() -> Decimal:
    """By Machin's formula."""
    with localcontext(Context(prec=100)):
        return (8 * (4 * _arctan_of_inverse(5) - _arctan_of_inverse(239))).sqrt()


def _arctan_of_inverse(x: int) -> Decimal:
    power, total, odd = Decimal(1) / x, Decimal(0), 1
    while total + power / odd != total:
        total += power / odd
        power, odd = -power / (x * x), odd + 2
    return total
