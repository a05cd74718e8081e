"""What the events of a ledger mean: entries, their state, the caps, and whether all is lawful."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import Any, Literal

from zealous.errors import Refused, ZealousError
from zealous.ledger.budgets import (
    Accounts,
    Budget,
    Cap,
    Caps,
    Charge,
    Measure,
    accounts,
    periods_overlap,
)
from zealous.ledger.store import Row, canonical_json, event_hash
from zealous.privacy.guarantee import Neighbors, Unit, format_number
from zealous.privacy.period import Period

State = Literal["reserved", "released", "voided"]
_MOST_NAMED = 12


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One charge and what became of it.

    Attributes:
        ledger: The ledger's id.
        seq: The number of the event that reserved it.
        hash: That event's hash; the release carries it.
        release: The release's id. Several entries of one id are several attempts.
        charge: What was charged.
        by: Who asked for it.
        time: When, in UTC.
        state: `reserved` (spent, perhaps by a crash), `released`, or `voided` (no longer counted).
        directory: Where the release was written.
        sha256: The SHA-256 of its release.json.
        accounts: What it all came to after this charge, where it was just made.
    """

    ledger: str
    seq: int
    hash: str
    release: str
    charge: Charge
    by: str
    time: datetime
    state: State = "reserved"
    directory: str | None = None
    sha256: str | None = None
    accounts: Accounts | None = None

    def __str__(self) -> str:
        """One line of a refusal."""
        when = f"{self.time:%Y-%m-%d}"
        of = f", of {self.charge.period}" if self.charge.period else ""
        return (
            f"#{self.seq} {self.release} ({when}{of}): "
            f"epsilon {format_number(self.charge.epsilon)}, "
            f"delta {format_number(self.charge.delta)}"
        )


