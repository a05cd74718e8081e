"""The commands of `zealous ledger`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import Run
from ledgers import capped, charge, publish

from zealous.cli.ledger.verify import verify as verify_command
from zealous.errors import LedgerError, Refused
from zealous.ledger import (
    FILE_NAME,
    Cap,
    Ledger,
    fingerprint,
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / FILE_NAME, create=True, by="her")


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


def test_the_ledger_of_this_folder_is_verified_where_none_is_named(tmp_path: Path) -> None:
    with chdir(tmp_path):
        Ledger.open(tmp_path / FILE_NAME, create=True)
        for name in ("march", "april"):
            Path(name).mkdir()
            Path(name, "release.json").write_text("{}")
        runner = CliRunner()
        assert "hold together" in runner.invoke(verify_command, []).output
        found = runner.invoke(verify_command, ["--releases", "march", "april"])
    assert "2 wrong" in found.output  # neither of them is taken for a place of ledgers


@pytest.mark.parametrize(
    "options",
    [
        ("--cap-epsilon", "-3"),
        ("--cap-delta", "1.5"),
        ("--compose", "losses"),
        ("--cap-epsilon", "12", "--approvers", "nofile"),
        ("--dataset", "a/b\n"),
    ],
)
def test_what_is_refused_leaves_no_ledger(options: Sequence[str], run: Run, tmp_path: Path) -> None:
    """A ledger without a cap would be found by the next release."""
    folder = tmp_path / "logs"
    folder.mkdir()
    assert run("ledger", "init", folder, *options).code == 2
    assert list(folder.iterdir()) == []


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
    assert "probability" in run("ledger", "init", file, "--cap-delta", "2").stderr


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
