"""What several losses tell together: exposures add, or take shifts with them, and noise adds up.

The rule that every plan and ledger rests on; docs/proofs/composition.md has the proof.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Self, TypeAlias

from zealous.privacy.accounting.exact import hockey_stick as response_stick
from zealous.privacy.composition import distributions
from zealous.privacy.composition.loss import Loss
from zealous.privacy.composition.normal import CONTEXT, decimal, hockey_stick, response_square
from zealous.privacy.composition.rules import register

_STRETCHES = 200  # at most, in which a maximum is looked for
_NEARLY = Decimal("1.0005")  # by how much a stretch may exceed what was seen before
_MOST_RESPONSES = 20_000  # at one rate; a stranger's release must not keep `verify` busy for days
_TINY = Decimal("1e-20")
_LOWERED = Decimal(f"0.{'9' * 40}")  # a literal: arithmetic here would round it to 1
_ROUND_UP = 1 + Fraction(1, 10**30)

Rates: TypeAlias = tuple[tuple[Fraction, int], ...]


@register("losses", proof_page="docs/proofs/composition.md")
def composed_delta(losses: Sequence[Loss], epsilon: Fraction) -> Fraction:
    """The delta of exposures and shifts together, rounded up.

    >>> four = [
    ...     Loss.thresholded(shown=Fraction(3, 10**8), items=5, shifts=5, scale=Fraction("18.9"))
    ... ] * 4
    >>> [f"{float(composed_delta(parts, Fraction(1))):.3g}" for parts in (four, four[:1])]
    ['9.98e-07', '1.5e-07']
    """
    hidden = sum((each.hidden for each in losses), Fraction(0))
    if hidden >= 1:
        return Fraction(1)
    epsilon -= hidden / (1 - hidden)  # at most what it falls by: -ln(1 - hidden)
    alone = _largest_class(losses)
    adding = sum((each.exposure for each in losses if each not in alone), Fraction(0))
    noise = _Noise.of(losses)
    told = _maximum(alone, noise, epsilon) if alone else noise.delta(epsilon)
    return min((adding + told) / (1 - hidden), Fraction(1))


@dataclass(frozen=True, kw_only=True)
class _Noise:
    """All that shifts: mu^2 of Gaussian noise, and randomised responses by their rate."""

    mu_squared: Fraction
    rates: Rates

    @classmethod
    def of(cls, losses: Iterable[Loss]) -> Self:
        square, rates = Fraction(0), defaultdict[Fraction, int](int)
        for loss in losses:
            square += loss.shifts * loss.mu_squared
            if loss.rate:
                rates[loss.rate] += loss.shifts
        return cls(mu_squared=square, rates=tuple(sorted(rates.items())))

    def without(self, square: Fraction, rate: Fraction, responses: int) -> _Noise:
        """The same without some of its Gaussian noise, and without some responses."""
        rates = tuple((each, count - responses * (each == rate)) for each, count in self.rates)
        left = tuple((each, count) for each, count in rates if count)
        return _Noise(mu_squared=self.mu_squared - square, rates=left)

    def delta(self, epsilon: Fraction) -> Fraction:
        """What it tells, as a delta at an epsilon; rounded up."""
        return _noise_delta(self, epsilon)

    def with_many_as_gaussian(self) -> _Noise:
        """The same, or more: responses that are too many to be added up, in Gaussian terms."""
        many = [(rate, count) for rate, count in self.rates if count > _MOST_RESPONSES]
        square = sum((count * response_square(rate) for rate, count in many), self.mu_squared)
        rest = tuple(each for each in self.rates if each not in many)
        return _Noise(mu_squared=square, rates=rest)


@lru_cache(maxsize=4096)
def _noise_delta(noise: _Noise, epsilon: Fraction) -> Fraction:
    most = sum((rate * count for rate, count in noise.rates), Fraction(0))
    if not noise.mu_squared and most <= epsilon:
        return Fraction(0)
    noise = noise.with_many_as_gaussian()
    if not noise.rates:
        return hockey_stick(noise.mu_squared, epsilon)
    if not noise.mu_squared and len(noise.rates) == 1:
        ((rate, count),) = noise.rates
        return response_stick(1 / rate, count, epsilon)
    return distributions.response_delta(dict(noise.rates), noise.mu_squared, epsilon)


def _largest_class(losses: Sequence[Loss]) -> list[Loss]:
    """Those parts to which the maximum rule is applied: of one law of noise, with most exposure.

    Of Gaussian noise all scales are one law, since mu^2 says all; of Laplace noise one rate is.
    """
    classes = defaultdict[Fraction, list[Loss]](list)
    for loss in losses:
        if loss.items and loss.exposure:
            classes[loss.rate].append(loss)
    return max(classes.values(), key=lambda each: sum(loss.exposure for loss in each), default=[])


def _maximum(alone: Sequence[Loss], noise: _Noise, epsilon: Fraction) -> Fraction:
    """The largest 1 - g (1 - h) over how many items can be exposed, which then do not shift.

    Items are exposed in that order in which they take the least noise with them for what their
    exposure is worth; parts of an item too. No other choice has more of both.
    """
    if any(each.exposure >= 1 for each in alone):
        return Fraction(1)
    with localcontext(CONTEXT):
        order = sorted(alone, key=lambda each: _price(each) / _log_absent(each.exposure))
        path = [(each, _log_absent(each.exposure)) for each in order]
        end = sum((absent for _, absent in path), Decimal(0))

        def told(at: Decimal) -> Decimal:
            return decimal(_remaining_noise(path, noise, at).delta(epsilon))

        def case(at: Decimal, h: Decimal) -> Decimal:
            shown = at if at < _TINY else 1 - (-at).exp()
            return shown + (1 - shown) * h

        seen = worst = max(told(Decimal(0)), case(end, told(end)))
        at = Decimal(0)
        while at < end:
            h = told(at)
            seen = max(seen, case(at, h))
            upto = min(end, max(_place_of_exposure(h, seen * _NEARLY), at + end / _STRETCHES))
            worst, at = max(worst, case(upto, h)), upto  # no case between is above that
        return min(Fraction(worst) * _ROUND_UP, Fraction(1))


def _place_of_exposure(h: Decimal, most: Decimal) -> Decimal:
    """Up to where 1 - exp(-s) (1 - h) is at most that, or a little before."""
    if h >= 1 or most >= 1:
        return Decimal("Infinity")
    shown = (most - h) / (1 - h) * _LOWERED
    return shown if shown < _TINY else -(1 - shown).ln() * _LOWERED


def _remaining_noise(path: Sequence[tuple[Loss, Decimal]], noise: _Noise, at: Decimal) -> _Noise:
    """What still shifts where items are exposed up to here; a little more rather than less."""
    square, responses = Fraction(0), Fraction(0)
    for each, absent in path:
        part = Fraction(min(Decimal(1), at / absent) * _LOWERED) if at > 0 else Fraction(0)
        part = Fraction(1) if at >= absent else part
        square += part * each.items * each.mu_squared
        responses += part * each.items
        at -= absent
    rate = path[0][0].rate
    return noise.without(square, rate, math.ceil(responses) if rate else 0)


def _price(loss: Loss) -> Decimal:
    """What its exposed items take with them of the noise, as their class counts it."""
    return decimal(loss.items * (loss.mu_squared or Fraction(1)))


def _log_absent(exposure: Fraction) -> Decimal:
    """-ln(1 - p), or hardly more."""
    p = decimal(exposure)
    return p * (1 + p) if p < _TINY else -(1 - p).ln()
