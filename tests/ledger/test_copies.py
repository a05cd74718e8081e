"""Copies of a ledger: backups, restoring, moving, and two that went on apart."""

from __future__ import annotations

import json
import shutil
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import Run
from paths import TESTS

from zealous.errors import LedgerError, Refused
from zealous.ledger import Charge, Ledger, store
from zealous.ledger.copies import back_up, describe_copy, move, restore

OF_FORMAT_1 = TESTS / "fixtures" / "ledger-1.sqlite"
CHARGE = Charge(
    epsilon=Fraction(1),
    delta=Fraction(1, 1000),
    definition="probabilistic",
    neighbors="replace",
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.open(tmp_path / "shop.sqlite", create=True, by="her")
    made.reserve("march", CHARGE)
    return made


def test_a_backup_is_read_and_never_charged(ledger: Ledger, tmp_path: Path) -> None:
    last = back_up(ledger.path, tmp_path / "kept.sqlite")
    kept = Ledger.open(tmp_path / "kept.sqlite")
    assert kept.book().last == last == ledger.book().last
    assert kept.verify() == []
    for act in (lambda: kept.reserve("april", CHARGE), lambda: kept.check(CHARGE)):
        with pytest.raises(LedgerError, match="is a backup"):
            act()
    with pytest.raises(LedgerError, match="exists already"):
        back_up(ledger.path, tmp_path / "kept.sqlite")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.sqlite", "shop.sqlite"]


@pytest.mark.parametrize("how", ["lost", "damaged", "set back"])
def test_a_backup_is_restored(ledger: Ledger, tmp_path: Path, how: str) -> None:
    older = shutil.copy(ledger.path, tmp_path / "older")
    ledger.reserve("april", CHARGE)
    back_up(ledger.path, tmp_path / "kept.sqlite")
    if how == "lost":
        ledger.path.unlink()
    elif how == "damaged":
        ledger.path.write_bytes(b"SQLite format 3\0" + bytes(4000))
    else:
        shutil.copy(older, ledger.path)
    restore(tmp_path / "kept.sqlite", ledger.path, by="her", reason="disk failed")
    assert ledger.verify() == []
    assert ledger.accounts().all.epsilon == 2
    assert ledger.book().decisions()[-1].reason == "disk failed"
    ledger.reserve("may", CHARGE)
    assert (tmp_path / "shop.sqlite.replaced-1").exists() == (how != "lost")


def test_restoring_never_forgets_a_charge(ledger: Ledger, tmp_path: Path) -> None:
    back_up(ledger.path, tmp_path / "kept.sqlite")
    ledger.reserve("april", CHARGE)
    with pytest.raises(Refused, match="nothing to restore"):
        restore(tmp_path / "kept.sqlite", ledger.path, reason="a mistake")
    restore(tmp_path / "kept.sqlite", tmp_path / "other.sqlite", reason="a second machine")
    with pytest.raises(Refused, match="went on apart after event 2"):
        restore(tmp_path / "other.sqlite", ledger.path, reason="a mistake")
    assert ledger.accounts().all.epsilon == 2


def test_two_copies_that_both_went_on_are_noticed(ledger: Ledger, tmp_path: Path, run: Run) -> None:
    copy = Path(shutil.copy(ledger.path, tmp_path / "copy.sqlite"))
    assert describe_copy(ledger.path, copy) is None
    Ledger.open(copy).reserve("april", CHARGE)
    assert "holds more, from event 3 on" in str(describe_copy(ledger.path, copy))
    ledger.reserve("april", CHARGE)
    assert "went on apart after event 2" in str(describe_copy(ledger.path, copy))
    found = run("ledger", "verify", ledger.path, "--copy", copy)
    assert (found.code, "went on apart" in found.stdout) == (1, True)
    Ledger.open(tmp_path / "new.sqlite", create=True)
    with pytest.raises(LedgerError, match="two different ledgers"):
        describe_copy(ledger.path, tmp_path / "new.sqlite")


def test_a_moved_ledger_goes_on_in_one_place(ledger: Ledger, tmp_path: Path) -> None:
    move(ledger.path, tmp_path / "new.sqlite", by="her", reason="another disk")
    for act in (
        lambda: ledger.reserve("april", CHARGE),
        lambda: ledger.check(CHARGE),
        lambda: ledger.void(1, by="her", reason="x"),
    ):
        with pytest.raises(Refused, match=r"was moved to .*new\.sqlite by her"):
            act()
    moved = Ledger.open(tmp_path / "new.sqlite")
    moved.reserve("april", CHARGE)
    assert moved.accounts().all.epsilon == 2
    assert ledger.verify() == moved.verify() == []
    assert describe_copy(moved.path, ledger.path) is None
    with pytest.raises(Refused, match="exists already"):
        move(ledger.path, tmp_path / "new.sqlite")
    move(moved.path, tmp_path / "back.sqlite")
    assert Ledger.open(tmp_path / "back.sqlite").book().moved_to is None


def test_an_interrupted_move_leaves_nothing_to_charge_and_is_finished(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store, "copy", killed)
        with pytest.raises(KeyboardInterrupt):
            move(ledger.path, tmp_path / "new.sqlite")
    with pytest.raises(Refused, match="was moved"):
        ledger.reserve("april", CHARGE)
    move(ledger.path, tmp_path / "new.sqlite")
    Ledger.open(tmp_path / "new.sqlite").reserve("april", CHARGE)


def test_a_charge_after_the_move_is_unlawful(ledger: Ledger, tmp_path: Path) -> None:
    move(ledger.path, tmp_path / "new.sqlite")
    with store.writing(ledger.path) as connection:
        last = store.read_rows(connection)[-1]
        body = json.loads(store.read_rows(connection)[1].body)
        store.append_event(connection, body, after=last)
    assert "after the ledger was moved" in ledger.verify()[0]


def test_a_ledger_of_the_first_format_is_carried_over(tmp_path: Path) -> None:
    file = Path(shutil.copy(OF_FORMAT_1, tmp_path / "old.sqlite"))

    def version() -> object:
        connection = sqlite3.connect(file)
        found = connection.execute("pragma user_version").fetchone()[0]
        connection.close()
        return found

    ledger = Ledger.open(file)
    before = ledger.accounts(), ledger.history()
    assert version() == 1  # reading changes nothing
    ledger.reserve("april", CHARGE)
    assert version() == 2
    assert [event.kind for event in ledger.book().events[-2:]] == ["upgraded", "reserved"]
    assert ledger.history()[:4] == before[1]
    assert ledger.accounts().all.epsilon == before[0].all.epsilon + 1
    assert ledger.verify() == []
    ledger.reserve("may", CHARGE)
    assert [event.kind for event in ledger.book().events].count("upgraded") == 1


def test_a_later_format_is_left_alone(ledger: Ledger) -> None:
    connection = sqlite3.connect(ledger.path)
    connection.execute("pragma user_version = 99")
    connection.close()
    with pytest.raises(LedgerError, match="later version"):
        ledger.reserve("april", CHARGE)


def test_the_commands(ledger: Ledger, tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    assert run("ledger", "backup", "shop.sqlite", "kept.sqlite").code == 0
    assert run("ledger", "restore", "kept.sqlite", "logs").code == 2  # no reason
    done = run("ledger", "restore", "kept.sqlite", "logs", "--reason", "another machine")
    assert (done.code, "--releases" in done.stderr) == (0, True)
    moved = run("ledger", "move", "logs", "away.sqlite", "--signed-by", "her")
    assert moved.code == 0, moved.stderr
    assert "moved to" in run("ledger", "show", "logs").stdout
    assert Ledger.open(tmp_path / "away.sqlite").verify() == []
