"""Randomised responses at several rates, alone or beside Gaussian noise: their losses added up.

A group of k responses at one rate r loses (2l - k) r where l of them tell the truth. Losses are
rounded up to multiples of one unit and added by direct convolution: sums of numbers that are not
negative, whose relative error is known. docs/proofs/composition.md has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import localcontext
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from zealous.libraries import np
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.composition.normal import CONTEXT, decimal, hockey_stick

if TYPE_CHECKING:
    import numpy.typing as npt

Rates: TypeAlias = tuple[tuple[Fraction, int], ...]

_UNITS = 8192  # to the largest loss that there can be
_MOST_POINTS = 512  # at which Gaussian noise is looked at
_RAISED = 1 + 1e-8  # above the error of floats: see docs/proofs/composition.md
_LEAST = Fraction(1, 10**300)
_LOST = 1e-290  # above what underflow loses


def response_delta(rates: Mapping[Fraction, int], square: Fraction, epsilon: Fraction) -> Fraction:
    """Delta at an epsilon of so many responses at each rate and Gaussian noise of mu^2; rounded up.

    >>> two = {Fraction(1, 2): 1, Fraction(1, 3): 1}
    >>> round(float(response_delta(two, Fraction(0), Fraction(1, 2))), 4)
    0.1028
    """
    unit, first, masses = _losses(tuple(sorted(rates.items())))
    if not square:
        losses = (first + np.arange(len(masses))) * float(unit)
        slack = 1e-12 * (abs(first) * float(unit) + float(abs(epsilon)) + 1)
        over = np.maximum(losses - float(epsilon) + slack, 0)
        found = float(masses @ -np.expm1(-over))
        return min(Fraction(found * _RAISED + _LOST), Fraction(1))
    total = Fraction(_LOST)
    stride = -(-len(masses) // _MOST_POINTS)
    for start in range(0, len(masses), stride):
        stop = min(start + stride, len(masses))  # all that lose up to the last of these lose that
        mass = Fraction(float(masses[start:stop].sum()) * _RAISED)
        if mass:
            total += mass * hockey_stick(square, epsilon - (first + stop - 1) * unit)
    return min(total, Fraction(1))


@lru_cache(maxsize=64)
def _losses(rates: Rates) -> tuple[Fraction, int, npt.NDArray[np.float64]]:
    """A unit, the least loss in units, and the chance of each loss from there on."""
    most = sum((rate * count for rate, count in rates), Fraction(0))
    below = math.lcm(*(rate.denominator for rate, _ in rates))
    above = math.gcd(*((rate * below).numerator for rate, _ in rates))
    unit = Fraction(above, below)  # of which all rates are multiples: nothing need be rounded
    if most / unit > _UNITS:
        unit = most / _UNITS
    first, masses = 0, np.ones(1)
    for rate, count in rates:
        least, chances = _binomial(rate, count, unit)
        first, masses = first + least, np.convolve(masses, chances)
    return unit, first, masses


def _binomial(rate: Fraction, count: int, unit: Fraction) -> tuple[int, npt.NDArray[np.float64]]:
    """The loss of some responses at one rate, in units and rounded up."""
    least = math.ceil(-count * rate / unit)
    chances = np.zeros(math.ceil(count * rate / unit) - least + 1)
    with localcontext(CONTEXT):
        alpha = (-decimal(rate)).exp()
        chance = (1 + alpha) ** -count  # that all tell the truth
        for truths in range(count, -1, -1):
            place = math.ceil((2 * truths - count) * rate / unit) - least
            chances[place] += float_rounded_up(max(Fraction(chance), _LEAST))
            chance = chance * truths * alpha / (count - truths + 1)
    return least, chances
