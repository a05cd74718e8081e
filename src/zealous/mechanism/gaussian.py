"""The Gaussian sparse histogram: for many items per user far less noise than Laplace's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from zealous.guarantee import Guarantee, Indistinguishability, exact, whole
from zealous.mechanism.thresholds import Thresholds
from zealous.theory import gaussian
from zealous.theory.sparse import only_indistinguishable

if TYPE_CHECKING:
    from zealous.noise import DiscreteGaussian


@dataclass(frozen=True, kw_only=True)
class Gaussian(Thresholds):
    """Two thresholds with discrete Gaussian noise between them, its scale chosen with the second.

    Guarantee:
        With parameters from `calibrated` the published rows are (epsilon, delta)-indistinguishable:
        every count gets its own exact discrete Gaussian noise, accounted for as such, and an item
        appears only where its noisy count is strictly above tau_prime.
    """

    name: ClassVar[str] = "gaussian"
    noise: ClassVar[str] = "discrete-gaussian"
    theorem: ClassVar[str] = "docs/proofs/gaussian.md"

    @classmethod
    def calibrated(cls, goal: Guarantee, items_per_user: int) -> Self:
        """The least tau_prime at any scale of at least 1, and the least such scale for it.

        >>> goal = Indistinguishability(epsilon=1, delta="1e-6")
        >>> found = Gaussian.calibrated(goal, 20)
        >>> float(found.scale), found.tau_prime, found.delta(goal) <= goal.delta
        (26.75, 143, True)
        """
        only_indistinguishable(goal, cls.name)
        best = gaussian.joint(goal, items_per_user)
        return cls(items_per_user=items_per_user, scale=best.scale, tau=1, tau_prime=best.tau_prime)

    @classmethod
    def again(cls, part: Mapping[str, Any]) -> Self:
        """Made anew from what release.json says of it."""
        return cls(
            items_per_user=whole(part["items_per_user"], "items_per_user"),
            scale=exact(part["exact"]["scale"], "scale"),
            tau=whole(part["tau"], "tau"),
            tau_prime=whole(part["tau_prime"], "tau_prime"),
        )

    def source(self) -> DiscreteGaussian:
        """Where the noise comes from."""
        from zealous.noise import DiscreteGaussian

        return DiscreteGaussian(scale=self.scale)

    def delta(self, goal: Guarantee) -> Fraction:
        """The delta of the theorem; 1 for the probabilistic guarantee, which this cannot give."""
        if not isinstance(goal, Indistinguishability):
            return Fraction(1)
        return gaussian.delta(
            scale=self.scale,
            tau=self.tau,
            tau_prime=self.tau_prime,
            items_per_user=self.items_per_user,
            goal=goal,
        )

    def appears(self, count: int) -> float:
        """The chance that an item of this many users (after bounding) is published."""
        return (
            float(gaussian.tail(self.scale, self.tau_prime - count)) if count >= self.tau else 0.0
        )

    def error(self, confidence: float) -> int:
        """A published count is off by at most this with such a probability."""
        return gaussian.quantile(self.scale, confidence)
