"""Charges to a ledger: caps, periods, and what becomes of a charge."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from ledgers import capped, charge, counted_unit, publish, write_release

from zealous.errors import LedgerError, Refused, UsageError
from zealous.ledger import (
    FILE_NAME,
    AlreadyReleased,
    Cap,
    Caps,
    Ledger,
    fingerprint,
    reservation,
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / FILE_NAME, create=True, by="her")


def test_exactly_the_cap_is_granted_and_nothing_more(ledger: Ledger) -> None:
    capped(ledger, "1", "1/2")
    for number in range(3):
        ledger.reserve(f"r{number}", charge("1/3"))
    with pytest.raises(Refused):
        ledger.reserve("r3", charge("1/1000000000"))
    assert ledger.accounts().all.epsilon == 1


def test_delta_has_its_own_cap(ledger: Ledger) -> None:
    capped(ledger, 100, "1/500")
    ledger.reserve("one", charge())
    ledger.reserve("two", charge())
    with pytest.raises(Refused, match=r"0 of delta 0\.002 is left"):
        ledger.reserve("three", charge())


def test_a_refusal_says_what_is_left_and_who_used_the_rest(ledger: Ledger) -> None:
    capped(ledger, 2)
    ledger.reserve("march", charge("1.25", period="2026-03"))
    with pytest.raises(Refused) as refused:
        ledger.reserve("april", charge(1, period="2026-04"))
    said = str(refused.value)
    today = f"{ledger.history()[0].time:%Y-%m-%d}"  # also at midnight
    assert "0.75 of epsilon 2 is left and this release adds 1" in said
    assert f"#1 march ({today}, of 2026-03): epsilon 1.25, delta 0.001" in said
    assert len(ledger.history()) == 1


def test_check_refuses_what_reserve_would_and_writes_nothing(ledger: Ledger) -> None:
    capped(ledger, 1)
    before = ledger.path.read_bytes()
    ledger.check(charge(1))
    with pytest.raises(Refused):
        ledger.check(charge("1.01"))
    assert ledger.path.read_bytes() == before


def test_the_cap_of_one_period(ledger: Ledger) -> None:
    ledger.set_caps(Caps(period=Cap(epsilon=Fraction(2))))
    for month in ("2026-01", "2026-02", "2026-03"):
        ledger.reserve(month, charge(period=month))
    with pytest.raises(Refused, match="in the period 2026-Q1"):
        ledger.reserve("quarter", charge(period="2026-Q1"), again=True)
    ledger.reserve("january", charge(period="2026-01"), again=True)
    with pytest.raises(Refused, match="in the period 2026-01"):
        ledger.reserve("undeclared", charge("1/10"))
    ledger.reserve("april", charge(2, period="2026-04"))


def test_a_month_is_refused_where_its_quarter_is_full(ledger: Ledger) -> None:
    ledger.reserve("quarter", charge(2, period="2026-Q1"))
    ledger.reserve("january", charge(1, period="2026-01"), again=True)
    ledger.set_caps(Caps(period=Cap(epsilon=Fraction(3))))
    with pytest.raises(Refused, match="in the period 2026-Q1"):
        ledger.reserve("february", charge(1, period="2026-02"), again=True)


def test_publishing_a_period_again_needs_a_word_and_is_charged(ledger: Ledger) -> None:
    ledger.reserve("q1", charge(period="2026-Q1"))
    with pytest.raises(Refused, match=r"say account=z.Account.again=True") as refused:
        ledger.reserve("march", charge(period="2026-03"))
    assert "#1 q1" in str(refused.value)
    ledger.reserve("march", charge(period="2026-03"), again=True)
    ledger.reserve("april", charge(period="2026-04"))
    ledger.reserve("undeclared", charge())
    assert ledger.accounts().all.epsilon == 4


def test_the_same_period_of_other_people_is_not_again(ledger: Ledger) -> None:
    ledger.reserve("north", charge(period="2026-03", people="north"))
    ledger.reserve("south", charge(period="2026-03", people="south"))
    for people in ("north", None):
        with pytest.raises(Refused, match="again=True"):
            ledger.reserve("more", charge(period="2026-03", people=people))


def test_another_attempt_is_another_charge_but_not_again(ledger: Ledger) -> None:
    ledger.reserve("march", charge(period="2026-03"))
    second = ledger.reserve("march", charge(period="2026-03"))
    assert [entry.state for entry in ledger.attempts("march")] == ["reserved", "reserved"]
    assert second.accounts is not None
    assert second.accounts.all.epsilon == 2


def test_without_a_declared_unit_the_smallest_charged_is_counted(ledger: Ledger) -> None:
    ledger.reserve("one", charge(1))
    ledger.reserve("two", charge(2, unit="user-day"))
    assert counted_unit(ledger) == "user-day"
    assert ledger.accounts().all.epsilon == 3
    with pytest.raises(Refused, match="one session"):
        ledger.reserve("three", charge(unit="session"))
    ledger.void(2, by="me", reason="a test")
    assert counted_unit(ledger) == "user"


def test_a_release_for_less_than_a_user_needs_its_own_ledger(ledger: Ledger) -> None:
    users = Ledger.open(ledger.path.with_name("users.sqlite"), create=True, unit="user")
    with pytest.raises(Refused, match="one user-day"):
        users.reserve("one", charge(unit="user-day"))
    ledger.reserve("one", charge())
    capped(ledger, 10)  # of what one user may lose: no later release may lower that
    with pytest.raises(Refused, match="one user-day"):
        ledger.reserve("two", charge(unit="user-day"))
    days = Ledger.open(ledger.path.with_name("days.sqlite"), create=True, unit="user-day")
    days.reserve("one", charge(unit="user-day"))
    days.reserve("two", charge(unit="user"))
    with pytest.raises(Refused):
        days.reserve("three", charge(unit="session"))


def test_a_ledger_of_users_does_not_become_one_of_queries(ledger: Ledger) -> None:
    ledger.reserve("one", charge())
    with pytest.raises(Refused, match="has counted what one user loses"):
        ledger.reserve("two", charge(unit="query"))
    assert counted_unit(ledger) == "user"
    asked = Ledger.open(ledger.path.with_name("asked.sqlite"), create=True)
    asked.reserve("one", charge(2, unit="query"))
    asked.reserve("two", charge(1, neighbors="add-remove"))  # a part of her history changes
    assert (counted_unit(asked), asked.accounts().all.epsilon) == ("query", 4)
    for unit in ("keyword", "session"):
        with pytest.raises(Refused, match="one query loses"):
            asked.reserve("three", charge(unit=unit))
    words = Ledger.open(ledger.path.with_name("words.sqlite"), create=True, unit="keyword")
    words.reserve("one", charge())
    words.reserve("two", charge(unit="keyword"))


def test_add_remove_counts_double_where_replace_is_measured(ledger: Ledger) -> None:
    ledger.reserve("one", charge(1))
    ledger.reserve("two", charge(1, neighbors="add-remove"))
    assert ledger.accounts().all.epsilon == 3
    other = Ledger.open(ledger.path.with_name("o.sqlite"), create=True, neighbors="add-remove")
    other.reserve("one", charge(1))
    other.reserve("two", charge(1, neighbors="add-remove"))
    assert other.accounts().all.epsilon == 2


def test_a_cap_below_what_is_spent_grants_nothing_more(ledger: Ledger) -> None:
    ledger.reserve("one", charge(3))
    capped(ledger, 1)
    with pytest.raises(Refused, match="0 of epsilon 1 is left"):
        ledger.reserve("two", charge("1/10"))
    capped(ledger, 4)
    ledger.reserve("two", charge(1))


def test_a_released_id_is_returned_and_charged_once(ledger: Ledger, tmp_path: Path) -> None:
    entry = publish(ledger, tmp_path / "march")
    with pytest.raises(AlreadyReleased) as known:
        ledger.reserve("march", charge())
    assert known.value.entry == entry
    assert known.value.entry.directory == str(tmp_path / "march")
    assert ledger.settle("march", tmp_path / "elsewhere") == entry
    assert len(ledger.history()) == 1


def test_renamed_but_not_marked_is_recovered(ledger: Ledger, tmp_path: Path) -> None:
    entry = ledger.reserve("march", charge())
    assert ledger.settle("march", tmp_path / "march") is None
    write_release(tmp_path / "march", entry)
    found = ledger.settle("march", tmp_path / "march")
    assert found is not None
    assert (found.seq, found.state) == (entry.seq, "released")
    assert ledger.verify([tmp_path / "march"]) == []


def test_somebody_elses_directory_recovers_nothing(ledger: Ledger, tmp_path: Path) -> None:
    ledger.reserve("march", charge())
    write_release(tmp_path / "april", ledger.reserve("april", charge()))
    (tmp_path / "empty").mkdir()
    for directory in ("april", "empty"):
        assert ledger.settle("march", tmp_path / directory) is None


def test_marking_twice_is_once(ledger: Ledger, tmp_path: Path) -> None:
    entry = publish(ledger, tmp_path / "march")
    sha = fingerprint(tmp_path / "march")
    assert ledger.mark_released(entry, directory=tmp_path / "march", sha256=sha) == entry
    with pytest.raises(Refused):
        ledger.mark_released(entry, directory=tmp_path / "march", sha256="0" * 64)


def test_what_is_voided_no_longer_counts_and_stays_voided(ledger: Ledger, tmp_path: Path) -> None:
    capped(ledger, 1)
    entry = ledger.reserve("march", charge(period="2026-03"))
    with pytest.raises(UsageError, match="reason"):
        ledger.void(entry.number, by="her", reason=" ")
    ledger.void(entry.number, by="her", reason="power cut")
    assert ledger.accounts().all.epsilon == 0
    with pytest.raises(Refused, match="voided already"):
        ledger.void(entry.number, by="her", reason="again")
    with pytest.raises(Refused, match="voided"):
        ledger.mark_released(entry, directory=tmp_path, sha256="0" * 64)
    with pytest.raises(LedgerError, match="no entry 77"):
        ledger.void(77, by="her", reason="never was")
    ledger.reserve("march", charge(period="2026-03"))


def test_the_past_is_as_it_was_known(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)

    def later(days: int) -> None:
        monkeypatch.setattr(reservation, "_now", lambda: (now + timedelta(days=days)).isoformat())

    later(1)
    entry = ledger.reserve("march", charge(2))
    later(3)
    ledger.void(entry.number, by="her", reason="nothing was written")
    later(5)
    ledger.set_caps(Caps(all=Cap(epsilon=Fraction(9))))
    spent = [ledger.accounts(now.date() + timedelta(days=day)).all.epsilon for day in range(6)]
    assert spent == [0, 2, 2, 0, 0, 0]
    assert not ledger.book(now.date() + timedelta(days=4)).caps.all
    assert ledger.book(now.date() + timedelta(days=5)).caps.all
    with pytest.raises(LedgerError, match="opened later"):
        ledger.book(now.date() - timedelta(days=1))


def test_a_clock_that_goes_back_hides_no_entry_from_now(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    past = datetime.now(UTC) - timedelta(days=400)
    entry = ledger.reserve("march", charge())
    monkeypatch.setattr(reservation, "_now", past.isoformat)
    ledger.void(entry.number, by="her", reason="clock")
    ledger.reserve("april", charge(2))
    assert ledger.accounts().all.epsilon == 2
    assert ledger.verify() == []
    assert ledger.accounts(datetime.now(UTC)).all.epsilon == 2


def test_who_and_when_are_recorded(ledger: Ledger) -> None:
    ledger.reserve("march", charge(people="north"), by="R. Ito")
    entry = ledger.history()[0]
    assert (entry.by, entry.charge.people) == ("R. Ito", "north")
    assert abs(datetime.now(UTC) - entry.time) < timedelta(minutes=5)
    ledger.reserve("april", charge())
    assert ledger.history()[1].by  # the login's name, or the number of the user
