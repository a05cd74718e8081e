"""What a run has drawn and not published yet, kept so that a run that is killed costs nothing.

A release is drawn once for its charge, written whole into a private folder beside the ledger, and
then copied to where releases are:

    ledger.sqlite.drafts/
        5c1f0a.../            one for each name of a series; its owner alone (0700)
            lock              held by flock for as long as a run lives
            ids/              by a release's name: what entries of the ledger call its draft
            drawn/            releases under the names that they will have; hidden: unfinished ones

Guarantee:
    Of all runs of a series that share a ledger, one at a time goes on. Of everything that is drawn
    for one charge, at most one release ever leaves this folder, and always the same bytes
    (docs/proofs/series.md).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from zealous.errors import LedgerError, Refused, UsageError, reason
from zealous.files.folder import new_folder
from zealous.files.local import sync
from zealous.files.places import Place
from zealous.ledger import Ledger
from zealous.ledger.entries import Entry
from zealous.ledger.location import check_local
from zealous.ledger.written import fingerprint, holds_release_of
from zealous.release.account import Account, LedgerPayment
from zealous.release.request import Request

ENDING = ".drafts"  # of the folder's name, after that of the ledger


@dataclass(frozen=True, kw_only=True)
class Drafts:
    """The private folder of a series, while one run has it."""

    folder: Path

    @property
    def _drawn(self) -> Path:
        return self.folder / "drawn"

    def id_of(self, name: str) -> str:
        """What entries of the ledger call the draft of a release; another once that has left.

        It is on the disk before anything is charged for it.
        """
        path, new = self._ids / name, self._ids / ".new"
        if not path.exists():
            self._ids.mkdir(mode=0o700, exist_ok=True)
            new.write_text(secrets.token_hex(16), encoding="ascii")
            sync(new)
            new.rename(path)
            sync(self._ids)
        return path.read_text(encoding="ascii")

    @property
    def _ids(self) -> Path:
        return self.folder / "ids"

    def _forget_id(self, name: str) -> None:
        """Let no later run draw for what was charged for a draft: it is about to leave.

        The ledger says so once that is recorded; an older copy of it, in its place, does not.
        """
        (self._ids / name).unlink(missing_ok=True)
        if self._ids.exists():
            sync(self._ids)

    def find(self, name: str, ledger: Ledger) -> tuple[Path, Entry] | None:
        """A release that was drawn whole and is not in place, with its charge; None without one.

        Raises:
            LedgerError: There is one, and no charge for it: it is not drawn again.
        """
        draft = self._drawn / name
        if not (draft / "release.json").exists():
            return None
        entry = next((each for each in ledger.history() if holds_release_of(draft, each)), None)
        if entry is None:
            raise LedgerError(
                f"{draft} holds what was drawn for {name}, and {ledger.path} has no charge for it: "
                "an older copy of the ledger may have taken its place. Put the newest one back; or "
                "remove that folder, if nobody saw what is in it"
            )
        if entry.state != "reserved":  # it is in place already; or voided, as never seen
            self.discard(name)
            return None
        return draft, entry

    def discard(self, name: str) -> None:
        """Remove the draft of a release that is in place, or never will be."""
        shutil.rmtree(self._drawn / name, ignore_errors=True)

    def new_draft(self, name: str) -> Path:
        """Where a release is drawn to that `find` has not. What was not drawn whole is removed."""
        self._drawn.mkdir(mode=0o700, exist_ok=True)
        for each in self._drawn.iterdir():
            if not (each / "release.json").exists():
                shutil.rmtree(each)
        return self._drawn / name

    def put_in_place(self, draft: Path, entry: Entry, target: Path, ledger: Ledger) -> None:
        """Copy a draft to where releases are, and mark its charge.

        Raises:
            ReleaseError: It cannot be written; or something else has its name. The draft stays.
        """
        self._forget_id(draft.name)
        with new_folder(target, "release") as partial:
            for file in draft.iterdir():
                shutil.copyfile(file, partial / file.name)
        ledger.mark_released(entry, directory=target, sha256=fingerprint(target))
        self.discard(draft.name)


@contextmanager
def opened_drafts(ledger: Path, series: str) -> Iterator[Drafts]:
    """Be the only run of a series, of all that charge the same ledger.

    Raises:
        Refused: Another run is at work; or the ledger is where locks do not hold.
        UsageError: The folder cannot be written to, or its file system has no locks.
    """
    ledger = ledger.absolute()
    check_local(ledger)
    name = hashlib.sha256(series.encode()).hexdigest()[:16]
    folder = ledger.with_name(f"{ledger.name}{ENDING}") / name
    try:
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written to: {reason(error)}") from None
    try:
        _lock(lock, folder)
        yield Drafts(folder=folder)
    finally:
        os.close(lock)


def _lock(file: int, folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refused("another run of this series is at work: nothing was done") from None
    except OSError as error:
        raise UsageError(f"{folder} cannot be locked: {reason(error)}") from None


@dataclass(frozen=True, kw_only=True)
class DraftAccount(Account):
    """Pays for a release that is drawn to a folder of drafts."""

    draft: str

    def _payment(self, request: Request) -> LedgerPayment:
        return _DraftPayment(self, request, drafts=self.draft)


class _DraftPayment(LedgerPayment):
    """Charges a release that becomes visible later."""

    def mark_written(self, directory: Place, sha256: str) -> None:
        """A draft is no release yet: `Drafts.put_in_place` marks it."""

    def settle(self, directory: Place | None) -> Entry | None:
        """A draft that is whole is no release either: the next run goes on with it."""
        return self._charged_entry()
