"""How a release is paid for: checked early, reserved before noise is drawn, closed when written."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zealous.errors import LedgerError, Refused
from zealous.files.places import Place, place_of
from zealous.ledger import Cap, Charge, Entry, Ledger, ledger_path
from zealous.ledger.book import Book
from zealous.ledger.budgets import check_label, periods_overlap
from zealous.ledger.ledger import preview_entry
from zealous.ledger.location import check_local, ensure_folder
from zealous.logs.log import Columns, Log
from zealous.planning.plan import Plan, covers_replaced
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.guarantee import SESSION_GAP, Guarantee
from zealous.privacy.period import Period
from zealous.record.codec import structure
from zealous.record.record import AccountsRecord, CapRecord, CapsRecord, LedgerStamp

SPENT = (
    "entry {} of the ledger stays charged; if nobody saw any of the release, the owner can say so "
    "with `zealous ledger void`"
)
# What a publisher can say and the program cannot see, as a release states it.
UNTIMED = "All entries of the log are of the period {}: it has no times to tell."
SESSIONS_OF_COLUMN = "Sessions are those of the log's column {}."
SESSIONS_CUT = f"A session ends after {SESSION_GAP} minutes without an entry."
OTHERS = (
    "No person of this log is in a release to which the ledger gives other people, and which of "
    "these people somebody belongs to is no secret."
)


@dataclass(frozen=True, kw_only=True)
class Account:
    """Which ledger a release is charged to, and what its owner declares.

    Attributes:
        ledger: The ledger's file; the one that belongs to the log where not given.
        people: A name for the people of this log, claimed to be others than those of any other
            name in the ledger.
        again: Confirms that a period is published again, and charged again.
        by: Who publishes; the name of the login where not given.
        id: Under the same id a release is drawn once, however often the run is repeated.
    """

    ledger: str | Path | None = None
    people: str | None = None
    again: bool = False
    by: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        """Check what is kept for ever."""
        if self.id is not None:
            object.__setattr__(self, "id", check_label(self.id, "the release's id"))

    def ledger_path(self, log: Sequence[Place]) -> Path:
        """The ledger's file."""
        if self.ledger is not None:
            return Path(self.ledger)
        return ledger_path(each.ledger_place() for each in log)


class LedgerPayment:
    """Charges one release to a ledger."""

    def __init__(self, account: Account, log: Sequence[Place], charge: Charge) -> None:
        """Find the ledger, and refuse early what it would refuse later."""
        self.id = account.id or secrets.token_hex(8)
        self._account = account
        self._charge = charge
        self._path = account.ledger_path(log)
        self._ledger: Ledger | None = None
        self._earlier: tuple[Entry, ...] = ()
        self._entry: Entry | None = None
        check_local(self._path.absolute())
        if self._path.exists():
            Ledger.open(self._path).check(charge, release=self.id, again=account.again)

    def reserve(self, say: Callable[[str], None]) -> LedgerStamp:
        """Spend the budget; gives what release.json says of it.

        Guarantee:
            When this returns the charge is on the disk. Noise may be drawn from here on.
        """
        by, again = self._account.by, self._account.again
        path = self._path if self._account.ledger else ensure_folder(self._path)
        self._ledger = Ledger.open(path, create=True, by=by)
        if self._ledger.created:
            say(
                f"a ledger without caps was begun: {self._path}. Releases of the same people that "
                "are charged elsewhere, or by somebody else, do not count in it; see "
                "`zealous ledger init`"
            )
        self._earlier = self._ledger.attempts(self.id)
        self._entry = self._ledger.reserve(self.id, self._charge, by=by, again=again)
        say(f"charged as entry {self._entry.seq} of {self._path}")
        return _ledger_stamp(self._entry, self._ledger.book_at(self._entry))

    def preview(self) -> LedgerStamp:
        """What release.json would say of it if the ledger were new; nothing is charged."""
        return _ledger_stamp(*preview_entry(self.id, self._charge, by=self._account.by))

    def entry_number(self) -> int | None:
        """The number of the entry, if there is one; the ledger tells where `reserve` broke off."""
        if self._entry is None and self._ledger is not None:
            new = self._ledger.attempts(self.id)[len(self._earlier) :]
            self._entry = new[-1] if new else None
        return self._entry.seq if self._entry else None

    def mark_written(self, directory: Place, sha256: str) -> None:
        """Record that the release is where it belongs."""
        if self._ledger is None or self._entry is None:
            return
        try:
            self._ledger.mark_released(self._entry, directory=directory, sha256=sha256)
        except LedgerError as error:
            raise LedgerError(
                f"the release is in {directory} and paid for, and the ledger could not be told "
                f"({error}). Run again with --id {self.id} -o {directory}: nothing is drawn again"
            ) from None


