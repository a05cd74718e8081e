"""How a release is paid for, through the real command."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import pytest
from conftest import Ran, Run

import zealous as z
from zealous.errors import LedgerError, Refused
from zealous.ledger import FILE_NAME, Charge, Ledger
from zealous.mechanisms import Laplace
from zealous.mechanisms.choose import MECHANISMS
from zealous.mechanisms.descriptions import Description
from zealous.record.record import CapRecord
from zealous.release.text.readme import differing_accounts

GOAL = ["--items-per-user", 1, "--users", 300, "--epsilon", 10, "--delta", "0.01"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rows = [f"{n},2026-0{3 + n % 2}-05 10:00,tea,s{n % 2}" for n in range(200)]
    path = tmp_path / "logs" / "log.csv"
    path.parent.mkdir()
    path.write_text("\n".join(["user,time,query,row", *rows]) + "\n")
    return path


@pytest.fixture
def publish(run: Run, log: Path) -> Run:
    def command(*more: object) -> Ran:
        items = [] if "--plan" in more else ["--items", "queries", *GOAL]
        return run("publish", log, *items, *more)

    return command


def ledger_of(log: Path) -> Ledger:
    return Ledger.open(log.with_name(FILE_NAME))


def test_every_release_is_charged_beside_its_log(publish: Run, log: Path, tmp_path: Path) -> None:
    assert publish("-o", "one").code == 0
    about = json.loads((tmp_path / "one" / "release.json").read_text())
    (entry,) = ledger_of(log).history()
    assert (entry.release, entry.state, entry.charge.epsilon) == (about["id"], "released", 10)
    assert about["ledger"]["hash"] == entry.hash
    assert about["ledger"]["accounts"]["all"]["epsilon"] == 10
    assert (about["ledger"]["unit"], about["ledger"]["neighbors"]) == ("user", "replace")
    assert ledger_of(log).verify([tmp_path / "one"]) == []


def test_each_kind_of_a_release_is_in_its_entry(log: Path) -> None:
    goal = z.Indistinguishability(epsilon=4, delta="1e-4", neighbors="add-remove")
    z.publish(z.read_log(log), goal, [z.queries(1), z.keywords(2)], mechanism="gaussian")
    losses = ledger_of(log).history()[0].charge.losses
    assert losses is not None
    assert [loss.shifts for loss in losses.replace] == [2, 4]
    assert [loss.shifts for loss in losses.add_remove] == [1, 2]


def test_a_release_tells_what_all_caps_promise(log: Path) -> None:
    ledger = Ledger.open(log.with_name(FILE_NAME), create=True, neighbors="add-remove")
    cap = z.Cap(epsilon=Fraction(9), delta=Fraction(1, 1000))
    goal = z.Indistinguishability(epsilon=2, delta="1e-4", neighbors="add-remove")
    plan = z.plan(goal, z.queries(1), mechanism="gaussian")
    ledger.set_caps(z.Caps(all=cap, compose="sums"))
    first = z.publish(z.read_log(log), plan)
    assert first.record.ledger is not None
    assert first.record.ledger.promised is None
    assert "delta 0.0009 of 0.001" in str(first.charged)
    ledger.set_caps(z.Caps(all=cap, compose="losses"), reason="a new promise")
    again = z.publish(z.read_log(log), plan, output=log.parent / "again")
    assert again.record.ledger is not None
    assert again.record.ledger.promised is not None
    assert again.record.ledger.promised.all == CapRecord(epsilon=18, delta=0.002)
    assert "of 9 at delta 0.001." in str(again.charged)
    undated, changed, composed = differing_accounts(again.record, again.record.ledger)
    assert undated.startswith("In one period this release counts as what it costs one whose")
    assert changed.endswith("the caps promise epsilon 18, delta 0.002 over all releases.")
    assert "it can be below that of this release alone" in composed
    assert len(differing_accounts(first.record, first.record.ledger)) == 1, "sums are just sums"
    assert z.verify(again, ledger).ok


def test_without_a_ledger_the_release_says_so(publish: Run, log: Path, tmp_path: Path) -> None:
    assert publish("--no-ledger", "-o", "one").code == 0
    assert not log.with_name(FILE_NAME).exists()
    about = json.loads((tmp_path / "one" / "release.json").read_text())
    assert about["ledger"] == {"tracked": False}
    for name in ("README.md", "statement.html", "registry.yaml"):
        assert "budget not tracked" in (tmp_path / "one" / name).read_text().lower()
    assert publish("--no-ledger", "--id", "x", "-o", "two").code == 2


def test_a_cap_holds_and_names_who_used_it(publish: Run, run: Run, log: Path) -> None:
    assert run("ledger", "init", "logs", "--cap-epsilon", 25, "--cap-delta", 1).code == 0
    assert publish("--id", "first", "-o", "one").code == 0
    assert publish("--id", "second", "-o", "two").code == 0
    refused = publish("-o", "three")
    assert refused.code == 1
    assert "5 of epsilon 25 is left" in refused.stderr
    assert "first" in refused.stderr
    assert "reading the log" not in refused.stderr  # found out before anything was read
    assert len(ledger_of(log).history()) == 2


def test_a_repeated_id_returns_what_was_made(publish: Run, log: Path, tmp_path: Path) -> None:
    assert publish("--id", " march ", "--period", "2026-03", "-o", "one").code == 0
    before = (tmp_path / "one" / "release.json").read_bytes()
    again = publish("--id", "march", "--period", "2026-03", "-o", "one", "--json")
    assert again.code == 0
    assert "nothing is drawn again" in again.stderr
    assert json.loads(again.stdout)["directory"].endswith("one")
    assert (tmp_path / "one" / "release.json").read_bytes() == before
    assert len(ledger_of(log).history()) == 1


@pytest.mark.parametrize(
    "other",
    [
        ["--period", "2026-04"],
        [],
        ["--period", "2026-03", "--neighbors", "add-remove"],
        ["--period", "2026-03", "--select", "frequent"],
        ["--period", "2026-03", "--fold-words"],
        ["--period", "2026-03", "--unit", "user-day"],
        ["--period", "2026-03", "--people", "north"],
        ["--period", "2026-03", "--max-entries-per-user", 9],
        ["--period", "2026-03", "--query", "row"],
        ["--period", "2026-03", "--parameters-from", "this-log"],
    ],
)
def test_a_repeated_id_with_other_parameters_is_refused(publish: Run, other: list[str]) -> None:
    assert publish("--id", "march", "--period", "2026-03", "-o", "one").code == 0
    refused = publish("--id", "march", *other, "-o", "two")
    assert refused.code == 1
    assert "other parameters" in refused.stderr


def test_a_period_needs_times_or_a_word(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\n" + "".join(f"{n},tea\n" for n in range(99)))
    wish = ["publish", "log.csv", "--items", "queries", *GOAL, "--period", "2026-03", "-o", "out"]
    refused = run(*wish)
    assert refused.code == 2
    assert "--all-in-period" in refused.stderr
    assert not (tmp_path / FILE_NAME).exists()
    assert run(*wish, "--all-in-period").code == 0
    about = json.loads((tmp_path / "out" / "release.json").read_text())
    assert any(
        "all entries of the log are of the period" in e.lower() for e in about["assumptions"]
    )
    assert run("verify", "out", "--ledger", FILE_NAME).code == 0


def test_a_session_is_named_and_others_are_not_added(publish: Run, tmp_path: Path) -> None:
    assert publish("--unit", "session", "-o", "one").code == 0
    about = json.loads((tmp_path / "one" / "release.json").read_text())
    assert "A session ends after 30 minutes without an entry." in about["assumptions"]
    refused = publish("--unit", "session", "--session", "row", "-o", "two")
    assert refused.code == 1
    assert "sessions of this release" in refused.stderr
    assert (
        publish("--unit", "session", "--session", "row", "--ledger", "x.sqlite", "-o", "two")[0]
        == 0
    )
    about = json.loads((tmp_path / "two" / "release.json").read_text())
    assert "Sessions are those of the log's column row." in about["assumptions"]
    assert about["columns"]["session"] == "row"


@pytest.mark.parametrize(
    "more",
    [["-o", "nowhere/out"], ["-o", "o" * 300], ["-o", "/proc/out"], ["-o", "logs"]],
)
def test_what_cannot_be_written_is_not_charged(publish: Run, log: Path, more: list[str]) -> None:
    assert publish(*more).code == 1
    assert not log.with_name(FILE_NAME).exists()


def test_what_the_log_cannot_give_is_not_charged(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\n1,tea\n")
    wish = ["publish", "log.csv", "--items", "queries", *GOAL, "-o", "out"]
    assert run(*wish, "--select", "first").code == 2
    assert run(*wish, "--unit", "user-day").code == 2
    assert not (tmp_path / FILE_NAME).exists()


@pytest.mark.parametrize("missing", [Description(how="Tried out."), None])
def test_what_cannot_be_put_into_words_is_not_charged(
    log: Path, missing: Description | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mechanism with words that say too little, or with none at all."""

    class Tried(Laplace):
        name: ClassVar[str] = "tried"
        description: ClassVar[Description] = missing  # type: ignore[assignment]

    monkeypatch.setattr(MECHANISMS, "_things", {**MECHANISMS, "tried": Tried})
    goal = z.Indistinguishability(epsilon=10, delta="0.0001", users=300)
    with pytest.raises((NotImplementedError, AttributeError)):
        z.publish(z.read_log(log), goal, [z.queries(1)], mechanism="tried")
    assert not log.with_name(FILE_NAME).exists()