@dataclass(kw_only=True)
class Book:
    """A ledger's contents, event by event.

    Attributes:
        opened: The first event.
        dataset: The name of the population, once given.
        unit: The unit that was declared, or None.
        caps: The caps in force.
        entries: All charges by number, those voided too.
        problems: What is not as a ledger must be.
        last: The event taken in last.
    """

    opened: Mapping[str, Any] = field(default_factory=dict)
    dataset: str | None = None
    unit: Unit | None = None
    caps: Caps = field(default_factory=Caps)
    entries: dict[int, Entry] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    last: Row | None = None

    @property
    def id(self) -> str:
        """The ledger's id."""
        return str(self.opened.get("ledger", ""))

    def measure(self, more: Charge | None = None) -> Measure | None:
        """Whose loss is counted: as declared at the opening, or as the charges allow.

        What protects a user protects each of her days, and not the other way round. So a ledger
        whose unit nobody declared counts by the smallest unit that was charged.
        """
        charges = [entry.charge for entry in self.counted_entries()] + ([more] if more else [])
        every = [entry.charge for entry in self.entries.values()] + ([more] if more else [])
        neighbors = self.opened.get("neighbors") or (every[0].neighbors if every else None)
        smaller = [each.unit for each in charges if each.unit != "user"]
        unit = self.unit or (smaller[0] if smaller else "user")
        return Measure(unit=unit, neighbors=neighbors) if neighbors else None

    def counted_entries(self) -> list[Entry]:
        """The entries that count."""
        return [entry for entry in self.entries.values() if entry.state != "voided"]

    def accounts(self, within: Period | None = None) -> Accounts:
        """Both accounts, for the most charged period or for a given one."""
        measure = self.measure() or Measure(unit="user", neighbors="replace")
        return accounts(measure, [entry.charge for entry in self.counted_entries()], within)

    def attempts(self, release: str) -> tuple[Entry, ...]:
        """All entries of a release's id, in order."""
        return tuple(entry for entry in self.entries.values() if entry.release == release)

    def check(self, charge: Charge, *, release: str | None, again: bool) -> None:
        """Refuse a charge that breaks a rule or a cap.

        Guarantee:
            After every granted charge both accounts are within the caps in force, for every
            declared period that the charge touches.
        """
        measure = self.measure(charge)
        assert measure is not None  # noqa: S101
        if charge.unit not in ("user", measure.unit):
            raise Refused(
                f"this ledger counts what one {measure.unit} loses, and the release protects one "
                f"{charge.unit}: start a ledger of its own with --ledger FILE"
            )
        known = {
            each.charge.sessions for each in self.counted_entries() if each.charge.unit == "session"
        }
        if charge.unit == "session" and known - {charge.sessions}:
            raise Refused(
                "the sessions of this release are not those that the ledger counts: start a ledger "
                "of its own with --ledger FILE"
            )
        if not again:
            self._check_new(charge, release)
        charges = [entry.charge for entry in self.counted_entries()]
        after = measure.loss([*charges, charge])
        if not self.caps.all.allows(after):
            before, used = measure.loss(charges), self.counted_entries()
            raise Refused(
                _over_cap_message("over all releases", self.caps.all, before, after, used)
            )
        if not self.caps.period:
            return
        declared = {each.period for each in [*charges, charge] if each.period is not None}
        touched = [each for each in declared if periods_overlap(each, charge.period)]
        several: list[Period | None] = [*sorted(touched, key=lambda each: (each.first, each.end))]
        for within in several or [None]:
            after = measure.loss([*charges, charge], within)
            if not self.caps.period.allows(after):
                before = measure.loss(charges, within)
                used = [
                    each
                    for each in self.counted_entries()
                    if periods_overlap(each.charge.period, within)
                ]
                where = f"in the period {within}" if within else "in one period"
                raise Refused(_over_cap_message(where, self.caps.period, before, after, used))

    def _check_new(self, charge: Charge, release: str | None) -> None:
        if charge.period is None:
            return
        earlier = [
            entry
            for entry in self.counted_entries()
            if entry.charge.period is not None
            and entry.charge.may_concern(charge)
            # Another attempt at a release that never came to be is charged, and publishes once.
            and not (entry.release == release and entry.state == "reserved")
        ]
        if earlier:
            raise Refused(
                f"the period {charge.period} was published before, in whole or in part. To publish "
                "it again, which is charged again, say --again. Before:" + _list_entries(earlier)
            )

    def apply(self, row: Row) -> None:
        """Take in one event; what is unlawful becomes a problem and changes nothing."""
        try:
            body = json.loads(row.body)
            if canonical_json(body) != row.body:
                raise ValueError("is not written as zealous writes")
            self._apply(row, body)
        except ZealousError as error:
            self.problems.append(f"event {row.seq} is not valid: {error}")
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
            why = str(error) if type(error) is ValueError else "cannot be read"
            self.problems.append(f"event {row.seq} {why}")
        self.last = row

    def _apply(self, row: Row, body: dict[str, Any]) -> None:
        kind = body["event"]
        datetime.fromisoformat(body["time"])
        if (kind == "opened") != (row.seq == 1):
            raise ValueError("is not where it belongs: a ledger is opened once, at its beginning")
        if kind == "opened":
            self.opened, self.dataset, self.unit = body, body["dataset"], body["unit"]
        elif kind == "named":
            self.dataset = body["dataset"]
        elif kind == "caps":
            self.caps = Caps(all=_cap_from_json(body["all"]), period=_cap_from_json(body["period"]))
            self.unit = body["unit"]
        elif kind == "reserved":
            self.entries[row.seq] = _entry_from_json(row, body, self.id)
        elif kind in ("released", "voided"):
            self._change_state(body, kind)
        else:
            raise ValueError("is of a kind that this version does not know")

    def _change_state(self, body: dict[str, Any], kind: State) -> None:
        entry = self.entries.get(body["entry"])
        allowed = ("reserved",) if kind == "released" else ("reserved", "released")
        if entry is None or entry.hash != body["hash"]:
            raise ValueError(f"marks as {kind} an entry that is not there")
        if entry.state not in allowed:
            raise ValueError(f"marks as {kind} an entry that is {entry.state}")
        written = (
            {"directory": body["directory"], "sha256": body["sha256"]} if kind == "released" else {}
        )
        self.entries[entry.seq] = replace(entry, state=kind, **written)