class UntrackedPayment:
    """Stands for a payment where no ledger is charged."""

    def __init__(self, seed: int | None) -> None:
        """Name it by the seed, where it has one."""
        self.id = secrets.token_hex(8) if seed is None else f"seed-{seed}"

    def reserve(self, say: Callable[[str], None]) -> None:
        """Charge nobody."""

    def preview(self) -> None:
        """There will be no entry."""

    def entry_number(self) -> None:
        """There is no entry."""

    def mark_written(self, directory: Place, sha256: str) -> None:
        """There is no ledger to record it in."""


def prepare_payment(
    account: Account | None, log: Log, planned: Plan, period: Period | None
) -> LedgerPayment | UntrackedPayment:
    """Prepare to charge a release of a log, or to charge nobody."""
    if account is None:
        return UntrackedPayment(planned.seed)
    if not covers_replaced(planned):
        raise Refused(
            "with so large a delta an add-remove release may cost more than a ledger would "
            "charge where a history changes: lower --delta, or ask for --neighbors replace"
        )
    goal = planned.goal
    charge = Charge.of(
        goal, period=period, people=account.people, sessions=session_definition(goal, log.columns)
    )
    return LedgerPayment(account, log.paths, charge)


def session_definition(goal: Guarantee, columns: Columns) -> str | None:
    """What a session is, where that is the unit, as a release states it."""
    if goal.unit != "session":
        return None
    return SESSIONS_OF_COLUMN.format(columns.session) if columns.session else SESSIONS_CUT


def earlier_release(
    account: Account, log: Sequence[Place], directory: Path | Place | None
) -> Place | None:
    """Where the release of the account's id is, if it was made before.

    A run that was killed after its release was in place, and before that was recorded, is recorded
    now.
    """
    if account.id is None or not account.ledger_path(log).exists():
        return None
    entry = Ledger.open(account.ledger_path(log)).settle(account.id, directory or Path())
    if entry is None or entry.directory is None:
        return None
    # The ledger keeps no credentials: the same place as it was given now may have them.
    if directory is not None and str(directory) == entry.directory:
        return place_of(directory)
    return place_of(entry.directory)


def _ledger_stamp(entry: Entry, book: Book) -> LedgerStamp:
    """The entry, both accounts after it, and the caps, as the release states them."""
    before, accounts, measure = book.counted_entries(), entry.accounts, book.measure()
    if accounts is None or measure is None:
        raise LedgerError("an entry that was just charged has no accounts")
    same = [each for each in before if periods_overlap(each.charge.period, accounts.within)]
    told = accounts.as_json()
    told["all"]["releases"], told["period"]["releases"] = len(before), len(same)
    return LedgerStamp(
        ledger=entry.ledger,
        entry=entry.seq,
        hash=entry.hash,
        accounts=structure(told, AccountsRecord),
        unit=measure.unit,
        neighbors=measure.neighbors,
        dataset=book.dataset,
        caps=CapsRecord(all=_cap_record(book.caps.all), period=_cap_record(book.caps.period)),
    )


def _cap_record(cap: Cap) -> CapRecord | None:
    if not cap:
        return None
    return CapRecord(
        epsilon=None if cap.epsilon is None else float_rounded_up(cap.epsilon),
        delta=None if cap.delta is None else float_rounded_up(cap.delta),
    )
