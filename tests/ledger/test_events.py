"""What a ledger tells: events in words, numbers for people, costs beside what was asked for."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

from conftest import Run
from paths import TESTS

from zealous.ledger import Cap, Caps, Charge, Ledger

OF_FORMAT_1 = TESTS / "fixtures" / "ledger-1.sqlite"


def charge(neighbors: str = "replace") -> Charge:
    return Charge(
        epsilon=Fraction(1),
        delta=Fraction(1, 1000),
        definition="probabilistic",
        neighbors=neighbors,  # type: ignore[arg-type]
    )


def test_decisions_are_told_with_who_and_why(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    ledger = Ledger.open(file, create=True, neighbors="replace", by="H. Abe")
    ledger.reserve("march", charge())
    ledger.set_caps(Caps(all=Cap(epsilon=Fraction(8))), by="R. Ito", reason="a first limit")
    ledger.set_caps(Caps(period=Cap(delta=Fraction(1, 10))), by="M. Sato")
    ledger.void(1, by="R. Ito", reason="power cut")
    told = [(event.kind, event.by, event.text, event.reason) for event in ledger.book().decisions()]
    assert told == [
        ("opened", "H. Abe", "opened the ledger: neighbours replace", None),
        ("caps", "R. Ito", "set caps: epsilon over all releases from none to 8", "a first limit"),
        (
            "caps",
            "M. Sato",
            "set caps: epsilon over all releases from 8 to none; delta in one period from none "
            "to 0.1",
            None,
        ),
        ("voided", "R. Ito", "voided entry 1 (march): it no longer counts", "power cut"),
    ]
    shown = run("ledger", "events", file)
    assert "power cut" in shown.stdout
    assert "charged entry 1" not in shown.stdout
    every = json.loads(run("ledger", "events", file, "--all", "--json").stdout)["events"]
    assert [event["kind"] for event in every] == ["opened", "reserved", "caps", "caps", "voided"]
    assert "4 decisions on record" in run("ledger", "show", file).stdout


def test_what_was_charged_stands_beside_what_was_asked(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    ledger = Ledger.open(file, create=True, neighbors="replace")
    ledger.reserve("plain", charge())
    assert "counts" not in run("ledger", "show", file).stdout
    ledger.reserve("joining", charge("add-remove"))
    assert "1, counts 2" in run("ledger", "show", file).stdout
    entries = json.loads(run("ledger", "show", file, "--json").stdout)["entries"]
    assert [entry["entry"] for entry in entries] == [1, 2]
    assert [entry["counted"]["epsilon"] for entry in entries] == [1.0, 2.0]
    assert [entry["epsilon"] for entry in entries] == [1.0, 1.0]


def test_a_ledger_of_the_first_format_tells_all(tmp_path: Path) -> None:
    file = Path(shutil.copy(OF_FORMAT_1, tmp_path / "old.sqlite"))
    ledger = Ledger.open(file)
    assert ledger.verify() == []
    assert [entry.number for entry in ledger.history()] == [1, 2, 3, 4]
    assert [event.kind for event in ledger.book().decisions()] == [
        "opened",
        "named",
        "caps",
        "reserved",  # it claims that its people are others
        "voided",
        "caps",
    ]
