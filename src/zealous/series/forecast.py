"""What further releases of a series would cost, by the functions that a ledger refuses with."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from zealous.errors import Refused
from zealous.ledger import Caps, Charge, Ledger
from zealous.ledger.book import Book
from zealous.ledger.cap_spending import Standing
from zealous.ledger.refusals import check_caps
from zealous.ledger.reservation import preview_entry
from zealous.planning.plan import Plan
from zealous.privacy.guarantee import format_number
from zealous.privacy.period import Period
from zealous.release.charging import charge_of_plan
from zealous.series.series import Series

_FAR = 1_000  # periods ahead that are looked at


def book_of(series: Series) -> Book:
    """The ledger of a series; before the first run an empty one with the series' cap."""
    if series.ledger.exists():
        return Ledger.open(series.ledger).book()
    return Book() if series.total is None else Book(caps=Caps(all=series.total))


@dataclass(frozen=True, kw_only=True)
class Price:
    """What some releases would cost.

    Attributes:
        releases: What would be published, in order.
        before: What was spent.
        after: What would be, allowed or not.
        granted: How many of them the cap allows.
        lasted_until: Until when the budget lasts without them; None where nothing limits it, or
            where it does not last for one more.
        lasts_until: And with them.
    """

    releases: tuple[str, ...]
    before: Standing
    after: Standing
    granted: int
    lasted_until: Period | None
    lasts_until: Period | None

    def text(self) -> str:
        """In sentences."""
        number = len(self.releases)
        what = f"{number} release{'' if number == 1 else 's'}"
        named = f" ({', '.join(self.releases)})" if self.releases else ""
        said = [f"Spent: {self.before}."]
        if self.granted < number:
            said.append(f"The cap does not allow {what} more{named}: with that, {self.after}.")
            said += [f"It allows {self.granted} of them."] if self.granted else []
            return " ".join(said)
        if number:
            said.append(f"With {what} more{named}: {self.after}.")
        if self.lasts_until is not None and self.lasts_until == self.lasted_until:
            said.append(f"The budget lasts until {self.lasts_until} either way.")
        elif self.lasts_until is not None:
            before = f" instead of {self.lasted_until}" if self.lasted_until else ""
            said.append(f"The budget then lasts until {self.lasts_until}{before}.")
        elif self.lasted_until is not None:
            said.append(f"The budget lasts until {self.lasted_until}, and then for none more.")
        return " ".join(said)


def price(
    series: Series,
    book: Book,
    plan: Plan,
    *,
    missing: Sequence[Period],
    again: Sequence[Period] = (),
    lasted_until: Period | None,
) -> Price:
    """What it would cost to publish what is missing, and some periods again.

    Args:
        series: The series, perhaps with another first period.
        book: The ledger's.
        plan: The plan, perhaps another one.
        missing: Periods without a release.
        again: Periods to be published once more.
        lasted_until: Until when the budget lasts as things are.
    """
    wanted = [(series.release_id(each), each) for each in missing]
    wanted += [(series.release_id(each, series.last_edition(each) + 1), each) for each in again]
    charge = charge_of_plan(plan)
    granted, later = _how_many_granted(book, charge, wanted), with_releases(book, charge, wanted)
    lasts = book.capped() and granted == len(wanted)
    return Price(
        releases=(*map(str, missing), *(f"{each} again" for each in again)),
        before=book.standing(),
        after=later.standing(),
        granted=granted,
        lasted_until=lasted_until,
        lasts_until=lasts_until(series, later, plan) if lasts else None,
    )


def lasts_until(series: Series, book: Book, plan: Plan) -> Period | None:
    """The last period up to which each has a release or would be granted one; None for none."""
    missing = missing_releases(series, book)
    granted = _how_many_granted(book, charge_of_plan(plan), missing)
    _, refused = missing[granted] if granted < len(missing) else ("", None)
    last = None
    for period in itertools.islice(series.periods(), _FAR):
        if period == refused:
            break
        last = period
    return last


def missing_releases(series: Series, book: Book) -> list[tuple[str, Period]]:
    """The releases that nothing was charged for, not more than `_FAR` ahead, and their periods."""
    # A charge for a folder of drafts is gone on with.
    kept = [each for each in book.counted_entries() if each.state == "released" or each.drafts]
    done = {each.release for each in kept}
    periods = itertools.islice(series.periods(), _FAR)
    every = ((series.release_id(period), period) for period in periods)
    return [(release, period) for release, period in every if release not in done]


def with_releases(book: Book, charge: Charge, releases: Sequence[tuple[str, Period]]) -> Book:
    """The ledger as it would be after some more releases, whether it grants them or not."""
    entry, _ = preview_entry("forecast", charge)
    first = max(book.entries, default=0) + 1
    more = {
        seq: replace(
            entry, seq=seq, release=release, state="released", charge=replace(charge, period=period)
        )
        for seq, (release, period) in enumerate(releases, first)
    }
    return replace(book, entries={**book.entries, **more})


def _how_many_granted(book: Book, charge: Charge, wanted: Sequence[tuple[str, Period]]) -> int:
    """How many of them are granted before the first refusal.

    What all releases come to only grows, so the place is searched; a cap of one period may refuse
    any of them, and all are tried.
    """

    def is_refused(number: int) -> bool:
        before = with_releases(book, charge, wanted[:number])
        return not _is_granted(before, charge, wanted[number][1])

    places = range(len(wanted))
    if book.caps.period:
        return next((each for each in places if is_refused(each)), len(wanted))
    near = 16  # what is asked of a ledger with many more releases takes longer
    while near < len(wanted) and not is_refused(near):
        near *= 2
    return bisect.bisect_left(places[: near + 1], True, key=is_refused)


def _is_granted(book: Book, charge: Charge, period: Period) -> bool:
    try:
        check_caps(book, replace(charge, period=period))
    except Refused:
        return False
    return True


def left_text(spent: Standing) -> str:
    """What is left of epsilon, as a sentence; nothing without a cap."""
    most = spent.cap.epsilon
    if most is None:
        return ""
    left = max(most - spent.epsilon, Fraction(0)) if spent.epsilon is not None else Fraction(0)
    return f" Left: epsilon {format_number(left, up=False)}."
