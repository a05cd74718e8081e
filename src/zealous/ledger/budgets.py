"""What charges add up to: pure arithmetic on exact rationals, proved in docs/proofs/ledger.md.

Guarantee:
    Sums are exact, and never below what one person lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any, Literal, get_args

from zealous.errors import UsageError
from zealous.ledger.losses import Losses
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.composition import Loss, across_releases
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


Compose = Literal["losses", "sums"]
NOTHING = Budget(epsilon=Fraction(0), delta=Fraction(0))


@dataclass(frozen=True, kw_only=True)
class Cap:
    """The most that may be spent; None if there is no cap.

    Attributes:
        epsilon: The cap on epsilon.
        delta: The cap on delta.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None

    def __post_init__(self) -> None:
        """A cap of zero is one way to close a ledger."""
        if any(cap is not None and cap < 0 for cap in (self.epsilon, self.delta)):
            raise UsageError("a cap must be 0 or more")

    def __bool__(self) -> bool:
        return self.epsilon is not None or self.delta is not None

    def left(self, spent: Budget) -> Cap:
        """What is left of the cap; None where there is none."""

        def rest(cap: Fraction | None, used: Fraction) -> Fraction | None:
            return None if cap is None else max(cap - used, Fraction(0))

        return Cap(epsilon=rest(self.epsilon, spent.epsilon), delta=rest(self.delta, spent.delta))

    @property
    def composable(self) -> bool:
        """Whether losses can be composed under it: that needs both numbers."""
        return self.epsilon is not None and self.delta is not None and self.delta < 1

    def __add__(self, other: Cap) -> Cap:
        """What two promises come to, one after the other; None where one of them has no cap."""

        def both(one: Fraction | None, two: Fraction | None) -> Fraction | None:
            return None if one is None or two is None else one + two

        return Cap(epsilon=both(self.epsilon, other.epsilon), delta=both(self.delta, other.delta))

    def or_larger(self, other: Cap) -> Cap:
        """What holds if one of two caps was in force, and then the other; None for no cap."""

        def larger(one: Fraction | None, two: Fraction | None) -> Fraction | None:
            return None if one is None or two is None else max(one, two)

        return Cap(
            epsilon=larger(self.epsilon, other.epsilon), delta=larger(self.delta, other.delta)
        )

    def allows(self, spent: Budget) -> bool:
        """Whether a loss is within the cap; exactly the cap is."""
        return (self.epsilon is None or spent.epsilon <= self.epsilon) and (
            self.delta is None or spent.delta <= self.delta
        )


