"""The ledger: check, reserve, and only then may noise be drawn.

Guarantee:
    A charge is on the disk before `reserve` returns, and two runs at once cannot both spend what is
    left once.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from zealous.errors import LedgerError, Refused
from zealous.files.places import Place, place_of
from zealous.ledger import store
from zealous.ledger.approvals import approved_plan, signed_decision
from zealous.ledger.book import Book
from zealous.ledger.budgets import Accounts, Caps, Charge, check_label, check_neighbors, check_unit
from zealous.ledger.cap_changes import check_composable, decided_caps
from zealous.ledger.consistency import verify
from zealous.ledger.entries import Entry, charge_as_json
from zealous.ledger.location import check_local
from zealous.ledger.reading import read_book, read_sound_book
from zealous.ledger.refusals import check_bypass, check_charge, check_here
from zealous.ledger.reservation import reservation, who_and_when
from zealous.ledger.shown import book_as_html
from zealous.ledger.signatures import Approval, check_approvers
from zealous.ledger.written import fingerprint, holds_release_of, is_still_there
from zealous.privacy.guarantee import Neighbors, Unit
from zealous.privacy.period import Period


class AlreadyReleased(Refused):
    """The release of this id exists: return it, and draw nothing.

    Attributes:
        entry: Its entry, with the directory it was written to.
    """

    def __init__(self, entry: Entry) -> None:
        super().__init__(f"{entry.release} was released before, to {entry.directory}")
        self.entry = entry


@dataclass(frozen=True, kw_only=True, repr=False)
class Ledger:
    """What has been spent on one population of people.

    Everything charged here is taken to concern the same people, unless a charge claims otherwise.
    The file is opened for each operation and closed after it.

    Attributes:
        path: The file.
        id: Its identity, drawn when it was created, so that an exchanged file is noticed.
        created: Whether `open` made it.
    """

    path: Path
    id: str
    created: bool = False

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        create: bool = False,
        dataset: str | None = None,
        unit: Unit | None = None,
        neighbors: Neighbors | None = None,
        by: str | None = None,
    ) -> Ledger:
        """Open a ledger, or create one.

        Args:
            path: The file.
            create: Make it if it does not exist; the arguments below are for this case.
            dataset: A name for the people it is about.
            unit: What is protected as one; the smallest that is charged, if nobody declares it.
            neighbors: Which neighbours its accounts are about; those of the first charge if not
                given.
            by: Who makes it; the login's name if not given.
        """
        path = Path(path).absolute()
        check_local(path)
        created = False
        if create and not os.path.lexists(path):
            if dataset is not None:
                dataset = check_label(dataset, "dataset")
            if unit is not None:
                check_unit(unit)
            if neighbors is not None:
                check_neighbors(neighbors)
            body = {"dataset": dataset, "unit": unit, "neighbors": neighbors}
            created = store.create(path, {**body, **who_and_when(by)})
        with store.reading(path) as connection:
            return cls(path=path, id=read_sound_book(connection, path).id, created=created)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def __iter__(self) -> Iterator[Entry]:
        """All entries in order."""
        return iter(self.history())

    def _repr_html_(self) -> str:
        return book_as_html(self.book())

    def check(
        self,
        charge: Charge,
        *,
        release: str | None = None,
        again: bool = False,
        approval: Approval | None = None,
        reason: str | None = None,
        drafts: str | None = None,
    ) -> None:
        """Raise `Refused` if `reserve` would; writes nothing."""
        with store.reading(self.path) as connection:
            store.check_no_backup(connection, self.path)
            book = self._check_same_ledger(read_sound_book(connection, self.path))
        approved = approved_plan(book, approval, charge, datetime.now(UTC))
        if release is None or book.unfinished(release, charge, drafts, approved) is None:
            check_charge(book, charge, release=release, again=again, reason=reason)

    def reserve(
        self,
        release: str,
        charge: Charge,
        *,
        by: str | None = None,
        again: bool = False,
        approval: Approval | None = None,
        reason: str | None = None,
        drafts: str | None = None,
    ) -> Entry:
        """Charge a release, before its noise is drawn.

        Guarantee:
            When this returns, the charge is on the disk and within the caps, whatever other
            processes do at the same time. Whatever happens next, it stays charged until the owner
            voids it. So no noise is ever drawn that was not paid for.

        Args:
            release: The release's id. If it is released, this raises `AlreadyReleased`; if an
                earlier attempt was only reserved, that one stays spent and this is one more.
            charge: What it costs.
            by: Who asks; the login's name if not given.
            again: Allows a period that was published before.
            approval: The signed plan; needed where the ledger has approvers.
            reason: Why a log that was charged for some people is charged for others now.
            drafts: The id of a draft in a private folder. Whoever gives it states that nothing
                drawn for it has left that folder, and that one run at a time draws for it: an
                attempt that was charged the same for it, and is not released, then goes on
                (docs/proofs/series.md).
        """
        release = check_label(release, "the release's id")
        with self._writing() as (connection, book):
            for earlier in book.attempts(release):
                if earlier.state == "released":
                    raise AlreadyReleased(earlier)
            said = reservation(release, charge, by=by, again=again, drafts=drafts)
            approved = approved_plan(book, approval, charge, datetime.fromisoformat(said["time"]))
            entry = book.unfinished(release, charge, drafts, approved)
            if entry is None:
                check_charge(book, charge, release=release, again=again, reason=reason)
                if reason is not None:
                    said["reason"] = check_label(reason, "reason")
                entry = book.entries[self._append(connection, book, "reserved", said | approved)]
        return replace(entry, accounts=self.book_at(entry).accounts(charge.period))

    def mark_released(self, entry: Entry, *, directory: str | Path | Place, sha256: str) -> Entry:
        """Mark an entry's release as written: renamed into place and synced.

        Args:
            entry: What `reserve` returned.
            directory: Where it is.
            sha256: Of its release.json; see `fingerprint`.
        """
        with self._writing() as (connection, book):
            known = book.entries.get(entry.seq)
            if known is None or known.hash != entry.hash:
                raise LedgerError(f"entry {entry.number} of {self.path} is another release's")
            if known.state == "released" and known.sha256 == sha256:
                return known  # marked by whoever cleaned up after us
            if known.state != "reserved":
                raise Refused(
                    f"entry {entry.number} is {known.state} and cannot be marked as released: "
                    f"remove {directory} unseen, and publish again"
                )
            place = place_of(directory)
            said = {"directory": str(place.resolve()), "sha256": sha256}
            at = {"entry": known.seq, "hash": known.hash}
            self._append(connection, book, "released", {**at, **said, **who_and_when(None)})
            return book.entries[known.seq]

    def settle(self, release: str, directory: str | Path | Place) -> Entry | None:
        """Find out whether a release was finished, and mark it if only the mark is missing.

        A crash between renaming the directory and `mark_released` leaves a whole release whose
        entry is reserved. The directory tells: it carries the entry's hash.

        Returns:
            The released entry, to be returned to the caller without drawing anything; or None, if
            there is none and a new attempt has to be charged.
        """
        attempts = self.attempts(release)
        for entry in attempts:
            if entry.state == "released":
                return entry
        for entry in attempts:
            if entry.state == "reserved" and holds_release_of(directory, entry):
                return self.mark_released(entry, directory=directory, sha256=fingerprint(directory))
        return None

    def attempts(self, release: str) -> tuple[Entry, ...]:
        """All attempts at a release, in order, each with its state."""
        return self._read().attempts(check_label(release, "the release's id"))

    def void(self, number: int, *, reason: str, by: str, key: Path | None = None) -> Entry:
        """Record the owner's statement that nobody saw an output; it no longer counts.

        Nobody includes whoever voids it: an output that was looked at, even only to see whether it
        is any good, has been seen.

        Args:
            number: The entry's: 1 for the first.
            reason: Why nobody saw it.
            by: Who states it.
            key: The SSH key that signs it; needed where the ledger has approvers.
        """
        said = {"reason": check_label(reason, "reason"), "by": check_label(by, "by")}
        with self._writing() as (connection, book):
            known = book.entry_numbered(number)
            if known is None:
                raise LedgerError(
                    f"{self.path} has no entry {number}: `zealous ledger show` lists them"
                )
            if known.state == "voided":
                raise Refused(f"entry {number} is voided already")
            if known.state == "released" and is_still_there(known):
                raise Refused(
                    f"entry {number} was released to {known.directory}, and it is still there: "
                    "what nobody saw, nobody needs. Remove it first"
                )
            at = {"entry": known.seq, "hash": known.hash}
            body = {**who_and_when(by), **at, **said}
            self._append(connection, book, "voided", signed_decision(book, "voided", body, key))
            return book.entries[known.seq]

    def record_bypass(
        self,
        release: str,
        charge: Charge,
        *,
        reason: str,
        by: str | None = None,
        charged_to: Path | None = None,
    ) -> None:
        """Record that a release of these people is charged elsewhere, or nowhere, and why."""
        said = {
            "release": check_label(release, "the release's id"),
            **charge_as_json(charge),
            "charged_to": str(charged_to.absolute()) if charged_to else None,
            "reason": check_label(reason, "reason"),
        }
        with self._writing() as (connection, book):
            check_bypass(book, reason)
            self._append(connection, book, "bypassed", {**said, **who_and_when(by)})

    def close_for_move(
        self,
        to: Path,
        *,
        by: str | None = None,
        reason: str | None = None,
        key: Path | None = None,
    ) -> None:
        """Record that the ledger goes on in another file: nothing is charged here any more."""
        said = {"to": str(to.absolute()), **who_and_when(by)}
        if reason is not None:
            said["reason"] = check_label(reason, "reason")
        with self._writing() as (connection, book):
            self._append(connection, book, "moved", signed_decision(book, "moved", said, key))

    def set_caps(
        self,
        caps: Caps,
        *,
        unit: Unit | None = None,
        by: str | None = None,
        reason: str | None = None,
        key: Path | None = None,
    ) -> None:
        """Record new caps. A cap below what is spent is allowed; nothing more is granted then.

        They also fix the unit of privacy: the one declared here or before, otherwise that of the
        releases so far, otherwise the user.

        Raises:
            UsageError: Losses cannot be composed, because epsilon or delta has no cap.
            Refused: After releases, the caps would limit something else than before, and no reason
                is given. That ends the earlier promise, and both promises add up.
        """
        check_composable(caps)
        with self._writing() as (connection, book):
            body = {**decided_caps(book, caps, unit=unit, reason=reason), **who_and_when(by)}
            self._append(connection, book, "caps", signed_decision(book, "caps", body, key))

    def set_approvers(
        self, signers: str, *, by: str | None = None, key: Path | None = None
    ) -> None:
        """Record who may approve plans, caps and voids: the text of a file of allowed signers.

        Where there are approvers already, one of them has to sign it.

        Raises:
            UsageError: It is no such file.
            Refused: The ledger has no name: approved plans say whose data they are for.
        """
        check_approvers(signers)
        with self._writing() as (connection, book):
            if book.dataset is None:
                raise Refused(
                    "approved plans say for which people they are, and this ledger has no name: "
                    "give it one with `zealous ledger init --dataset NAME`"
                )
            body = {"signers": signers, **who_and_when(by)}
            self._append(
                connection, book, "approvers", signed_decision(book, "approvers", body, key)
            )

    def name_dataset(self, dataset: str, *, by: str | None = None) -> None:
        """Record what people a ledger is about, if nobody has."""
        dataset = check_label(dataset, "dataset")
        with self._writing() as (connection, book):
            if book.dataset == dataset:
                return
            if book.dataset is not None:
                raise Refused(
                    f"{self.path} is the ledger of the dataset {book.dataset}: for other people "
                    "name another file"
                )
            self._append(connection, book, "named", {"dataset": dataset, **who_and_when(by)})

    def book(self, as_of: date | datetime | None = None) -> Book:
        """Everything, as it is or as it was known at some time (the end of that day, in UTC)."""
        if as_of is not None and not isinstance(as_of, datetime):
            as_of = datetime.combine(as_of, time.max, UTC)
        book = self._read(as_of)
        opened = datetime.fromisoformat(book.opened["time"])
        if as_of is not None and as_of < opened:
            raise LedgerError(f"{self.path} was opened later than that, on {opened:%Y-%m-%d}")
        return book

    def book_at(self, entry: Entry) -> Book:
        """Everything as it was when an entry was charged, whatever came since."""
        with store.reading(self.path) as connection:
            self._check_same_ledger(read_sound_book(connection, self.path))
            return read_book([row for row in store.read_rows(connection) if row.seq <= entry.seq])

    def accounts(
        self, as_of: date | datetime | None = None, with_period: Period | None = None
    ) -> Accounts:
        """Both accounts: over all releases, and for a period (by default the most charged one)."""
        return self.book(as_of).accounts(with_period)

    def history(self, as_of: date | datetime | None = None) -> tuple[Entry, ...]:
        """All entries in order."""
        return tuple(self.book(as_of).entries.values())

    def verify(self, releases: Sequence[str | Path] = ()) -> list[str]:
        """The faults of the ledger, and of releases that say that they were charged to it."""
        return verify(self.path, releases)

    def _read(self, as_of: datetime | None = None) -> Book:
        with store.reading(self.path) as connection:
            return self._check_same_ledger(read_sound_book(connection, self.path, as_of))

    @contextmanager
    def _writing(self) -> Iterator[tuple[sqlite3.Connection, Book]]:
        check_local(self.path)
        with store.writing(self.path) as connection:
            book = self._check_same_ledger(read_sound_book(connection, self.path))
            check_here(book)
            if store.is_outdated(connection):
                said = {"format": store.FORMAT, **who_and_when(None)}
                self._append(connection, book, "upgraded", said)
                store.mark_upgraded(connection)
            yield connection, book

    def _append(
        self, connection: sqlite3.Connection, book: Book, event: str, body: Mapping[str, Any]
    ) -> int:
        assert book.last is not None  # noqa: S101
        row = store.append_event(connection, {"event": event, **body}, after=book.last)
        book.apply(row)
        if book.problems:  # never leave behind what could not be read back
            raise LedgerError(f"{self.path} was not changed: {book.problems[0]}")
        return row.seq

    def _check_same_ledger(self, book: Book) -> Book:
        if book.id != self.id:
            raise LedgerError(f"{self.path} is not the ledger it was: another file took its place")
        return book
