"""Copies of a ledger: backups, putting one back, moving, and noticing that two of them went on.

A ledger goes on in one file. A backup is marked as one, and nothing is charged to it. A move closes
the old file before the new one is made: a crash in between leaves no file that can be charged, and
running the move again finishes it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from zealous.errors import LedgerError, Refused
from zealous.ledger import store
from zealous.ledger.approvals import signed_decision
from zealous.ledger.budgets import check_label
from zealous.ledger.ledger import Ledger
from zealous.ledger.location import check_local
from zealous.ledger.reading import read_book, read_sound_book
from zealous.ledger.reservation import who_and_when
from zealous.ledger.store import Row


class CopyComparison(NamedTuple):
    """Two copies of one ledger.

    Attributes:
        holds_more: Which has events that the other has not; `both` if they went on apart.
        common: How many events they share.
    """

    holds_more: Literal["neither", "first", "second", "both"]
    common: int


def compare_copies(first: Sequence[Row], second: Sequence[Row]) -> CopyComparison:
    """How two copies of one ledger differ: the chain tells where they part."""
    common = 0
    for one, other in zip(first, second, strict=False):
        if one.hash != other.hash:
            break
        common += 1
    if not common:
        raise LedgerError("these are two different ledgers, not copies of one")
    more = (len(first) > common, len(second) > common)
    names: dict[tuple[bool, bool], Literal["neither", "first", "second", "both"]] = {
        (False, False): "neither",
        (True, False): "first",
        (False, True): "second",
        (True, True): "both",
    }
    return CopyComparison(names[more], common)


def back_up(ledger: Path, target: Path) -> Row:
    """Copy a sound ledger to a new file, to which nothing can be charged; gives its last event."""
    Ledger.open(ledger)
    return store.copy(ledger, target, backup=True)


def restore(
    backup: Path, ledger: Path, *, by: str | None = None, reason: str, key: Path | None = None
) -> Row:
    """Put a backup in the place of a ledger that is lost, damaged or older; it is recorded.

    Args:
        backup: The backup.
        ledger: Where the ledger is, or was.
        by: Who does it; the login's name if not given.
        reason: Why.
        key: The SSH key that signs it; needed where the backup has approvers.

    Raises:
        Refused: The ledger that is there is sound, and holds what the backup does not.
    """
    check_local(ledger.absolute())
    places = {"at": str(ledger.absolute()), "from": str(backup.absolute())}
    said = {**places, "reason": check_label(reason, "reason"), **who_and_when(by)}
    rows, replacing = _sound_rows(backup), os.path.lexists(ledger)
    if replacing:
        _check_replaceable(rows, ledger)
    signed = signed_decision(read_book(rows), "restored", said, key)
    if replacing:
        _keep_beside(ledger)
    return store.copy(backup, ledger, more=[{"event": "restored", **signed}], replacing=replacing)


def move(
    ledger: Path,
    target: Path,
    *,
    by: str | None = None,
    reason: str | None = None,
    key: Path | None = None,
) -> Row:
    """Let a ledger go on in a new file; the old one stays, and says where it went."""
    target = target.absolute()
    check_local(target)
    if os.path.lexists(target):
        raise Refused(f"{target} exists already: name a file that does not")
    found = Ledger.open(ledger)
    if found.book().moved_to != str(target):  # else an earlier run closed it and was interrupted
        found.close_for_move(target, by=by, reason=reason, key=key)
    event = {"event": "restored", "at": str(target), "from": str(ledger.absolute())}
    return store.copy(ledger, target, more=[{**event, **who_and_when(by)}])


def goes_on_in(ledger: Ledger, file: Path) -> bool:
    """Whether a file is a ledger, or what it was moved to; a copy made by other means is neither.

    Both have one id, and what is charged to the copy is not counted in the ledger.
    """
    if not file.exists():
        return False
    here, seen = ledger, {str(ledger.path)}
    while not here.path.samefile(file):
        to = here.book().moved_to
        if to is None or to in seen or not Path(to).exists():
            return False
        seen.add(to)
        here = Ledger.open(to)
    return here.id == ledger.id


def describe_copy(ledger: Path, copy: Path) -> str | None:
    """What is wrong between a ledger and a copy of it; None if the copy holds nothing more."""
    with store.reading(ledger) as connection:
        here = store.read_rows(connection)
    compared = compare_copies(here, _sound_rows(copy))
    if compared.holds_more == "both":
        return (
            f"{copy}: a copy that went on apart after event {compared.common}. Both spent of one "
            "budget: what was charged in either counts. Go on with one, and charge to it what the "
            "other alone holds"
        )
    if compared.holds_more == "second":
        return f"{copy}: a copy that holds more, from event {compared.common + 1} on"
    return None


def _sound_rows(path: Path) -> list[Row]:
    with store.reading(path) as connection:
        read_sound_book(connection, path)
        return store.read_rows(connection)


def _check_replaceable(backup: Sequence[Row], ledger: Path) -> None:
    try:
        with store.reading(ledger) as connection:
            here = store.read_rows(connection)
            sound = not read_book(here).problems and not store.tampering_problems(connection)
    except LedgerError:
        return
    if not sound:
        return
    compared = compare_copies(here, backup)
    if compared.holds_more in ("neither", "first"):
        raise Refused(f"{ledger} is sound and holds all that the backup does: nothing to restore")
    if compared.holds_more == "both":
        raise Refused(
            f"{ledger} and the backup went on apart after event {compared.common}: both spent of "
            "one budget. Restoring would forget what was charged since"
        )


def _keep_beside(ledger: Path) -> None:
    """Give a ledger a second name before it is replaced: at no moment there is none in its place.

    What SQLite keeps beside it goes with it, and would else be taken for a part of the new one.
    """
    number = 1
    while os.path.lexists(f"{ledger}.replaced-{number}"):
        number += 1
    kept = f"{ledger}.replaced-{number}"
    os.link(ledger, kept)
    for end in ("-wal", "-shm"):
        if os.path.lexists(f"{ledger}{end}"):
            os.rename(f"{ledger}{end}", f"{kept}{end}")
