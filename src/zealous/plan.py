"""What will be published at which guarantee, decided without the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any

from zealous.calibrate import (
    Calibration,
    as_float,
    calibrate,
    guarantees,
    least_count,
    noise_quantile,
    tail,
)
from zealous.errors import Refused, UsageError
from zealous.guarantee import UNITS, Guarantee, Indistinguishability, Number, exact, shown
from zealous.items import Kind
from zealous.mechanism import Zealous


@dataclass(frozen=True, kw_only=True)
class Part:
    """One histogram of a release.

    Attributes:
        kind: What is counted.
        goal: This histogram's share of the budget.
        mechanism: How it is published.
        delta: The delta that the mechanism achieves, at most the goal's.
    """

    kind: Kind
    goal: Guarantee
    mechanism: Zealous
    delta: Fraction

    def name(self) -> str:
        """What the histogram is called."""
        return self.kind.name()


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A goal for the whole release, and the histograms that share it."""

    goal: Guarantee
    parts: tuple[Part, ...]

    def __str__(self) -> str:
        """A table in words, for a terminal or a notebook."""
        return "\n\n".join([claim(self.goal), *(_describe(part) for part in self.parts)])


def plan(
    goal: Guarantee,
    kinds: Sequence[Kind],
    *,
    split: Mapping[str, Number] | None = None,
    accept_delta: bool = False,
) -> Plan:
    """Split a goal over kinds of items and find the best parameters for each.

    Args:
        goal: The guarantee of the whole release.
        kinds: What to publish.
        split: Weights by name of kind; even where not given.
        accept_delta: Confirms a delta per person so large that single persons' items are expected
            to be published (indistinguishability only).
    """
    names = [kind.name() for kind in kinds]
    if not kinds:
        raise UsageError("nothing to publish: name at least one kind of items")
    if len(set(names)) < len(names):
        raise UsageError("each kind of items can be named once")
    _check_delta(goal, accept_delta)
    weights = {name: exact(weight, "split") for name, weight in (split or {}).items()}
    if set(weights) - set(names) or (weights and set(names) - set(weights)):
        raise UsageError("--split must name the published kinds, each once: keywords=2,queries=1")
    if any(weight <= 0 for weight in weights.values()):
        raise UsageError("the weights of --split must be above 0")
    total = sum(weights.values(), Fraction(0)) or Fraction(len(names))
    parts = [
        _part(goal.share(weights.get(kind.name(), Fraction(1)) / total), kind) for kind in kinds
    ]
    return Plan(goal=goal, parts=tuple(parts))


def _part(goal: Guarantee, kind: Kind) -> Part:
    best = calibrate(goal, kind.items_per_user)
    mechanism = Zealous(
        items_per_user=kind.items_per_user,
        scale=best.scale,
        tau=best.tau,
        tau_prime=best.tau_prime,
    )
    return Part(kind=kind, goal=goal, mechanism=mechanism, delta=best.delta)


