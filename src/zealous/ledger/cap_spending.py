"""What was spent against a cap: one function tells the figure that is shown and the refusal.

Guarantee:
    What is shown as spent and what is refused come from the same figure, an upper bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from zealous.ledger.budgets import Budget, Cap, Caps, Charge, Measure
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.composition import Filter, Loss, epsilon_at
from zealous.privacy.guarantee import format_number
from zealous.privacy.period import Period


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What charges come to under a cap.

    Attributes:
        cap: The cap.
        epsilon: What is compared with it: the sum; or, where losses are composed, what all of them
            are worth at the cap's delta, and None where no epsilon covers what can be exposed.
        delta: The sum; or, where losses are composed, the cap's.
        exposure: Where losses are composed, the chance of exposure that was spent.
        room: And how much of it the cap has: a fixed part of its delta.
        fits: Whether the cap allows it.
    """

    cap: Cap
    epsilon: Fraction | None
    delta: Fraction
    fits: bool
    exposure: Fraction | None = None
    room: Fraction | None = None

    @property
    def composed(self) -> bool:
        """Whether losses are composed."""
        return self.room is not None

    def order(self) -> tuple[bool, Fraction, Fraction]:
        """What has lost more comes later."""
        nothing = Fraction(0)
        return self.epsilon is None, self.epsilon or nothing, self.exposure or nothing

    def figures(self) -> tuple[tuple[str, Fraction | None, Fraction | None], ...]:
        """What is spent by its name, and the most that may be: what a cap compares.

        Epsilon is None where none covers what can be exposed; a limit where there is no cap.
        """
        epsilon = ("epsilon", self.epsilon, self.cap.epsilon)
        if self.composed:
            return epsilon, ("exposed", self.exposure, self.room)
        return epsilon, ("delta", self.delta, self.cap.delta)

    def __str__(self) -> str:
        """What is spent, of what; a cap that nobody set is not told."""
        told = []
        for name, spent, most in self.figures():
            of = "" if most is None else f" of {format_number(most)}"
            told.append(f"{name} {'over the cap' if spent is None else format_number(spent)}{of}")
        if self.composed:
            told.append(f"composed at delta {format_number(self.delta)}")
        return ", ".join(told)

    def as_json(self) -> dict[str, Any]:
        """For programs: rounded against us."""
        numbers = {"epsilon": self.epsilon, "delta": self.delta}
        if self.composed:
            numbers |= {"exposure": self.exposure, "room": self.room}
        return {
            **{name: n if n is None else float_rounded_up(n) for name, n in numbers.items()},
            "composed": self.composed,
            "fits": self.fits,
        }


def standing(
    cap: Cap, measure: Measure, charges: Sequence[Charge], change: Period | None, *, composed: bool
) -> Standing:
    """What one person has lost, about her entries of a period or about all, against a cap.

    Guarantee:
        Where each charge was granted only if this fits with it, everything published is
        (epsilon, delta)-indistinguishable with the cap's numbers, however charges were chosen; and
        probabilistic if all are and sums are counted (docs/proofs/ledger.md).
    """
    if not composed or not cap.composable:
        total = measure.loss(charges, change)
        return Standing(cap=cap, epsilon=total.epsilon, delta=total.delta, fits=cap.allows(total))
    limit = _filter(cap)
    found = [limit.spent(losses) for losses in measure.losses(charges, change)]
    epsilons = [each.epsilon for each in found]
    known = [each for each in epsilons if each is not None]
    return Standing(
        cap=cap,
        epsilon=max(known) if len(known) == len(epsilons) else None,
        delta=limit.delta,
        fits=all(each.fits for each in found),
        exposure=max(each.exposure for each in found),
        room=limit.delta * limit.exposed,
    )


def composes_losses(caps: Caps, measure: Measure, first: Charge | None) -> bool:
    """Whether caps limit composed losses, and not sums of epsilon and delta.

    As declared; else whichever allows more releases like the first one. That is known before
    anything is published, and does not change later.
    """
    if caps.compose is not None:
        return caps.compose == "losses"
    cap = caps.all if caps.all.composable else caps.period
    if not cap.composable or first is None or first.losses is None:
        return False
    if first.definition != "indistinguishable" or cap.epsilon is None or cap.delta is None:
        return False
    cost = measure.cost(first, None)
    by_sum = cap.epsilon // cost.epsilon
    if cost.delta:
        by_sum = min(by_sum, cap.delta // cost.delta)
    (losses, *_) = measure.losses([first])
    one_more = by_sum + 1
    exposure = sum((each.exposure for each in losses), Fraction(0))
    square = sum((each.total_mu_squared for each in losses), Fraction(0))
    if exposure * one_more > 1:
        return False
    repeated = Loss.moved(exposure=exposure * one_more, mu_squared=square * one_more)
    return _filter(cap).spent([repeated]).fits


def composed_epsilon(
    measure: Measure, charges: Sequence[Charge], change: Period | None, delta: Fraction
) -> Fraction | None:
    """What charges are worth at a delta, if all their parameters were fixed in advance.

    At most their sum; None where no epsilon is proven at that delta.
    """
    plain: Budget = measure.loss(charges, change)
    found = [epsilon_at(losses, delta) for losses in measure.losses(charges, change)]
    if plain.delta <= delta:
        found = [plain.epsilon if each is None else min(each, plain.epsilon) for each in found]
    known = [each for each in found if each is not None]
    return max(known) if len(known) == len(found) else None


def _filter(cap: Cap) -> Filter:
    assert cap.epsilon is not None and cap.delta is not None  # noqa: S101, PT018
    return Filter(epsilon=cap.epsilon, delta=cap.delta)
