"""What charges add up to: pure arithmetic on exact rationals, proved in docs/proofs/ledger.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, get_args

from zealous.errors import UsageError
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.guarantee import DEFINITIONS, Guarantee, Neighbors, Unit
from zealous.privacy.period import Period


def check_label(value: object, name: str) -> str:
    """Check a name that is kept for ever and shown on terminals."""
    if not isinstance(value, str) or not 0 < len(value.strip()) <= 200 or not value.isprintable():
        raise UsageError(f"{name} must be a line of 1 to 200 printable characters")
    return value.strip()


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A privacy loss."""

    epsilon: Fraction
    delta: Fraction

    def __add__(self, other: Budget) -> Budget:
        return Budget(epsilon=self.epsilon + other.epsilon, delta=self.delta + other.delta)

    def as_json(self) -> dict[str, Any]:
        """For programs: floats not below the truth, and the truth."""
        exact = {"epsilon": str(self.epsilon), "delta": str(self.delta)}
        return {
            "epsilon": float_rounded_up(self.epsilon),
            "delta": float_rounded_up(self.delta),
            "exact": exact,
        }


NOTHING = Budget(epsilon=Fraction(0), delta=Fraction(0))


@dataclass(frozen=True, kw_only=True)
class Cap:
    """The most that may be lost; None where there is no cap."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None

    def __post_init__(self) -> None:
        """A cap of zero is one way to close a ledger."""
        if any(cap is not None and cap < 0 for cap in (self.epsilon, self.delta)):
            raise UsageError("a cap must be 0 or more")

    def __bool__(self) -> bool:
        return self.epsilon is not None or self.delta is not None

    def allows(self, spent: Budget) -> bool:
        """Whether a loss is within the cap; exactly the cap is."""
        return (self.epsilon is None or spent.epsilon <= self.epsilon) and (
            self.delta is None or spent.delta <= self.delta
        )


@dataclass(frozen=True, kw_only=True)
class Caps:
    """The cap on what one person loses over all releases, and in one period."""

    all: Cap = Cap()
    period: Cap = Cap()


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What one release costs, as it states it.

    Attributes:
        epsilon: The release's epsilon, over all its tables.
        delta: Its delta.
        definition: `probabilistic` or `indistinguishable`.
        neighbors: `replace` or `add-remove`.
        unit: What is protected as one: `user`, `user-day` or `session`.
        period: The only days whose entries the release was made from, or None for any.
        people: A claim that whoever has another label is somebody else, or None for no claim.
        sessions: What a session is, where that is the unit: other sessions are another unit.
    """

    epsilon: Fraction
    delta: Fraction
    definition: str
    neighbors: Neighbors
    unit: Unit = "user"
    period: Period | None = None
    people: str | None = None
    sessions: str | None = None

    def __post_init__(self) -> None:
        """Check before anything is counted."""
        if not isinstance(self.epsilon, Fraction) or not isinstance(self.delta, Fraction):
            raise UsageError("a charge's epsilon and delta must be exact fractions")
        if self.epsilon <= 0 or not 0 <= self.delta < 1:
            raise UsageError("a charge needs epsilon above 0, and delta at least 0 and below 1")
        if self.definition not in DEFINITIONS:
            raise UsageError(f"definition must be one of {', '.join(DEFINITIONS)}")
        check_neighbors(self.neighbors)
        check_unit(self.unit)
        if self.people is not None:
            object.__setattr__(self, "people", check_label(self.people, "people"))

    @classmethod
    def of(
        cls,
        goal: Guarantee,
        *,
        period: Period | None = None,
        people: str | None = None,
        sessions: str | None = None,
    ) -> Charge:
        """The charge of a release with this guarantee."""
        return cls(
            epsilon=goal.epsilon,
            delta=goal.delta,
            definition=goal.definition,
            neighbors=goal.neighbors,
            unit=goal.unit,
            period=period,
            people=people,
            sessions=sessions,
        )

    def may_concern(self, other: Charge) -> bool:
        """Whether the same person can be behind both, on the same day as far as declared."""
        if self.people is not None and other.people is not None and self.people != other.people:
            return False
        return periods_overlap(self.period, other.period)


