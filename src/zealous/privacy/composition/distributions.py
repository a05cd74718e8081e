"""Randomised responses at several rates, alone or beside Gaussian noise: their losses added up.

A group of k responses at one rate r loses (2l - k) r where l of them tell the truth. Losses are
rounded up to multiples of one unit and added by direct convolution: sums of numbers that are not
negative, whose relative error is known. docs/proofs/composition.md has the proof.
"""

from __future__ import annotations

import itertools
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
_FEWEST_CHORDS = 16  # of what Gaussian noise tells
_NEARLY_STRAIGHT = 1e-3  # of all, below which a chord is not halved again
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
    (there,) = np.nonzero(masses)
    found = _along_chords(first + there, unit, masses[there], square, epsilon)
    return min(Fraction(found * _RAISED + _LOST), Fraction(1))


def _along_chords(
    losses: npt.NDArray[np.int64],
    unit: Fraction,
    masses: npt.NDArray[np.float64],
    square: Fraction,
    epsilon: Fraction,
) -> float:
    """The sum of P(L) h(mu, epsilon - L), with h at some losses and along chords between them.

    h is convex in exp(epsilon - L), so that no chord lies below it. Chords are halved where that
    lowers the sum.
    """
    step, told = float(unit), dict[int, float]()

    def at(place: int) -> float:
        if place not in told:
            loss = int(losses[place]) * unit
            told[place] = float_rounded_up(hockey_stick(square, epsilon - loss))
        return told[place]

    def along(start: int, stop: int) -> float:
        """Of the losses after one place and up to another."""
        if stop - start == 1:
            return float(masses[stop]) * at(stop)
        whole = step * float(losses[stop] - losses[start])
        rest = step * (losses[stop] - losses[start + 1 : stop + 1])  # from each loss to the last
        near = np.exp(rest - whole) * np.expm1(-rest) / np.expm1(-whole)
        far = np.expm1(rest - whole) / np.expm1(-whole)
        return float(masses[start + 1 : stop + 1] @ (near * at(start) + far * at(stop)))

    last = len(masses) - 1
    ends = sorted({last * n // _FEWEST_CHORDS for n in range(_FEWEST_CHORDS + 1)})
    chords = {each: along(*each) for each in itertools.pairwise(ends)}
    straight = float(masses[0]) * at(0)  # no differences are taken: they would lose digits
    while chords:
        halves, total = dict[tuple[int, int], float](), straight + sum(chords.values())
        for (start, stop), whole in chords.items():
            middle = (start + stop) // 2
            both = {
                each: along(*each)
                for each in ((start, middle), (middle, stop))
                if each[0] < each[1]
            }
            if whole - sum(both.values()) > total * _NEARLY_STRAIGHT:
                halves |= both
            else:
                straight += min(whole, sum(both.values()))
        chords = halves
    return straight


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
