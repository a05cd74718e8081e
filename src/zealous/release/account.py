"""A release that is charged to a ledger: found early, reserved before noise is drawn.

Guarantee:
    What the ledger refuses is refused before the log is read. `LedgerPayment.reserve` returns with
    the charge on the disk; a release that failed after it stays charged.
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from zealous.errors import LedgerError, Refused
from zealous.files.places import Place, place_of
from zealous.ledger import Cap, Caps, Entry, Ledger, ledger_path
from zealous.ledger.book import Book
from zealous.ledger.budgets import Budget, check_label, periods_overlap
from zealous.ledger.entries import charge_as_json
from zealous.ledger.location import check_local, ensure_folder, find_ledger
from zealous.ledger.refusals import others_option
from zealous.ledger.reservation import preview_entry
from zealous.ledger.signatures import Approval
from zealous.logs.log import Log
from zealous.planning.log_binding import LogBinding
from zealous.planning.plan import Plan, covers_replaced
from zealous.privacy.calibrate import float_rounded_up
from zealous.record.codec import structure
from zealous.record.record import AccountsRecord, CapRecord, CapsRecord, LedgerStamp
from zealous.release.charging import Bypass, PaymentMethod, charge_of
from zealous.release.request import Request
from zealous.release.untracked import Untracked

_NAMED = 3  # logs of a ledger, in a message


def payment_method(asked: PaymentMethod | None, plan: Plan) -> PaymentMethod:
    """Who pays: nobody where none is asked for, or for what is not private as it has a seed."""
    paying = Untracked() if asked is None else asked
    return paying if plan.seed is None else paying.for_unprivate()


@dataclass(frozen=True, kw_only=True)
class Account:
    """Which ledger a release is charged to, and what its owner declares.

    Attributes:
        ledger: The ledger's file. By default, the one that belongs to the log.
        people: A name for the people of this log. You claim that nobody among them is among the
            people of another name in the ledger.
        again: Confirms that a period is published again, and charged again.
        signed_by: Who publishes. By default, the name of the login.
        reason: Why another ledger is charged although the log's own has a cap (a copy of a ledger
            is another), or why a log that was charged for some people is now for others.
        approval: A signature of the approved plan. Needed if the ledger has approvers.
        id: Under the same id a release is drawn once, however often the run is repeated.
    """

    ledger: str | Path | None = None
    people: str | None = None
    again: bool = False
    signed_by: str | None = None
    reason: str | None = None
    approval: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        if self.id is not None:
            object.__setattr__(self, "id", check_label(self.id, "the release's id"))

    @property
    def internal(self) -> bool:
        """What is paid for may be written."""
        return False

    @property
    def names_ledger(self) -> bool:
        """Whether it is not just the one that belongs to the log."""
        return self.ledger is not None

    def charged_to(self, log: Sequence[Place]) -> Path:
        """The ledger's file."""
        if self.ledger is not None:
            return Path(self.ledger)
        return ledger_path(each.ledger_place() for each in log)

    def for_unprivate(self) -> Untracked:
        """Nobody pays for what is not private."""
        return Untracked(reason=self.reason, signed_by=self.signed_by)

    def earlier_release(self, log: Sequence[Place], output: Path | Place | None) -> Place | None:
        """Where the release of the account's id is, if it was made before.

        A run that was killed after its release was in place, and before that was recorded, is
        recorded now.
        """
        if self.id is None or not self.charged_to(log).exists():
            return None
        entry = Ledger.open(self.charged_to(log)).settle(self.id, output or Path())
        if entry is None or entry.directory is None:
            return None
        # The ledger keeps no credentials: the same place as it was given now may have them.
        if output is not None and str(output) == entry.directory:
            return place_of(output)
        return place_of(entry.directory)

    def prepare(self, request: Request) -> LedgerPayment:
        """Find the ledger, and refuse early what it would refuse later."""
        if not covers_replaced(request.plan):
            raise Refused(
                "with so large a delta an add-remove release may cost more than a ledger would "
                "charge where a history changes: lower --delta, or ask for --neighbors replace"
            )
        return self._payment(request)

    def _payment(self, request: Request) -> LedgerPayment:
        return LedgerPayment(self, request)


