"""Losses in a ledger: what they come to, the cap that limits them, and what old entries count."""

from __future__ import annotations

import json
import shutil
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from paths import TESTS
from tampering import rewrite, tampered

from zealous.errors import Refused, UsageError
from zealous.ledger import Cap, Caps, Charge, Ledger
from zealous.ledger.budgets import Measure
from zealous.ledger.cap_spending import composed_epsilon, standing
from zealous.ledger.losses import Losses
from zealous.privacy.composition import Filter, Loss
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
from zealous.privacy.period import Period

USER = Measure(unit="user", neighbors="replace")
COMING = Measure(unit="user", neighbors="add-remove")
# Gaussian noise at (1, 1e-6), half of delta for exposure.
HALF = Loss.moved(exposure=Fraction("5e-7"), mu_squared=Fraction("0.0524"))
HALF_COMING = Loss.moved(exposure=Fraction("5e-7"), mu_squared=Fraction("0.0262"))
YEAR = Cap(epsilon=Fraction("3.6"), delta=Fraction(12, 10**6))


def charge(**said: Any) -> Charge:
    basic: dict[str, Any] = {
        "epsilon": Fraction(1),
        "delta": Fraction(1, 10**6),
        "definition": "indistinguishable",
        "neighbors": "replace",
        "losses": Losses(replace=(HALF,), add_remove=(HALF_COMING,)),
    }
    return Charge(**(basic | said))


def spend_all(ledger: Ledger) -> None:
    for number in range(60):
        ledger.reserve(f"release {number}", charge())


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / "x.sqlite", create=True, neighbors="replace")


@pytest.mark.parametrize(("releases", "most"), [(12, "3.6"), (52, "7.8")])
def test_a_year_costs_less_than_its_sum(releases: int, most: str) -> None:
    delta = Fraction(releases, 10**6)
    found = composed_epsilon(USER, [charge()] * releases, None, delta)
    assert found is not None
    assert Fraction(most) - Fraction(3, 10) < found <= Fraction(most)
    assert USER.loss([charge()] * releases).epsilon == releases


def test_the_last_admissible_release_and_no_other_is_granted(ledger: Ledger) -> None:
    """The refusal and the figure that is shown come from one function."""
    ledger.set_caps(Caps(all=YEAR, compose="losses"))
    limit = Filter(epsilon=Fraction("3.6"), delta=Fraction(12, 10**6))
    with pytest.raises(Refused, match="of exposure 6e-6 is left and this release adds 5e-7"):
        spend_all(ledger)
    granted = len(ledger.history())
    assert granted == 12
    shown = ledger.book().standing()
    assert shown.epsilon == limit.spent([HALF] * granted).epsilon
    assert shown.fits
    assert not limit.spent([HALF] * (granted + 1)).fits
    assert ledger.verify() == []


def test_noise_is_refused_as_exposure_is(ledger: Ledger) -> None:
    cap = Cap(epsilon=Fraction(3), delta=Fraction(1, 10**4))
    ledger.set_caps(Caps(all=cap, compose="losses"))
    with pytest.raises(Refused, match="of epsilon 3 is left and this release adds"):
        spend_all(ledger)
    spent = len(ledger.history())
    assert standing(cap, USER, [charge()] * spent, None, composed=True).fits
    assert not standing(cap, USER, [charge()] * (spent + 1), None, composed=True).fits


def test_one_currency_alone_decides(ledger: Ledger) -> None:
    ledger.set_caps(Caps(all=Cap(epsilon=Fraction(99), delta=YEAR.delta), compose="losses"))
    exposed = Loss.moved(exposure=Fraction("9e-7"), mu_squared=Fraction("0.01"))
    for number in range(6):
        ledger.reserve(str(number), charge(losses=Losses(replace=(exposed,), add_remove=())))
    with pytest.raises(Refused, match="exposure"):  # sums would allow twelve
        ledger.reserve("more", charge(losses=Losses(replace=(exposed,), add_remove=())))


