"""The Gaussian sparse histogram: for many items per user far less noise than Laplace's.

Guarantee:
    The claimed delta is that of exact accounting at the scale and thresholds that are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from zealous.mechanisms.descriptions import INTEGERS, AboveThreshold, Description
from zealous.mechanisms.joint import JointlyCalibrated
from zealous.mechanisms.laws import GAUSSIAN, NoiseLaw
from zealous.mechanisms.protocol import register


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
    law: ClassVar[NoiseLaw] = GAUSSIAN
    proof_page: ClassVar[str] = "docs/proofs/gaussian.md"
    description: ClassVar[Description] = AboveThreshold(
        how="Gaussian sparse histogram: count the units that hold an item, "
        f"{INTEGERS}publish items whose noisy count is above tau'."
    )