def _check_delta(goal: Guarantee, accept_delta: bool) -> None:
    """Refuse a per-person delta that a whole population would notice."""
    if not isinstance(goal, Indistinguishability) or goal.users is None or accept_delta:
        return
    if goal.delta > Fraction(1, 10 * goal.users):
        advised = Decimal(1) / Decimal(10 * goal.users)
        advised = advised.quantize(Decimal((0, (1,), advised.adjusted())), ROUND_FLOOR)
        raise Refused(
            f"delta is per person under this guarantee: {shown(goal.delta)} is above "
            f"1/(10 x {goal.users:,} users). Lower it to {float(advised):g} or less, use the "
            "probabilistic guarantee, or confirm with --accept-delta"
        )


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What to expect of a histogram before it is made.

    Attributes:
        users_to_appear: How many users an item needs to appear with 5, 50 and 95 % probability.
        error_95: Counts are off by at most this in 95 of 100 cases.
        single_person_items: At most this many items of a single person are published on average;
            None where the number of users is not declared, or where the unit is not the user.
    """

    users_to_appear: dict[int, int]
    error_95: int
    single_person_items: float | None


def forecast(part: Part) -> Forecast:
    """Say what to expect of a histogram, from public facts alone."""
    mechanism, users = part.mechanism, part.goal.users
    parameters = Calibration(
        scale=mechanism.scale,
        tau=mechanism.tau,
        tau_prime=mechanism.tau_prime,
        delta=part.delta,
    )
    single = None
    if users is not None and part.goal.unit == "user":
        lone = tail(mechanism.scale, mechanism.tau_prime - 1) if mechanism.tau == 1 else 0.0
        single = users * mechanism.items_per_user * lone
    return Forecast(
        users_to_appear={p: least_count(parameters, p / 100) for p in (5, 50, 95)},
        error_95=noise_quantile(mechanism.scale, 0.95),
        single_person_items=single,
    )


def figures(part: Part) -> dict[str, Any]:
    """The numbers of one histogram, as the command line and a release print them."""
    goal, mechanism, expected = part.goal, part.mechanism, forecast(part)
    return {
        **claimed(goal, float),
        "items_per_user": mechanism.items_per_user,
        "mechanism": mechanism.name,
        "noise": mechanism.noise,
        "scale": float(mechanism.scale),
        "tau": mechanism.tau,
        "tau_prime": mechanism.tau_prime,
        "delta_achieved": as_float(part.delta),
        "exact": {
            "epsilon": str(goal.epsilon),
            "delta": str(goal.delta),
            "scale": str(mechanism.scale),
        },
        "forecast": {
            "users_to_appear": {f"{p}%": n for p, n in expected.users_to_appear.items()},
            "error_95": expected.error_95,
            "single_person_items": expected.single_person_items,
        },
    }


def claimed(goal: Guarantee, number: Callable[[Fraction], float]) -> dict[str, Any]:
    """The numbers of a guarantee: `float` for what was asked, `as_float` for what was computed."""
    return {
        "guarantee": goal.definition,
        "neighbors": goal.neighbors,
        "epsilon": number(goal.epsilon),
        "delta": number(goal.delta),
        "users": goal.users,
        "unit": goal.unit,
    }


def also(planned: Plan) -> Guarantee | None:
    """The other guarantee that the planned parameters give, over all histograms together.

    None where it would promise nothing: its delta reaches 1, or needs a number of users that is
    not declared.
    """
    epsilon = delta = Fraction(0)
    for part in planned.parts:
        hold = guarantees(
            scale=part.mechanism.scale,
            tau=part.mechanism.tau,
            tau_prime=part.mechanism.tau_prime,
            items_per_user=part.mechanism.items_per_user,
            users=planned.goal.users,
            unit=planned.goal.unit,
        )
        others = [
            each
            for each in hold
            if each.definition != planned.goal.definition
            and each.neighbors == planned.goal.neighbors
        ]
        if not others:
            return None
        other = others[0]
        epsilon, delta = epsilon + other.epsilon, delta + other.delta
    if delta >= 1:
        return None
    return planned.goal.of(type(other), epsilon=epsilon, delta=delta)


def twelve(goal: Guarantee) -> tuple[Fraction, Fraction]:
    """What twelve such releases of the same people cost together: epsilons and deltas add."""
    return 12 * goal.epsilon, min(Fraction(1), 12 * goal.delta)


def claim(goal: Guarantee) -> str:
    """The guarantee of a whole release, in words."""
    epsilon, delta = twelve(goal)
    return "\n".join(
        [
            f"{goal.title}, epsilon = {shown(goal.epsilon)}, delta = {shown(goal.delta)}, "
            f"neighbours: {goal.neighbors}, unit: {UNITS[goal.unit]}",
            goal.in_words(),
            f"Twelve such releases of the same people: epsilon = {shown(epsilon)}, "
            f"delta = {shown(delta)}.",
        ]
    )


def _describe(part: Part) -> str:
    mechanism, expected = part.mechanism, forecast(part)
    low, half, high = expected.users_to_appear.values()
    lines = [
        f"{part.name()}: at most {mechanism.items_per_user} a {part.goal.unit}",
        f"  share of the budget   epsilon {shown(part.goal.epsilon)}, "
        f"delta {shown(part.goal.delta)} (achieved {shown(part.delta)})",
        f"  noise                 {mechanism.noise}, scale {float(mechanism.scale):g}",
        f"  thresholds            tau {mechanism.tau}, tau' {mechanism.tau_prime}",
        f"  an item appears       with 5 / 50 / 95 % at {low} / {half} / {high} "
        f"{part.goal.units()}",
        f"  a count is off        by at most {expected.error_95} in 95 of 100 cases",
    ]
    if expected.single_person_items and isinstance(part.goal, Indistinguishability):
        lines.append(
            f"  single persons        up to {expected.single_person_items:.3g} items held by one "
            "person only are published on average, if everybody's items were their own"
        )
    users = part.goal.users
    if users is not None and high > users:
        lines.append(
            "  nothing will appear   an item would need more users than there are: raise epsilon, "
            "lower items_per_user, or publish fewer kinds"
        )
    return "\n".join(lines)
