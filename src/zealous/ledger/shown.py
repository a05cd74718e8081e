"""A ledger as a notebook shows it: what was spent, and the last entries."""

from __future__ import annotations

from zealous.ledger.book import Book
from zealous.notebook import ROWS, block, grid, line, note
from zealous.privacy.guarantee import format_number


def book_as_html(book: Book) -> str:
    """Both accounts, and the entries charged last."""
    entries = list(book.entries.values())
    within, in_period, whole = book.against_caps()
    period = f"in {within}" if within else "in any period"
    rows = [
        (
            entry.number,
            f"{entry.time:%Y-%m-%d}",
            entry.release,
            str(entry.charge.period or "any"),
            format_number(entry.charge.epsilon),
            format_number(entry.charge.delta),
            entry.state,
            entry.by,
        )
        for entry in entries[-ROWS:]
    ]
    names = ["entry", "charged", "release", "period", "epsilon", "delta", "state", "by"]
    return block(
        f"Ledger of {book.dataset or 'unnamed people'}",
        line(f"Spent {whole} over all releases."),
        line(f"Spent {in_period} {period}."),
        grid(names, rows) if rows else line("Nothing has been charged."),
        note(f"and {len(entries) - ROWS:,} earlier entries" if len(entries) > ROWS else ""),
        note(f"It is in {book.path}."),
    )
