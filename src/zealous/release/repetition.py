"""A release that would be paid for once more, although it is there: a run at a terminal asks.

It is told by the ledger and by releases alone, never by the log.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from zealous.errors import ZealousError
from zealous.files.places import place_of
from zealous.ledger import Entry
from zealous.planning.plan import Plan
from zealous.record.record import Record
from zealous.release.bundle import read_release
from zealous.release.charging import Payment
from zealous.release.checks import is_same_request
from zealous.release.progress import Say, stop_or_tell
from zealous.release.request import Request


def check_repetition(request: Request, record: Record, payment: Payment, say: Say) -> None:
    """Stop a run at a terminal that would pay once more for a release that is there.

    Elsewhere it is told: the file of a script may have other rows under the same name each time.

    Raises:
        Refused: It would, and nobody said to go on.
    """
    goes_on = request.attendance != "attended" or not _at_terminal()
    for entry in payment.like_releases():
        if _holds_request(entry, record, request.plan):
            text = (
                f"This log was published by the same plan before, in {entry.directory} (entry "
                f"{entry.number} of the ledger): once more it draws other noise, and costs as much "
                "again."
            )
            stop_or_tell([text], goes_on, say)
            return


def _at_terminal() -> bool:
    """Whether there is somebody to read a question."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _holds_request(entry: Entry, record: Record, planned: Plan) -> bool:
    """Whether what an entry paid for is what is asked for now, as far as it can be seen."""
    place = None if entry.directory is None else place_of(entry.directory).local()
    if place is None or not place.exists():
        return False
    with suppress(ZealousError):
        return is_same_request(read_release(place), record, planned)
    return False
