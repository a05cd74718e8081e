"""What each of several releases of the same people may use, so that all of them keep one goal."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from zealous.errors import UsageError
from zealous.planning.plan import Plan
from zealous.planning.together import largest, losses
from zealous.privacy.composition import Filter, across_releases
from zealous.privacy.guarantee import Guarantee, positive_integer

# Of its part of delta, what each release states, as a cap keeps it for exposure: the rest covers
# what their noise tells together. A single release needs some 3 % more noise for it.
_STATED = Filter.exposed
_DIGITS = 3  # of each release's epsilon


def plan_series(goal: Guarantee, releases: int, make: Callable[[Guarantee], Plan]) -> Plan:
    """The plan of each release, where so many of them together keep a goal.

    Args:
        goal: The guarantee of all releases together.
        releases: How many there will be; their plans are all made now, and are the same.
        make: Plans one release for a guarantee.

    Guarantee:
        Under indistinguishability a ledger whose cap is the goal grants all of them, whatever each
        release makes of earlier ones: their losses fit the cap, or their sums do.
    """
    number = positive_integer(releases, "releases")
    if number == 1:
        return make(goal)
    if not goal.composes or goal.pure:
        return make(goal.share(Fraction(1, number)))
    cap, least = Filter(epsilon=goal.epsilon, delta=goal.delta), goal.epsilon / number
    step = _unit_of(least)
    found: dict[int, Plan] = {}

    def at(steps: int) -> Plan:
        if steps not in found:
            each = goal.with_budget(
                type(goal), epsilon=steps * step, delta=goal.delta * _STATED / number
            )
            found[steps] = make(each)
        return found[steps]

    def keeps(steps: int) -> bool:
        try:
            told = losses(at(steps).parts, goal.neighbors)
        except UsageError:  # so little epsilon cannot be planned for
            return False
        return cap.spent(across_releases(told * number)).fits

    first, last = int(least / step), int(goal.epsilon / step)
    return at(largest(keeps, first, min(last, first * max(1, round(number**0.5))), last))


def _unit_of(value: Fraction) -> Fraction:
    """The last of its first three digits, as a unit."""
    unit = Fraction(1)
    while value >= 10**_DIGITS * unit:
        unit *= 10
    while value < 10 ** (_DIGITS - 1) * unit:
        unit /= 10
    return unit
