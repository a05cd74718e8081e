"""One histogram of a plan: its parameters, what to expect of it, and how it is described.

Guarantee:
    The mechanism of a part is one whose delta at the part's goal is at most that goal's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from msgspec import to_builtins

from zealous.counting.bound import Select
from zealous.items import Kind
from zealous.mechanisms import CalibratedMechanism
from zealous.mechanisms.choose import ASKED, DEFAULT
from zealous.planning.declared import PublicFile
from zealous.planning.from_record import (
    guarantee_from_record,
    kind_from_record,
    mechanism_from_record,
)
from zealous.privacy.accounting.at_best import fewest_users, most_items
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.guarantee import Guarantee, format_number
from zealous.record.codec import structure
from zealous.record.record import (
    ExactPart,
    ForecastRecord,
    MechanismParameters,
    PartRecord,
    UsersToAppear,
)

if TYPE_CHECKING:
    import pyarrow as pa

_SMALL = 1_000  # items: a log that can yield more is not said to yield few


@dataclass(frozen=True, kw_only=True)
class Part:
    """One histogram of a release.

    Attributes:
        kind: What is counted.
        goal: What this histogram guarantees by itself: its share, times a factor for all
            histograms where losses compose.
        mechanism: How it is published.
        delta: The delta that the mechanism achieves, at most the goal's.
        public: The public file that the mechanism uses.
        why: Why it is this mechanism.
    """

    kind: Kind
    goal: Guarantee
    mechanism: CalibratedMechanism
    delta: Fraction
    public: PublicFile | None = None
    why: str = field(default=ASKED, compare=False)

    @classmethod
    def from_record(cls, part: PartRecord, item: Sequence[str]) -> Self:
        """The histogram that a release says it holds, of items of such columns."""
        kind = kind_from_record(part, item)
        share = guarantee_from_record(part, part.guarantee)
        made = mechanism_from_record(part)
        public = (
            PublicFile.from_record(part.public, made.public_input)
            if made.public_input and part.public
            else None
        )
        return cls(kind=kind, goal=share, mechanism=made, delta=made.delta(share), public=public)

    def name(self) -> str:
        """What the histogram is called."""
        return self.kind.name()

    def with_inputs(self, released: Mapping[str, pa.Table], item_list: Any = None) -> Self:
        """The same with what its mechanism needs besides counts.

        Args:
            released: What was published before, by name of kind.
            item_list: The rows of its public file, or all items that there can be.
        """
        required = self.mechanism.required_kind(self.kind)
        first = None if required is None else released[required]
        mechanism = self.mechanism.with_inputs(item_list, first)
        if mechanism is self.mechanism:
            return self
        kind = replace(self.kind, items_per_user=mechanism.items_per_user)
        return replace(self, kind=kind, mechanism=mechanism)

    def check(self, roles: Collection[str]) -> None:
        """Refuse a log whose columns do not give what the histogram is made of."""
        self.kind.check(roles)
        self.mechanism.check_roles(roles)


def forecast(part: Part) -> ForecastRecord:
    """Say what to expect of a histogram, from public facts alone.

    At most `single_person_items` items of a single person are published on average; None where the
    number of users is not declared, or where the unit is not the user.
    """
    mechanism, users = part.mechanism, part.goal.users
    single = None
    if users is not None and part.goal.unit == "user":
        single = mechanism.expected_unique_items(users)
    return ForecastRecord(
        users_to_appear=UsersToAppear(
            low=_least_count(mechanism, 0.05),
            half=_least_count(mechanism, 0.5),
            high=_least_count(mechanism, 0.95),
        ),
        error_95=mechanism.noise_quantile(0.95),
        single_person_items=single,
    )


def _least_count(mechanism: CalibratedMechanism, probability: float) -> int:
    """How many users an item needs so that it is published with such a probability."""
    low, high = -1, 1
    while mechanism.publication_probability(high) < probability:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = mechanism.publication_probability(middle) >= probability
        low, high = (low, middle) if enough else (middle, high)
    return high


def part_record(part: Part, select: Select) -> PartRecord:
    """What release.json says of the table."""
    goal, mechanism = part.goal, part.mechanism
    own = structure(mechanism.parameters(), MechanismParameters)
    return PartRecord(
        kind=part.name(),
        settings=part.kind.settings(),
        select=select,
        guarantee=goal.definition,
        neighbors=goal.neighbors,
        epsilon=float(goal.epsilon),
        delta=float(goal.delta),
        users=goal.users,
        unit=goal.unit,
        items_per_user=mechanism.items_per_user,
        mechanism=mechanism.name,
        noise=mechanism.noise_law,
        scale=float(mechanism.scale),
        tau=mechanism.tau,
        tau_prime=mechanism.tau_prime,
        delta_achieved=float_rounded_up(part.delta),
        exact=ExactPart(
            epsilon=str(goal.epsilon), delta=str(goal.delta), scale=str(mechanism.scale)
        ),
        rounds=own.rounds,
        longer=own.longer,
        parameters=own.parameters,
        public=None if part.public is None else part.public.as_record(),
        forecast=forecast(part),
    )


def figures(part: Part) -> dict[str, Any]:
    """What `plan` prints of a table for programs: its record, but for what the plan says itself."""
    found: dict[str, Any] = to_builtins(part_record(part, "random"))
    for name in ("kind", "settings", "select"):
        del found[name]
    return found


def guarantee_numbers(goal: Guarantee, number: Callable[[Fraction], float]) -> dict[str, Any]:
    """By `float` where the numbers were asked for, by `float_rounded_up` where computed."""
    return {
        "guarantee": goal.definition,
        "neighbors": goal.neighbors,
        "epsilon": number(goal.epsilon),
        "delta": number(goal.delta),
        "users": goal.users,
        "unit": goal.unit,
    }


def undercount(most: Collection[int], units: str) -> str:
    """Why counts are below the true numbers, whatever the noise.

    Args:
        most: How many items of a unit count, in each table.
        units: What is counted.

    >>> undercount([2], "users")
    'Users with more than 2 items are counted for 2 of them only, so counts are low.'
    """
    said = f"{units[:1].upper()}{units[1:]} with more"
    if len({*most}) > 1:
        return f"{said} items than a table counts are counted for that many only: counts are low."
    m = max(most)
    return (
        f"{said} than {m} item{'s' * (m > 1)} are counted for {m} of them only, so counts are low."
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
    if mechanism.publication_probability(0) == 0:  # it publishes items of the log alone
        lines += _limit_lines(part)
    known = mechanism.interval(0.95)
    lines.append(
        f"  noise on a count      at most {known.error} in 95 of 100 cases"
        + ("" if known.threshold is None else f", for counts of {known.certain_from:,} or more")
    )
    lines.append(
        f"  beside the noise      {undercount([mechanism.items_per_user], part.goal.units())}"
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
    least, users, units = fewest_users(part.goal), part.goal.users, part.goal.units()
    if least is None or least == 1:
        return []
    said = (
        f"  at best               whatever the mechanism, an item of fewer than {least} {units} "
        "appears with less than 50 %"
    )
    most = None if users is None else most_items(part.goal, users * part.mechanism.items_per_user)
    if most is not None and most < _SMALL:
        said += f"; {users:,} {units} give {most:,} items on average at most"
    return [said]


def _choice_lines(part: Part) -> list[str]:
    if part.mechanism.name == DEFAULT and part.why == ASKED:
        return []
    return [f"  mechanism             {part.mechanism.name}: {part.why}"]
