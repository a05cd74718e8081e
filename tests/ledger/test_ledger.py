"""The ledger's arithmetic, rules, chain and commands. Real processes: test_ledger_processes.py."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from hypothesis import given
from hypothesis import strategies as st
from tampering import rewrite, tampered

from zealous.cli.balance import bar
from zealous.errors import LedgerError, Refused, UsageError
from zealous.ledger import (
    FILE_NAME,
    AlreadyReleased,
    Cap,
    Caps,
    Charge,
    Entry,
    Ledger,
    fingerprint,
    ledger_path,
    reservation,
    store,
)
from zealous.ledger.budgets import Measure, accounts
from zealous.ledger.location import remote_kind
from zealous.ledger.store import event_hash
from zealous.privacy.calibrate import satisfied_guarantees
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP, format_number
from zealous.privacy.period import Period

USER = Measure(unit="user", neighbors="replace")
COMING = Measure(unit="user", neighbors="add-remove")


def charge(
    epsilon: object = 1, *, delta: str = "1/1000", period: str | None = None, **said: Any
) -> Charge:
    basic: dict[str, Any] = {"definition": "probabilistic", "neighbors": "replace"}
    return Charge(
        epsilon=Fraction(str(epsilon)),
        delta=Fraction(delta),
        period=Period.parse(period) if period else None,
        **(basic | said),
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / FILE_NAME, create=True, by="her")


def capped(ledger: Ledger, epsilon: object, delta: str | None = None) -> Ledger:
    cap = Cap(epsilon=Fraction(str(epsilon)), delta=Fraction(delta) if delta else None)
    ledger.set_caps(Caps(all=cap))
    return ledger


def write_release(directory: Path, entry: Entry, **changed: Any) -> Path:
    """What a release says about itself, as far as a ledger looks."""
    directory.mkdir()
    exact = {"epsilon": str(entry.charge.epsilon), "delta": str(entry.charge.delta)}
    charged = entry.charge
    about = {
        "id": entry.release,
        "ledger": {
            "tracked": True,
            "ledger": entry.ledger,
            "entry": entry.seq,
            "hash": entry.hash,
        },
        "period": str(charged.period) if charged.period else None,
        "guarantee": {
            "exact": exact,
            "definition": charged.definition,
            "neighbors": charged.neighbors,
            "unit": charged.unit,
        },
    }
    (directory / "release.json").write_text(json.dumps(about | changed))
    return directory


def publish(ledger: Ledger, directory: Path, what: Charge | None = None) -> Entry:
    entry = ledger.reserve(directory.name, what or charge())
    write_release(directory, entry)
    return ledger.mark_released(entry, directory=directory, sha256=fingerprint(directory))


# What charges add up to


def test_disjoint_periods_lower_only_the_first_account() -> None:
    months = [charge(period=f"2026-{month:02}") for month in range(1, 5)]
    found = accounts(USER, months, None)
    assert (found.period.epsilon, found.all.epsilon) == (1, 4)
    assert (found.period.delta, found.all.delta) == (Fraction(1, 1000), Fraction(4, 1000))
    assert found.anybody == Fraction(4, 1000)


def test_a_quarter_holds_all_that_was_lost_in_its_months() -> None:
    both = [charge(period="2026-01"), charge(period="2026-02"), charge("1/2", period="2026-Q1")]
    assert accounts(USER, both, None).period.epsilon == Fraction(5, 2)
    assert accounts(USER, both, None).within == Period.parse("2026-Q1")
    assert accounts(USER, both, Period.parse("2026-01")).period.epsilon == Fraction(3, 2)
    assert accounts(USER, both, Period.parse("2026-04")).period.epsilon == 0


def test_an_undeclared_period_is_every_period() -> None:
    both = [charge(), charge(2, period="2026-01"), charge(3, period="2026-02")]
    found = accounts(USER, both, None)
    assert (found.period.epsilon, found.all.epsilon) == (4, 6)
    assert accounts(USER, [charge(), charge()], None).period.epsilon == 2


def test_only_disjoint_people_lower_the_second_account() -> None:
    said = {"definition": "indistinguishable"}
    both = [
        charge(2, people="north", **said),
        charge(3, people="south", delta="1/10", **said),
        charge(1, **said),
    ]
    found = accounts(USER, both, None)
    assert found.all.epsilon == found.period.epsilon == 4
    assert found.all.delta == Fraction(101, 1000)
    assert found.anybody == Fraction(102, 1000)  # somebody of any label
    same = accounts(USER, [charge(2, people="north"), charge(3, people="north")], None)
    assert same.all.epsilon == 5


def test_deltas_of_pdp_add_over_all_people(ledger: Ledger) -> None:
    for number in range(10):
        ledger.reserve(f"r{number}", charge(1, delta="1/100", people=f"p{number}"))
    found = ledger.accounts()
    assert (found.all.epsilon, found.all.delta, found.anybody) == (
        1,
        Fraction(1, 10),
        Fraction(1, 10),
    )
    ledger.set_caps(Caps(all=Cap(delta=Fraction(1, 10))))
    with pytest.raises(Refused, match="of delta"):
        ledger.reserve("more", charge(1, delta="1/100", people="another"))


def test_one_indistinguishable_charge_makes_the_whole_so() -> None:
    other = charge(definition="indistinguishable")
    assert accounts(USER, [charge(), charge()], None).definition == "probabilistic"
    assert accounts(USER, [charge(), other], None).definition == "indistinguishable"
    pure = charge(definition="indistinguishable", delta="0")
    assert accounts(USER, [charge(), pure], None).definition == "probabilistic"
    assert accounts(USER, [other, pure], None).definition == "indistinguishable"


def test_the_larger_of_each_where_periods_lead_in_one() -> None:
    two = [charge(5, period="2026-01"), charge(1, delta="1/2", period="2026-02")]
    found = accounts(USER, two, None).period
    assert (found.epsilon, found.delta) == (5, Fraction(1, 2))


@pytest.mark.parametrize(
    ("measure", "stated", "within", "costs"),
    [
        (USER, "replace", None, 1),
        (USER, "add-remove", None, 2),
        (COMING, "replace", None, 1),
        (COMING, "add-remove", None, 1),
        # Her March goes from a release over March: she goes. From one over the year: she stays,
        # with another history.
        (COMING, "add-remove", "2026-03", 1),
        (COMING, "add-remove", "2026-Q1", 1),
        (COMING, "add-remove", "2026-03-07", 2),
        (COMING, "replace", "2026-03-07", 1),
        # A day of a user goes: the user stays.
        (Measure(unit="user-day", neighbors="add-remove"), "add-remove", None, 2),
        (Measure(unit="user-day", neighbors="replace"), "replace", None, 1),
    ],
)
def test_what_a_change_costs(measure: Measure, stated: str, within: str | None, costs: int) -> None:
    change = Period.parse(within) if within else None
    cost = measure.cost(charge(neighbors=stated, period="2026-03"), change)
    assert (cost.epsilon, cost.delta) == (costs, Fraction(1, 1000))


@pytest.mark.parametrize("users", [None, 9000])
def test_replace_is_add_remove_at_twice_epsilon_and_the_same_delta(users: int | None) -> None:
    """What `Measure.cost` relies on, from the parameters alone."""
    held = satisfied_guarantees(
        scale=Fraction(7, 2), tau=2, tau_prime=60, items_per_user=3, users=users
    )
    by_name = {(type(each), each.neighbors): each for each in held}
    for definition in [Indistinguishability] + [ProbabilisticDP] * (users is not None):
        replace, add_remove = (by_name[definition, name] for name in ("replace", "add-remove"))
        assert replace.epsilon == 2 * add_remove.epsilon
        assert replace.delta == add_remove.delta


_charges = st.lists(
    st.builds(
        charge,
        st.fractions(Fraction(1, 50), 5),
        period=st.sampled_from([None, "2026", "2026-Q1", "2026-01", "2026-02", "2026-02-10"]),
        people=st.sampled_from([None, "a", "b"]),
        neighbors=st.sampled_from(["replace", "add-remove"]),
    ),
    max_size=8,
)


@given(_charges, _charges, st.sampled_from([USER, COMING]))
def test_accounts_never_fall_and_never_pass_the_plain_sum(
    some: list[Charge], more: list[Charge], measure: Measure
) -> None:
    for within in (None, Period.parse("2026-02")):
        before, after = measure.loss(some, within), measure.loss([*some, *more], within)
        assert before.epsilon <= after.epsilon
        assert before.delta <= after.delta
        assert after.epsilon <= sum(2 * each.epsilon for each in [*some, *more])
        for person in ("a", "b"):  # whoever she is, she pays no more than the account says
            hers = [each for each in [*some, *more] if each.people in (None, person)]
            touched = [
                each
                for each in hers
                if within is None or not each.period or each.period.overlaps(within)
            ]
            paid = sum(measure.cost(each, within).epsilon for each in touched)
            assert paid <= after.epsilon


def test_numbers_for_people_are_rounded_against_us() -> None:
    assert format_number(Fraction(1, 3)) == "0.333334"
    assert format_number(Fraction(1, 3), up=False) == "0.333333"
    assert [
        format_number(Fraction(text)) for text in ("10", "0.1", "1e-9", "100000", "0", "1.25e-7")
    ] == [
        "10",
        "0.1",
        "1e-9",
        "100000",
        "0",
        "1.25e-7",
    ]


def test_a_bar_is_full_only_when_all_is_spent() -> None:
    assert bar(Fraction(0), Fraction(1), 3) == "░░░"
    assert bar(Fraction(1), Fraction(10**9), 3) == "▏░░"
    assert bar(Fraction(10**9 - 1), Fraction(10**9), 3) == "██▉"
    assert bar(Fraction(1), Fraction(1), 3) == bar(Fraction(2), Fraction(1), 3) == "███"
    assert bar(Fraction(0), Fraction(0), 3) == "███"


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"delta": "-0.1"},
        {"delta": "1"},
        {"definition": "zcdp"},
        {"neighbors": "swap"},
        {"unit": "household"},
        {"people": ""},
        {"people": "a\nb"},
    ],
)
def test_a_charge_is_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        charge(**wrong)


# Rules


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


# The life of an entry


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


# The file


def counted_unit(ledger: Ledger) -> str:
    measure = ledger.book().measure()
    assert measure is not None
    return measure.unit


def execute(sql: str, values: tuple[object, ...], connection: sqlite3.Connection) -> object:
    return connection.execute(sql, values)


def test_every_changed_byte_is_found(ledger: Ledger, tmp_path: Path) -> None:
    publish(ledger, tmp_path / "march")
    pristine = ledger.path.read_bytes()
    connection = sqlite3.connect(ledger.path)
    rows = connection.execute("select seq, body from events").fetchall()
    connection.close()
    for seq, body in rows:
        for at in range(0, len(body), 29):
            other = body[:at] + chr(ord(body[at]) ^ 1) + body[at + 1 :]
            values = (other, seq)
            tampered(ledger.path, partial(execute, "update events set body=? where seq=?", values))
            assert any(f"event {seq} " in problem for problem in ledger.verify()), (seq, at)
            with pytest.raises(LedgerError, match="tampered"):
                ledger.reserve("april", charge())
            ledger.path.write_bytes(pristine)
    assert ledger.verify() == []


@pytest.mark.parametrize("which", ["last", "middle"])
def test_a_deleted_event_is_found(ledger: Ledger, which: str) -> None:
    for number in range(4):
        ledger.reserve(f"r{number}", charge())
    seq = {"last": 5, "middle": 3}[which]
    tampered(ledger.path, lambda c: c.execute("delete from events where seq=?", (seq,)))
    assert ledger.verify() != []
    with pytest.raises(LedgerError):
        ledger.reserve("more", charge())


def test_a_ledger_cut_without_trace_is_found_by_its_releases(
    ledger: Ledger, tmp_path: Path
) -> None:
    publish(ledger, tmp_path / "march")
    publish(ledger, tmp_path / "april")

    def cut(connection: sqlite3.Connection, after: int) -> None:
        connection.execute("delete from events where seq > ?", (after,))
        connection.execute("update sqlite_sequence set seq = ?", (after,))

    assert ledger.verify([tmp_path]) == []
    tampered(ledger.path, lambda c: cut(c, 4))
    assert ledger.verify() == []
    assert [p for p in ledger.verify([tmp_path]) if "april" in p and "not marked as released" in p]
    tampered(ledger.path, lambda c: cut(c, 3))
    found = ledger.verify([tmp_path / "march", tmp_path / "april"])
    assert len(found) == 1
    assert "rewritten or cut" in found[0]


def test_a_rewritten_chain_is_found_by_its_releases(ledger: Ledger, tmp_path: Path) -> None:
    publish(ledger, tmp_path / "march", charge(3))
    publish(ledger, tmp_path / "april", charge(1))
    tampered(ledger.path, lambda c: rewrite(c, '"epsilon":"3"', '"epsilon":"1"'))
    assert ledger.accounts().all.epsilon == 2
    assert ledger.verify() == []
    found = ledger.verify([tmp_path])
    assert len(found) == 2  # the entry itself, and every one after it
    assert all("rewritten" in problem for problem in found)


def test_a_new_ledger_under_the_old_name_is_found(ledger: Ledger, tmp_path: Path) -> None:
    publish(ledger, tmp_path / "march")
    ledger.path.unlink()
    again = Ledger.open(ledger.path, create=True)
    assert again.created
    assert "another ledger" in again.verify([tmp_path / "march"])[0]
    with pytest.raises(LedgerError, match="another file took its place"):
        ledger.reserve("april", charge())


def test_a_release_that_says_something_else_is_found(ledger: Ledger, tmp_path: Path) -> None:
    publish(ledger, tmp_path / "march")
    file = tmp_path / "march" / "release.json"
    true = json.loads(file.read_text())
    exact = true["guarantee"]["exact"]
    lies: list[dict[str, Any]] = [
        {"id": "may"},
        {"guarantee": {"exact": exact | {"epsilon": "1/2"}}},
        {"guarantee": {"exact": exact | {"delta": "1/2000"}}},
        {"guarantee": []},
        {"ledger": {"tracked": False}},
        {"ledger": true["ledger"] | {"hash": "0" * 64}},
        {"ledger": true["ledger"] | {"entry": [2]}},
        {"rows": "one more"},
    ]
    for lie in lies:
        file.write_text(json.dumps(true | lie))
        assert ledger.verify([tmp_path]), lie
    file.write_text("{")
    assert ledger.verify([tmp_path])
    file.write_text(json.dumps(true))
    assert ledger.verify([tmp_path]) == []
    assert "no release here" in ledger.verify([tmp_path / "nothing"])[0]


def test_a_filtered_child_answers_for_its_parent(ledger: Ledger, tmp_path: Path) -> None:
    entry = publish(ledger, tmp_path / "march")
    parent = {"parent_id": "march", "parent": fingerprint(tmp_path / "march")}
    write_release(tmp_path / "child", entry, id="child", review=parent)
    assert ledger.verify([tmp_path]) == []
    write_release(tmp_path / "forged", entry, id="child", review=parent | {"parent": "0" * 64})
    assert "forged: the parent it names" in ledger.verify([tmp_path])[0]


def test_a_voided_release_that_is_there_is_found(ledger: Ledger, tmp_path: Path) -> None:
    entry = publish(ledger, tmp_path / "march")
    with pytest.raises(Refused, match="still there"):
        ledger.void(entry.number, by="her", reason="nobody looked")
    (tmp_path / "march").rename(tmp_path / "hidden")
    ledger.void(entry.number, by="her", reason="nobody looked")
    (tmp_path / "hidden").rename(tmp_path / "march")
    assert "voided" in ledger.verify([tmp_path])[0]


def test_caps_fix_whose_loss_they_cap(ledger: Ledger) -> None:
    capped(ledger, 2)  # before anything is charged: a person's
    with pytest.raises(Refused, match="one session"):
        ledger.reserve("one", charge(1, unit="session"))
    with pytest.raises(Refused, match="one user loses already"):
        ledger.set_caps(Caps(), unit="session")
    days = Ledger.open(ledger.path.with_name("d.sqlite"), create=True)
    days.set_caps(Caps(), unit="user-day")
    days.reserve("one", charge(1, unit="user-day"))
    assert counted_unit(days) == "user-day"


def test_other_sessions_are_another_unit(ledger: Ledger) -> None:
    ledger.reserve("one", charge(1, unit="session", sessions="a"))
    ledger.reserve("two", charge(1, unit="session", sessions="a"))
    with pytest.raises(Refused, match="sessions of this release"):
        ledger.reserve("three", charge(1, unit="session", sessions="b"))
    ledger.reserve("four", charge(1))


def test_a_clock_set_back_does_not_change_what_was_known(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(["2030-01-01", "2030-06-01", "2030-05-02"])
    monkeypatch.setattr(reservation, "_now", lambda: f"{next(times)}T00:00:00+00:00")
    entry = ledger.reserve("one", charge(1))
    ledger.reserve("two", charge(1))
    ledger.void(entry.number, by="her", reason="nobody looked")
    assert ledger.accounts(as_of=date(2030, 5, 15)).all.epsilon == 1
    assert ledger.accounts(as_of=date(2030, 6, 15)).all.epsilon == 1
    assert len(ledger.history(as_of=date(2030, 5, 15))) == 1


def test_unlawful_events_are_found_even_with_a_fitting_chain(ledger: Ledger) -> None:
    entry = ledger.reserve("march", charge())
    ledger.void(entry.number, by="her", reason="power cut")

    def mark(connection: sqlite3.Connection) -> None:
        row = connection.execute("select hash from events order by seq desc limit 1").fetchone()
        body = json.dumps(
            {
                "by": "x",
                "directory": "x",
                "entry": 2,
                "event": "released",
                "hash": entry.hash,
                "sha256": "x",
                "time": entry.time.isoformat(),
            },
            separators=(",", ":"),
        )
        connection.execute("insert into events values (4, ?, ?)", (body, event_hash(row[0], body)))

    tampered(ledger.path, mark)
    assert ledger.verify() == ["event 4 marks as released an entry that is voided"]


def test_events_cannot_be_changed_by_accident_and_a_missing_guard_is_found(ledger: Ledger) -> None:
    connection = sqlite3.connect(ledger.path)
    for statement in ("update events set body = ''", "delete from events"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.rollback()
    connection.execute("drop trigger no_delete")
    connection.commit()
    connection.close()
    assert "removed or replaced" in ledger.verify()[0]


def test_the_file_is_in_wal_mode_and_left_alone_between_operations(ledger: Ledger) -> None:
    ledger.reserve("march", charge())
    assert [path.name for path in ledger.path.parent.iterdir()] == [FILE_NAME]
    connection = sqlite3.connect(ledger.path)
    assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    connection.close()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"user,query\n1,tea\n" * 100, "not a ledger"),
        (b"SQLite format 3\0" + bytes(5000), "cannot be used"),
    ],
)
def test_what_is_no_ledger_is_left_alone(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(content)
    for create in (True, False):
        with pytest.raises(LedgerError, match=said):
            Ledger.open(path, create=create)
    assert path.read_bytes() == content
    assert len(list(tmp_path.iterdir())) == 1


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "other.sqlite")
    connection.execute("create table events (seq, body, hash)")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerError, match="another program"):
        Ledger.open(tmp_path / "other.sqlite", create=True)


def test_a_damaged_page_is_found(ledger: Ledger) -> None:
    for number in range(40):
        ledger.reserve(f"r{number}", charge("1/100"))
    content = bytearray(ledger.path.read_bytes())
    content[3 * 4096 : 3 * 4096 + 200] = b"\xff" * 200
    ledger.path.write_bytes(content)
    assert ledger.verify() != []
    with pytest.raises(LedgerError):
        ledger.reserve("more", charge())


def test_a_lock_that_is_kept_too_long(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.WAIT_SECONDS >= 60
    monkeypatch.setattr(store, "WAIT_SECONDS", 0.2)
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(LedgerError, match="locked too long"):
        ledger.reserve("march", charge())
    assert ledger.history() == ()  # reading goes on
    other.execute("rollback")
    other.close()
    ledger.reserve("march", charge())


def test_no_ledger_is_made_where_none_was_asked_for(tmp_path: Path) -> None:
    for path in (tmp_path / FILE_NAME, tmp_path / "no" / FILE_NAME, tmp_path):
        with pytest.raises(LedgerError):
            Ledger.open(path)
    with pytest.raises(LedgerError):
        Ledger.open(tmp_path / "no" / FILE_NAME, create=True)
    assert not list(tmp_path.iterdir())


# Where it is


def test_the_nearest_ledger_above_a_log(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    log = tmp_path / "a" / "b" / "log.csv"
    log.touch()
    assert ledger_path([log]) == tmp_path / "a" / "b" / FILE_NAME  # a new one, beside the log
    for above in (tmp_path, tmp_path / "a", tmp_path / "a" / "b"):
        (above / FILE_NAME).touch()
        assert ledger_path([log]) == ledger_path([log.parent]) == above / FILE_NAME


def test_a_log_has_one_ledger_by_whatever_name_it_is_reached(tmp_path: Path) -> None:
    (tmp_path / "true").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "true" / "log.csv").touch()
    (tmp_path / "true" / FILE_NAME).touch()
    (tmp_path / "other" / "link.csv").symlink_to(tmp_path / "true" / "log.csv")
    (tmp_path / "folder").symlink_to(tmp_path / "true")
    names = [tmp_path / "other" / "link.csv", tmp_path / "folder", tmp_path / "folder" / "log.csv"]
    assert {ledger_path([name]) for name in names} == {tmp_path / "true" / FILE_NAME}


def test_files_of_several_folders(tmp_path: Path) -> None:
    logs = [tmp_path / name / "log.csv" for name in ("a", "b")]
    for log in logs:
        log.parent.mkdir()
        log.touch()
    assert ledger_path(logs) == tmp_path / FILE_NAME
    (tmp_path / "a" / FILE_NAME).touch()
    with pytest.raises(Refused, match="the rest has none"):
        ledger_path(logs)
    (tmp_path / "b" / FILE_NAME).touch()
    with pytest.raises(Refused, match="different ledgers"):
        ledger_path(logs)


def test_a_ledger_that_is_a_dead_link_is_not_made_anew(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).symlink_to(tmp_path / "gone.sqlite")
    assert ledger_path([tmp_path]) == tmp_path / FILE_NAME
    with pytest.raises(LedgerError, match="no ledger at"):
        Ledger.open(ledger_path([tmp_path]), create=True)


def test_logs_with_nothing_in_common_need_a_name() -> None:
    with pytest.raises(Refused, match="no folder in common"):
        ledger_path(["/usr", "/etc"])


MOUNTS = """\
20 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
21 20 0:5 / /home/with\\040space rw - nfs4 server:/home rw
22 20 0:6 / /shared rw - cifs //server/x rw
23 22 0:7 / /shared/local rw master:2 - xfs /dev/vdb rw
24 20 0:8 / /over rw - nfs server:/y rw
25 24 0:9 / /over rw - tmpfs tmpfs rw
26 20 0:10 / /remote rw - fuse.sshfs her@there: rw
27 20 0:11 / /unknown rw - fuse.somethingnew x rw
28 20 0:12 / /layers rw - fuse.fuse-overlayfs x rw
29 20 0:13 / /disk rw - fuseblk /dev/sda1 rw
30 20 0:14 / /guest rw - 9p share rw
broken line
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/data", None),
        ("/", None),
        ("/home/with space/logs", "nfs4"),
        ("/home/without", None),
        ("/shared", "cifs"),
        ("/shared/x", "cifs"),
        ("/shared2", None),
        ("/shared/local/x", None),
        ("/over/x", None),
        ("/remote/x", "fuse.sshfs"),
        ("/unknown", "fuse.somethingnew"),
        ("/layers", None),
        ("/disk", None),
        ("/guest/x", "9p"),
    ],
)
def test_network_mounts_are_recognised(folder: str, kind: str | None) -> None:
    assert remote_kind(Path(folder), MOUNTS) == kind


