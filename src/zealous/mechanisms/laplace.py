"""Laplace noise for indistinguishability: less than ZEALOUS adds, as delta covers rare losses.

Guarantee:
    The claimed delta is that of exact accounting at the scale and thresholds that are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from zealous.mechanisms.descriptions import AboveThreshold, Description
from zealous.mechanisms.joint import JointlyCalibrated
from zealous.mechanisms.protocol import register
from zealous.mechanisms.thresholds import LaplaceThresholds


@register
@dataclass(frozen=True, kw_only=True)
class Laplace(JointlyCalibrated, LaplaceThresholds):
    """Two thresholds with discrete Laplace noise between them, its scale chosen with the second.

    Guarantee:
        With parameters from `calibrate` the published rows are (epsilon, delta)-indistinguishable:
        every count gets its own exact discrete Laplace noise, and an item appears only where its
        noisy count is strictly above tau_prime, which is never above that of ZEALOUS.

    >>> from zealous.privacy.guarantee import Indistinguishability
    >>> goal = Indistinguishability(epsilon=1, delta="1e-6")
    >>> found = Laplace.calibrate(goal, 20)
    >>> float(found.scale), found.tau_prime, found.delta(goal) <= goal.delta
    (25.75, 416, True)
    """

    name: ClassVar[str] = "laplace"
    proof_page: ClassVar[str] = "docs/proofs/exact.md"
    description: ClassVar[Description] = AboveThreshold(
        how="Exact accounting: as ZEALOUS, with the scale and tau' that are least together."
    )
