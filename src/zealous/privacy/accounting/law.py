"""What a law of noise must be known by, so that mechanisms can use it.

A module of this package is such an accounting: `laplace` and `gaussian` are. How the noise is drawn
is in noise/; `mechanisms.laws` puts both together.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from zealous.privacy.accounting.sparse import ScaleAndThreshold
from zealous.privacy.composition.loss import Loss
from zealous.privacy.guarantee import Guarantee


class Accounting(Protocol):
    """The figures of one law of noise, at any scale.

    Guarantee:
        `delta` and `histogram_loss` are upper bounds for every log, neighbour and set of outputs.
    """

    def chance_above(self, scale: Fraction, t: int) -> float:
        """P(noise > t), for forecasts and intervals."""

    def quantile(self, scale: Fraction, confidence: float) -> int:
        """The least x with P(|noise| <= x) >= confidence."""

    def scale_and_threshold(self, goal: Guarantee, items_per_user: int) -> ScaleAndThreshold:
        """The parameters of a histogram that publish the most under a guarantee."""

    def delta(
        self, *, scale: Fraction, tau: int, tau_prime: int, items_per_user: int, goal: Guarantee
    ) -> Fraction:
        """The delta of a histogram between two thresholds, at the goal's epsilon."""

    def histogram_loss(self, *, scale: Fraction, t: int, items: int, shifts: int) -> Loss:
        """What a histogram between two thresholds tells of one person.

        Args:
            scale: The scale of the noise.
            t: tau_prime - tau.
            items: The most items of one user, m.
            shifts: How many counts one neighbouring step moves, M.
        """
