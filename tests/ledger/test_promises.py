"""What a cap promises: by which definition, for which periods, and until when."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from msgspec import structs
from tampering import rewrite, tampered

from zealous.cli.balance import changed_promise
from zealous.errors import Refused, UsageError
from zealous.ledger import Cap, Caps, Charge, Ledger
from zealous.ledger.cap_spending import composed_epsilon
from zealous.ledger.losses import Losses
from zealous.privacy.composition import Loss
from zealous.privacy.period import Period
from zealous.record.record import CapRecord, LedgerStamp
from zealous.release.account import ledger_stamp
from zealous.verification.accounts import _check_composed, _check_composed_definition
from zealous.verification.claimed_guarantee import CheckFailed

HALF = Loss.moved(exposure=Fraction("5e-7"), mu_squared=Fraction("0.0524"))
HALF_COMING = Loss.moved(exposure=Fraction("5e-7"), mu_squared=Fraction("0.0262"))
KNOWN = Losses(replace=(HALF,), add_remove=(HALF_COMING,))
THREE = Cap(epsilon=Fraction(3), delta=Fraction(1, 10**4))
PROMISE = "added up, the caps promise epsilon 6, delta 0.0002 over all releases"


def charge(**said: Any) -> Charge:
    basic: dict[str, Any] = {
        "epsilon": Fraction(1),
        "delta": Fraction(1, 10**6),
        "definition": "indistinguishable",
        "neighbors": "replace",
        "losses": KNOWN,
    }
    return Charge(**(basic | said))


def spend(ledger: Ledger, *charges: Charge) -> None:
    for number, each in enumerate(charges):
        ledger.reserve(f"release {number}", each, again=True)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / "x.sqlite", create=True, neighbors="replace")


@pytest.fixture
def coming(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / "y.sqlite", create=True, neighbors="add-remove")


def test_composed_losses_are_indistinguishable_only(ledger: Ledger) -> None:
    """Also where every release is probabilistic: as that, they come to their sum."""
    spend(ledger, *[charge(definition="probabilistic")] * 3)
    assert ledger.accounts().definition == "probabilistic"
    ledger.set_caps(Caps(all=THREE, compose="losses"))
    book = ledger.book()
    assert book.standing().composed
    assert book.accounts().definition == "indistinguishable"
    last = replace(list(book.entries.values())[-1], accounts=book.accounts())
    stamp = ledger_stamp(last, book)
    assert stamp.accounts.all.composed
    assert stamp.accounts.definition == "indistinguishable"


@pytest.mark.parametrize("compose", ["sums", "losses"])
def test_a_period_cap_holds_for_periods_that_nobody_declared(coming: Ledger, compose: Any) -> None:
    """Of a release over all days only a part lies in a month: a history changes."""
    one = charge(neighbors="add-remove", replaced=Fraction("1.46"))
    coming.set_caps(Caps(period=THREE, compose=compose))
    with pytest.raises(Refused, match="in any period"):
        spend(coming, *[one] * 30)
    book = coming.book()
    granted = len(book.entries)
    month = book.standing_in_period(Period.parse("2026-03"))
    assert granted == (2 if compose == "sums" else 11)
    assert month.fits
    assert book.against_caps()[1] == month
    assert book.accounts().all.epsilon == granted  # where she comes or goes as a whole


def test_a_declared_period_that_comes_or_goes_costs_no_more(coming: Ledger) -> None:
    coming.set_caps(Caps(period=Cap(epsilon=Fraction(1)), compose="sums"))
    spend(coming, charge(neighbors="add-remove", period=Period.parse("2026-03")))
    assert coming.accounts().period.epsilon == 1


def test_what_caps_limit_is_not_changed_in_silence(ledger: Ledger) -> None:
    ledger.set_caps(Caps(all=THREE, compose="sums"))
    spend(ledger, *[charge()] * 3)
    for other in (Caps(all=THREE, compose="losses"), Caps(compose="losses", period=THREE)):
        with pytest.raises(Refused, match="give a reason for it"):
            ledger.set_caps(other)
    ledger.set_caps(Caps())  # nor by taking the caps away in between
    with pytest.raises(Refused, match="give a reason for it"):
        ledger.set_caps(Caps(all=THREE, compose="losses"))
    ledger.set_caps(Caps(all=THREE))
    ledger.set_caps(Caps(all=THREE, compose="losses"), reason="a new promise")
    assert PROMISE in ledger.book().events[-1].text
    assert ledger.book().promised().all == Cap(epsilon=Fraction(6), delta=Fraction(1, 5000))


def test_a_lowered_cap_lowers_no_promise(ledger: Ledger) -> None:
    """Whether it is lowered may hang on what came out: then larger losses were possible."""

    def cap(epsilon: int, delta: str) -> Caps:
        return Caps(all=Cap(epsilon=Fraction(epsilon), delta=Fraction(delta)), compose="losses")

    ledger.set_caps(cap(9, "1e-5"))
    ledger.set_caps(cap(5, "1e-5"))  # nothing was charged under the first
    spend(ledger, charge())
    ledger.set_caps(cap(6, "1e-5"))  # a cap that is raised promises what it says
    assert not ledger.book().promises_more_than_caps()
    ledger.set_caps(cap(4, "2e-5"))
    book = ledger.book()
    assert book.promised().all == Cap(epsilon=Fraction(5), delta=Fraction(2, 10**5))
    told = "over everything, the caps promise epsilon 5, delta 2e-5 over all releases"
    assert told in str(changed_promise(book))
    stamp = ledger_stamp(replace(next(iter(book.entries.values())), accounts=book.accounts()), book)
    assert stamp.promised is not None
    assert stamp.promised.all == CapRecord(epsilon=5.0, delta=2e-5)
    ledger.set_caps(Caps(all=THREE, compose="sums"), reason="a new promise")
    assert ledger.book().promised().all == Cap(epsilon=Fraction(8), delta=Fraction("0.00012"))
    assert ledger.verify() == []


def test_the_commands_tell_the_definition_and_what_ended(ledger: Ledger, run: Run) -> None:
    ledger.set_caps(Caps(all=THREE, compose="sums"))
    spend(ledger, *[charge(definition="probabilistic")] * 3)
    assert "is probabilistic differential privacy" in run("ledger", "show", ledger.path).stdout
    told = run("ledger", "init", ledger.path, "--compose", "losses", "--reason", "a new promise")
    assert PROMISE in told.stdout
    assert "Composed losses are a promise of indistinguishability" in told.stdout
    assert "robabilistic" not in told.stdout
    checked = run("ledger", "verify", ledger.path)
    assert checked.code == 0
    assert PROMISE in checked.stdout
    shown = json.loads(run("ledger", "show", ledger.path, "--json").stdout)
    assert shown["promised"]["all"]["exact"] == {"epsilon": "6", "delta": "1/5000"}


def test_a_promise_that_is_passed_already_does_not_end(ledger: Ledger) -> None:
    ledger.set_caps(Caps(all=THREE, compose="sums"))
    spend(ledger, *[charge()] * 3)
    ledger.set_caps(Caps(all=Cap(epsilon=Fraction(2), delta=THREE.delta)))
    with pytest.raises(Refused, match="raise them first"):
        ledger.set_caps(Caps(all=THREE, compose="losses"), reason="a new promise")


def test_a_promise_that_ended_unsaid_is_found(ledger: Ledger) -> None:
    ledger.set_caps(Caps(all=THREE, compose="sums"))
    spend(ledger, charge())
    ledger.set_caps(Caps(all=THREE, compose="losses"), reason="a new promise")
    assert ledger.verify() == []

    def hush(connection: sqlite3.Connection) -> None:
        rewrite(connection, '"reason":"a new promise",', "")

    tampered(ledger.path, hush)
    (problem,) = ledger.verify()
    assert "changed what the caps limit" in problem


def test_composing_goes_on_with_both_numbers(ledger: Ledger) -> None:
    ledger.set_caps(Caps(all=THREE, compose="losses"))
    spend(ledger, charge())
    with pytest.raises(UsageError, match="needs both"):
        ledger.set_caps(Caps(all=Cap(epsilon=Fraction(3))))


def test_a_cap_after_releases_limits_sums_unless_said(ledger: Ledger) -> None:
    """Which of the two allows more is known by then, and was seen."""
    spend(ledger, *[charge()] * 3)
    ledger.set_caps(Caps(all=THREE))
    assert ledger.book().caps.compose == "sums"


def test_the_worst_period_of_composed_losses_is_told(ledger: Ledger) -> None:
    """January leads in sums, February does once losses are composed."""
    first, second = Period.parse("2026-01"), Period.parse("2026-02")
    small = Losses(
        replace=(Loss.moved(exposure=Fraction(0), mu_squared=Fraction("0.01")),), add_remove=()
    )
    spend(
        ledger,
        *[charge(epsilon=Fraction(1, 2), period=first, losses=small)] * 8,
        charge(epsilon=Fraction("3.9"), period=second, losses=None),
    )
    book, measure = ledger.book(), ledger.book().measure()
    assert measure is not None
    assert book.accounts().within == first
    found = book.fixed_in_advance()
    assert found is not None
    delta, period, _ = found
    charges = [entry.charge for entry in book.counted_entries()]
    assert period == composed_epsilon(measure, charges, second, delta)
    assert period != composed_epsilon(measure, charges, first, delta)


def stamped(ledger: Ledger) -> LedgerStamp:
    ledger.set_caps(Caps(all=THREE, compose="losses"))
    spend(ledger, charge())
    book = ledger.book()
    return ledger_stamp(replace(book.entries[book.events[-1].seq], accounts=book.accounts()), book)


def test_a_composed_account_is_at_the_delta_of_its_cap(ledger: Ledger) -> None:
    stamp = stamped(ledger)
    measure, spent, cap = ledger.book().measure(), stamp.accounts.all, stamp.caps.all
    assert measure is not None
    _check_composed(charge(), measure, None, spent, cap)
    lower = structs.replace(spent, delta=1e-12)
    with pytest.raises(CheckFailed, match="smaller in print"):
        _check_composed(charge(), measure, None, lower, cap)
    with pytest.raises(CheckFailed, match="another delta"):
        _check_composed(charge(), measure, None, spent, CapRecord(epsilon=3.0, delta=1e-5))


def test_composed_accounts_claim_indistinguishability_alone(ledger: Ledger) -> None:
    told = stamped(ledger).accounts
    _check_composed_definition(told)
    with pytest.raises(CheckFailed, match="indistinguishable only"):
        _check_composed_definition(structs.replace(told, definition="probabilistic"))


@pytest.mark.parametrize("said", [{"losses": None}, {"definition": "probabilistic"}])
def test_what_cannot_be_computed_again_counts_twice(said: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="costs two epsilon"):
        charge(neighbors="add-remove", replaced=Fraction(3, 2), **said)
    charge(neighbors="add-remove", replaced=Fraction(2), **said)


def test_an_entry_that_counts_less_than_can_be_computed_is_found(coming: Ledger) -> None:
    spend(coming, charge(neighbors="add-remove", replaced=Fraction(2), losses=None))

    def lower(connection: sqlite3.Connection) -> None:
        rewrite(connection, '"replaced":"2"', '"replaced":"1"')

    tampered(coming.path, lower)
    (problem,) = coming.verify()
    assert "costs two epsilon" in problem
