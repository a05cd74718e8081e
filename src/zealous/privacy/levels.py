"""Named choices of epsilon, and what an epsilon means in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from zealous.privacy.guarantee import Number, exact_fraction

# The total over a release.
LEVELS: Mapping[str, Fraction] = {
    "strict": Fraction(1),
    "moderate": Fraction(2),
    "permissive": Fraction(4),
}
LADDER = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(8))
SUSPICION = 0.10
CONFIRMED = Fraction(10)  # an epsilon above it is to be confirmed
_WEAK = math.log(81)  # from here a suspicion of 10 % can become one of 90 %
_STRONG = math.log(2)


def suspicion_after(epsilon: Number, before: float = SUSPICION) -> float:
    """What a suspicion can become at most once its owner has seen a release.

    Odds move by a factor of at most exp(epsilon); a chance of 10 % are odds of 1 to 9.

    >>> round(suspicion_after(2), 3)
    0.451
    """
    return 1 / (1 + (1 - before) / before * math.exp(-exact_fraction(epsilon, "epsilon")))


def is_weak(epsilon: Number) -> bool:
    """Whether an epsilon lets a suspicion of 10 % become one of more than 90 %."""
    return exact_fraction(epsilon, "epsilon") > _WEAK


def strength(epsilon: Number) -> str:
    """How strong a bound is, in a sentence; it recommends no epsilon.

    >>> strength(2)
    'This bound allows beliefs to change markedly, but not to become certain.'
    """
    if is_weak(epsilon):
        return (
            "This bound is weak: on its own it allows a suspicion of 10 % to become one of more "
            "than 90 %."
        )
    if exact_fraction(epsilon, "epsilon") > _STRONG:
        return "This bound allows beliefs to change markedly, but not to become certain."
    return "This bound is strong: odds at most double or halve."


def percent(share: float) -> str:
    """A share in percent with one decimal, rounded up: it is said of what can happen at most.

    >>> [percent(share) for share in (0.5, 0.02671, 0.99996)]
    ['50 %', '2.7 %', 'nearly 100 %']
    """
    tenths = math.ceil(share * 1000 - 1e-9)
    return "nearly 100 %" if tenths >= 1000 else f"{tenths / 10:g} %"


def level_of(epsilon: Number) -> str | None:
    """The name of an epsilon, if it has one."""
    value = exact_fraction(epsilon, "epsilon")
    return next((name for name, each in LEVELS.items() if each == value), None)
