"""What a plan says of the whole release, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from zealous.notebook import block, grid, line, note
from zealous.planning.part import Part, forecast
from zealous.planning.part_text import undercount
from zealous.planning.together import cost_of_releases
from zealous.privacy.guarantee import UNITS, Guarantee, format_number
from zealous.privacy.levels import is_weak, strength
from zealous.privacy.promise import both_deltas, promise
from zealous.privacy.units import unit_warning

TWELVE = 12  # releases: a year of months


class DescribedPlan(Protocol):
    """What is told of a plan."""

    @property
    def goal(self) -> Guarantee:
        """The guarantee of the whole release."""

    @property
    def parts(self) -> Sequence[Part]:
        """The histograms that share it."""

    @property
    def composed(self) -> bool:
        """Whether the goal follows from composed losses."""

    @property
    def delta_achieved(self) -> Fraction:
        """The delta that all histograms achieve together."""


def plan_html(planned: DescribedPlan, other: Guarantee | None) -> str:
    """What a notebook shows of a plan."""
    names = ["kind", f"items a {planned.goal.unit}", "epsilon", "mechanism"]
    names += [f"{planned.goal.units()} for {chance} %" for chance in (50, 95)] + ["noise (95 %)"]
    return block(
        f"Plan for {', '.join(part.name() for part in planned.parts)}",
        line(promise(planned.goal)),
        line(claim_text(planned, other).splitlines()[-1]),
        grid(names, list(map(_summary_row, planned.parts))),
        note(
            "With a probability of 50 or 95 % an item appears that is among the items that "
            f"count of so many {planned.goal.units()}; the noise on its count is at most so much "
            "in 95 of 100 cases. "
            + undercount([part.kind.items_per_user for part in planned.parts], planned.goal.unit)
        ),
        note("Nothing is read or spent yet: z.publish(log, plan) executes it."),
    )


def _summary_row(part: Part) -> tuple[object, ...]:
    expected = forecast(part)
    return (
        part.name(),
        part.kind.items_per_user,
        format_number(part.goal.epsilon),
        part.mechanism.name,
        expected.users_to_appear.half,
        expected.users_to_appear.high,
        expected.error_95,
    )


def claim_text(planned: DescribedPlan, other: Guarantee | None) -> str:
    """The guarantee of a whole release in words, and the delta of the other one, `other`."""
    goal, parts = planned.goal, planned.parts
    lines = [
        f"{goal.title}, {_numbers(goal.epsilon, goal.delta)}, neighbours: {goal.neighbors}, "
        f"unit: {UNITS[goal.unit]}",
        promise(goal),
        f"With these parameters {both_deltas(goal, other)}",
        *([strength(goal.epsilon)] if is_weak(goal.epsilon) else []),
        *unit_warning(goal.unit),
    ]
    if planned.composed:
        added = sum((part.goal.epsilon for part in parts), Fraction(0))
        lines.append(
            f"The losses of all {len(parts)} kinds compose to delta "
            f"{format_number(planned.delta_achieved)} at epsilon {format_number(goal.epsilon)}; "
            f"added, epsilon would be {format_number(added)}."
        )
    epsilon, delta = cost_of_releases(goal, parts, TWELVE)
    year = f"Twelve such releases of the same people: {_numbers(epsilon, delta)}"
    if epsilon < TWELVE * goal.epsilon:
        year += f" if planned in advance; added, epsilon = {format_number(TWELVE * goal.epsilon)}"
    return "\n".join([*lines, f"{year}."])


def _numbers(epsilon: Fraction, delta: Fraction) -> str:
    told = f"epsilon = {format_number(epsilon)}"
    return f"{told}, delta = {format_number(delta)}" if delta else told
