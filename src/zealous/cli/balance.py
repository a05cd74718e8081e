"""How a ledger is shown: its history, both accounts, and bars of what is spent."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from zealous.cli import show
from zealous.ledger import Budget, Cap
from zealous.ledger.book import Book, Entry
from zealous.privacy.guarantee import WHOEVER, format_number
from zealous.privacy.period import Period

_WIDTH = 24


def ledger_as_json(path: Path, book: Book, within: Period | None = None) -> dict[str, Any]:
    """A ledger for programs."""
    measure, spent = book.measure(), book.accounts(within)
    return {
        "ledger": book.id,
        "path": str(path),
        "dataset": book.dataset,
        "unit": measure.unit if measure else None,
        "neighbors": measure.neighbors if measure else None,
        "accounts": spent.as_json(),
        "caps": {"all": _cap_as_json(book.caps.all), "period": _cap_as_json(book.caps.period)},
        "left": {
            "all": _cap_as_json(_left_of(book.caps.all, spent.all)),
            "period": _cap_as_json(_left_of(book.caps.period, spent.period)),
        },
        "entries": [_entry_as_json(entry) for entry in book.entries.values()],
        "last": {"seq": book.last.seq, "hash": book.last.hash} if book.last else None,
    }


def print_ledger(path: Path, book: Book, within: Period | None = None) -> None:
    """A ledger for people."""
    title = f"{book.dataset or 'unnamed people'}: {path}"
    rows = [
        (
            f"#{entry.seq}",
            f"{entry.time:%Y-%m-%d}",
            entry.release,
            str(entry.charge.period or "any"),
            entry.charge.people or "",
            format_number(entry.charge.epsilon),
            format_number(entry.charge.delta),
            entry.state,
            entry.by,
        )
        for entry in book.entries.values()
    ]
    names = ["entry", "charged", "release", "period", "people", "epsilon", "delta", "state", "by"]
    if rows:
        show.table(title, names, rows)
    else:
        click.echo(f"{title}\n\nNothing has been charged.\n")
    spent, measure = book.accounts(within), book.measure()
    period = f"in {spent.within}" if spent.within else "in one period"
    click.echo(f"What one {measure.unit if measure else 'user'} has lost:")
    _print_bars(period, spent.period, book.caps.period)
    _print_bars("over all releases", spent.all, book.caps.all)
    if measure is None or not rows:
        return
    deltas = format_number(spent.anybody)
    meaning = {
        "probabilistic": "All of it together is probabilistic differential privacy:\n"
        f"the chance that {WHOEVER[measure.unit]} is breached is at most {deltas}.",
        "indistinguishable": "Some of it is indistinguishable only, and so is all of it together:"
        f"\ndelta is per person (all deltas add up to {deltas}).",
    }[spent.definition]
    click.echo(f"\nNeighbours: {measure.neighbors}. {meaning}")


def bar(used: Fraction, most: Fraction, width: int = _WIDTH) -> str:
    """A bar in eighths of a character; empty only if nothing is spent, full only if all is.

    >>> bar(Fraction(1), Fraction(2), 4), bar(Fraction(1), Fraction(10**9), 4)
    ('██░░', '▏░░░')
    """
    if used >= most:
        return "█" * width
    eighths = min(max(int(used / most * width * 8), used > 0), width * 8 - 1)
    full, rest = divmod(eighths, 8)
    return ("█" * full + " ▏▎▍▌▋▊▉"[rest].strip()).ljust(width, "░")


def _print_bars(title: str, spent: Budget, cap: Cap) -> None:
    """One line each for epsilon and delta."""
    for name, used, most in (
        ("epsilon", spent.epsilon, cap.epsilon),
        ("delta", spent.delta, cap.delta),
    ):
        head = f"  {title if name == 'epsilon' else '':<26} {name:<8}"
        if most is None:
            click.echo(f"{head}{format_number(used)}, no cap")
            continue
        left = most - used
        rest = (
            f"{format_number(left, up=False)} left"
            if left >= 0
            else f"{format_number(-left)} over the cap"
        )
        click.echo(
            f"{head}{bar(used, most)}  {format_number(used)} of {format_number(most)}, {rest}"
        )


def _left_of(cap: Cap, spent: Budget) -> Cap:
    return Cap(
        epsilon=None if cap.epsilon is None else max(cap.epsilon - spent.epsilon, Fraction(0)),
        delta=None if cap.delta is None else max(cap.delta - spent.delta, Fraction(0)),
    )


def _cap_as_json(cap: Cap) -> dict[str, Any]:
    both = {"epsilon": cap.epsilon, "delta": cap.delta}
    return {
        # Down: a number that promised more than there is would be refused.
        **{name: n if n is None else float(format_number(n, up=False)) for name, n in both.items()},
        "exact": {name: n if n is None else str(n) for name, n in both.items()},
    }


def _entry_as_json(entry: Entry) -> dict[str, Any]:
    charge = entry.charge
    return {
        "entry": entry.seq,
        "release": entry.release,
        "state": entry.state,
        "time": entry.time.isoformat(),
        "by": entry.by,
        "definition": charge.definition,
        "neighbors": charge.neighbors,
        "unit": charge.unit,
        "period": str(charge.period) if charge.period else None,
        "people": charge.people,
        **Budget(epsilon=charge.epsilon, delta=charge.delta).as_json(),
        "directory": entry.directory,
        "sha256": entry.sha256,
        "hash": entry.hash,
    }
