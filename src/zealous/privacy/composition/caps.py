"""A cap under which losses may be chosen on the way, by what came out before.

What was spent, whether more fits, and the figure that is shown all come from `Filter.spent`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from zealous.errors import UsageError
from zealous.privacy.composition.loss import Loss
from zealous.privacy.composition.normal import hockey_stick
from zealous.privacy.composition.rules import least_epsilon

HALF = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What losses come to under a cap.

    Attributes:
        exposure: The sum of exposures, or that of what is hidden where it is larger.
        mu_squared: The sum of mu^2.
        epsilon: What all of it is worth at the cap's delta; None where no epsilon covers it.
        fits: Whether the cap allows it: exactly where epsilon is at most the cap's.
    """

    exposure: Fraction
    mu_squared: Fraction
    epsilon: Fraction | None
    fits: bool


@dataclass(frozen=True, kw_only=True)
class Filter:
    """A cap in one currency: sums of exposure and of mu^2, fixed before anything is published.

    Attributes:
        epsilon: The cap.
        delta: The cap.
        exposed: The part of delta that is kept for exposure; the rest is for noise.

    Guarantee:
        If losses are chosen by looking at earlier outputs, and `spent` fits with each of them,
        everything published is (epsilon, delta)-indistinguishable.

    >>> cap = Filter(epsilon=Fraction(2), delta=Fraction(1, 10**5))
    >>> month = Loss.moved(exposure=Fraction("2e-7"), mu_squared=Fraction("0.015"))
    >>> [(cap.spent([month] * n).fits, float(cap.spent([month] * n).epsilon)) for n in (1, 15, 16)]
    [(True, 0.44627), (True, 1.95695), (False, 2.02825)]
    """

    epsilon: Fraction
    delta: Fraction
    exposed: Fraction = HALF

    def __post_init__(self) -> None:
        if self.epsilon < 0 or not 0 <= self.delta < 1 or not 0 <= self.exposed <= 1:
            raise UsageError("a cap needs epsilon of at least 0 and a delta from 0 to below 1")

    def spent(self, losses: Iterable[Loss]) -> Spent:
        """What losses come to, in any order and from any releases."""
        parts = list(losses)
        hidden = sum((each.hidden for each in parts), Fraction(0))
        exposure = max(sum((each.exposure for each in parts), Fraction(0)), hidden)
        square = sum((each.total_mu_squared for each in parts), Fraction(0))
        room = self.delta * self.exposed
        if exposure > room:
            return Spent(exposure=exposure, mu_squared=square, epsilon=None, fits=False)

        def delta_of(epsilon: Fraction) -> Fraction:
            if not square and not hidden:
                return Fraction(0)  # all that is told is exposure, and it has room
            told = hockey_stick(square, epsilon - room / (1 - room))
            return (room + told) / (1 - room)

        fits, epsilon = delta_of(self.epsilon) <= self.delta, least_epsilon(delta_of, self.delta)
        if fits and epsilon is not None:  # its steps need not meet the cap
            epsilon = min(epsilon, self.epsilon)
        return Spent(exposure=exposure, mu_squared=square, epsilon=epsilon, fits=fits)
