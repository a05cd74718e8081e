"""The Gaussian sparse histogram: for many items per user far less noise than Laplace's.

Guarantee:
    The claimed delta is that of exact accounting at the scale and thresholds that are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

from zealous.mechanisms.descriptions import INTEGERS, AboveThreshold, Description
from zealous.mechanisms.joint import JointlyCalibrated
from zealous.mechanisms.protocol import register
from zealous.noise import DiscreteGaussian
from zealous.privacy.accounting import gaussian
from zealous.privacy.composition import Loss
from zealous.privacy.guarantee import Neighbors, moved_counts


@register
@dataclass(frozen=True, kw_only=True)
class Gaussian(JointlyCalibrated):
    """Two thresholds with discrete Gaussian noise between them, its scale chosen with the second.

    Guarantee:
        With parameters from `calibrate` the published rows are (epsilon, delta)-indistinguishable:
        every count of at least tau gets its own exact discrete Gaussian noise, accounted for as
        such, and an item appears only where its noisy count is strictly above tau_prime.

    >>> from zealous.privacy.guarantee import Indistinguishability
    >>> goal = Indistinguishability(epsilon=1, delta="1e-6")
    >>> found = Gaussian.calibrate(goal, 20)
    >>> float(found.scale), found.tau_prime, found.delta(goal) <= goal.delta
    (26.75, 143, True)
    """

    name: ClassVar[str] = "gaussian"
    noise_law: ClassVar[str] = "discrete-gaussian"
    proof_page: ClassVar[str] = "docs/proofs/gaussian.md"
    accounting: ClassVar[ModuleType] = gaussian
    description: ClassVar[Description] = AboveThreshold(
        how="Gaussian sparse histogram: count the units that hold an item, "
        f"{INTEGERS}publish items whose noisy count is above tau'."
    )

    def noise_sampler(self) -> DiscreteGaussian:
        """The law that noise is drawn from, at this scale."""
        return DiscreteGaussian(scale=self.scale)

    def loss(self, neighbors: Neighbors) -> Loss:
        """Each of her items at tau may be shown by its noise; all other counts shift under it."""
        return Loss.thresholded(
            shown=gaussian.tail(self.scale, self.tau_prime - self.tau),
            items=self.items_per_user,
            shifts=moved_counts(self.items_per_user, neighbors),
            scale=self.scale,
        )

    def probability_above(self, count: int, t: int) -> float:
        """The chance that an item of `count` >= tau users is published with more than t >= tau'."""
        return float(gaussian.tail(self.scale, t - count))

    def noise_quantile(self, confidence: float) -> int:
        """The noise on a count is at most this with such a probability."""
        return gaussian.quantile(self.scale, confidence)