def test_failing_after_the_charge_says_that_it_is_spent(log: Path, tmp_path: Path) -> None:
    said: list[str] = []
    out = tmp_path / "out"

    def say(text: str) -> None:
        said.append(text)
        if text.startswith("writing"):
            out.mkdir()  # somebody else was faster

    goal = z.ProbabilisticDP(epsilon=10, delta="0.01", users=300)
    with pytest.raises(z.ZealousError, match="exists already"):
        z.publish(z.read_log(log), goal, [z.queries(1)], output=out, say=say)
    assert "entry 1 of the ledger stays charged" in said[-1]
    assert [entry.state for entry in ledger_of(log).history()] == ["reserved"]


def test_a_ledger_that_is_gone_when_all_is_written(log: Path, tmp_path: Path) -> None:
    goal = z.ProbabilisticDP(epsilon=10, delta="0.01", users=300)
    release = z.publish(z.read_log(log), goal, [z.queries(1)], account=z.Account(id="mine"))
    file = log.with_name(FILE_NAME)
    file.rename(tmp_path / "away")
    with pytest.raises(LedgerError, match='id="mine"'):
        release.write(tmp_path / "out")
    (tmp_path / "away").rename(file)
    found = z.publish(
        z.read_log(log),
        goal,
        [z.queries(1)],
        account=z.Account(id="mine"),
        output=str(tmp_path / "out"),
    )
    assert isinstance(found.directory, Path)
    assert found.directory.resolve() == (tmp_path / "out").resolve()
    assert found["queries"].arrow.equals(release["queries"].arrow)
    assert [entry.state for entry in ledger_of(log).history()] == ["released"]


