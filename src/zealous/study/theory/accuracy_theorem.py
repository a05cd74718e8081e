"""Which items a release gets wrong.

Somebody wants the items of at least tau* users, and forgives mistakes within a slack xi of it. An
item is *very frequent* with at least tau* + xi users and *very infrequent* with fewer than
tau* - xi. The inaccuracy is the expected number of very frequent items that are missing plus the
expected number of very infrequent items that are shown. docs/proofs/accuracy.md has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from zealous.errors import UsageError
from zealous.privacy.calibrate import Calibration, tail
from zealous.privacy.guarantee import Number, exact_fraction


@dataclass(frozen=True, init=False)
class AccuracyTarget:
    """Which items should be shown, and which mistakes are forgiven.

    Attributes:
        tau_star: Items of at least this many users are wanted.
        xi: The slack: no mistake counts within this distance of tau_star.
    """

    tau_star: Fraction
    xi: Fraction

    def __init__(self, tau_star: Number, xi: Number) -> None:
        object.__setattr__(self, "tau_star", exact_fraction(tau_star, "tau_star"))
        object.__setattr__(self, "xi", exact_fraction(xi, "xi"))
        if self.tau_star <= 0:
            raise UsageError("tau_star must be above 0: it is a number of users")
        if self.xi < 0:
            raise UsageError("xi must not be negative: it is the slack around tau_star")

    @property
    def frequent(self) -> int:
        """The fewest users of a very frequent item."""
        return math.ceil(self.tau_star + self.xi)

    @property
    def infrequent(self) -> int:
        """A very infrequent item has fewer users than this; at 0 or below there is none."""
        return math.ceil(self.tau_star - self.xi)


def target_of(calibration: Calibration) -> AccuracyTarget:
    """The paper's reading of given thresholds: tau = tau* - xi and tau' = tau* + xi.

    >>> target_of(Calibration(scale=Fraction(4), tau=4, tau_prime=79, delta=Fraction(1, 1000)))
    AccuracyTarget(tau_star=Fraction(83, 2), xi=Fraction(75, 2))
    """
    if calibration.tau_prime < calibration.tau:
        raise UsageError("tau_prime must not be below tau for tau* and xi to lie between them")
    middle = Fraction(calibration.tau + calibration.tau_prime, 2)
    return AccuracyTarget(middle, middle - calibration.tau)


def missing_probability(calibration: Calibration, count: int) -> float:
    """The chance that an item of this many users is not published, also where it is tiny."""
    if count < calibration.tau:
        return 1.0
    # P(eta <= t) = P(eta > -t - 1): the noise is symmetric, and 1 - P would round to 0.
    return tail(calibration.scale, count - calibration.tau_prime - 1)


def printed_miss_two_xi(scale: Fraction, wanted: AccuracyTarget) -> float:
    """exp(-2 xi/lambda)/2, as the paper prints a very frequent item's chance to be missing.

    Not right for its tau' = tau* + xi: it belongs to continuous noise and tau' = tau* - xi.
    """
    return math.exp(-2 * wanted.xi / scale) / 2


def printed_miss_xi(scale: Fraction, wanted: AccuracyTarget) -> float:
    """exp(-xi/lambda)/2, as the same theorem prints the same chance a line below.

    Not right for its tau' = tau* + xi either: it belongs to continuous noise and tau' = tau*.
    """
    return math.exp(-wanted.xi / scale) / 2
