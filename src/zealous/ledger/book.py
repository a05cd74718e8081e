"""What the events of a ledger mean: entries, their state, the caps, and whether all is lawful.

Guarantee:
    What follows from events is the same for whoever reads them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from zealous.errors import ZealousError
from zealous.ledger.budgets import Accounts, Budget, Cap, Caps, Charge, Compose, Measure, accounts
from zealous.ledger.cap_spending import Standing, composed_epsilon, composes_losses, standing
from zealous.ledger.entries import (
    Entry,
    State,
    caps_from_json,
    charge_as_json,
    entry_from_json,
    signed_plan,
)
from zealous.ledger.events import Event, describe_event, is_signed
from zealous.ledger.store import Row, canonical_json
from zealous.privacy.guarantee import Unit
from zealous.privacy.period import Period

_USUAL = Measure(unit="user", neighbors="replace")  # where nothing was charged yet


@dataclass(kw_only=True)
class Book:
    """A ledger's contents, event by event.

    Attributes:
        opened: The first event.
        dataset: The name of the population, once given.
        unit: The unit that was declared, or None.
        caps: The caps in force.
        kept: The largest caps under which something was charged since an earlier promise ended.
        ended: Caps whose promise ended after releases, as others limit something else since.
        entries: All charges by the number of their event, those voided too.
        events: Everything that happened, in words.
        approvers: Who may approve plans, caps and voids, as a file of allowed signers; None for
            anybody.
        moved_to: Where the ledger went on, if it was moved: nothing is charged here then.
        path: Its file, for messages.
        problems: What is not as a ledger must be.
        last: The event taken in last.
    """

    opened: Mapping[str, Any] = field(default_factory=dict)
    dataset: str | None = None
    unit: Unit | None = None
    caps: Caps = field(default_factory=Caps)
    kept: Caps | None = None
    ended: tuple[Caps, ...] = ()
    entries: dict[int, Entry] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    approvers: str | None = None
    moved_to: str | None = None
    path: Path | None = None
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
        return accounts(
            self.measure() or _USUAL,
            [entry.charge for entry in self.counted_entries()],
            within,
            composed=self.composes_losses() and self.caps.composable,
        )

    def fixed_currency(self) -> Compose | None:
        """What caps limit, once they limited a release; None where that is still open."""
        if not self.entries or not any(event.kind == "caps" for event in self.events):
            return None
        return "losses" if self.composes_losses() else "sums"

    def promised(self) -> Caps:
        """What holds over everything: the caps so far, and those whose promise ended, added up."""
        return sum(self.ended, self.caps_so_far())

    def caps_so_far(self) -> Caps:
        """The caps in force, or the larger ones under which something was charged before."""
        return self.caps if self.kept is None else self.caps.or_larger(self.kept)

    def promises_more_than_caps(self) -> bool:
        """Whether what holds over everything is more than the caps in force say."""
        now, whole = self.caps, self.promised()
        return (now.all, now.period) != (whole.all, whole.period)

    def capped(self) -> bool:
        """Whether anything is capped."""
        return bool(self.caps.all) or bool(self.caps.period)

    def limits(self) -> bool:
        """Whether it limits what is published: by caps, or to plans that somebody approved."""
        return self.capped() or self.approvers is not None

    def entry_numbered(self, number: int) -> Entry | None:
        """The entry that people call by a number: 1 for the first."""
        return next((each for each in self.entries.values() if each.number == number), None)

    def entry_hashed(self, digest: str | None) -> Entry | None:
        """The entry of a hash, which a release carries."""
        return next((each for each in self.entries.values() if each.hash == digest), None)

    def decisions(self) -> list[Event]:
        """What somebody decided: all events but releases and charges that nobody approved."""
        return [event for event in self.events if event.decided]

    def cost(self, entry: Entry) -> Budget:
        """What an entry costs in this ledger, over all releases, beside what was asked for."""
        measure = self.measure()
        assert measure is not None  # noqa: S101
        return measure.cost(entry.charge, None)

    def attempts(self, release: str) -> tuple[Entry, ...]:
        """All entries of a release's id, in order."""
        return tuple(entry for entry in self.entries.values() if entry.release == release)

    def is_released(self, release: str) -> bool:
        """Whether a release of an id is in place."""
        return any(entry.state == "released" for entry in self.attempts(release))

    def unfinished(
        self, release: str, charge: Charge, drafts: str | None, approved: Mapping[str, Any]
    ) -> Entry | None:
        """An attempt that may go on: the same charge, for the same draft.

        Args:
            release: The release's id.
            charge: What it costs.
            drafts: The id of the draft; None where nothing that is drawn is kept.
            approved: What an event says of the signed plan.
        """
        wanted = charge_as_json(charge), signed_plan(approved), drafts
        for entry in self.attempts(release) if drafts is not None else ():
            found = charge_as_json(entry.charge), entry.plan, entry.drafts
            if entry.state == "reserved" and found == wanted:
                return entry
        return None

    def entries_of_other_logs(self, charge: Charge) -> list[Entry]:
        """What is counted as of the same people as a charge, by nobody's word.

        None where the people were named, or where the log was charged so before.
        """
        counted = self.counted_entries()
        known = any(
            each.charge.log == charge.log and each.charge.people is None for each in counted
        )
        if self.dataset is not None or charge.people is not None or known:
            return []
        return [each for each in counted if charge.of_other_log(each.charge)]

    def fits_caps(self) -> bool:
        """Whether all that was charged is within the caps in force, in every declared period."""
        if self.caps.all and not self.standing().fits:
            return False
        declared = self._periods(None) if self.caps.period else ()
        return all(self.standing_in_period(each).fits for each in declared)

    def composes_losses(self, more: Charge | None = None) -> bool:
        """Whether the caps limit composed losses, and not sums."""
        every = [entry.charge for entry in self.entries.values()] + ([more] if more else [])
        first = every[0] if every else None
        return composes_losses(self.caps, self.measure(more) or _USUAL, first)

    def standing(self, more: Charge | None = None) -> Standing:
        """What all charges, and perhaps one more, come to under the cap over all releases."""
        return self._standing(self.caps.all, self.measure(more) or _USUAL, None, more)

    def standing_in_period(self, within: Period | None, more: Charge | None = None) -> Standing:
        """What they come to in one period, under the cap of one period."""
        measure = (self.measure(more) or _USUAL).for_period(within)
        return self._standing(self.caps.period, measure, within, more)

    def releases_left(self, like: Charge, *, most: int) -> int | None:
        """How many more releases like one fit the cap over all releases; None without a cap."""
        cap, measure = self.caps.all, self.measure(like) or _USUAL
        if not cap:
            return None
        spent = [entry.charge for entry in self.counted_entries()]
        composed = self.composes_losses(like)
        low, high = 0, most + 1  # what more of them cost is never less
        while high - low > 1:
            middle = (low + high) // 2
            charges = [*spent, *[like] * middle]
            fits = standing(cap, measure, charges, None, composed=composed).fits
            low, high = (middle, high) if fits else (low, middle)
        return low

    def _standing(
        self, cap: Cap, measure: Measure, change: Period | None, more: Charge | None
    ) -> Standing:
        charges = [entry.charge for entry in self.counted_entries()] + ([more] if more else [])
        return standing(cap, measure, charges, change, composed=self.composes_losses(more))

    def against_caps(
        self, within: Period | None = None
    ) -> tuple[Period | None, Standing, Standing]:
        """A period, what was lost in it, and over all releases, each against its cap.

        Args:
            within: The period; the most charged one if not given.
        """
        spent, cap = self.accounts(within), self.caps.period
        if not self.composes_losses() or not cap.composable:
            total = spent.period
            fits = cap.allows(total)
            period = Standing(cap=cap, epsilon=total.epsilon, delta=total.delta, fits=fits)
            return spent.within, period, self.standing()
        found = [(self.standing_in_period(each), each) for each in self._periods(within)]
        most, where = max(found, key=lambda pair: (*pair[0].order(), str(pair[1])))
        return where, most, self.standing()

    def fixed_in_advance(
        self, within: Period | None = None
    ) -> tuple[Fraction, Fraction | None, Fraction | None] | None:
        """What was lost if all parameters were fixed in advance: a delta, and epsilon at it.

        Epsilon in the worst declared period, or a given one, and over all releases.

        At one delta, the sum of all over all releases. None where only sums are proven: all of it
        is probabilistic.
        """
        charges = [entry.charge for entry in self.counted_entries()]
        spent, measure = self.accounts(within), self.measure()
        if measure is None or not charges or spent.definition == "probabilistic":
            return None
        delta = min(spent.all.delta, Fraction(1))
        # The period that leads in sums need not lead here.
        periods = [
            composed_epsilon(measure.for_period(each), charges, each, delta)
            for each in self._periods(within)
        ]
        known = [each for each in periods if each is not None]
        return (
            delta,
            max(known) if len(known) == len(periods) else None,
            composed_epsilon(measure, charges, None, delta),
        )

    def _periods(self, within: Period | None) -> set[Period | None]:
        """A given period, or all that were declared; None alone where none was."""
        declared = {entry.charge.period for entry in self.counted_entries()} - {None}
        return {within} if within is not None else declared or {None}

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
        if (kind == "opened") != (row.seq == 1):
            raise ValueError("is not where it belongs: a ledger is opened once, at its beginning")
        if self.moved_to is not None and kind != "restored":
            raise ValueError("was added after the ledger was moved elsewhere")
        # Where a ledger goes on after a move was signed when it was moved.
        follows = kind == "restored" and body["at"] == self.moved_to
        if self.approvers is not None and not is_signed(body) and not follows:
            raise ValueError("is not signed, and the ledger has approvers")
        event = describe_event(row, body, self.caps, self.entries)
        if kind == "opened":
            self.opened, self.dataset, self.unit = body, body["dataset"], body["unit"]
        elif kind == "named":
            self.dataset = body["dataset"]
        elif kind == "caps":
            self.caps = caps_from_json(body)
            if body.get("ended") is not None:
                self.ended += (caps_from_json(body["ended"]),)
                self.kept = None
            self.unit = body["unit"]
        elif kind == "reserved":
            number = len(self.entries) + 1
            self.entries[row.seq] = entry_from_json(row, body, ledger=self.id, number=number)
            if self.capped() or self.kept is not None:
                self.kept = self.caps_so_far()
        elif kind in ("released", "voided"):
            self._change_state(body, kind)
        elif kind == "approvers":
            self.approvers = body["signers"]
        elif kind == "moved":
            self.moved_to = body["to"]
        elif kind == "restored":
            self.moved_to = None
        self.events.append(event)

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
