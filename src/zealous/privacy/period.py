"""A declared range of days, and whether two of them can hold the same moment."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Self

from zealous.errors import UsageError

_DAY = timedelta(days=1)
_WRITTEN = re.compile(
    r"([0-9]{4})(?:-(?:Q(?P<quarter>[1-4])|W(?P<week>[0-9]{2})"
    r"|(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?))?"
)


@dataclass(frozen=True, kw_only=True)
class Period:
    """Whole days in UTC, from `first` up to but not including `end`.

    Attributes:
        first: The first day.
        end: The day after the last.
        all_in_period: Declares that all entries of a log without times are from these days.

    >>> quarter, month = Period.parse("2026-Q1"), Period.parse("2026-03")
    >>> quarter.overlaps(month), month.within(quarter), str(Period.parse("2026-01..2026-03"))
    (True, True, '2026-Q1')
    """

    first: date
    end: date
    all_in_period: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        """A period holds at least a day."""
        if self.first >= self.end:
            raise UsageError("a period ends after it begins: 2026-03-01..2026-03-31")
        if self.first.year < 1000 or self.end.year > 9000:
            raise UsageError("a period lies between the years 1000 and 9000")

    @classmethod
    def parse(cls, text: str, *, all_in_period: bool = False) -> Self:
        """Read `2026`, `2026-Q1`, `2026-03`, `2026-W07`, `2026-03-05` or `FIRST..LAST` of these.

        The last day written belongs to the period.
        """
        try:
            first, dots, last = text.partition("..")
            begin, end = _range(first)
            last_range = _range(last) if dots else (begin, end)
            return cls(first=begin, end=last_range[1], all_in_period=all_in_period)
        except (ValueError, OverflowError) as error:
            if isinstance(error, UsageError):
                raise
            raise UsageError(
                "a period is written 2026, 2026-Q1, 2026-03, 2026-W07, 2026-03-05 or "
                "2026-03-01..2026-03-31"
            ) from None

    def overlaps(self, other: Period) -> bool:
        """Whether some day is in both."""
        return self.first < other.end and other.first < self.end

    def within(self, other: Period) -> bool:
        """Whether every day of this one is in the other."""
        return other.first <= self.first and self.end <= other.end

    def __str__(self) -> str:
        """The shortest way to write it; `parse` reads it back."""
        year, week, _ = self.first.isocalendar()
        month = f"{self.first:%Y-%m}"
        quarter = f"{self.first:%Y}-Q{(self.first.month + 2) // 3}"
        for text in (f"{self.first:%Y}", quarter, month, f"{year:04}-W{week:02}", f"{self.first}"):
            if _range(text) == (self.first, self.end):
                return text
        return f"{self.first}..{self.end - _DAY}"


def _range(text: str) -> tuple[date, date]:
    """The first day and the day after the last."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise ValueError
    year, parts = int(found[1]), found.groupdict()
    if parts["week"]:
        first = date.fromisocalendar(year, int(parts["week"]), 1)
        return first, first + 7 * _DAY
    if parts["day"]:
        first = date(year, int(parts["month"]), int(parts["day"]))
        return first, first + _DAY
    if parts["quarter"]:
        month, months = 3 * int(parts["quarter"]) - 2, 3
    else:
        month, months = int(parts["month"] or 1), 1 if parts["month"] else 12
    year_after, month_after = divmod(12 * year + month - 1 + months, 12)
    return date(year, month, 1), date(year_after, month_after + 1, 1)
