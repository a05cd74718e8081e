"""The parameters of a plan once more, straight from the theorems, sharing no code with calibrate.

Slow and plain on purpose: every tau, every t, no search, no logarithm.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

_DIGITS = 80


class Parameters(NamedTuple):
    """What the theorems ask for, and the delta that it gives."""

    scale: Fraction
    tau: int
    tau_prime: int
    delta: Decimal


def parameters(
    *,
    epsilon: Fraction,
    delta: Fraction,
    items_per_user: int,
    users: int | None,
    probabilistic: bool,
    replace: bool,
) -> Parameters:
    """The least tau' that the theorem allows; among equals the least delta."""
    m = items_per_user
    scale = Fraction(2 * m if replace else m) / epsilon
    last = 1
    if probabilistic:
        if users is None:
            raise ValueError("the probabilistic guarantee needs users")
        last = min(users, math.floor(4 * scale) + 5)
    found = []
    with localcontext() as context:
        context.prec = _DIGITS
        goal = Decimal(delta.numerator) / Decimal(delta.denominator)
        alpha = (-Decimal(scale.denominator) / Decimal(scale.numerator)).exp()
        for tau in range(1, last + 1):
            items = (users or 0) * m // tau if probabilistic else m
            t, appears = 0, alpha / (1 + alpha)
            while appears > 1 - alpha or 1 - (1 - appears) ** items > goal:
                t, appears = t + 1, appears * alpha
            found.append((tau + t, 1 - (1 - appears) ** items, tau))
    tau_prime, achieved, tau = min(found)
    return Parameters(scale, tau, tau_prime, achieved)