def read_ledger(of: str | Path | Place | Log) -> Ledger:
    """Open the ledger of a log or a folder, or the one at a path.

    Args:
        of: The log, or the path of a ledger, a log or a folder.

    Raises:
        LedgerError: There is none.
    """
    if not isinstance(of, Log):
        return Ledger.open(find_ledger(place_of(of)))
    path = Account().charged_to(of.paths)
    if not path.exists():
        raise LedgerError(f"the log has no ledger yet: publishing makes one at {path}")
    return Ledger.open(path)


class LedgerPayment:
    """Charges one release to a ledger."""

    def __init__(self, account: Account, request: Request, *, drafts: str | None = None) -> None:
        """Find the ledger, and refuse early what it would refuse later.

        Args:
            account: Who pays.
            request: What for.
            drafts: The id of a draft in a private folder; see `Ledger.reserve`.
        """
        self._drafts = drafts
        log, plan = request.log.paths, request.plan.approved_file
        self._approval = None
        if plan is not None and account.approval is not None:
            self._approval = Approval(plan=plan, signature=account.approval)
        self.id = account.id or secrets.token_hex(8)
        self._account = account
        self._path = account.charged_to(log)
        _check_population(request.plan.log, account.people, self._path)
        self._charge = charge = charge_of(request, ledger=self._path, people=account.people)
        self._ledger: Ledger | None = None
        self._earlier: tuple[Entry, ...] = ()
        self._entry: Entry | None = None
        check_local(self._path.absolute())
        if self._path.exists():
            Ledger.open(self._path).check(
                charge,
                release=self.id,
                again=account.again,
                approval=self._approval,
                reason=account.reason,
                drafts=drafts,
            )
        nearer = f"{self._path} is nearer to the log: name the other with --ledger FILE"
        instead = nearer if account.ledger is None else "Leave out --ledger"
        self._bypass = Bypass.find(account, log, self._path, instead=instead)

    def doubts(self) -> list[str]:
        """What is probably a mistake: a ledger of other logs, if nobody named it or its people."""
        if self._account.ledger is not None:
            return []
        book = Ledger.open(self._path).book() if self._path.exists() else Book()
        others = book.entries_of_other_logs(self._charge)
        if not others:
            return []
        names = list(dict.fromkeys(str(each.charge.log) for each in others))
        known = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        releases = f"{len(others)} release{'s' if len(others) > 1 else ''}"
        return [
            f"The ledger {self._path} holds {releases} of other logs ({known}), and this one "
            "is counted as of the same people. If its people are "
            f"others, {others_option(book, others)}. If they are the same, name them once: "
            f"`zealous ledger init {shlex.quote(str(self._path))} --dataset NAME`."
        ]

    def like_releases(self) -> list[Entry]:
        """What was released of the same log at the same cost; the newest first."""
        if self._account.again or not self._path.exists():
            return []
        charged = charge_as_json(self._charge)
        return [
            entry
            for entry in reversed(Ledger.open(self._path).book().counted_entries())
            if entry.state == "released" and charge_as_json(entry.charge) == charged
        ]

    def reserve(self, say: Callable[[str], None]) -> LedgerStamp:
        """Spend the budget; gives what release.json says of it.

        Guarantee:
            When this returns the charge is on the disk. Noise may be drawn from here on.
        """
        by, again = self._account.signed_by, self._account.again
        self._bypass.record(self.id, self._charge, say)
        path = self._path if self._account.ledger else ensure_folder(self._path)
        self._ledger = Ledger.open(path, create=True, by=by)
        if self._ledger.created:
            say(
                f"a ledger without caps was begun: {self._path}. Releases of the same people that "
                "are charged elsewhere, or by somebody else, do not count in it; see "
                "`zealous ledger init`"
            )
        self._earlier = self._ledger.attempts(self.id)
        self._entry = self._ledger.reserve(
            self.id,
            self._charge,
            by=by,
            again=again,
            approval=self._approval,
            reason=self._account.reason,
            drafts=self._drafts,
        )
        book = self._ledger.book_at(self._entry)
        people = f", for the people of {book.dataset}" if book.dataset else ""
        went_on = self._entry.seq in {each.seq for each in self._earlier}
        charged = "charged before, and gone on with," if went_on else "charged"
        say(f"{charged} as entry {self._entry.number} of {self._path}{people}")
        return ledger_stamp(self._entry, book)

    def preview(self) -> LedgerStamp:
        """What release.json would say of it if the ledger were new; nothing is charged."""
        return ledger_stamp(*preview_entry(self.id, self._charge, by=self._account.signed_by))

    def settle(self, directory: Place | None) -> Entry | None:
        """The entry, if there is one, marked where its release is whole."""
        entry = self._charged_entry()
        if self._ledger is None or entry is None or directory is None:
            return entry
        with suppress(LedgerError):  # then the mark stays missing
            settled = self._ledger.settle(self.id, directory)
            if settled is not None and settled.seq == entry.seq:  # not of another attempt
                return settled
        return entry

    def _charged_entry(self) -> Entry | None:
        """The ledger tells which it is where `reserve` broke off."""
        if self._entry is None and self._ledger is not None:
            new = self._ledger.attempts(self.id)[len(self._earlier) :]
            self._entry = new[-1] if new else None
        return self._entry

    def mark_written(self, directory: Place, sha256: str) -> None:
        if self._ledger is None or self._entry is None:
            return
        try:
            self._ledger.mark_released(self._entry, directory=directory, sha256=sha256)
        except LedgerError as error:
            raise LedgerError(
                f"the release is in {directory} and paid for, and the ledger could not be told "
                f"({error}). Run again with --id {self.id} -o {directory}: nothing is drawn again"
            ) from None


