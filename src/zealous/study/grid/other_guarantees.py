"""What is published under (epsilon', delta')-indistinguishability, beside the paper's guarantee.

The study's delta bounds the chance that anybody at all is exposed. Indistinguishability states its
delta per person; here it is the study's delta over the number of users, so that the expected number
of people who are exposed is the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from zealous.mechanisms import Mechanism, Zealous
from zealous.mechanisms.choose import MECHANISMS
from zealous.privacy.guarantee import Indistinguishability
from zealous.study.grid.candidates import CalibratedCandidate
from zealous.study.theory.printed_formulas import Continuous


def _korolova(goal: Indistinguishability, m: int) -> Mechanism:
    """As Korolova et al. (2009) set it: tau = 1, and the paper's tau' where it is high enough."""
    scale = 2 * m / goal.epsilon
    printed = Continuous(scale=scale, items_per_user=m)
    tau_prime = math.ceil(printed.indistinguishable_tau_prime(goal.delta))
    return Zealous(items_per_user=m, scale=scale, tau=1, tau_prime=tau_prime)


OTHER_GUARANTEES: Mapping[str, Callable[[Indistinguishability, int], Mechanism]] = {
    "indistinguishable": Zealous.calibrate,
    "korolova": _korolova,
    "gaussian": MECHANISMS["gaussian"].calibrate,
}
"""By the name of its curves: ZEALOUS with its best parameters, with those of Korolova et al., and
Gaussian instead of Laplace noise. `pooled` looks at more than a histogram: see `zealous study
mechanisms`."""

PROMISES = {
    "indistinguishable": "ZEALOUS",
    "korolova": "ZEALOUS with the parameters of Korolova et al.",
    "gaussian": "Gaussian noise",
}


def goal_for(epsilon: float, delta: float, people: int) -> Indistinguishability:
    """The guarantee that a study compares with its own."""
    return Indistinguishability(
        epsilon=str(epsilon), delta=Fraction(str(delta)) / people, users=people
    )


@cache
def _mechanism(name: str, epsilon: float, delta: float, m: int, people: int) -> Mechanism:
    return OTHER_GUARANTEES[name](goal_for(epsilon, delta, people), m)


@dataclass(frozen=True, kw_only=True)
class OtherGuaranteeCandidate(CalibratedCandidate):
    """One of `OTHER_GUARANTEES`."""

    def mechanism(self, people: int) -> Mechanism:
        return _mechanism(self.name, self.epsilon, self.delta, self.m, people)
