"""ZEALOUS, the paper's algorithm: gives the probabilistic guarantee without a public list.

Guarantee:
    The parameters are those that `calibrate` proves for the goal; the claimed delta is computed
    from them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from zealous.mechanisms.descriptions import INTEGERS, AboveThreshold, Description
from zealous.mechanisms.protocol import register
from zealous.mechanisms.thresholds import LaplaceThresholds
from zealous.privacy.calibrate import calibrate, satisfied_guarantees
from zealous.privacy.guarantee import Guarantee, ProbabilisticDP


@register
@dataclass(frozen=True, kw_only=True)
class Zealous(LaplaceThresholds):
    """Two thresholds with discrete Laplace noise between them.

    Guarantee:
        With scale, tau and tau_prime from `calibrate` the published rows satisfy the guarantee
        they were calibrated for: an item with fewer than tau users never appears, every other
        count gets its own exact discrete Laplace noise, and an item appears only where its noisy
        count is strictly above tau_prime. Nothing else of the counts leaves.
    """

    name: ClassVar[str] = "zealous"
    proof_page: ClassVar[str] = "docs/proofs/probabilistic.md"
    description: ClassVar[Description] = AboveThreshold(
        how="ZEALOUS: count the units that hold an item, drop items below tau, "
        f"{INTEGERS}publish items whose noisy count is above tau'."
    )

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """For probabilistic differential privacy."""
        if not isinstance(goal, ProbabilisticDP):
            return None
        return "no other gives the probabilistic guarantee without a public list"

    @classmethod
    def calibrate(cls, goal: Guarantee, items_per_user: int) -> Self:
        best = calibrate(goal, items_per_user)
        return cls(
            items_per_user=items_per_user,
            scale=best.scale,
            tau=best.tau,
            tau_prime=best.tau_prime,
        )

    def theorem(self, goal: Guarantee) -> str:
        """Each guarantee has its own."""
        return goal.theorem

    def other_guarantee(self, goal: Guarantee) -> Guarantee | None:
        """What else `satisfied_guarantees` gives; none where that needs a number of users."""
        others = (each for each in self._satisfied(goal) if each.definition != goal.definition)
        return next(others, None)

    def delta_if_replaced(self, goal: Guarantee) -> Fraction:
        """By the theorem it is the same."""
        return self.delta(goal)

    def delta(self, goal: Guarantee) -> Fraction:
        """By `satisfied_guarantees`; 1 where the goal's epsilon is below what it needs."""
        for each in self._satisfied(goal):
            if each.definition == goal.definition and each.epsilon <= goal.epsilon:
                return each.delta
        return Fraction(1)

    def _satisfied(self, goal: Guarantee) -> list[Guarantee]:
        """What the theorems prove of these parameters, for the goal's neighbours and users."""
        found = satisfied_guarantees(
            scale=self.scale,
            tau=self.tau,
            tau_prime=self.tau_prime,
            items_per_user=self.items_per_user,
            users=goal.users,
            unit=goal.unit,
        )
        return [each for each in found if each.neighbors == goal.neighbors]
