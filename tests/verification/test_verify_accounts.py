"""A release and the ledger that it was charged to."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from bundles import made
from click.testing import CliRunner
from forging import forge
from verified import About, failed

from zealous.cli.verify import verify as command
from zealous.errors import UsageError
from zealous.ledger import FILE_NAME, Ledger
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
from zealous.release.account import Account
from zealous.release.assumptions import OTHERS
from zealous.verification.review import review
from zealous.verification.verify import verify


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    return made(folder).write(folder / "out")


@pytest.fixture
def copy(written: Path, tmp_path: Path) -> Path:
    shutil.copytree(written, tmp_path / "out")
    return tmp_path / "out"


def test_an_untracked_release_is_in_no_ledger(copy: Path, tmp_path: Path) -> None:
    assert "not tracked" in {check.name: check.detail for check in verify(copy)}["budget"]
    any_ = Ledger.open(tmp_path / "any.ledger", create=True).path
    assert set(failed(copy, ledger=any_)) == {"budget"}


def test_a_ledger_is_named_by_its_folder_or_log(tmp_path: Path) -> None:
    log = tmp_path / "shop" / "log.csv"
    log.parent.mkdir()
    log.write_text("user,query\nu1,tea\n")
    path = Ledger.open(tmp_path / FILE_NAME, create=True).path  # in a folder above
    target = made(tmp_path, account=Account(ledger=path)).write(tmp_path / "out")
    for where in (tmp_path, log.parent, log, str(path)):
        assert failed(target, ledger=where) == {}
    wrong = CliRunner().invoke(command, [str(target), "--ledger", str(tmp_path / "nothing")])
    assert isinstance(wrong.exception, UsageError), "which ends a command with 2, and no verdict"
    assert "FAILED" not in wrong.output


def test_a_tracked_release_against_its_ledger(tmp_path: Path) -> None:
    book, other = tmp_path / "a.ledger", tmp_path / "b.ledger"
    target = made(tmp_path, account=Account(ledger=book)).write(tmp_path / "out")
    made(tmp_path, account=Account(ledger=other)).write(tmp_path / "other")
    assert failed(target) == {}
    assert failed(target, ledger=book) == {}
    assert set(failed(target, ledger=other)) == {"budget"}
    with pytest.raises(UsageError, match="name a ledger, a log or a folder"):
        verify(target, tmp_path / "none.ledger")
    review(target, flag_pii=True, output=tmp_path / "child")
    review(tmp_path / "child", flag_pii=True, output=tmp_path / "grandchild")
    for name in ("child", "grandchild"):
        assert failed(tmp_path / name, ledger=book) == {}
        assert set(failed(tmp_path / name, ledger=other)) == {"budget"}
    forge(tmp_path / "child", lambda about: about["review"].update(parent="ab" * 32))
    assert "parent" in failed(tmp_path / "child", ledger=book)["budget"]


def test_an_account_printed_too_small(tmp_path: Path) -> None:
    account = Account(ledger=tmp_path / "a.ledger")
    target = made(tmp_path, account=account).write(tmp_path / "out")
    forge(target, lambda about: about["ledger"]["accounts"]["all"].update(epsilon=1.0))
    assert "smaller in print" in failed(target)["budget"]


def count_unit(about: About, unit: str) -> None:
    about["ledger"]["unit"] = unit


def account_of(about: About, name: str, **exact: str) -> None:
    account = about["ledger"]["accounts"][name]
    account["exact"].update(exact)
    account.update({key: float(Fraction(value)) for key, value in exact.items()})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda about: account_of(about, "all", epsilon="399"), "this release alone"),
        (lambda about: account_of(about, "all", delta="1/4"), "this release alone"),
        (lambda about: account_of(about, "period", epsilon="399"), "this release alone"),
        (lambda about: account_of(about, "period", delta="1/4"), "this release alone"),
        (lambda about: about["ledger"]["accounts"].update(delta_for_anybody=0.1), "anybody"),
        (lambda about: about["ledger"]["accounts"]["all"].update(releases=0), "fewer releases"),
        (lambda about: about["ledger"]["accounts"]["period"].update(within="2026-04"), "another"),
        (lambda about: about["ledger"]["accounts"]["period"].update(within="all"), "another"),
        (lambda about: about["ledger"]["accounts"]["period"].update(within="soon"), "period is"),
    ],
)
def test_an_account_without_this_release(
    change: Callable[[About], object], told: str, tmp_path: Path
) -> None:
    account = Account(ledger=tmp_path / "a.ledger")
    target = made(tmp_path, account=account, period="2026-03").write(tmp_path / "out")
    assert failed(target) == {}
    forge(target, change)
    found = failed(target)
    assert set(found) == {"budget"}
    assert told in found["budget"]


def test_an_account_must_count_twice_what_counts_twice(tmp_path: Path) -> None:
    file = tmp_path / "a.ledger"
    Ledger.open(file, create=True, neighbors="replace")
    goal = ProbabilisticDP(epsilon=400, delta="0.5", users=1_000, neighbors="add-remove")
    target = made(tmp_path, goal, account=Account(ledger=file)).write(tmp_path / "out")
    assert failed(target, ledger=file) == {}
    for name in ("all", "period"):
        shutil.copytree(target, tmp_path / name)
        forge(tmp_path / name, partial(account_of, name=name, epsilon="799"))
        assert "this release alone" in failed(tmp_path / name)["budget"]


def test_a_ledger_of_days_counts_no_sessions(tmp_path: Path) -> None:
    goal = ProbabilisticDP(epsilon=400, delta="0.5", users=1_000, unit="user-day")
    account = Account(ledger=tmp_path / "a.ledger")
    target = made(tmp_path, goal, account=account).write(tmp_path / "out")
    assert failed(target) == {}
    for unit in ("user", "session"):
        forge(target, partial(count_unit, unit=unit))
        assert "another unit" in failed(target)["budget"]


def test_accounts_that_amount_to_more_than_the_release(tmp_path: Path) -> None:
    goal = Indistinguishability(epsilon=400, delta="0.0001", users=1_000)
    account = Account(ledger=tmp_path / "a.ledger")
    target = made(tmp_path, goal, account=account).write(tmp_path / "out")
    assert failed(target) == {}
    forge(target, lambda about: about["ledger"]["accounts"].update(definition="probabilistic"))
    assert "amount to more" in failed(target)["budget"]


def test_a_cap_that_was_lowered_is_no_failure(tmp_path: Path) -> None:
    account = Account(ledger=tmp_path / "a.ledger")
    target = made(tmp_path, account=account).write(tmp_path / "out")
    forge(target, lambda about: about["ledger"]["caps"].update(all={"epsilon": 1, "delta": None}))
    assert failed(target) == {}


@pytest.mark.parametrize("people", [None, "the shop's"])
def test_whose_people_they_are_is_the_ledger_s_to_say(people: str | None, tmp_path: Path) -> None:
    file = tmp_path / "a.ledger"
    parent = made(tmp_path, account=Account(ledger=file, people=people)).write(tmp_path / "out")
    review(parent, flag_pii=True, output=tmp_path / "child")
    assert failed(tmp_path / "child", ledger=file) == {}

    def other(about: About) -> None:
        said = [each for each in about["assumptions"] if each != OTHERS]
        about["assumptions"] = said if people else [*said[:-1], OTHERS, said[-1]]

    forge(tmp_path / "child", other)
    assert failed(tmp_path / "child") == {}
    assert "people" in failed(tmp_path / "child", ledger=file)["budget"]
