"""A ledger that was changed, cut or made anew is found."""

from __future__ import annotations

import json
import sqlite3
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ledgers import capped, charge, counted_unit, publish, write_release
from tampering import rewrite, tampered

from zealous.errors import LedgerError, Refused
from zealous.ledger import (
    FILE_NAME,
    Caps,
    Ledger,
    fingerprint,
    reservation,
)
from zealous.ledger.store import event_hash


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / FILE_NAME, create=True, by="her")


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
