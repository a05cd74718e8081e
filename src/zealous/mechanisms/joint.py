"""Noise between two thresholds, its scale chosen together with the second.

Guarantee:
    Scale and threshold keep delta by the accounting of the mechanism's own law of noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from zealous.mechanisms.thresholds import ThresholdsByLaw
from zealous.privacy.accounting.sparse import check_indistinguishability
from zealous.privacy.guarantee import Guarantee, Indistinguishability


@dataclass(frozen=True, kw_only=True)
class JointlyCalibrated(ThresholdsByLaw):
    """What the mechanisms with a scale and a threshold for indistinguishability share.

    A mechanism names its `law`, and nothing else.
    """

    name: ClassVar[str]

    @classmethod
    def calibrate(cls, goal: Guarantee, items_per_user: int) -> Self:
        """The least tau_prime at any scale, and the least scale for it."""
        check_indistinguishability(goal, cls.name)
        best = cls.law.accounting.scale_and_threshold(goal, items_per_user)
        return cls(items_per_user=items_per_user, scale=best.scale, tau=1, tau_prime=best.tau_prime)

    def delta(self, goal: Guarantee) -> Fraction:
        """The delta of the theorem; 1 for the probabilistic guarantee, which this cannot give."""
        if not isinstance(goal, Indistinguishability):
            return Fraction(1)
        return self.law.accounting.delta(
            scale=self.scale,
            tau=self.tau,
            tau_prime=self.tau_prime,
            items_per_user=self.items_per_user,
            goal=goal,
        )
