"""What the event of a charge says: the release, what it costs, who asks and when."""

from __future__ import annotations

import getpass
import os
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from zealous.ledger import store
from zealous.ledger.book import Book
from zealous.ledger.budgets import Charge, check_label
from zealous.ledger.entries import Entry, charge_as_json
from zealous.ledger.reading import read_book


def reservation(
    release: str, charge: Charge, *, by: str | None, again: bool, drafts: str | None = None
) -> dict[str, Any]:
    """What is recorded before noise is drawn."""
    said = {"release": release, "again": again, **charge_as_json(charge), **who_and_when(by)}
    return said if drafts is None else {**said, "drafts": drafts}


def preview_entry(release: str, charge: Charge, *, by: str | None = None) -> tuple[Entry, Book]:
    """The entry that a new ledger would begin with, and its book then; nothing is written."""
    first = store.opening_event(
        {"dataset": None, "unit": None, "neighbors": None, **who_and_when(by)}
    )
    said = reservation(check_label(release, "the release's id"), charge, by=by, again=False)
    second = store.next_event({"event": "reserved", **said}, first)
    book = read_book([first, second])
    return replace(book.entries[second.seq], accounts=book.accounts(charge.period)), book


def who_and_when(by: str | None) -> dict[str, str]:
    """Who and when."""
    return {"by": check_label(by, "by") if by is not None else _login(), "time": _now()}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _login() -> str:
    try:
        return check_label(getpass.getuser(), "by")
    except Exception:  # a container without a user list has no name to give
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"
