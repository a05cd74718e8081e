"""How a series stands: which periods have their release, and how long the budget lasts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from zealous.errors import ReleaseError, ZealousError
from zealous.ledger import Ledger
from zealous.ledger.cap_spending import Standing
from zealous.logs.log import log_files
from zealous.privacy.period import Period
from zealous.release.bundle import read_release
from zealous.series.forecast import book_of, lasts_until, left_text
from zealous.series.series import Series

State = Literal["released", "due", "log missing"]


@dataclass(frozen=True, kw_only=True)
class PeriodState:
    """How one period stands.

    Attributes:
        period: The period.
        state: Whether it has its release.
        charges: How many charges count for it.
        unseen: And how many of them have no release.
        editions: How many releases it has: more than one if it was corrected.
        rows: How many rows the last of them has, over all tables; None where it cannot be read.
    """

    period: Period
    state: State
    charges: int
    unseen: int
    editions: int
    rows: int | None


@dataclass(frozen=True, kw_only=True)
class SeriesStatus:
    """How a series stands.

    Attributes:
        periods: Those that are due, in order.
        spent: What was spent, against the cap over all releases; None before the first.
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
        said = "Nothing was charged yet."
        if self.spent is not None:
            said = f"Spent: {self.spent}.{left_text(self.spent)}"
        if not self.limited:
            return f"{said} No cap limits it."
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
    ledger = Ledger.open(series.ledger) if series.ledger.exists() else None
    book = book_of(series)
    states = tuple(_state(series, ledger, each) for each in series.due_periods(day))
    limited = bool(book.caps.all)
    return SeriesStatus(
        periods=states,
        spent=book.standing() if book.entries else None,
        lasts_until=lasts_until(series, book, series.read_plan()) if limited else None,
        limited=limited,
    )


def log_is_there(series: Series, period: Period) -> bool:
    """Whether the log of a period can be found; nothing of it is read."""
    try:
        return bool(log_files(series.log_path(period), series.format, None))
    except ZealousError:
        return False


def _state(series: Series, ledger: Ledger | None, period: Period) -> PeriodState:
    first = [] if ledger is None else ledger.attempts(series.release_id(period))
    released = any(each.state == "released" for each in first)
    editions = max(series.last_edition(period), int(released))
    later = range(2, editions + 2)  # also one that was begun
    attempts = [
        *first,
        *(each for n in later if ledger for each in ledger.attempts(series.release_id(period, n))),
    ]
    counted = [each for each in attempts if each.state != "voided"]
    state: State = "due" if log_is_there(series, period) else "log missing"
    return PeriodState(
        period=period,
        state="released" if released else state,
        charges=len(counted),
        unseen=sum(each.state == "reserved" for each in counted),
        editions=editions if released else 0,
        rows=_rows(series.release_path(period, editions)) if released else None,
    )


def _rows(release: Path) -> int | None:
    with suppress(ReleaseError):
        return sum(map(len, read_release(release).values()))
    return None
