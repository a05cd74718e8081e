"""What several kinds of one release, or several releases, tell together: their losses compose.

Under indistinguishability that is far less than their sum (docs/proofs/composition.md). Where
epsilons and deltas add, `planning.shares` has all that is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

from zealous.items import Kind
from zealous.mechanisms import CalibratedMechanism
from zealous.privacy.composition import Loss, across_releases, delta_at, epsilon_at
from zealous.privacy.guarantee import Guarantee, Neighbors

_STEPS = 128  # to one, in which the factor is counted


class CountedPart(Protocol):
    """A histogram: what is counted, and how."""

    @property
    def kind(self) -> Kind:
        """What is counted."""

    @property
    def mechanism(self) -> CalibratedMechanism:
        """How it is published."""


class PlannedPart(CountedPart, Protocol):
    """A histogram with its parameters."""

    @property
    def goal(self) -> Guarantee:
        """What it guarantees by itself."""

    @property
    def delta(self) -> Fraction:
        """The delta that it achieves at its own epsilon."""


def losses(parts: Iterable[CountedPart], neighbors: Neighbors) -> tuple[Loss, ...]:
    """What each part tells, in the order of publication, for one relation of neighbours.

    The only place where losses of parts are made: it knows which of them the outputs of earlier
    parts steer, and leaves those out of the maximum rule.
    """
    told, before = [], dict[str, bool]()  # by name: whether its output decides who kept what
    for part in parts:
        first = part.kind.restricting_kind()
        steered = part.kind.steered() or (first is not None and before.get(first, True))
        loss = part.mechanism.loss(neighbors)
        told.append(loss.steered() if steered else loss)
        before[part.kind.name()] = steered or part.mechanism.decides_who_kept_what()
    return tuple(told)


def proven_delta(goal: Guarantee, parts: Sequence[PlannedPart]) -> Fraction:
    """The least delta that is proven at the goal's epsilon for all parts together, rounded up.

    Epsilons and deltas may be added under both definitions. Under indistinguishability losses are
    composed as well, and the smaller of the two holds.
    """
    added = sum((part.goal.epsilon for part in parts), Fraction(0)) <= goal.epsilon
    total = sum((part.delta for part in parts), Fraction(0)) if added else Fraction(1)
    if goal.composes and len(parts) > 1:
        total = min(total, delta_at(losses(parts, goal.neighbors), goal.epsilon))
    return min(total, Fraction(1))


def cost_of_releases(
    goal: Guarantee, parts: Sequence[PlannedPart], number: int
) -> tuple[Fraction, Fraction]:
    """Epsilon and delta of so many such releases of the same people, all planned in advance.

    Deltas add. Epsilons add under the probabilistic guarantee; else the losses compose.
    """
    epsilon, delta = number * goal.epsilon, min(number * goal.delta, Fraction(1))
    if not goal.composes or goal.pure or delta == 1:
        return epsilon, delta
    told = across_releases(losses(parts, goal.neighbors) * number)
    composed = epsilon_at(told, delta)
    return (epsilon if composed is None else min(epsilon, composed)), delta


def largest_factor(
    goal: Guarantee,
    weights: Mapping[str, Fraction],
    parts_at: Callable[[Fraction], Sequence[CountedPart]],
) -> Fraction:
    """The largest factor on the budget of every part with which all of them keep the goal.

    At a factor of one the sum of the shares keeps it.

    Args:
        goal: The guarantee of the whole release.
        weights: The share of each kind in the budget; they add up to one.
        parts_at: The parts, with their parameters, at a factor.
    """

    def keeps(step: int) -> bool:
        told = losses(parts_at(Fraction(step, _STEPS)), goal.neighbors)
        return delta_at(told, goal.epsilon) <= goal.delta

    # Equal Gaussian parts may use about this much; others less. None may use more than the whole.
    usual = _STEPS / math.sqrt(sum(weight**2 for weight in weights.values()))
    most = int(_STEPS / max(weights.values()))
    return Fraction(largest(keeps, _STEPS, min(round(usual), most), most), _STEPS)


def largest(keeps: Callable[[int], bool], least: int, start: int, most: int) -> int:
    """The largest number from `least` to `most` that keeps the goal, looked for from `start` on.

    `least` is taken to keep it. Found where smaller numbers keep what larger ones do.
    """
    step, low, high = 1, least, most + 1
    if keeps(start):
        low = start
        while low + step < high:
            if not keeps(low + step):
                high = low + step
                break
            low, step = low + step, 2 * step
    else:
        high = start
        while high - step > low:
            if keeps(high - step):
                low = high - step
                break
            high, step = high - step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low
