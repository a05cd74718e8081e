"""How a ledger is shown: its history, both accounts, and bars of what is spent."""

from __future__ import annotations

import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

from zealous.cli import terminal
from zealous.ledger import Accounts, Budget, Cap, Entry
from zealous.ledger.book import Book
from zealous.ledger.budgets import Measure
from zealous.ledger.cap_spending import Standing
from zealous.ledger.events import describe_promise
from zealous.ledger.signatures import signer_names
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.guarantee import WHOEVER, format_number
from zealous.privacy.period import Period
from zealous.privacy.promise import ODDS
from zealous.privacy.units import unit_warning

_WIDTH = 20
_WORTH_SAYING = Fraction(99, 100)


def ledger_as_json(path: Path, book: Book, within: Period | None = None) -> dict[str, Any]:
    """A ledger for programs."""
    measure, spent = book.measure(), book.accounts(within)
    where, period, whole = book.against_caps(within)
    return {
        "ledger": book.id,
        "path": str(path),
        "dataset": book.dataset,
        "unit": measure.unit if measure else None,
        "neighbors": measure.neighbors if measure else None,
        "accounts": spent.as_json(),
        "caps": {"all": _cap_as_json(book.caps.all), "period": _cap_as_json(book.caps.period)},
        "left": {"all": _left_as_json(whole), "period": _left_as_json(period)},
        "against_caps": {
            "compose": "losses" if book.composes_losses() else "sums",
            "all": whole.as_json(),
            "period": {"within": str(where or "all"), **period.as_json()},
        },
        "if_fixed_in_advance": _fixed_as_json(book, within),
        "promised": _promised_as_json(book),
        "events": len(book.events),
        "moved_to": book.moved_to,
        "approvers": None if book.approvers is None else signer_names(book.approvers),
        "bypassed": sum(event.kind == "bypassed" for event in book.events),
        "entries": [_entry_as_json(entry, book) for entry in book.entries.values()],
        "last": {"seq": book.last.seq, "hash": book.last.hash} if book.last else None,
    }


def print_ledger(path: Path, book: Book, within: Period | None = None) -> None:
    """A ledger for people."""
    title = f"{book.dataset or 'unnamed people'}: {path}"
    rows = _entry_rows(book)
    if rows:
        names = ["#", "charged", "release", "period", "epsilon", "delta", "state"]
        terminal.table(title, names, rows)
        names = ["#", "log", "person", "delta per person", "delta for anybody"]
        terminal.table("The log of each entry, and its two deltas", names, _source_rows(book))
    else:
        terminal.echo(f"{title}\n\nNothing has been charged.\n")
    spent, measure = book.accounts(within), book.measure()
    where, period, whole = book.against_caps(within)
    terminal.echo(f"Spent, for one {measure.unit if measure else 'user'}:")
    if where or period.cap:
        _print_bars(f"in {where or 'any period'}", period)
    _print_bars("over all releases", whole)
    if where and measure is not None and measure.neighbors == "add-remove":
        terminal.echo(
            f"  In {where} she is there with all her entries of it, or not. A part of them, such "
            "as one\n  day, can cost more: --period tells."
        )
    if rows and not where:
        terminal.echo(
            "  No release names a period (--period): this is also the loss in any period."
        )
    fixed = book.fixed_in_advance(within)
    if fixed is not None and not whole.composed:
        delta, _, epsilon = fixed
        if epsilon is not None and epsilon < _WORTH_SAYING * spent.all.epsilon:
            terminal.echo(
                "  if all parameters were fixed in advance: "
                f"epsilon {format_number(epsilon)} at delta {format_number(delta)}"
            )
    if whole.composed:
        terminal.echo(
            f"  Epsilon is at delta {format_number(whole.delta)}, half of which is kept for items "
            "of one person alone."
        )
    if measure is not None and rows:
        _print_meaning(measure, spent, composed=whole.composed or period.composed)
    if (changed := changed_promise(book)) is not None:
        terminal.echo(f"\n{changed}")
    if book.moved_to is not None:
        terminal.echo(f"\nThis ledger was moved to {book.moved_to}: nothing is charged here.")
    if book.approvers is not None:
        terminal.echo(f"\nPlans are approved by: {', '.join(signer_names(book.approvers))}.")
    decided = book.decisions()
    if past := [event for event in decided if event.kind == "bypassed"]:
        terminal.echo(f"\n{len(past)} published past this ledger, and not counted in it.")
    last = decided[-1]
    terminal.echo(
        f"\n{len(decided)} decision{'s' if len(decided) > 1 else ''} on record, the last by "
        f"{last.by} on {last.time:%Y-%m-%d}:\n  zealous ledger events {shlex.quote(str(path))}"
    )


def _entry_rows(book: Book) -> list[tuple[str, ...]]:
    """One row an entry, narrow enough for a terminal; who asked for it is an event."""
    rows: list[tuple[str, ...]] = []
    for entry in book.entries.values():
        charge, counted = entry.charge, book.cost(entry)
        of = [str(charge.period or "any"), *([charge.people] if charge.people else [])]
        epsilon = format_number(charge.epsilon)
        if counted.epsilon != charge.epsilon:
            epsilon += f", counts {format_number(counted.epsilon)}"
        rows.append(
            (
                str(entry.number),
                f"{entry.time:%Y-%m-%d}",
                entry.release,
                ", ".join(of),
                epsilon,
                format_number(charge.delta),
                entry.state,
            )
        )
    return rows


