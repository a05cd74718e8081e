"""The promise of a guarantee in one sentence, for people: each number rounded against us."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Protocol

from zealous.privacy.guarantee import (
    Definition,
    Indistinguishability,
    exact_fraction,
    format_number,
)
from zealous.privacy.units import PRIVACY_UNITS, WHOEVER, Neighbors, Unit

ODDS: dict[tuple[Neighbors, Unit], str] = {
    (neighbors, name): said
    for name, unit in PRIVACY_UNITS.items()
    for neighbors, said in unit.odds.items()
}


class Promised(Protocol):
    """What is promised: a guarantee, or the claim of a release."""

    @property
    def definition(self) -> Definition: ...
    @property
    def epsilon(self) -> Fraction | float: ...
    @property
    def delta(self) -> Fraction | float: ...
    @property
    def neighbors(self) -> Neighbors: ...
    @property
    def unit(self) -> Unit: ...


def promise(goal: Promised) -> str:
    """What a guarantee promises.

    >>> from zealous.privacy.guarantee import ProbabilisticDP
    >>> promise(ProbabilisticDP(epsilon=2, delta="0.001", users=1000))[:50]
    'With 99.9 % certainty, this release changes nobody'
    """
    delta = exact_fraction(goal.delta, "delta")
    most = f"a factor of {factor(float(goal.epsilon))}"
    if goal.definition == Indistinguishability.definition:
        unit = PRIVACY_UNITS[goal.unit]
        said = (
            f"For {unit.each}, this release is nearly as likely with that data as without it: the "
            f"probability of any event differs by at most {most}"
        )
        return (
            f"{said}, plus a delta of {format_number(delta)} per {unit.per}."
            if delta
            else f"{said}."
        )
    sure = (
        f"With {format_number(100 * (1 - delta), up=False)} % certainty"
        if delta
        else "In every case"
    )
    return (
        f"{sure}, this release changes nobody's odds {ODDS[goal.neighbors, goal.unit]} by more "
        f"than {most}."
    )


def both_deltas(*claims: Promised | None) -> str:
    """The delta per person, as others state it, and the one for anybody at all.

    Args:
        claims: What the same parameters give, of either definition.

    >>> from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
    >>> anybody = ProbabilisticDP(epsilon=2, delta="0.001", users=1000)
    >>> both_deltas(anybody, Indistinguishability(epsilon=2, delta="1e-7"))
    'delta is 1e-7 per person, and 0.001 for anybody at all.'
    """
    found = {claim.definition: claim for claim in claims if claim is not None}
    any_claim = next(iter(found.values()))
    whose: dict[Definition, str] = {
        "indistinguishable": f"per {PRIVACY_UNITS[any_claim.unit].per}",
        "probabilistic": f"for {WHOEVER[any_claim.unit]}",
    }
    if any(not claim.delta for claim in found.values()):
        return f"delta is 0, {' and '.join(whose.values())}."
    smallest = min(claim.epsilon for claim in found.values())
    said = []
    for definition, of_whom in whose.items():
        claim = found.get(definition)
        delta = "not stated" if claim is None else format_number(exact_fraction(claim.delta, ""))
        at = f" (at epsilon {format_number(claim.epsilon)})" if claim else ""
        said.append(f"{delta} {of_whom}{at if claim and claim.epsilon != smallest else ''}")
    return f"delta is {', and '.join(said)}."


def factor(epsilon: float) -> str:
    """exp(epsilon) in print, rounded up.

    >>> factor(1), factor(10), factor(2000)
    ('2.72', '22,100', '10^869')
    """
    if epsilon > math.log(1e9):
        return f"10^{math.ceil(epsilon / math.log(10))}"
    value = math.exp(epsilon)
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    rounded = math.ceil(value / step - 1e-9) * step
    return (
        f"{rounded:,.2f}"
        if rounded < 10
        else f"{rounded:,.1f}"
        if rounded < 100
        else (f"{rounded:,.0f}")
    )
