"""A histogram of a plan in words."""

from __future__ import annotations

from collections.abc import Collection

from zealous.mechanisms.choose import ASKED, DEFAULT
from zealous.planning.part import Part, forecast
from zealous.privacy.accounting.at_best import fewest_users, most_items
from zealous.privacy.guarantee import Guarantee, format_number
from zealous.privacy.units import PRIVACY_UNITS, Unit

_SMALL = 1_000  # items: a log that can yield more is not said to yield few


def undercount(most: Collection[int], unit: Unit) -> str:
    """Why counts are below the true numbers, whatever the noise.

    Args:
        most: How many items of a unit count, in each table.
        unit: What is counted.

    >>> undercount([2], "user")
    'Users with more than 2 items are counted for 2 of them only, so counts are low.'
    >>> undercount([1], "keyword")
    'User-keywords are counted once each.'
    """
    words, m = PRIVACY_UNITS[unit], max(most)
    units = f"{words.plural[:1].upper()}{words.plural[1:]}"
    if words.is_one_item and m == 1:
        return f"{units} are counted once each."
    if len({*most}) > 1:
        return (
            f"{units} with more items than a table counts are counted for that many only: counts "
            "are low."
        )
    return (
        f"{units} with more than {m} item{'s' * (m > 1)} are counted for {m} of them only, so "
        "counts are low."
    )


def describe(part: Part) -> str:
    """The histogram in words, for a terminal or a notebook."""
    mechanism, expected = part.mechanism, forecast(part)
    appear = expected.users_to_appear
    share = f"epsilon {format_number(part.goal.epsilon)}"
    if not part.goal.pure:
        share += f", delta {format_number(part.goal.delta)} (achieved {format_number(part.delta)})"
    lines = [
        f"{part.name()}: at most {mechanism.items_per_user} a {part.goal.unit}",
        f"  by itself             {share}",
        *_choice_lines(part),
        f"  noise                 {mechanism.noise_law}, scale {float(mechanism.scale):g}",
        f"  thresholds            {mechanism.threshold_text()}",
    ]
    if appear.high:
        lines.append(
            f"  an item appears       with 5 / 50 / 95 % once it is among the items that count of "
            f"{appear.low} / {appear.half} / {appear.high} {part.goal.units()}"
        )
    lines += _limit_lines(part)
    known = mechanism.interval(0.95)
    lines.append(
        f"  noise on a count      at most {known.error} in 95 of 100 cases"
        + ("" if known.threshold is None else f", for counts of {known.certain_from:,} or more")
    )
    lines.append(
        f"  beside the noise      {undercount([mechanism.items_per_user], part.goal.unit)}"
    )
    if expected.single_person_items and part.goal.delta_per_person:
        lines.append(
            f"  single persons        up to {expected.single_person_items:.3g} items held by one "
            "person only are published on average, if everybody's items were their own"
        )
    users = part.goal.users
    if users is not None and appear.high > users:
        lines.append(
            "  nothing will appear   an item would need more users than there are: raise epsilon, "
            "lower items_per_user, or publish fewer kinds"
        )
    return "\n".join(lines)


def _limit_lines(part: Part) -> list[str]:
    """What no mechanism can exceed; how many items that leaves, for a log of few users."""
    deciding, least = part.mechanism.deciding_items_per_user(), fewest_users(part.goal)
    if deciding is None or least is None or least == 1:
        return []
    said = (
        f"  at best               whatever the mechanism, an item of fewer than {least} "
        f"{part.goal.units()} appears with less than 50 %"
    )
    few = few_items(part.goal, deciding)
    return [f"{said}; {few}" if few else said]


def few_items(goal: Guarantee, items_per_user: int) -> str:
    """How many items a log can yield at best, where these are few; else nothing.

    Args:
        goal: What is promised, and about how many users.
        items_per_user: How many items of one user have a part in what is published, at most.

    >>> from zealous.privacy.guarantee import ProbabilisticDP
    >>> few_items(ProbabilisticDP(epsilon=1, delta="0.001", users=60), 2)
    '60 users with at most 2 items each yield at most 17 items on average'
    """
    if goal.users is None:
        return ""
    most = most_items(goal, goal.users * items_per_user)
    if most is None or most >= _SMALL:
        return ""
    items, found = "item" + "s" * (items_per_user > 1), "item" + "s" * (most != 1)
    return (
        f"{goal.users:,} {goal.units()} with at most {items_per_user} {items} each yield at most "
        f"{most:,} {found} on average"
    )


def _choice_lines(part: Part) -> list[str]:
    if part.mechanism.name == DEFAULT and part.why == ASKED:
        return []
    return [f"  mechanism             {part.mechanism.name}: {part.why}"]