def test_entries_hold_their_losses_exactly(ledger: Ledger) -> None:
    third = Loss(exposure=Fraction(1, 3 * 10**6), shifts=7, rate=Fraction(1, 7))
    known = Losses(replace=(HALF, third), add_remove=(HALF_COMING,))
    ledger.reserve("march", charge(losses=known))
    assert ledger.history()[0].charge.losses == known


def test_old_entries_enter_as_what_they_stated() -> None:
    old = charge(losses=None)
    assert USER.losses([old]) == [(Loss.stated(epsilon=Fraction(1), delta=Fraction(1, 10**6)),)]
    coming = charge(losses=None, neighbors="add-remove")
    assert USER.losses([coming])[0][0].rate == 2


def test_a_person_is_in_the_releases_of_her_label_and_of_everybody() -> None:
    charges = [charge(), charge(people="north"), charge(people="north"), charge(people="south")]
    squares = [sum(loss.total_mu_squared for loss in each) for each in USER.losses(charges)]
    assert squares == [3 * HALF.mu_squared, 2 * HALF.mu_squared]
    cap = Cap(epsilon=Fraction(4), delta=Fraction(1, 10**5))
    found = standing(cap, USER, charges, None, composed=True)
    assert found == standing(cap, USER, [charge()] * 3, None, composed=True)


def test_a_period_has_the_releases_of_its_days() -> None:
    months = [charge(period=Period.parse(f"2026-0{month}")) for month in range(1, 7)]
    (found,) = USER.losses(months, Period.parse("2026-Q1"))
    assert sum(loss.total_mu_squared for loss in found) == 3 * HALF.mu_squared


def test_what_changes_decides_which_loss_counts() -> None:
    month = charge(period=Period.parse("2026-03"))
    for measure, change, expected in (
        (USER, None, HALF),
        (COMING, None, HALF_COMING),
        (COMING, Period.parse("2026-Q1"), HALF_COMING),
        (COMING, Period.parse("2026-03-05"), HALF),  # a part of what she is there with
    ):
        (found,) = measure.losses([month], change)
        assert sum(loss.total_mu_squared for loss in found) == expected.mu_squared


def test_add_remove_is_recomputed_for_a_ledger_of_replace(ledger: Ledger) -> None:
    goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
    one = Loss.thresholded(shown=Fraction("1.426e-7"), items=5, shifts=10, scale=Fraction("9.45"))
    known = Losses(replace=(one,), add_remove=(Loss(shifts=5, mu_squared=one.mu_squared),))
    asked = Charge.of(goal, losses=known)
    assert asked.replaced is not None
    assert Fraction("1.45") < asked.replaced < Fraction("1.46")
    assert USER.cost(asked, None).epsilon == asked.replaced
    assert COMING.cost(asked, None).epsilon == 1
    ledger.reserve("march", asked)
    assert ledger.verify() == []
    low = f'"replaced":"{asked.replaced}"'

    def lower(connection: sqlite3.Connection) -> None:
        rewrite(connection, low, '"replaced":"5/4"')

    tampered(ledger.path, lower)
    assert ledger.verify() == ["entry 1 counts less than its losses cost"]


def test_probabilistic_charges_are_doubled() -> None:
    goal = ProbabilisticDP(epsilon=1, delta="1e-3", users=100, neighbors="add-remove")
    known = Losses(replace=(HALF,), add_remove=(HALF_COMING,))
    try:
        charged = Charge.of(goal, losses=known)
    except UsageError as why:
        raise AssertionError("it is charged as another definition would be") from why
    assert USER.cost(charged, None).epsilon == 2


def test_what_caps_limit_is_fixed_by_the_first_release(ledger: Ledger) -> None:
    ledger.set_caps(Caps(all=YEAR))
    ledger.reserve("january", charge())
    assert ledger.book().composes_losses()
    ledger.set_caps(Caps(all=Cap(epsilon=Fraction(100), delta=Fraction(12, 10**6))))
    assert ledger.book().caps.compose == "losses"
    for _ in range(11):
        ledger.reserve("more", charge())
    with pytest.raises(Refused):
        ledger.reserve("more", charge())


