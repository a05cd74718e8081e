"""Read the events of a ledger: is the chain whole, and is what it says lawful?

Guarantee:
    Nothing is granted on a ledger that was changed, or whose events do not follow from each other.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from zealous.errors import LedgerError
from zealous.ledger import store
from zealous.ledger.book import Book
from zealous.ledger.store import Row, event_hash


def read_sound_book(
    connection: sqlite3.Connection, path: Path, as_of: datetime | None = None
) -> Book:
    """The contents of a ledger; nothing is granted on one that does not hold together."""
    book = read_book(store.read_rows(connection), as_of)
    book.path = path
    problems = [*book.problems, *store.tampering_problems(connection)]
    if problems:
        raise LedgerError(
            f"{path} is damaged or was tampered with ({problems[0]}): see "
            "`zealous ledger verify`, and restore it from a copy"
        )
    return book


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
