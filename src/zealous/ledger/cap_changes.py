"""What new caps may say: what they limit and for whom is fixed by the releases so far.

Guarantee:
    A promise ends only with a reason, which is recorded, and where it was kept until then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from zealous.errors import Refused, UsageError
from zealous.ledger.book import Book
from zealous.ledger.budgets import Caps, check_label
from zealous.ledger.entries import caps_as_json
from zealous.privacy.guarantee import Unit

_NEEDS_BOTH = "to compose losses a cap needs both: --cap-epsilon and --cap-delta below 1"


def check_composable(caps: Caps) -> None:
    """Refuse caps on composed losses without both numbers."""
    if caps.compose == "losses" and not caps.composable:
        raise UsageError(_NEEDS_BOTH)


def decided_caps(
    book: Book, caps: Caps, *, unit: Unit | None, reason: str | None
) -> dict[str, Any]:
    """What the event of new caps says; `Ledger.set_caps` tells the rules."""
    measure = book.measure()
    counts = measure.unit if measure and book.counted_entries() else unit or "user"
    if unit not in (None, book.unit or counts):
        raise Refused(
            f"{book.path} counts what one {book.unit or counts} loses already: name another ledger"
        )
    was = book.fixed_currency()
    if caps.compose is None and book.entries:  # what allows more was seen by now
        caps = replace(caps, compose=was or "sums")
        if was == "losses" and (caps.all or caps.period) and not caps.composable:
            raise UsageError(_NEEDS_BOTH)
    said = {**caps_as_json(caps), "unit": book.unit or counts}
    if was not in (None, caps.compose):
        _check_may_end(book, reason)
        said["ended"] = caps_as_json(replace(book.caps_so_far(), compose=was))
    if reason is not None:
        said["reason"] = check_label(reason, "reason")
    return said


def _check_may_end(book: Book, reason: str | None) -> None:
    """Refuse to end a promise in silence, or one that does not cover what was charged."""
    if reason is None:
        raise Refused(
            "what the caps limit was fixed by the releases so far. To change it ends that promise, "
            "and over everything both caps add up: give a reason for it, which is recorded"
        )
    _, period, whole = book.against_caps()
    if not (period.fits and whole.fits):
        raise Refused(
            "more was charged than the caps in force allow: raise them first, and then change what "
            "they limit"
        )
