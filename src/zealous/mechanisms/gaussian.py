"""The Gaussian sparse histogram: for many items per user far less noise than Laplace's."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

from zealous.mechanisms.descriptions import INTEGERS, AboveThreshold, Words
from zealous.mechanisms.joint import Joint
from zealous.mechanisms.protocol import register
from zealous.noise import DiscreteGaussian
from zealous.privacy.accounting import gaussian


@register
@dataclass(frozen=True, kw_only=True)
class Gaussian(Joint):
    """Two thresholds with discrete Gaussian noise between them, its scale chosen with the second.

    Guarantee:
        With parameters from `calibrate` the published rows are (epsilon, delta)-indistinguishable:
        every count gets its own exact discrete Gaussian noise, accounted for as such, and an item
        appears only where its noisy count is strictly above tau_prime.

    >>> from zealous.privacy.guarantee import Indistinguishability
    >>> goal = Indistinguishability(epsilon=1, delta="1e-6")
    >>> found = Gaussian.calibrate(goal, 20)
    >>> float(found.scale), found.tau_prime, found.delta(goal) <= goal.delta
    (26.75, 143, True)
    """

    name: ClassVar[str] = "gaussian"
    noise: ClassVar[str] = "discrete-gaussian"
    theorem: ClassVar[str] = "docs/proofs/gaussian.md"
    law: ClassVar[ModuleType] = gaussian
    words: ClassVar[Words] = AboveThreshold(
        how="Gaussian sparse histogram: count the units that hold an item, "
        f"{INTEGERS}publish items whose noisy count is above tau'."
    )

    def noise_sampler(self) -> DiscreteGaussian:
        """Where the noise comes from."""
        return DiscreteGaussian(scale=self.scale)

    def probability_above(self, count: int, t: int) -> float:
        """The chance that at least tau users are published with a count above t >= tau_prime."""
        return float(gaussian.tail(self.scale, t - count))

    def noise_quantile(self, confidence: float) -> int:
        """The noise on a count is at most this with such a probability."""
        return gaussian.quantile(self.scale, confidence)