def _check_population(planned: LogBinding | None, people: str | None, ledger: Path) -> None:
    """Refuse a plan that is for other people, or for the ledger of others."""
    if planned is None:
        return
    dataset = Ledger.open(ledger).book().dataset if ledger.exists() else None
    for what, wanted, found, instead in (
        ("dataset", planned.dataset, dataset, "name its ledger with --ledger FILE"),
        ("people", planned.people, people, f"say --people {shlex.quote(planned.people or '')}"),
    ):
        if wanted is not None and wanted != found:
            told = f"for the {what} {found}" if found is not None else f"for no named {what}"
            raise Refused(
                f"the plan is for the {what} {wanted}, and this run is {told} (ledger {ledger}): "
                f"{instead}, or plan again and have that approved"
            )


def ledger_stamp(entry: Entry, book: Book) -> LedgerStamp:
    """The entry, both accounts after it, and the caps, as the release states them."""
    before, accounts, measure = book.counted_entries(), entry.accounts, book.measure()
    if accounts is None or measure is None:
        raise LedgerError("an entry that was just charged has no accounts")
    same = [each for each in before if periods_overlap(each.charge.period, accounts.within)]
    told = accounts.as_json()
    _, *against = book.against_caps(accounts.within)
    for name, found in zip(("period", "all"), against, strict=True):
        if found.composed and found.epsilon is not None:  # what is compared with the cap
            worth = Budget(epsilon=found.epsilon, delta=found.delta)
            told[name] |= {**worth.as_json(), "composed": True}
    told["all"]["releases"], told["period"]["releases"] = len(before), len(same)
    return LedgerStamp(
        ledger=entry.ledger,
        entry=entry.number,
        hash=entry.hash,
        accounts=structure(told, AccountsRecord),
        unit=measure.unit,
        neighbors=measure.neighbors,
        dataset=book.dataset,
        approver=entry.approver,
        caps=_caps_record(book.caps),
        promised=_caps_record(book.promised()) if book.promises_more_than_caps() else None,
    )


def _caps_record(caps: Caps) -> CapsRecord:
    return CapsRecord(all=_cap_record(caps.all), period=_cap_record(caps.period))


def _cap_record(cap: Cap) -> CapRecord | None:
    if not cap:
        return None
    return CapRecord(
        epsilon=None if cap.epsilon is None else float_rounded_up(cap.epsilon),
        delta=None if cap.delta is None else float_rounded_up(cap.delta),
    )
