"""Publishing past a ledger that limits it: refused, or recorded in it with a reason."""

from __future__ import annotations

import shutil
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

import zealous as z
from zealous.errors import LedgerError, Refused, UsageError
from zealous.ledger import FILE_NAME, Cap, Caps, Ledger
from zealous.ledger.copies import back_up, move, restore
from zealous.release.account import Account
from zealous.release.bundle import Release
from zealous.release.untracked import INTERNAL, Untracked

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHHAV4rz02Z/saBamVnmKAtQ18/a4ep4/cvGcG1c5pOD"
GOAL = z.ProbabilisticDP(epsilon=10, delta="0.01", users=300)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "shop" / "log.csv"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(["user,query", *(f"{n},tea" for n in range(200))]) + "\n")
    return path


@pytest.fixture
def capped(log: Path) -> Ledger:
    made = Ledger.open(log.parent.parent / FILE_NAME, create=True)
    made.set_caps(Caps(all=Cap(epsilon=Fraction(25))))
    return made


def publish(log: Path, account: Account | Untracked | None) -> Release:
    return z.publish(z.read_log(log), GOAL, [z.queries(1)], account=account)


@pytest.mark.parametrize("how", ["no ledger", "none", "other", "below", "seed"])
def test_a_capped_ledger_is_not_passed_by_in_silence(
    log: Path, capped: Ledger, tmp_path: Path, how: str
) -> None:
    below = log.with_name(FILE_NAME)
    if how == "below":
        Ledger.open(below, create=True)
    accounts: dict[str, Account | Untracked | None] = {
        "no ledger": Untracked(),
        "none": None,
        "other": Account(ledger=tmp_path / "other.sqlite"),
        "below": Account(),
        "seed": Account(),
    }
    seeded = {"seed": 7} if how == "seed" else {}
    advice = {"other": "Leave out account=z.Account(ledger", "below": f"{below} is nearer"}
    with pytest.raises(Refused, match="would not be charged to it") as refused:
        z.publish(z.read_log(log), GOAL, [z.queries(1)], account=accounts[how], **seeded)  # type: ignore[arg-type]
    assert str(capped.path) in str(refused.value)
    assert advice.get(how, "") in str(refused.value)
    assert ("Leave out" in str(refused.value)) == (how in ("no ledger", "none", "other", "seed"))
    assert len(capped.book().events) == 2
    assert not (tmp_path / "other.sqlite").exists()


def test_with_a_reason_it_is_recorded(log: Path, capped: Ledger, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    publish(log, Account(ledger=other, reason="people of a test", signed_by="her"))
    made = publish(log, Untracked(reason="a rehearsal", signed_by="him"))
    first, second = capped.book().decisions()[2:]
    assert (first.by, first.reason) == ("her", "people of a test")
    assert f"charged to {other}" in first.text
    assert "epsilon 10, delta 0.01 are not counted" in first.text
    assert (second.by, second.reason) == ("him", "a rehearsal")
    assert made.record.id in second.text
    assert capped.accounts().all.epsilon == 0
    assert len(Ledger.open(other).history()) == 1


@pytest.mark.parametrize("how", ["copied", "restored"])
def test_a_copy_of_a_capped_ledger_is_another(
    log: Path, capped: Ledger, tmp_path: Path, how: str
) -> None:
    copy = tmp_path / "copy.sqlite"
    if how == "copied":
        shutil.copy(capped.path, copy)
    else:
        back_up(capped.path, tmp_path / "backup.sqlite")
        restore(tmp_path / "backup.sqlite", copy, reason="a test")
    with pytest.raises(Refused, match="would not be charged to it"):
        publish(log, Account(ledger=copy))
    assert not Ledger.open(copy).history()
    publish(log, Account(ledger=copy, reason="a test of copies"))
    assert capped.book().decisions()[-1].kind == "bypassed"


def test_what_a_ledger_was_moved_to_goes_on_for_it(
    log: Path, capped: Ledger, tmp_path: Path
) -> None:
    first, second, copy = (tmp_path / f"{name}.sqlite" for name in ("first", "second", "copy"))
    move(capped.path, first)
    link = tmp_path / "link.sqlite"
    link.symlink_to(first)
    publish(log, Account(ledger=link))
    move(first, second)
    shutil.copy(second, copy)
    publish(log, Account(ledger=second))
    with pytest.raises(Refused, match="would not be charged to it"):
        publish(log, Account(ledger=copy))


@pytest.mark.parametrize("other", [True, False])
def test_a_ledger_with_approvers_is_not_passed_by(log: Path, tmp_path: Path, other: bool) -> None:
    approved = Ledger.open(log.with_name(FILE_NAME), create=True, dataset="shop")
    approved.set_approvers(f"ito@example {KEY}\n")
    path = tmp_path / "other.sqlite"
    account = Account(ledger=path, reason="a test") if other else Untracked(reason="a test")
    with pytest.raises(Refused, match="by approved plans alone"):
        publish(log, account)
    assert len(approved.book().events) == 2
    assert not path.exists()


def test_a_ledger_without_its_triggers_is_not_charged(log: Path, capped: Ledger) -> None:
    publish(log, Account())
    connection = sqlite3.connect(capped.path, isolation_level=None)
    connection.execute("drop trigger no_update")
    connection.execute("drop trigger no_delete")
    connection.execute("delete from events where seq > 2")
    connection.execute("update sqlite_sequence set seq = 2")
    connection.close()
    with pytest.raises(LedgerError, match="was removed or replaced"):
        publish(log, Account())


def test_an_internal_release_is_not_written(log: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="internal"):
        z.publish(z.read_log(log), GOAL, [z.queries(1)], account=INTERNAL, output=tmp_path / "out")
    with pytest.raises(Refused, match="internal"):
        publish(log, INTERNAL).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_charged_to_it_passes_nothing_by(log: Path, capped: Ledger, tmp_path: Path) -> None:
    publish(log, Account())
    publish(log, Account(ledger=capped.path))
    publish(log, INTERNAL)
    assert len(capped.history()) == 2
    assert [event.kind for event in capped.book().decisions()] == ["opened", "caps"]


def test_a_ledger_without_caps_may_be_passed_by(log: Path, tmp_path: Path) -> None:
    Ledger.open(log.with_name(FILE_NAME), create=True)
    publish(log, None)
    publish(log, Account(ledger=tmp_path / "other.sqlite"))
