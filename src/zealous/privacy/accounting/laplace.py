"""Discrete Laplace noise between two thresholds, with scale and threshold chosen together.

At a scale of M/epsilon, which ZEALOUS takes, epsilon covers even the case that the noises of all M
moved counts tell the same. Of many they hardly ever do, so delta can cover it instead, with less
noise. The proofs are in docs/proofs/exact.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from zealous.errors import UsageError
from zealous.privacy.accounting.exact import hockey_stick
from zealous.privacy.accounting.sparse import (
    NoiseFamily,
    ScaleAndThreshold,
    SparseHistogram,
    grid_number,
    least_threshold,
)
from zealous.privacy.calibrate import (
    any_published_probability,
    calibrate,
    noise_quantile,
    scale_for,
    tail,
)
from zealous.privacy.composition.loss import Loss
from zealous.privacy.guarantee import Guarantee

_NOISE = partial(
    NoiseFamily,
    hockey_stick=hockey_stick,
    tail=lambda scale, t: any_published_probability(scale, t, 1),
)
_OCTAVE = 512  # from here on `rising` has as many steps to each doubling
_MOST_HALVED = 40  # so that every scale can be drawn


def chance_above(scale: Fraction, t: int) -> float:
    """P(eta > t) for any integer t."""
    return tail(scale, t)


def quantile(scale: Fraction, confidence: float) -> int:
    """The least x with P(|eta| <= x) >= confidence."""
    return noise_quantile(scale, confidence)


def histogram_loss(*, scale: Fraction, t: int, items: int, shifts: int) -> Loss:
    """Each of her items at tau may be shown by its noise; all other counts shift under it."""
    shown = any_published_probability(scale, t, 1)
    return Loss.thresholded(shown=shown, items=items, shifts=shifts, rate=1 / scale)


def delta(
    *, scale: Fraction, tau: int, tau_prime: int, items_per_user: int, goal: Guarantee
) -> Fraction:
    """The delta of (epsilon, delta)-indistinguishability for one histogram, at the goal's epsilon.

    Guarantee:
        No log, neighbour and set of outputs exceeds it. From epsilon = M/lambda on it is the least;
        below, it is hardly above: see `SparseHistogram`.
    """
    if scale <= 0:
        raise UsageError("scale must be above 0")
    if goal.epsilon * scale >= goal.moved_counts(items_per_user):
        return any_published_probability(scale, tau_prime - tau, items_per_user)
    noise = _NOISE(scales=lambda _: scale)
    return SparseHistogram(noise, scale, items_per_user, goal).delta(tau_prime - tau)


def scale_and_threshold(goal: Guarantee, items_per_user: int) -> ScaleAndThreshold:
    """Lambda and tau' for the least tau', and the least lambda for it; never above ZEALOUS's tau'.

    Lambda is one of 512 to each doubling, or M/epsilon.

    >>> from zealous.privacy.guarantee import Indistinguishability
    >>> scale_and_threshold(Indistinguishability(epsilon=1, delta="1e-6"), 20)
    ScaleAndThreshold(scale=Fraction(103, 4), tau_prime=416)
    """
    whole = calibrate(goal, items_per_user)
    most = scale_for(goal, items_per_user)
    # A single count tells more than delta covers where 1/lambda > epsilon + ln(2/(1 - delta)).
    least = math.ceil(goal.epsilon) + math.ceil(2 / (1 - goal.delta)).bit_length()
    halved = min((_OCTAVE * least).bit_length(), _MOST_HALVED)

    def scales(place: int) -> Fraction:
        return min(most, Fraction(grid_number(_OCTAVE + place), 1 << halved))

    found = least_threshold(_NOISE(scales=scales), goal, items_per_user)
    if whole.tau_prime < found.tau_prime:
        return ScaleAndThreshold(scale=whole.scale, tau_prime=whole.tau_prime)
    return found