def read_book(events: Sequence[Row], as_of: datetime | None = None) -> Book:
    """Check the chain, then follow the events, or those known at some time.

    What was known then is a beginning of the ledger: an event is as old as the latest clock before
    it says, whatever a clock that was set back says later.
    """
    book = Book()
    book.problems += _chain_problems(events)
    for row in events:
        if as_of is not None and row.seq > 1 and _is_later(row, as_of):
            break
        book.apply(row)
    if not events:
        book.problems.append("it has no events: even its opening is missing")
    return book


def _is_later(row: Row, as_of: datetime) -> bool:
    try:
        return datetime.fromisoformat(json.loads(row.body)["time"]) > as_of
    except (ValueError, KeyError, TypeError):
        return False  # for `apply` to report


def _chain_problems(events: Sequence[Row]) -> list[str]:
    problems = []
    previous = ""
    for number, row in enumerate(events, start=1):
        if row.seq != number:
            problems.append(f"event {number} is missing")
            break
        if number == 1:
            try:
                previous = str(json.loads(row.body)["ledger"])
            except (ValueError, KeyError, TypeError):
                problems.append("event 1 cannot be read")
                break
        if event_hash(previous, row.body) != row.hash:
            problems.append(f"event {number} or one before it was changed: its hash does not fit")
            break
        previous = row.hash
    return problems


def _entry_from_json(row: Row, body: Mapping[str, Any], ledger: str) -> Entry:
    neighbors: Neighbors = body["neighbors"]
    charge = Charge(
        epsilon=Fraction(body["epsilon"]),
        delta=Fraction(body["delta"]),
        definition=body["definition"],
        neighbors=neighbors,
        unit=body["unit"],
        period=Period.parse(body["period"]) if body["period"] else None,
        people=body["people"],
        sessions=body["sessions"],
    )
    return Entry(
        ledger=ledger,
        seq=row.seq,
        hash=row.hash,
        release=body["release"],
        charge=charge,
        by=body["by"],
        time=datetime.fromisoformat(body["time"]),
    )


def charge_as_json(charge: Charge) -> dict[str, Any]:
    """A charge as an event holds it."""
    return {
        "epsilon": str(charge.epsilon),
        "delta": str(charge.delta),
        "definition": charge.definition,
        "neighbors": charge.neighbors,
        "unit": charge.unit,
        "period": str(charge.period) if charge.period else None,
        "people": charge.people,
        "sessions": charge.sessions,
    }


def caps_as_json(caps: Caps) -> dict[str, Any]:
    """Caps as an event holds them."""
    return {
        name: {
            "epsilon": None if cap.epsilon is None else str(cap.epsilon),
            "delta": None if cap.delta is None else str(cap.delta),
        }
        for name, cap in (("all", caps.all), ("period", caps.period))
    }


def _cap_from_json(body: Mapping[str, str | None]) -> Cap:
    epsilon, delta = body["epsilon"], body["delta"]
    return Cap(
        epsilon=None if epsilon is None else Fraction(epsilon),
        delta=None if delta is None else Fraction(delta),
    )


def _over_cap_message(
    where: str, cap: Cap, before: Budget, after: Budget, used: Sequence[Entry]
) -> str:
    """Why a charge is refused: what is left, and who used the rest."""
    lines = []
    for name in ("epsilon", "delta"):
        most, spent, needed = (getattr(each, name) for each in (cap, before, after))
        if most is not None and needed > most:
            left = max(most - spent, Fraction(0))
            lines.append(
                f"{format_number(left, up=False)} of {name} {format_number(most)} is left "
                f"and this release adds {format_number(needed - spent)}"
            )
    return (
        f"the budget for what one person may lose {where} does not allow it: {'; '.join(lines)}. "
        "Ask for less, or have the owner of the data raise the cap. It was used by:"
        + _list_entries(used)
    )


def _list_entries(entries: Iterable[Entry]) -> str:
    every = sorted(entries, key=lambda entry: (-entry.charge.epsilon, entry.seq))
    lines = [f"\n  {entry}" for entry in every[:_MOST_NAMED]]
    if len(every) > _MOST_NAMED:
        lines.append(f"\n  and {len(every) - _MOST_NAMED} more: see `zealous ledger show`")
    return "".join(lines) or " nothing yet"
