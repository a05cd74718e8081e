"""Which charges a ledger refuses, and why: a rule, a cap, or a release that would pass it by.

Guarantee:
    A charge beyond a cap is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from zealous.errors import Refused
from zealous.ledger.book import Book
from zealous.ledger.budgets import Charge, periods_overlap
from zealous.ledger.cap_spending import Standing
from zealous.ledger.entries import Entry
from zealous.privacy.guarantee import format_number
from zealous.privacy.period import Period
from zealous.privacy.units import is_weak_unit

_MOST_NAMED = 12


class OverCap(Refused):
    """A cap leaves no room for a charge."""


def check_charge(
    book: Book, charge: Charge, *, release: str | None, again: bool, reason: str | None = None
) -> None:
    """Refuse a charge that breaks a rule or a cap.

    Guarantee:
        After every granted charge both accounts are within the caps in force, for every declared
        period that the charge touches.
    """
    check_here(book)
    measure = book.measure(charge)
    assert measure is not None  # noqa: S101
    if charge.unit not in ("user", measure.unit):
        raise Refused(
            f"this ledger counts what one {measure.unit} loses, and the release protects one "
            f"{charge.unit}: start a ledger of its own with --ledger FILE"
        )
    _check_weak_unit(book, charge)
    known = {
        each.charge.sessions for each in book.counted_entries() if each.charge.unit == "session"
    }
    if charge.unit == "session" and known - {charge.sessions}:
        raise Refused(
            "the sessions of this release are not those that the ledger counts: start a ledger "
            "of its own with --ledger FILE"
        )
    if not again:
        _check_new(book, charge, release)
    if reason is None:
        _check_people(book, charge)
    check_caps(book, charge)


def _check_weak_unit(book: Book, charge: Charge) -> None:
    """A ledger that counts what a user loses never turns into one of her queries unasked."""
    others = {entry.charge.unit for entry in book.counted_entries()} - {charge.unit}
    if is_weak_unit(charge.unit) and book.unit is None and others:
        raise Refused(
            f"this ledger has counted what one {sorted(others)[0]} loses, and a release for one "
            f"{charge.unit} would make it count that alone: start a ledger of its own with "
            "--ledger FILE"
        )


def _check_new(book: Book, charge: Charge, release: str | None) -> None:
    if charge.period is None:
        return
    earlier = [
        entry
        for entry in book.counted_entries()
        if entry.charge.period is not None
        and entry.charge.may_concern(charge)
        # Another attempt at a release that never came to be is charged, and publishes once.
        and not (entry.release == release and entry.state == "reserved")
    ]
    if earlier:
        raise Refused(
            f"the period {charge.period} was published before, in whole or in part. To publish "
            "it again, which is charged again, say --again. Before:" + _list_entries(earlier)
        )


def _check_people(book: Book, charge: Charge) -> None:
    """Refuse that the people of one log are first these and then others, unless it is explained."""
    earlier = [
        entry
        for entry in book.counted_entries()
        if None not in (charge.log, entry.charge.log, charge.people, entry.charge.people)
        and entry.charge.people != charge.people
        and not charge.of_other_log(entry.charge)
    ]
    if earlier:
        known = earlier[-1]
        raise Refused(
            f"this log was charged for the people {known.charge.people} in entry {known.number}, "
            f"and {charge.people} would be counted as others. Say --people {known.charge.people}; "
            "or, if the log holds other people now, say so with --reason TEXT, which is recorded"
        )


def check_caps(book: Book, charge: Charge) -> None:
    """Refuse a charge after which a cap would be passed."""
    charges = [entry.charge for entry in book.counted_entries()]
    if book.caps.all:
        after = book.standing(charge)
        if not after.fits:
            before = book.standing()
            left = _what_is_left("over all releases", before, after)
            raise OverCap(_over_cap(book, charge, left, book.counted_entries()))
    if not book.caps.period:
        return
    declared = {each.period for each in [*charges, charge] if each.period is not None}
    touched = [each for each in declared if periods_overlap(each, charge.period)]
    several: list[Period | None] = [*sorted(touched, key=lambda each: (each.first, each.end))]
    for within in several or [None]:
        after = book.standing_in_period(within, charge)
        if not after.fits:
            before = book.standing_in_period(within)
            used = [
                each
                for each in book.counted_entries()
                if periods_overlap(each.charge.period, within)
            ]
            where = f"in the period {within}" if within else "in any period"
            left = _what_is_left(where, before, after)
            raise OverCap(_over_cap(book, charge, left, used))


def check_here(book: Book) -> None:
    """Refuse to add to a ledger that went on elsewhere: what is left would be spent twice."""
    if book.moved_to is not None:
        raise Refused(
            f"this ledger was moved to {book.moved_to} by {book.events[-1].by}: name that one "
            "with --ledger FILE"
        )


def check_bypass(book: Book, reason: str | None, instead: str = "Charge it") -> None:
    """Refuse a release that is not charged here; where only caps limit, a reason allows it.

    Args:
        book: The ledger's.
        reason: Why it is not charged here.
        instead: How it would be, as a sentence without its end.
    """
    if book.approvers is not None:
        raise Refused(
            f"the ledger {book.path} publishes by approved plans alone, and this release would not "
            f"be charged to it. {instead}, and have a plan approved with `zealous approve`"
        )
    if book.capped() and reason is None:
        raise Refused(
            f"the ledger {book.path} caps what one person may lose, and this release would not be "
            f"charged to it (a copy of it is another ledger). {instead}; or say why it goes "
            "past that ledger, which is recorded there: --reason TEXT"
        )


def others_option(book: Book, entries: Iterable[Entry]) -> str:
    """What says that a release is of other people than these entries are.

    A charge without a name counts for everybody, whatever name another one has.
    """
    if all(each.charge.people for each in entries):
        return "say --people NAME"
    return f"charge another ledger, --ledger FILE{' --reason TEXT' if book.capped() else ''}"


def _over_cap(book: Book, charge: Charge, left: str, used: Sequence[Entry]) -> str:
    """Why a charge is refused: in which ledger, what is left, what to do, who used the rest."""
    ledger = f" {book.path}" if book.path else ""
    others = [
        each
        for each in used
        if each.charge.may_concern(replace(charge, period=None))
        and (each.charge.log is None or each.charge.log != charge.log)
    ]
    claim = f"If its people are others than theirs, {others_option(book, others)}. "
    return (
        f"the ledger{ledger} does not allow it. {left}. Ask for less, or have the owner of the "
        f"data raise the cap. {claim if others else ''}It was used by:{_list_entries(used)}"
    )


def _what_is_left(where: str, before: Standing, after: Standing) -> str:
    lines = []
    for name, most, spent, needed in (
        ("epsilon", before.cap.epsilon, before.epsilon, after.epsilon),
        ("delta", before.cap.delta, before.delta, after.delta),
        ("exposure", before.room, before.exposure, after.exposure),
    ):
        if most is None or (needed is not None and needed <= most):
            continue
        if spent is None or needed is None:  # of epsilon: exposure says why
            continue
        left = max(most - spent, Fraction(0))
        lines.append(
            f"{format_number(left, up=False)} of {name} {format_number(most)} is left "
            f"and this release adds {format_number(needed - spent)}"
        )
    return f"Of what one person may lose {where}, {'; '.join(lines)}"


def _list_entries(entries: Iterable[Entry]) -> str:
    every = sorted(entries, key=lambda entry: (-entry.charge.epsilon, entry.number))
    lines = [f"\n  {entry}" for entry in every[:_MOST_NAMED]]
    if len(every) > _MOST_NAMED:
        lines.append(f"\n  and {len(every) - _MOST_NAMED} more: see `zealous ledger show`")
    return "".join(lines) or " nothing yet"
