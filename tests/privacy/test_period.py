"""Declared ranges of days."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zealous.errors import UsageError
from zealous.privacy.period import Period


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026", "2026-01-01", "2026-12-31"),
        ("2026-Q1", "2026-01-01", "2026-03-31"),
        ("2026-Q4", "2026-10-01", "2026-12-31"),
        ("2026-02", "2026-02-01", "2026-02-28"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2026-12", "2026-12-01", "2026-12-31"),
        ("2026-W01", "2025-12-29", "2026-01-04"),
        ("2026-W53", "2026-12-28", "2027-01-03"),
        ("2026-03-05", "2026-03-05", "2026-03-05"),
        ("2026-03-01..2026-03-30", "2026-03-01", "2026-03-30"),
        ("2026-01..2026-Q2", "2026-01-01", "2026-06-30"),
    ],
)
def test_the_last_day_written_belongs_to_it(text: str, first: str, last: str) -> None:
    period = Period.parse(text)
    assert period.first == date.fromisoformat(first)
    assert period.end - timedelta(days=1) == date.fromisoformat(last)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "26",
        "2026-13",
        "2026-Q5",
        "2026-00",
        "2026-02-29",
        "2025-W53",
        "2026-3",
        "2026-03..",
        "2026-03..2026-01",
        "2026-01..2026-02..2026-03",
        " 2026",
        "٢٠٢٦",
        "9999",
        "0000",
    ],
)
def test_what_is_no_period_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Period.parse(text)


def test_a_quarter_and_its_month_overlap_and_neighbours_do_not() -> None:
    quarter, month, week = map(Period.parse, ("2026-Q1", "2026-03", "2026-W14"))
    assert quarter.overlaps(month)
    assert month.within(quarter)
    assert not quarter.within(month)
    assert week.overlaps(quarter)  # it begins on 30 March
    assert not week.within(quarter)
    assert not month.overlaps(Period.parse("2026-04"))


_days = st.dates(date(1990, 1, 1), date(2100, 1, 1))


@given(_days, st.integers(1, 800))
def test_written_and_read_back(first: date, length: int) -> None:
    period = Period(first=first, end=first + timedelta(days=length))
    assert Period.parse(str(period)) == period


@given(_days, _days, st.integers(1, 40), st.integers(1, 40))
def test_overlap_is_a_common_day(one: date, other: date, first: int, second: int) -> None:
    other = one + (other - one) % timedelta(days=60)
    a = Period(first=one, end=one + timedelta(days=first))
    b = Period(first=other, end=other + timedelta(days=second))
    days = [{p.first + timedelta(days=n) for n in range((p.end - p.first).days)} for p in (a, b)]
    assert a.overlaps(b) == b.overlaps(a) == bool(days[0] & days[1])
    assert a.within(b) == (days[0] <= days[1])