def check_neighbors(value: object) -> None:
    """One of the two."""
    if value not in get_args(Neighbors):
        raise UsageError("neighbors must be 'replace' or 'add-remove'")


def check_unit(value: object) -> None:
    """One of the three."""
    if value not in get_args(Unit):
        raise UsageError(f"unit must be one of {', '.join(get_args(Unit))}")


def periods_overlap(one: Period | None, other: Period | None) -> bool:
    """Whether two periods share a day; an undeclared period is all days."""
    return one is None or other is None or one.overlaps(other)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Whose loss a ledger counts: one unit, by one kind of neighbours."""

    unit: Unit
    neighbors: Neighbors

    def cost(self, charge: Charge, change: Period | None) -> Budget:
        """What a charge costs somebody whose entries change within a period (None: all of them).

        Guarantee:
            Never less than the true loss. An `add-remove` release protects a whole unit that comes
            or goes. Where only a part of it changes (a day of a user, a month of a release over the
            year), or where one history becomes another, the same noise and thresholds give
            `replace` at twice the epsilon and the same delta (docs/proofs/ledger.md).
        """
        whole = (
            self.neighbors == "add-remove"
            and charge.unit == self.unit
            and (change is None or (charge.period is not None and charge.period.within(change)))
        )
        doubled = charge.neighbors == "add-remove" and not whole
        return Budget(epsilon=charge.epsilon * (2 if doubled else 1), delta=charge.delta)

    def loss(self, charges: Iterable[Charge], change: Period | None = None) -> Budget:
        """What one person has lost about her entries within a period, or about all of them.

        Labels of people are taken to be disjoint: whoever she is, she pays what is charged to
        everybody and what is charged to one label. Not so the delta of probabilistic differential
        privacy, which is the chance that anybody is breached, and adds up over all labels.
        """
        by_label: dict[str | None, Budget] = defaultdict(lambda: NOTHING)
        for charge in charges:
            if periods_overlap(charge.period, change):
                cost = self.cost(charge, change)
                if charge.definition == "probabilistic":
                    by_label[None] += Budget(epsilon=Fraction(0), delta=cost.delta)
                    cost = Budget(epsilon=cost.epsilon, delta=Fraction(0))
                by_label[charge.people] += cost
        everybody = by_label.pop(None, NOTHING)
        return everybody + Budget(
            epsilon=max((each.epsilon for each in by_label.values()), default=Fraction(0)),
            delta=max((each.delta for each in by_label.values()), default=Fraction(0)),
        )


@dataclass(frozen=True, kw_only=True)
class Accounts:
    """The two accounts of a ledger, and what kind of guarantee they amount to.

    Attributes:
        period: What one person has lost about her entries within the period `within`.
        within: That period: the most charged one, or the one asked for; None if none is declared.
        all: What one person has lost over all releases.
        anybody: The sum of all deltas: under `probabilistic`, the chance that anybody is breached.
        definition: `probabilistic` if every charge is, else `indistinguishable`.
    """

    period: Budget
    within: Period | None
    all: Budget
    anybody: Fraction
    definition: str

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "period": {"within": str(self.within or "all"), **self.period.as_json()},
            "all": self.all.as_json(),
            "delta_for_anybody": float_rounded_up(self.anybody),
            "definition": self.definition,
        }


def accounts(measure: Measure, charges: Sequence[Charge], within: Period | None) -> Accounts:
    """Add charges up, for the most charged period or for a given one."""
    declared = {each.period for each in charges if each.period is not None}
    asked: set[Period | None] = {within} if within is not None else {*declared} or {None}
    losses = [(measure.loss(charges, each), each) for each in asked]
    most, where = max(losses, key=lambda pair: (pair[0].epsilon, pair[0].delta, str(pair[1])))
    probabilistic = all(each.definition == "probabilistic" for each in charges)
    return Accounts(
        # The largest of each, should one period lead in epsilon and another in delta.
        period=Budget(epsilon=most.epsilon, delta=max(loss.delta for loss, _ in losses)),
        within=where,
        all=measure.loss(charges),
        anybody=sum((each.delta for each in charges), Fraction(0)),
        definition="probabilistic" if probabilistic else "indistinguishable",
    )
