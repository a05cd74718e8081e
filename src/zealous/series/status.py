"""How a series stands: which periods have their release, and how long the budget lasts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Literal

from zealous.errors import Refused, ZealousError
from zealous.ledger import Charge, Ledger
from zealous.ledger.book import Book
from zealous.ledger.refusals import check_caps
from zealous.ledger.reservation import preview_entry
from zealous.ledger.standing import Standing
from zealous.logs.log import log_files
from zealous.planning.plan import Plan
from zealous.privacy.period import Period
from zealous.release.charging import losses_of
from zealous.series.series import Series

State = Literal["released", "due", "log missing"]
_FAR = 1_000  # periods ahead that are looked at


@dataclass(frozen=True, kw_only=True)
class PeriodState:
    """How one period stands.

    Attributes:
        period: The period.
        state: Whether it has its release.
        charges: How many charges count for it.
        unseen: And how many of them have no release.
    """

    period: Period
    state: State
    charges: int
    unseen: int


@dataclass(frozen=True, kw_only=True)
class SeriesStatus:
    """How a series stands.

    Attributes:
        periods: Those that are due, in order.
        spent: What was spent, against the cap over all releases; None without a ledger.
        lasts_until: The last period for which the budget lasts; None where nothing limits it, or
            where it does not last for one more.
        limited: Whether a cap limits the series.
    """

    periods: tuple[PeriodState, ...]
    spent: Standing | None
    lasts_until: Period | None
    limited: bool

    @property
    def missing(self) -> list[Period]:
        """The periods that should have a release and have none."""
        return [each.period for each in self.periods if each.state != "released"]

    def budget_text(self) -> str:
        """What was spent, and how long the rest lasts."""
        if self.spent is None:
            return "Nothing was charged yet."
        said = f"Spent: {self.spent}."
        if not self.limited:
            return f"{said} The ledger has no cap."
        if self.lasts_until is None:
            return f"{said} The budget does not last for one more release."
        return f"{said} The budget lasts until {self.lasts_until}."


def status(series: Series, *, today: date | None = None) -> SeriesStatus:
    """How a series stands; nothing is changed.

    Args:
        series: The series.
        today: The day in UTC; by the clock where not given.
    """
    day = today or datetime.now(UTC).date()
    if not series.ledger.exists():
        states = tuple(_state(series, None, each) for each in series.due(day))
        limited = series.total is not None
        return SeriesStatus(periods=states, spent=None, lasts_until=None, limited=limited)
    ledger = Ledger.open(series.ledger)
    book = ledger.book()
    states = tuple(_state(series, ledger, each) for each in series.due(day))
    limited = bool(book.caps.all)
    return SeriesStatus(
        periods=states,
        spent=book.standing(),
        lasts_until=_lasts_until(series, book, series.read_plan()) if limited else None,
        limited=limited,
    )


def log_is_there(series: Series, period: Period) -> bool:
    """Whether the log of a period can be found; nothing of it is read."""
    try:
        return bool(log_files(series.log_path(period), series.format, None))
    except ZealousError:
        return False


def _state(series: Series, ledger: Ledger | None, period: Period) -> PeriodState:
    attempts = [] if ledger is None else ledger.attempts(series.release_id(period))
    counted = [each for each in attempts if each.state != "voided"]
    released = any(each.state == "released" for each in counted)
    state: State = "due" if log_is_there(series, period) else "log missing"
    return PeriodState(
        period=period,
        state="released" if released else state,
        charges=len(counted),
        unseen=sum(each.state == "reserved" for each in counted),
    )


def _lasts_until(series: Series, book: Book, plan: Plan) -> Period | None:
    """The last period that the ledger would still grant, by the function that refuses."""
    charge = Charge.of(plan.goal, losses=losses_of(plan))
    entry, _ = preview_entry("forecast", charge)
    done = {each.release for each in book.counted_entries() if each.state == "released"}
    entries, granted = dict(book.entries), None
    for number, period in enumerate(series.periods()):
        if series.release_id(period) in done:
            granted = period
            continue
        if number > _FAR:
            break
        next_charge = replace(charge, period=period)
        try:
            check_caps(replace(book, entries=entries), next_charge)
        except Refused:
            break
        seq = max(entries, default=0) + 1
        entries[seq] = replace(entry, seq=seq, charge=next_charge)
        granted = period
    return granted
