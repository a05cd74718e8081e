"""The least delta that is proven for several losses together, and the least epsilon.

For losses that were fixed before anything was published. Where the next one is chosen by looking at
what came out, only a cap that was fixed beforehand is a promise: see `Filter`.

A rule of composition is a function that registers itself; `compose` has the one of zealous. Each is
an upper bound, so the least of them holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from numbers import Rational
from typing import NamedTuple, TypeAlias

from zealous.errors import Refused
from zealous.privacy.composition.loss import Loss
from zealous.registry import Registry

STEP = Fraction(1, 10**5)  # in which `epsilon_at` is found
_MOST_EPSILON = 1 << 34  # steps

Delta: TypeAlias = Callable[[Sequence[Loss], Fraction], Fraction]


class Rule(NamedTuple):
    """A rule of composition.

    Attributes:
        name: What it is called.
        delta: From losses and an epsilon to a delta that is proven for all of them together,
            rounded up; 1 where the rule says nothing.
        proof_page: Where that is proved.
    """

    name: str
    delta: Delta
    proof_page: str


RULES: Registry[Rule] = Registry(
    "zealous.privacy.composition", lambda rule: rule.name, first=("losses",)
)


def register(name: str, *, proof_page: str) -> Callable[[Delta], Delta]:
    """Make a rule of composition known: to plans, verification and ledgers; a decorator."""

    def add(delta: Delta) -> Delta:
        RULES.register(Rule(name, delta, proof_page))
        return delta

    return add


def delta_at(losses: Iterable[Loss], epsilon: Fraction) -> Fraction:
    """The least delta that is proven for all of it together at an epsilon, rounded up.

    Guarantee:
        If each part tells at most its loss, whatever was published before, everything together is
        (epsilon, delta)-indistinguishable. Parts may depend on each other's outputs; their losses
        may not. Exposures of parts with `items` must depend on no output (the maximum rule): for
        several releases take `across_releases` first.
    """
    return _strongest(tuple(losses), epsilon)[0]


def proof_at(losses: Iterable[Loss], epsilon: Fraction) -> str:
    """Where the delta of `delta_at` is proved."""
    return _strongest(tuple(losses), epsilon)[1].proof_page


def _strongest(losses: tuple[Loss, ...], epsilon: Fraction) -> tuple[Fraction, Rule]:
    """The least delta, and the first rule that proves it."""
    found = [(_delta_by(rule, losses, epsilon), rule) for rule in RULES.values()]
    return min(found, key=lambda each: each[0])


def _delta_by(rule: Rule, losses: tuple[Loss, ...], epsilon: Fraction) -> Fraction:
    """What a rule proves; refused where that can be no delta, since the least of all is taken."""
    found = rule.delta(losses, epsilon)
    if not isinstance(found, Rational) or found < 0:
        raise Refused(
            f"the rule of composition {rule.name} gives a delta that is no exact number of at "
            "least 0: no promise can rest on it. Uninstall its package, or mend it"
        )
    return Fraction(found)


def epsilon_at(losses: Iterable[Loss], delta: Fraction) -> Fraction | None:
    """The least epsilon, in steps of 1e-5, at which `delta_at` is at most that; None for none.

    >>> year = [Loss.moved(exposure=Fraction("5e-7"), mu_squared=Fraction("0.0524"))] * 12
    >>> float(epsilon_at(year, Fraction(12, 10**6)))
    3.44712
    """
    parts = tuple(losses)
    return least_epsilon(lambda epsilon: delta_at(parts, epsilon), delta)


def least_epsilon(delta_of: Callable[[Fraction], Fraction], most: Fraction) -> Fraction | None:
    """The least epsilon, in steps of 1e-5, from which on a delta that falls is at most `most`.

    Where to look next is guessed from logarithms; whether the delta is small enough is exact.
    """
    low, at_low = 0, delta_of(Fraction(0))
    if at_low <= most:
        return Fraction(0)
    high = 1 << 16
    while (at_high := delta_of(high * STEP)) > most:
        low, at_low, high = high, at_high, 2 * high
        if high > _MOST_EPSILON:
            return None
    above, below = _log_ratio(at_low, most), _log_ratio(at_high, most)
    looks, moved = 0, ""
    while high - low > 1:
        looks += 1
        middle = (low + high) // 2
        # A line may be misled again and again; and deltas may differ by less than floats do.
        if looks % 3 and math.isfinite(above - below) and above > below:
            middle = low + math.ceil((high - low) * above / (above - below))
            middle = min(max(middle, low + 1), high - 1)
        found = delta_of(middle * STEP)
        # What did not move twice counts half, so that the next look is nearer to it.
        if found <= most:
            above *= 0.5 if moved == "high" else 1
            high, below, moved = middle, _log_ratio(found, most), "high"
        else:
            below *= 0.5 if moved == "low" else 1
            low, above, moved = middle, _log_ratio(found, most), "low"
    return high * STEP


def _log_ratio(value: Fraction, other: Fraction) -> float:
    """The logarithm of a quotient; infinite where one of them is 0."""
    if not value or not other:
        return -math.inf if not value else math.inf
    ratio = value / other
    return round(math.log(ratio.numerator) - math.log(ratio.denominator), 9)
