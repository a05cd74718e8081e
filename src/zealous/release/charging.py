"""How a release is paid for: checked early, reserved before noise is drawn, closed when written.

Guarantee:
    The charge covers all that the plan tells of one person, and is on the disk before any noise is
    drawn. A ledger with caps is passed by only with a reason, which is recorded in it first.

Each way to pay is a file that answers the questions of `PaymentMethod` and `Payment`:
`release/account.py` charges a ledger, `release/untracked.py` charges nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from zealous.errors import Refused
from zealous.files.places import Place
from zealous.ledger import Charge, Entry, Ledger, ledgers_above
from zealous.ledger.copies import goes_on_in
from zealous.ledger.location import log_name
from zealous.ledger.losses import Losses
from zealous.ledger.refusals import check_bypass
from zealous.planning.plan import Plan, other_guarantee
from zealous.planning.together import losses
from zealous.privacy.calibrate import float_rounded_up
from zealous.record.record import LedgerStamp
from zealous.release.assumptions import session_definition
from zealous.release.request import Request


class Payment(Protocol):
    """The payment of one release."""

    id: str
    """What the release is called."""

    def doubts(self) -> list[str]:
        """What is probably a mistake about who pays."""

    def like_releases(self) -> list[Entry]:
        """What was released of the same log at the same cost, unless that is to be done again."""
        ...

    def preview(self) -> LedgerStamp | None:
        """What release.json would say of it if the ledger were new; None if it costs nothing."""

    def reserve(self, say: Callable[[str], None]) -> LedgerStamp | None:
        """Spend the budget; gives what release.json says of it.

        Guarantee:
            When this returns the charge is on the disk. Noise may be drawn from here on.
        """

    def settle(self, directory: Place | None) -> Entry | None:
        """After a run that broke off: the entry of the charge, if there is one.

        It is marked as released where the release is in its directory, whole, and only the mark
        was missing.
        """

    def mark_written(self, directory: Place, sha256: str) -> None:
        """Record that the release is where it belongs."""


class PaymentMethod(Protocol):
    """Who pays for releases, and what its owner declares."""

    @property
    def reason(self) -> str | None:
        """Why a capped ledger of the log is passed by."""

    @property
    def signed_by(self) -> str | None:
        """Who publishes; the name of the login where not given."""

    @property
    def internal(self) -> bool:
        """Whether the release is for its owner alone, and must not be written."""

    @property
    def people(self) -> str | None:
        """A name for the people of the log, claimed to be others than those of other names."""

    @property
    def names_ledger(self) -> bool:
        """Whether somebody named the ledger, or said that there be none."""

    def charged_to(self, log: Sequence[Place]) -> Path | None:
        """The file of the ledger that is charged for a log; None where none is."""

    def for_unprivate(self) -> PaymentMethod:
        """Who pays for a release that is not private, as it has a seed: nobody."""

    def earlier_release(self, log: Sequence[Place], output: Place | None) -> Place | None:
        """Where a release of the same id is, if it was made before."""

    def prepare(self, request: Request) -> Payment:
        """Refuse early what would be refused later; nothing is charged yet."""


def charge_of(request: Request, *, ledger: Path | None = None, people: str | None = None) -> Charge:
    """What a release costs.

    Args:
        request: The release.
        ledger: The ledger that is charged, if any.
        people: The name of its people in the ledger.
    """
    plan, log = request.plan, request.log
    other = other_guarantee(plan)
    return Charge.of(
        plan.goal,
        period=request.period,
        people=people,
        sessions=session_definition(plan.goal, log.columns),
        losses=losses_of(plan),
        person=log.columns.user,
        other_delta=float_rounded_up(other.delta) if other is not None else None,
        log=log_name(log.paths, ledger),
    )


def charge_of_plan(planned: Plan) -> Charge:
    """What a release by this plan will cost, before it is known of which log and period it is."""
    return Charge.of(planned.goal, losses=losses_of(planned))


def losses_of(planned: Plan) -> Losses:
    """What the parts of a release tell, whatever was published before."""
    return Losses(
        replace=losses(planned.parts, "replace"),
        add_remove=losses(planned.parts, "add-remove"),
    )


@dataclass(frozen=True, kw_only=True)
class Bypass:
    """The ledgers of a log that limit what is published, and that a release is not charged to.

    Attributes:
        ledgers: Those ledgers.
        charged_to: The ledger that is charged instead, if any.
        reason: Why.
        signed_by: Who publishes.
    """

    ledgers: tuple[Ledger, ...]
    charged_to: Path | None
    reason: str | None
    signed_by: str | None

    @classmethod
    def find(
        cls,
        method: PaymentMethod,
        log: Sequence[Place],
        charged_to: Path | None,
        *,
        instead: str,
    ) -> Bypass:
        """Find them, beside the log and above it, and refuse what each of them refuses.

        Args:
            method: What its owner declares.
            log: The files of the log.
            charged_to: The ledger that is charged, if any.
            instead: How not to pass one by, as a sentence without its end.
        """
        places = []
        for each in log:
            with suppress(Refused):  # a place that may have several names has no ledger beside it
                places.append(each.ledger_place())
        found = [Ledger.open(path) for path in ledgers_above(places)]
        others = [each for each in found if not (charged_to and goes_on_in(each, charged_to))]
        passed = tuple(each for each in others if each.book().limits())
        for ledger in passed:
            check_bypass(ledger.book(), method.reason, instead)
        return cls(
            ledgers=passed,
            charged_to=charged_to,
            reason=method.reason,
            signed_by=method.signed_by,
        )

    def record(self, release: str, charge: Charge, say: Callable[[str], None]) -> None:
        """Record the release in each of them, before noise is drawn."""
        for each in self.ledgers:
            each.record_bypass(
                release,
                charge,
                reason=self.reason or "",
                by=self.signed_by,
                charged_to=self.charged_to,
            )
            say(f"recorded in {each.path} that this release goes past it")