def test_what_was_voided_while_it_was_made_is_not_left(log: Path, tmp_path: Path) -> None:
    goal = z.ProbabilisticDP(epsilon=10, delta="0.01", users=300)
    release = z.publish(z.read_log(log), goal, [z.queries(1)])
    assert release.record.ledger is not None
    ledger_of(log).void(release.record.ledger.entry, by="her", reason="it hung")
    with pytest.raises(Refused, match="voided"):
        release.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_of_logs_holds_ledger_and_releases_that_are_no_logs(
    run: Run, log: Path, tmp_path: Path
) -> None:
    wish = ["publish", "logs", "--format", "csv", "--items", "queries", *GOAL]
    assert run(*wish, "-o", "logs/first").code == 0
    hidden = tmp_path / "logs" / ".part"
    hidden.mkdir()
    (hidden / "log.csv").write_text(log.read_text())
    (tmp_path / "logs" / ".zealous-x.csv").write_text("user,query\n")
    second = run(*wish, "-o", "logs/second", "--json")
    assert second.code == 0, second.stderr
    assert len(ledger_of(log).history()) == 2
    assert z.read_log(tmp_path / "logs").paths == (tmp_path / "logs" / "log.csv",)


def test_what_is_charged_meanwhile_does_not_change_what_a_release_says(log: Path) -> None:
    goal = z.ProbabilisticDP(epsilon=10, delta="0.01", users=300)
    z.publish(z.read_log(log), goal, [z.queries(1)])
    ledger = ledger_of(log)
    (entry,) = ledger.history()
    ledger.reserve(
        "other", Charge.of(z.ProbabilisticDP(epsilon=1, delta="0.01", users=9, unit="user-day"))
    )
    then, now = ledger.book_at(entry), ledger.book()
    measures = then.measure(), now.measure()
    assert [each and each.unit for each in measures] == ["user", "user-day"]
    assert (then.accounts().all.epsilon, now.accounts().all.epsilon) == (10, 11)


def test_a_read_only_folder_is_left_alone(run: Run, log: Path, tmp_path: Path) -> None:
    log.parent.chmod(0o555)  # for root too: nobody is meant to put anything there
    wish = ["publish", log, "--items", "queries", *GOAL]
    begun = run(*wish, "-o", "one")
    assert begun.code == 0, begun.stderr
    assert "a ledger without caps was begun" in begun.stderr
    assert [path.name for path in log.parent.iterdir()] == ["log.csv"]
    assert "begun" not in run(*wish, "-o", "two").stderr
    shown = json.loads(run("ledger", "show", log, "--json").stdout)
    assert [entry["state"] for entry in shown["entries"]] == ["released", "released"]
    assert Path(shown["path"]).is_relative_to(os.environ["XDG_STATE_HOME"])
    log.parent.chmod(0o755)
    assert run(*wish, "-o", "three").code == 0  # and it stays the one that is charged
    assert len(json.loads(run("ledger", "show", log, "--json").stdout)["entries"]) == 3