@dataclass(frozen=True, kw_only=True)
class Caps:
    """The caps on what may be spent for one person, over all releases and in one period.

    Attributes:
        all: Over all releases.
        period: In one period.
        compose: What the caps limit: composed `losses`, or `sums` of epsilon and delta. None stands
            for whichever allows more releases like the first one.
    """

    all: Cap = Cap()
    period: Cap = Cap()
    compose: Compose | None = None

    @property
    def composable(self) -> bool:
        """Whether losses can be composed under one of them."""
        return self.all.composable or self.period.composable

    def or_larger(self, other: Caps) -> Caps:
        """What holds if one of two caps was in force, and then the other; limiting what this does.

        Guarantee:
            If the sizes of caps were not chosen by looking at releases, everything is within this,
            whenever one took the place of the other (docs/proofs/ledger.md).
        """
        return replace(
            self, all=self.all.or_larger(other.all), period=self.period.or_larger(other.period)
        )

    def __add__(self, other: Caps) -> Caps:
        return Caps(all=self.all + other.all, period=self.period + other.period)


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What one release costs, as it states it.

    Attributes:
        epsilon: The release's epsilon, over all its tables.
        delta: Its delta.
        definition: `probabilistic` or `indistinguishable`.
        neighbors: `replace` or `add-remove`.
        unit: What is protected as one: a name of `PRIVACY_UNITS`.
        period: The only days whose entries the release was made from, or None for any.
        people: A claim that whoever has another label is somebody else, or None for no claim.
        sessions: What a session is, where that is the unit: other sessions are another unit.
        losses: What its parts tell, where it is known.
        replaced: What it costs at its delta where a history changes, if it is stated for
            `add-remove`; twice its epsilon where that is not known.
        person: The column of the log that tells whose an entry is; None for charges of 0.1.0.
        other_delta: The delta that the same parameters give by the other definition: per person
            for a probabilistic release, for anybody else; told, and never counted. Likewise.
        log: What the log is called in the ledger; told, and never counted. None if not known.
    """

    epsilon: Fraction
    delta: Fraction
    definition: str
    neighbors: Neighbors
    unit: Unit = "user"
    period: Period | None = None
    people: str | None = None
    sessions: str | None = None
    losses: Losses | None = None
    replaced: Fraction | None = None
    person: str | None = None
    other_delta: float | None = None
    log: str | None = None

    def __post_init__(self) -> None:
        if self.replaced is not None and not self.epsilon <= self.replaced <= 2 * self.epsilon:
            raise UsageError("what a charge costs where a history changes is one to two epsilon")
        computed = self.losses is not None and self.definition == "indistinguishable"
        if self.replaced is not None and self.replaced < 2 * self.epsilon and not computed:
            raise UsageError(
                "a charge without losses to compute it from costs two epsilon where a history "
                "changes, as does a probabilistic one"
            )
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
        losses: Losses | None = None,
        person: str | None = None,
        other_delta: float | None = None,
        log: str | None = None,
    ) -> Charge:
        """The charge of a release with this guarantee, whose parts have these losses."""
        replaced = None
        # Probabilistic differential privacy is not recomputed: it is doubled, by its theorem.
        if losses and goal.neighbors == "add-remove" and goal.definition == "indistinguishable":
            replaced = losses.epsilon_replaced(goal.epsilon, goal.delta)
        return cls(
            epsilon=goal.epsilon,
            delta=goal.delta,
            definition=goal.definition,
            neighbors=goal.neighbors,
            unit=goal.unit,
            period=period,
            people=people,
            sessions=sessions,
            losses=losses,
            replaced=replaced,
            person=person,
            other_delta=other_delta,
            log=log,
        )

    def may_concern(self, other: Charge) -> bool:
        """Whether the same person can be behind both, on the same day as far as declared."""
        if self.people is not None and other.people is not None and self.people != other.people:
            return False
        return periods_overlap(self.period, other.period)

    def of_other_log(self, other: Charge) -> bool:
        """Whether both are known to be of logs of which neither holds the other."""
        if self.log is None or other.log is None:
            return False
        one, two = PurePosixPath(self.log), PurePosixPath(other.log)
        return not (one.is_relative_to(two) or two.is_relative_to(one))


def check_neighbors(value: object) -> None:
    """One of the two."""
    if value not in get_args(Neighbors):
        raise UsageError("neighbors must be 'replace' or 'add-remove'")


def check_unit(value: object) -> None:
    """One that there is."""
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
            year), or where one history becomes another, its loss was computed anew for `replace`
            when it was charged; where that is not known, the same noise and thresholds give
            `replace` at twice the epsilon and the same delta (docs/proofs/ledger.md).
        """
        epsilon = charge.epsilon
        if charge.neighbors == "add-remove" and self.relation(charge, change) == "replace":
            epsilon = 2 * epsilon if charge.replaced is None else charge.replaced
        return Budget(epsilon=epsilon, delta=charge.delta)

    def relation(self, charge: Charge, change: Period | None) -> Neighbors:
        """How a release's part of the log changes: a whole unit comes or goes, or it changes."""
        whole = (
            self.neighbors == "add-remove"
            and charge.unit == self.unit
            and (change is None or (charge.period is not None and charge.period.within(change)))
        )
        return "add-remove" if whole else "replace"

    def for_period(self, within: Period | None) -> Measure:
        """Whose loss the account of a period counts.

        None where no charge declares a period: whatever period is asked for later, only a part of
        somebody's entries lies in it, which is a history that changes.
        """
        return self if within is not None else replace(self, neighbors="replace")

    def losses(
        self, charges: Iterable[Charge], change: Period | None = None
    ) -> list[tuple[Loss, ...]]:
        """What is told of one person within a period, or at all, for each label she may have.

        Of a charge that is known by epsilon and delta alone, those are its loss.
        """
        by_label: dict[str | None, list[Loss]] = defaultdict(list)
        for charge in charges:
            if periods_overlap(charge.period, change):
                by_label[charge.people] += self._parts(charge, change)
        everybody = by_label.pop(None, [])
        return [across_releases([*everybody, *each]) for each in by_label.values() or [[]]]

    def _parts(self, charge: Charge, change: Period | None) -> tuple[Loss, ...]:
        if charge.losses is not None:
            return charge.losses.for_neighbors(self.relation(charge, change))
        cost = self.cost(charge, change)
        return (Loss.stated(epsilon=cost.epsilon, delta=cost.delta),)

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
        definition: `probabilistic` if every charge with a delta is and the caps limit sums, else
            `indistinguishable`: composed losses are nothing more.
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


def accounts(
    measure: Measure, charges: Sequence[Charge], within: Period | None, *, composed: bool = False
) -> Accounts:
    """Add charges up, for the most charged period or for a given one.

    Args:
        measure: Whose loss.
        charges: What was charged.
        within: The period; the most charged one if not given.
        composed: Whether the caps limit composed losses: a promise of indistinguishability.
    """
    declared = {each.period for each in charges if each.period is not None}
    asked: set[Period | None] = {within} if within is not None else {*declared} or {None}
    losses = [(measure.for_period(each).loss(charges, each), each) for each in asked]
    most, where = max(losses, key=lambda pair: (pair[0].epsilon, pair[0].delta, str(pair[1])))
    # With a delta of 0 both definitions say the same.
    exposed = [each for each in charges if each.delta] or charges
    probabilistic = not composed and all(each.definition == "probabilistic" for each in exposed)
    return Accounts(
        # The largest of each, should one period lead in epsilon and another in delta.
        period=Budget(epsilon=most.epsilon, delta=max(loss.delta for loss, _ in losses)),
        within=where,
        all=measure.loss(charges),
        anybody=sum((each.delta for each in charges), Fraction(0)),
        definition="probabilistic" if probabilistic else "indistinguishable",
    )
