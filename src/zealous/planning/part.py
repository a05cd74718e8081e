"""One histogram of a plan: its parameters, what to expect of it, and how a release records it.

Guarantee:
    The mechanism of a part is one whose delta at the part's goal is at most that goal's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from msgspec import to_builtins

from zealous.items import Kind
from zealous.mechanisms import CalibratedMechanism
from zealous.mechanisms.choose import ASKED
from zealous.mechanisms.protocol import public_input_name
from zealous.planning.declared import PublicFile
from zealous.planning.from_record import (
    guarantee_from_record,
    kind_from_record,
    mechanism_from_record,
)
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.guarantee import Guarantee
from zealous.privacy.units import Select
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
        use = public_input_name(made)
        public = PublicFile.from_record(part.public, use) if use and part.public else None
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


def part_select(kind: Kind, select: Select) -> Select:
    """How a user's items of a kind are chosen, where this is how a plan chooses them.

    A kind that ranks items by what was published (`Kind.priority_column`) leaves nothing to choose
    but which of equals come first, and that is random.
    """
    return select if kind.priority_column() is None else "random"


def part_record(part: Part, select: Select) -> PartRecord:
    """What release.json says of the table.

    Args:
        part: The part of the plan.
        select: How each user's items are chosen: `part_select` of what the plan says.
    """
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
