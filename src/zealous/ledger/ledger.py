"""The ledger: check, reserve, and only then may noise be drawn."""

from __future__ import annotations

import getpass
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from zealous.errors import LedgerError, Refused
from zealous.files.places import Place, StoreError, error_text, place_of
from zealous.ledger import store
from zealous.ledger.book import Book, Entry, caps_as_json, charge_as_json, read_book
from zealous.ledger.budgets import Accounts, Caps, Charge, check_label, check_neighbors, check_unit
from zealous.ledger.location import check_local
from zealous.ledger.stated import read_stated
from zealous.ledger.verify import fingerprint, verify
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


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """What has been spent on one population of people.

    Everything charged here is taken to concern the same people, unless a charge claims otherwise.
    The file is opened anew for each operation, and closed: between two of them nothing is held.

    Attributes:
        path: The file.
        id: Its identity, drawn at its opening; a file that was exchanged is noticed.
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
        """Open a ledger, or make one where there is none.

        Args:
            path: The file; see `ledger_path` for that of a log.
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
            created = store.create(path, {**body, **_signature(by)})
        with store.reading(path) as connection:
            return cls(path=path, id=_read_sound_book(connection, path).id, created=created)

    def check(self, charge: Charge, *, release: str | None = None, again: bool = False) -> None:
        """Raise `Refused` if `reserve` would; writes nothing."""
        self._read().check(charge, release=release, again=again)

    def reserve(
        self, release: str, charge: Charge, *, by: str | None = None, again: bool = False
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
        """
        release = check_label(release, "the release's id")
        with self._writing() as (connection, book):
            for entry in book.attempts(release):
                if entry.state == "released":
                    raise AlreadyReleased(entry)
            book.check(charge, release=release, again=again)
            said = _reservation(release, charge, by=by, again=again)
            seq = self._append(connection, book, "reserved", said)
            return replace(book.entries[seq], accounts=book.accounts(charge.period))

    def mark_released(self, entry: Entry, *, directory: str | Path | Place, sha256: str) -> Entry:
        """Mark an entry's release as written: renamed into place and synced.

        Args:
            entry: What `reserve` returned.
            directory: Where it is.
            sha256: Of its release.json; see `fingerprint`.
        """
        with self._writing() as (connection, book):
            known = self._entry(book, entry.seq)
            if known.hash != entry.hash:
                raise LedgerError(f"entry {entry.seq} of {self.path} is another release's")
            if known.state == "released" and known.sha256 == sha256:
                return known  # marked by whoever cleaned up after us
            if known.state != "reserved":
                raise Refused(
                    f"entry {entry.seq} is {known.state} and cannot be marked as released: remove "
                    f"{directory} unseen, and publish again"
                )
            place = place_of(directory)
            said = {"directory": str(place.resolve()), "sha256": sha256}
            at = {"entry": known.seq, "hash": known.hash}
            self._append(connection, book, "released", {**at, **said, **_signature(None)})
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
            if entry.state == "reserved" and _holds_release_of(directory, entry):
                return self.mark_released(entry, directory=directory, sha256=fingerprint(directory))
        return None

    def attempts(self, release: str) -> tuple[Entry, ...]:
        """All attempts at a release, in order, each with its state."""
        return self._read().attempts(check_label(release, "the release's id"))

    def void(self, seq: int, *, reason: str, by: str) -> Entry:
        """Record the owner's statement that nobody saw an output; it no longer counts.

        Nobody includes whoever voids it: an output that was looked at, even only to see whether it
        is any good, has been seen.
        """
        said = {"reason": check_label(reason, "reason"), "by": check_label(by, "by")}
        with self._writing() as (connection, book):
            known = self._entry(book, seq)
            if known.state == "voided":
                raise Refused(f"entry {seq} is voided already")
            if known.state == "released" and _is_still_there(known):
                raise Refused(
                    f"entry {seq} was released to {known.directory}, and it is still there: what "
                    "nobody saw, nobody needs. Remove it first"
                )
            at = {"entry": seq, "hash": known.hash}
            self._append(connection, book, "voided", {**_signature(by), **at, **said})
            return book.entries[seq]

    def set_caps(self, caps: Caps, *, unit: Unit | None = None, by: str | None = None) -> None:
        """Record new caps. Those below what is spent are allowed: nothing more is granted then.

        Whose loss they cap is fixed with them: the unit declared here or before, else that of the
        releases so far, else the user.
        """
        with self._writing() as (connection, book):
            measure = book.measure()
            counts = measure.unit if measure and book.counted_entries() else unit or "user"
            if unit not in (None, book.unit or counts):
                raise Refused(
                    f"{self.path} counts what one {book.unit or counts} loses already: name "
                    "another ledger"
                )
            said = {**caps_as_json(caps), "unit": book.unit or counts}
            self._append(connection, book, "caps", {**said, **_signature(by)})

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
            self._append(connection, book, "named", {"dataset": dataset, **_signature(by)})

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
            self._check_same_ledger(_read_sound_book(connection, self.path))
            return read_book([row for row in store.read_rows(connection) if row.seq <= entry.seq])

    def accounts(
        self, as_of: date | datetime | None = None, with_period: Period | None = None
    ) -> Accounts:
        """Both accounts, for the most charged period or for a given one."""
        return self.book(as_of).accounts(with_period)

    def history(self, as_of: date | datetime | None = None) -> tuple[Entry, ...]:
        """All entries in order."""
        return tuple(self.book(as_of).entries.values())

    def verify(self, releases: Sequence[str | Path] = ()) -> list[str]:
        """What is wrong with the ledger, or with releases that say they were charged to it."""
        return verify(self.path, releases)

    def _read(self, as_of: datetime | None = None) -> Book:
        with store.reading(self.path) as connection:
            return self._check_same_ledger(_read_sound_book(connection, self.path, as_of))

    @contextmanager
    def _writing(self) -> Iterator[tuple[sqlite3.Connection, Book]]:
        check_local(self.path)
        with store.writing(self.path) as connection:
            yield connection, self._check_same_ledger(_read_sound_book(connection, self.path))

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

    def _entry(self, book: Book, seq: int) -> Entry:
        if seq not in book.entries:
            raise LedgerError(f"{self.path} has no entry {seq}: `zealous ledger show` lists them")
        return book.entries[seq]


def preview_entry(release: str, charge: Charge, *, by: str | None = None) -> tuple[Entry, Book]:
    """The entry that a new ledger would begin with, and its book then; nothing is written."""
    first = store.opening_event(
        {"dataset": None, "unit": None, "neighbors": None, **_signature(by)}
    )
    said = _reservation(check_label(release, "the release's id"), charge, by=by, again=False)
    second = store.next_event({"event": "reserved", **said}, first)
    book = read_book([first, second])
    return replace(book.entries[second.seq], accounts=book.accounts(charge.period)), book


def _reservation(release: str, charge: Charge, *, by: str | None, again: bool) -> dict[str, Any]:
    return {"release": release, "again": again, **charge_as_json(charge), **_signature(by)}


def _read_sound_book(
    connection: sqlite3.Connection, path: Path, as_of: datetime | None = None
) -> Book:
    """The contents of a ledger; nothing is granted on one that does not hold together."""
    book = read_book(store.read_rows(connection), as_of)
    problems = [*book.problems, *store.truncation_problems(connection)]
    if problems:
        raise LedgerError(
            f"{path} is damaged or was tampered with ({problems[0]}): see "
            "`zealous ledger verify`, and restore it from a copy"
        )
    return book


def _holds_release_of(directory: str | Path | Place, entry: Entry) -> bool:
    """Whether a directory holds the release of an entry, and not a child of it."""
    said = read_stated(directory)
    return (
        said is not None
        and said.ledger.hash == entry.hash
        and said.id == entry.release
        and said.review is None
    )


def _is_still_there(entry: Entry) -> bool:
    """Whether it is where it was written; not to know is no answer."""
    if entry.directory is None:
        return False
    try:
        content = (place_of(entry.directory) / "release.json").read_bytes()
    except FileNotFoundError:
        return False
    except StoreError as error:
        raise LedgerError(f"{entry.directory} cannot be looked at: {error_text(error)}") from None
    except OSError:
        return False
    return hashlib.sha256(content).hexdigest() == entry.sha256


def _signature(by: str | None) -> dict[str, str]:
    """Who and when."""
    return {"by": check_label(by, "by") if by is not None else _login(), "time": _now()}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _login() -> str:
    try:
        return check_label(getpass.getuser(), "by")
    except Exception:  # a container without a user list has no name to give
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"
