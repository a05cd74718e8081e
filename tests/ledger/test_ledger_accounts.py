"""What a ledger says was spent: both accounts, and how numbers are printed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledgers import charge

from zealous.cli.balance import bar
from zealous.errors import Refused, UsageError
from zealous.ledger import (
    FILE_NAME,
    Cap,
    Caps,
    Charge,
    Ledger,
)
from zealous.ledger.budgets import Measure, accounts
from zealous.privacy.calibrate import satisfied_guarantees
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP, format_number
from zealous.privacy.period import Period

USER = Measure(unit="user", neighbors="replace")
COMING = Measure(unit="user", neighbors="add-remove")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / FILE_NAME, create=True, by="her")


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