def _source_rows(book: Book) -> list[tuple[str, ...]]:
    """Which log each entry is of, whose an entry of the log is, and both deltas."""
    rows: list[tuple[str, ...]] = []
    for entry in book.entries.values():
        charge = entry.charge
        known_other = charge.other_delta if charge.delta else 0.0  # without a delta, by neither
        other = "" if known_other is None else format_number(known_other)
        deltas = [format_number(charge.delta), other]
        if charge.definition == "probabilistic":  # of which its delta is for anybody
            deltas.reverse()
        source = (charge.log or "not recorded", charge.person or "not recorded")
        rows.append((str(entry.number), *source, *deltas))
    return rows


def _print_meaning(measure: Measure, spent: Accounts, *, composed: bool) -> None:
    """What the accounts amount to."""
    deltas = format_number(spent.anybody)
    meaning = {
        "probabilistic": "All of it together is probabilistic differential privacy:\n"
        f"the chance that {WHOEVER[measure.unit]} is exposed is at most {deltas}.",
        "indistinguishable": "Some of it is indistinguishable only, and so is all of it together:"
        f"\ndelta is per person (all deltas add up to {deltas}).",
        "composed": "Composed losses are a promise of indistinguishability:"
        f"\ndelta is per person (all deltas add up to {deltas}).",
    }["composed" if composed else spent.definition]
    for warning in unit_warning(measure.unit):
        terminal.echo(f"\n{warning}")
    terminal.echo(
        f"\nThe figures limit how far anybody's odds {ODDS[measure.neighbors, measure.unit]} move "
        f"(neighbours: {measure.neighbors}).\n{meaning}"
    )


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


def _print_bars(title: str, spent: Standing) -> None:
    """One line each for epsilon and delta; for epsilon and exposure where losses are composed."""
    for name, used, most in spent.figures():
        head = f"  {title if name == 'epsilon' else '':<18} {name:<8}"
        if used is None:
            terminal.echo(f"{head}over the cap: more can be exposed than delta allows")
            continue
        if most is None:
            terminal.echo(f"{head}{format_number(used)}, no cap")
            continue
        left = most - used
        rest = (
            f"{format_number(left, up=False)} left"
            if left >= 0
            else f"{format_number(-left)} over the cap"
        )
        terminal.echo(
            f"{head}{bar(used, most)}  {format_number(used)} of {format_number(most)}, {rest}"
        )


def _left_as_json(spent: Standing) -> dict[str, Any]:
    """What is left of a cap; of delta, where losses are composed, what is left for exposure."""
    delta, most = spent.delta, spent.cap.delta
    if spent.composed:
        delta, most = spent.exposure or Fraction(0), spent.room
    cap = Cap(epsilon=spent.cap.epsilon, delta=most)
    over = cap.epsilon or Fraction(0)  # where no epsilon covers it
    return _cap_as_json(
        cap.left(Budget(epsilon=over if spent.epsilon is None else spent.epsilon, delta=delta))
    )


def _fixed_as_json(book: Book, within: Period | None) -> dict[str, Any] | None:
    found = book.fixed_in_advance(within)
    if found is None:
        return None
    delta, period, whole = (n if n is None else float_rounded_up(n) for n in found)
    return {"delta": delta, "epsilon_all": whole, "epsilon_period": period}


def _promised_as_json(book: Book) -> dict[str, Any] | None:
    """What holds over everything, where caps were changed after releases and it is more."""
    if not book.promises_more_than_caps():
        return None
    caps = book.promised()
    return {"all": _cap_as_json(caps.all), "period": _cap_as_json(caps.period)}


def changed_promise(book: Book) -> str | None:
    """The same for people."""
    if not book.promises_more_than_caps():
        return None
    if book.ended:
        why = "What the caps limit was changed after releases, which ended an earlier promise:"
        return f"{why}\n{describe_promise(book.promised())}."
    why = "Caps were lowered after releases. That ends no larger promise:"
    return f"{why}\n{describe_promise(book.promised(), 'over everything')}."


def _cap_as_json(cap: Cap) -> dict[str, Any]:
    both = {"epsilon": cap.epsilon, "delta": cap.delta}
    return {
        # Down: a number that promised more than there is would be refused.
        **{name: n if n is None else float(format_number(n, up=False)) for name, n in both.items()},
        "exact": {name: n if n is None else str(n) for name, n in both.items()},
    }


def _entry_as_json(entry: Entry, book: Book) -> dict[str, Any]:
    charge = entry.charge
    return {
        "entry": entry.number,
        "event": entry.seq,
        "release": entry.release,
        "state": entry.state,
        "time": entry.time.isoformat(),
        "by": entry.by,
        "definition": charge.definition,
        "neighbors": charge.neighbors,
        "unit": charge.unit,
        "period": str(charge.period) if charge.period else None,
        "people": charge.people,
        "log": charge.log,
        "person": charge.person,
        "other_delta": charge.other_delta,
        **Budget(epsilon=charge.epsilon, delta=charge.delta).as_json(),
        "counted": book.cost(entry).as_json(),
        "approver": entry.approver,
        "directory": entry.directory,
        "sha256": entry.sha256,
        "hash": entry.hash,
    }