def test_the_own_disk_of_a_virtual_machine_is_local() -> None:
    assert remote_kind(Path("/x"), "1 0 0:1 / / rw - virtiofs root rw\n") is None
    assert remote_kind(Path("/x"), "1 0 0:1 / / rw - nfs root rw\n") == "nfs"
    assert remote_kind(Path("/x"), "") is None


# The command


def test_init_show_void_report_verify(run: Run, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    made = run(
        "ledger", "init", "logs", "--dataset", "shop", "--cap-epsilon", "2", "--signed-by", "her"
    )
    assert made.code == 0, made.stderr
    ledger = Ledger.open(tmp_path / "logs" / FILE_NAME)
    publish(ledger, tmp_path / "march", charge("1/3", period="2026-03"))
    crashed = ledger.reserve("april", charge(1, period="2026-04"))

    shown_ = run("ledger", "show", "logs")
    assert shown_.code == 0, shown_.stderr
    for part in (
        "shop",
        "march",
        "2026-03",
        "released",
        "reserved",
        "█",
        "1.33334 of 2",
        "0.666666 left",
        "in 2026-04",
        "probabilistic",
    ):
        assert part in shown_.stdout, part

    voided = run(
        "ledger", "void", "logs", crashed.number, "--signed-by", "her", "--reason", "power cut"
    )
    assert voided.code == 2
    assert "--nobody-saw-it" in voided.stderr
    done = run(
        "ledger",
        "void",
        "logs",
        crashed.number,
        "--signed-by",
        "her",
        "--reason",
        "power cut",
        "--nobody-saw-it",
    )
    assert done.code == 0, done.stderr
    found = json.loads(run("ledger", "show", "logs", "--json").stdout)
    assert found["accounts"]["all"]["exact"] == {"epsilon": "1/3", "delta": "1/1000"}
    assert found["left"]["all"]["exact"] == {"epsilon": "5/3", "delta": None}
    assert [entry["state"] for entry in found["entries"]] == ["released", "voided"]
    assert (found["dataset"], found["unit"], found["neighbors"]) == ("shop", "user", "replace")

    report = json.loads(run("ledger", "report", "logs", "--as-of", crashed.time, "--json").stdout)
    assert report["accounts"]["all"]["exact"]["epsilon"] == "4/3"  # not voided yet
    assert run("ledger", "report", "logs", "--as-of", "2001-01-01").code == 1
    assert run("ledger", "report", "logs", "--as-of", "yesterday").code == 2

    good = run("ledger", "verify", "logs", "--releases", "march")
    assert (good.code, "hold together" in good.stdout) == (0, True)
    file = tmp_path / "march" / "release.json"
    file.write_text(file.read_text() + " ")
    bad = run("ledger", "verify", "logs", "--releases", "logs", "march")
    assert bad.code == 1
    assert "2 wrong" in bad.stdout
    assert run("ledger", "verify", "logs", "march").code == 2


def test_caps_are_changed_on_record(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    assert run("ledger", "init", file, "--cap-epsilon", "2", "--cap-delta", "1e-3").code == 0
    assert run("ledger", "init", file, "--period-cap-epsilon", "1/3", "--dataset", "x").code == 0
    assert run("ledger", "init", file, "--cap-epsilon", "none").code == 0
    book = Ledger.open(file).book()
    assert book.caps.all == Cap(delta=Fraction(1, 1000))
    assert book.caps.period == Cap(epsilon=Fraction(1, 3))
    assert book.dataset == "x"
    assert Ledger.open(file).verify() == []
    assert "dataset x" in run("ledger", "init", file, "--dataset", "y").stderr
    assert run("ledger", "init", file, "--unit", "session").code == 1
    assert run("ledger", "init", file, "--cap-epsilon", "much").code == 2
    assert run("ledger", "init", file, "--cap-epsilon", "-1").code == 2


def test_a_log_shows_the_ledger_above_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "log.csv").write_text("user,query\n")
    none = run("ledger", "show", "logs/log.csv")
    assert none.code == 1
    assert "zealous ledger init" in none.stderr
    assert run("ledger", "init", "logs", "--dataset", "shop").code == 0
    assert run("ledger", "show", "logs/log.csv").stdout.startswith("shop")
    assert run("ledger", "show", "nowhere").code == 1
    assert not (tmp_path / FILE_NAME).exists()


def test_a_ledger_above_is_not_taken_over(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "log.csv").write_text("user,query\n")
    above = Ledger.open(tmp_path / FILE_NAME, create=True)
    assert run("ledger", "init", "shop", "--cap-delta", "1").code == 0  # nothing is charged yet
    publish(above, tmp_path / "march", charge(1))
    for where in ("shop", "shop/log.csv"):
        refused = run("ledger", "init", where, "--dataset", "shop", "--cap-epsilon", "9")
        assert refused.code == 1
        for told in (above.path, f"zealous ledger init {tmp_path / 'shop' / FILE_NAME}"):
            assert str(told) in " ".join(refused.stderr.split())
    assert (above.book().dataset, above.book().caps.all.epsilon) == (None, None)
    assert run("ledger", "init", ".", "--cap-epsilon", "9").code == 0  # its own folder
    assert run("ledger", "init", above.path, "--cap-epsilon", "8").code == 0
    assert run("ledger", "init", tmp_path / "shop" / FILE_NAME, "--dataset", "shop").code == 0
    assert above.book().dataset is None


def test_show_tells_the_log_and_both_deltas(run: Run, tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / FILE_NAME, create=True)
    ledger.reserve("old", charge(1))
    known = replace(charge(1), log="logs/shop.csv", person="CustomerID", other_delta=2e-7)
    ledger.reserve("new", known)
    shown_ = " ".join(run("ledger", "show").stdout.split())  # of the current folder
    assert "1 not recorded not recorded 0.001 2 logs/shop.csv CustomerID 2e-7 0.001" in shown_
    assert "odds between any two histories move (neighbours: replace)" in shown_
    assert "No release names a period" in shown_
    assert "in one period" not in shown_
    found = json.loads(run("ledger", "show", "--json").stdout)["entries"][1]
    assert (found["log"], found["person"], found["other_delta"]) == (
        "logs/shop.csv",
        "CustomerID",
        2e-7,
    )


def test_a_fingerprint_is_the_hash_of_release_json(tmp_path: Path) -> None:
    (tmp_path / "release.json").write_bytes(b"{}")
    assert fingerprint(tmp_path) == hashlib.sha256(b"{}").hexdigest()
    with pytest.raises(LedgerError):
        fingerprint(tmp_path / "nowhere")


def test_as_many_releases_are_left_as_the_cap_grants(ledger: Ledger) -> None:
    one = charge()
    assert ledger.book().releases_left(one, most=99) is None  # no cap
    capped(ledger, 5 * one.epsilon)
    for left in (5, 4, 3, 2, 1):
        assert ledger.book().releases_left(one, most=99) == left
        assert ledger.book().releases_left(one, most=2) == min(left, 2)
        ledger.reserve(f"release {left}", one)
    assert ledger.book().releases_left(one, most=99) == 0
    with pytest.raises(Refused):
        ledger.reserve("one more", one)