@pytest.mark.parametrize(
    ("first", "cap"),
    [
        (charge(definition="probabilistic"), YEAR),
        (charge(losses=None), YEAR),
        (charge(), Cap(epsilon=Fraction(4))),
        (charge(), Cap(epsilon=Fraction(4), delta=Fraction(1))),
        (charge(), Cap(epsilon=Fraction(1), delta=Fraction(1, 10**6))),  # no more than one
    ],
)
def test_sums_are_limited_where_they_allow_as_much_or_alone_are_proven(
    ledger: Ledger, first: Charge, cap: Cap
) -> None:
    ledger.set_caps(Caps(all=cap))
    ledger.reserve("first", first)
    assert not ledger.book().composes_losses()
    assert ledger.book().standing().epsilon == 1


def test_composing_needs_both_numbers(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="needs both"):
        ledger.set_caps(Caps(all=Cap(epsilon=Fraction(4)), compose="losses"))


def test_caps_of_the_first_format_limit_sums(tmp_path: Path) -> None:
    file = shutil.copy(TESTS / "fixtures" / "ledger-1.sqlite", tmp_path / "old.sqlite")
    old = Ledger.open(file)
    assert not old.book().composes_losses()
    old.set_caps(Caps(all=Cap(epsilon=Fraction(9), delta=Fraction(1, 10))))
    assert old.book().caps.compose == "sums"


def test_a_charge_past_a_cap_is_found(ledger: Ledger) -> None:
    ledger.set_caps(Caps(all=Cap(epsilon=Fraction(7, 2)), compose="sums"))
    for number in range(3):
        ledger.reserve(f"release {number}", charge())

    def lower(connection: sqlite3.Connection) -> None:
        rewrite(connection, '"epsilon":"7/2"', '"epsilon":"5/2"')

    tampered(ledger.path, lower)
    assert ledger.verify() == ["entry 3 was charged although a cap did not allow it"]


def test_what_a_void_or_a_lower_cap_leaves_is_no_fault(ledger: Ledger) -> None:
    """Between a void or new caps the accounts only grow, so `verify` looks at their end alone."""
    ledger.set_caps(Caps(all=Cap(epsilon=Fraction(2)), compose="sums"))
    for name in ("one", "two"):
        ledger.reserve(name, charge())
    ledger.void(1, reason="nobody saw it", by="owner")
    ledger.reserve("three", charge())
    ledger.set_caps(Caps(all=Cap(epsilon=Fraction(1)), compose="sums"))
    assert ledger.verify() == []

    def lower(connection: sqlite3.Connection) -> None:
        rewrite(connection, '"epsilon":"2"', '"epsilon":"3/2"')

    tampered(ledger.path, lower)
    assert ledger.verify() == [
        f"entry {number} was charged although a cap did not allow it" for number in (2, 3)
    ]


def test_show_leads_with_the_sum_where_there_is_no_cap(ledger: Ledger, run: Run) -> None:
    for number in range(12):
        ledger.reserve(f"release {number}", charge())
    shown = run("ledger", "show", ledger.path).stdout
    assert "epsilon 12, no cap" in shown
    assert "if all parameters were fixed in advance: epsilon 3.44" in shown
    told = json.loads(run("ledger", "show", ledger.path, "--json").stdout)
    assert told["accounts"]["all"]["epsilon"] == 12
    assert told["if_fixed_in_advance"]["epsilon_all"] <= 3.6
    assert run("ledger", "init", ledger.path, "--compose", "losses").code == 2
    capped = run(
        "ledger",
        "init",
        ledger.path,
        "--cap-epsilon",
        4,
        "--cap-delta",
        "1.2e-5",
        "--compose",
        "losses",
    )
    assert "3.44713 of 4" in capped.stdout
    assert "exposed" in capped.stdout
