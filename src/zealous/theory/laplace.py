"""Discrete Laplace noise between two thresholds, with scale and threshold chosen together.

At a scale of M/epsilon, which ZEALOUS takes, epsilon covers even the case that the noises of all M
moved counts tell the same. Of many they hardly ever do, so delta can cover it instead, with less
noise. The proofs are in docs/proofs/exact.md.
"""

from __future__ import annotations

import math
from fractions import Fraction

from zealous.calibrate import calibrate, scale_for, union_bound
from zealous.guarantee import Guarantee
from zealous.theory.exact import hockey_stick
from zealous.theory.sparse import Joint, Shifted, Sparse, least_threshold, rising

_OCTAVE = 512  # from here on `rising` has as many steps to each doubling


def delta(
    *, scale: Fraction, tau: int, tau_prime: int, items_per_user: int, goal: Guarantee
) -> Fraction:
    """The delta of (epsilon, delta)-indistinguishability for one histogram, at the goal's epsilon.

    Guarantee:
        No log, neighbour and set of outputs exceeds it. From epsilon = M/lambda on it is the least;
        below, it is hardly above: see `Sparse`.
    """
    t, moved = tau_prime - tau, goal.moved_counts(items_per_user)
    if goal.epsilon * scale >= moved:
        return union_bound(scale, t, items_per_user)
    return Sparse(_noise(scale, moved), scale, items_per_user, goal).delta(t)


def joint(goal: Guarantee, items_per_user: int) -> Joint:
    """Lambda and tau' for the least tau', and the least lambda for it; never above ZEALOUS's tau'.

    Lambda is one of 512 to each doubling, or M/epsilon.

    >>> from zealous.guarantee import Indistinguishability
    >>> joint(Indistinguishability(epsilon=1, delta="1e-6"), 20)
    Joint(scale=Fraction(103, 4), tau_prime=416)
    """
    whole = calibrate(goal, items_per_user)
    noise = _noise(scale_for(goal, items_per_user), goal.moved_counts(items_per_user))
    found = least_threshold(noise, goal, items_per_user)
    if whole.tau_prime < found.tau_prime:
        return Joint(scale=whole.scale, tau_prime=whole.tau_prime)
    return found


def _noise(most: Fraction, moved: int) -> Shifted:
    """The family, up to the scale at which epsilon covers all M counts, from below that of one."""
    halved = math.ceil(moved / most * 2 * _OCTAVE).bit_length()

    def scales(place: int) -> Fraction:
        return min(most, Fraction(rising(_OCTAVE + place), 1 << halved))

    return Shifted(
        hockey_stick=hockey_stick, tail=lambda scale, t: union_bound(scale, t, 1), scales=scales
    )
