"""The paper's formulas as printed: continuous noise, real thresholds. To compare, never to use.

A release uses `calibrate`: whole-number noise, whole thresholds, and every bound rounded against
us. The names say which printed formula is not right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from zealous.errors import UsageError
from zealous.privacy.guarantee import positive_integer


@dataclass(frozen=True, kw_only=True)
class Continuous:
    """ZEALOUS with continuous Laplace noise and neighbours of the kind `replace`.

    Attributes:
        scale: lambda, the scale of the noise; epsilon is 2m/lambda.
        items_per_user: m.

    >>> five = Continuous(scale=Fraction(5), items_per_user=5)
    >>> f"{five.probabilistic_delta(tau=1, tau_prime=200, users=500_000):.1e}"
    '6.5e-12'
    >>> round(five.indistinguishable_tau_prime_too_low(Fraction("0.001")), 2)
    24.56
    >>> round(five.indistinguishable_tau_prime(Fraction("0.001")), 2)
    40.12
    """

    scale: Fraction
    items_per_user: int

    def __post_init__(self) -> None:
        positive_integer(self.items_per_user, "items_per_user")
        if self.scale <= 0:
            raise UsageError("scale must be above 0")

    def probabilistic_delta(self, *, tau: int, tau_prime: float, users: int) -> float:
        """U m/(2 tau) exp(-(tau' - tau)/lambda), a bound: from 1 on it says nothing."""
        at_tau = users * self.items_per_user / (2 * tau)
        return at_tau * _exp((tau - tau_prime) / self.scale)

    def probabilistic_tau_prime(self, *, tau: int, delta: Fraction, users: int) -> float:
        """The least tau' for a tau, under both conditions of the theorem."""
        absence = -self.scale * math.log(-2 * math.expm1(-1 / self.scale))
        breach = self.scale * _log(users * self.items_per_user / (2 * tau * delta))
        return tau + max(absence, breach)

    def best_tau(self, *, delta: Fraction, users: int) -> int:
        """The tau with the least tau': tau - lambda ln(tau) is lowest beside lambda."""
        near = {max(1, math.floor(self.scale)), math.ceil(self.scale)}
        return min(
            sorted(near),
            key=lambda tau: self.probabilistic_tau_prime(tau=tau, delta=delta, users=users),
        )

    def indistinguishable_delta_of_its_table(self, tau_prime: float) -> float:
        """(m/2) exp(-(tau' - m)/lambda): as if one user could move one count by m. Too large."""
        return self.items_per_user / 2 * _exp((self.items_per_user - tau_prime) / self.scale)

    def indistinguishable_delta(self, tau_prime: float) -> float:
        """(m/2) exp(-(tau' - 1)/lambda), as each user moves a count by one. Right, at tau = 1."""
        return self.items_per_user / 2 * _exp((1 - tau_prime) / self.scale)

    def indistinguishable_tau_prime_too_low(self, delta: Fraction) -> float:
        """As the theorem prints it, m (1 - ln(2 delta'/m)/epsilon'): too low for its own lambda."""
        return self.items_per_user + self.scale / 2 * _log(self.items_per_user / (2 * delta))

    def indistinguishable_tau_prime(self, delta: Fraction) -> float:
        """1 - lambda ln(2 delta'/m), which is enough where each user moves a count by one."""
        return 1 + self.scale * _log(self.items_per_user / (2 * delta))


def _exp(value: float | Fraction) -> float:
    return math.exp(value) if value < 700 else math.inf


def _log(value: Fraction) -> float:
    """Of a fraction that no float need hold."""
    return math.log(value.numerator) - math.log(value.denominator)
