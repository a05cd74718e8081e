"""The command line's contract."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from conftest import Run
from paths import DOCS, TOOLS

from zealous.cli import cli
from zealous.cli.command_groups import Commands
from zealous.cli.study import study

PLAN = ["plan", "--users", 500000, "--items-per-user", 2, "--epsilon", 1, "--delta", "0.001"]


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group in (cli, study) for name in group.summaries]
)
def test_every_command_has_an_example_and_is_documented(group: Commands, name: str) -> None:
    command = group.get_command(click.Context(group), name)
    path = f"zealous {name}" if group is cli else f"zealous study {name}"
    assert command is not None
    assert command.get_short_help_str(200) == group.summaries[name]
    text = command.help or ""
    assert "Example" in text
    assert path in text


def test_help_fits_80_columns() -> None:
    page = (DOCS / "reference" / "commands.md").read_text()
    assert [line for line in page.splitlines() if len(line) > 80] == []


def test_help_lists_two_groups_and_all_with_help_all(run: Run) -> None:
    shown, everything = run("publish", "--help").stdout, run("publish", "--help-all").stdout
    for group in ("Options:", "Decide:", "What to publish:"):
        assert f"\n{group}\n" in shown
    hidden = ("Budget and approval", "Public files", "The log", "Machine")
    assert f"More options with --help-all: {', '.join(hidden)}." in " ".join(shown.split())
    for group in hidden:
        assert f"\n{group}:\n" not in shown
        assert f"\n{group}:\n" in everything
    assert "--help-all" not in run("verify", "--help").stdout


def test_a_command_of_the_study_is_found_there(run: Run) -> None:
    for name in study.summaries:
        ran = run(name, "log.parquet")
        assert (ran.code, ran.stdout) == (2, "")
        assert ran.stderr == f"zealous: {name} belongs to the study: zealous study {name}\n"
    assert "No such command 'measure'" in run("study", "measure").stderr


def test_the_reference_page_is_what_the_commands_say() -> None:
    # In a process of its own: a command keeps how it was asked for help the first time.
    made = subprocess.run(
        [sys.executable, "-c", "import commands; print(commands.page(), end='')"],
        cwd=TOOLS,
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout == (DOCS / "reference" / "commands.md").read_text(), (
        "run python tools/commands.py"
    )


def test_plan_prints_the_contract(run: Run) -> None:
    found = json.loads(run(*PLAN, "--json").stdout)
    assert {
        "guarantee": "probabilistic",
        "neighbors": "replace",
        "epsilon": 1,
        "delta": 0.001,
        "users": 500000,
        "items_per_user": 2,
        "noise": "discrete-laplace",
        "scale": 4,
        "tau": 4,
        "tau_prime": 79,
    }.items() <= found.items()
    assert 0.0007 < found["delta_achieved"] <= 0.001


def test_plan_in_words(run: Run) -> None:
    said = run(*PLAN).stdout
    assert "tau 4, tau' 79" in said
    assert "that count of 71 / 80 / 89 users" in " ".join(said.split())
    assert "Twelve such releases of the same people: epsilon = 12, delta = 0.012" in said


def test_guarantees_of_given_parameters(run: Run) -> None:
    given = ["--scale", 5, "--tau", 1, "--tau-prime", 100, "--items-per-user", 5]
    found = json.loads(run("study", "guarantees", *given, "--users", 500000, "--json").stdout)[
        "guarantees"
    ]
    assert [(each["guarantee"], each["neighbors"], each["epsilon"]) for each in found] == [
        ("probabilistic", "replace", 2),
        ("probabilistic", "add-remove", 1),
        ("indistinguishable", "replace", 2),
        ("indistinguishable", "add-remove", 1),
    ]
    assert found[0]["delta"] == pytest.approx(0.00282922)
    assert run("plan", *given, "--epsilon", 1).code == 2


def test_plan_for_several_kinds(run: Run) -> None:
    found = json.loads(
        run(
            "plan",
            "--items",
            "queries,keywords",
            "--items-per-user",
            "queries=5,keywords=20",
            "--split",
            "queries=1,keywords=3",
            "--users",
            500000,
            "--epsilon",
            2,
            "--delta",
            "1e-3",
            "--json",
        ).stdout
    )
    assert found["epsilon"] == 2
    assert [(part["kind"], part["items_per_user"], part["epsilon"]) for part in found["parts"]] == [
        ("queries", 5, 0.5),
        ("keywords", 20, 1.5),
    ]
    assert found["parts"][0]["exact"]["delta"] == "1/4000"


def test_a_large_delta_per_person_needs_a_word(run: Run) -> None:
    wish = ["plan", "--guarantee", "indistinguishable", "--items-per-user", 5, "--epsilon", 2]
    refused = run(*wish, "--delta", "0.001", "--users", 400000)
    assert refused.code == 1
    assert "--accept-delta" in refused.stderr
    accepted = run(*wish, "--delta", "0.001", "--users", 400000, "--accept-delta")
    assert accepted.code == 0
    assert "held by one person only" in " ".join(accepted.stdout.split())
    assert run(*wish, "--delta", "0.001").code == 0  # nothing declared, nothing to compare with


def test_data_goes_to_stdout_and_notes_to_stderr(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\n" + "".join(f"{n},tea\n" for n in range(60)))
    done = run(
        *shlex.split(
            "publish log.csv --items queries --items-per-user 1 --users 100 --epsilon 10 "
            "--delta 0.01 -o out --json"
        )
    )
    assert done.code == 0
    assert json.loads(done.stdout)["files"]["queries"]["rows"] == 1
    assert "counting queries" in done.stderr


def test_inspect_tells_the_owner_and_quotes_nothing(run: Run, tmp_path: Path) -> None:
    rows = ["user,time,query"]
    for n in range(40):  # somebody types "sentinel" letter by letter
        rows += [
            f"u{n},2026-01-01 10:00:{length:02d},{'sentinel'[:length]}" for length in range(3, 9)
        ]
    rows += [f"robot,2026-01-02 00:{n // 60 % 60:02d}:{n % 60:02d},q{n}" for n in range(900)]
    rows += [",2026-01-01 00:00:00,x", "u1,never,x", "short"]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    done = run("inspect", "log.csv")
    assert "made of things" not in done.stdout, "nobody asked for sets"
    assert done.code == 0, done.stderr
    assert "INTERNAL" in done.stdout
    assert "search-as-you-type" in done.stdout
    assert "One user id holds 79% of all entries" in done.stdout
    assert "too few or too many columns" in done.stdout
    assert "sentinel" not in done.said
    found = json.loads(run("inspect", "log.csv", "--json").stdout)
    assert found["overall"]["users"] == 41
    assert found["overall"]["without_time"] == 1
    assert found["skipped"]["too few or too many columns"] == 1


def test_inspect_prints_the_header_and_what_was_taken_for_what(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("CustomerID,Query,Time,Timestamp\n7,tea,2026-01-01,\n")
    done = run("inspect", "log.csv")
    assert done.code == 2
    assert "CustomerID  user" in done.stdout
    assert "Did you mean CustomerID?" in done.stderr
    done = run("inspect", "log.csv", "--user", "CustomerID")
    assert done.code == 0
    assert "Query as the query" in done.stderr
    assert "the time may be Time or Timestamp" in done.stderr


def test_numbers_are_printed_as_they_were_typed(run: Run) -> None:
    typed = ["--users", 1000, "--items-per-user", 1, "--epsilon", "0.3", "--delta", "0.003"]
    found = json.loads(run("plan", *typed, "--json").stdout)
    assert (found["epsilon"], found["delta"]) == (0.3, 0.003)


# Asking for what is missing


def test_publish_names_all_that_is_missing_with_a_command_that_works(
    run: Run, tmp_path: Path
) -> None:
    rows = [f"{n},{name}" for n in range(200) for name in ("tea", "milk")]
    (tmp_path / "shop.csv").write_text("\n".join(["CustomerID,Description", *rows]) + "\n")
    ran = run("publish", "shop.csv", "--no-ledger", "--json")
    assert (ran.code, ran.stdout) == (2, "")
    missing, _, command = ran.stderr.partition("For example:\n")
    for option in ("--items", "--epsilon", "--delta", "--users"):
        assert f"\n  {option} " in missing
    assert all(len(line) <= 80 for line in ran.stderr.splitlines())
    zealous, *words = shlex.split(command.replace("\\\n", " "))
    assert (zealous, words[:2]) == ("zealous", ["publish", "shop.csv"])
    assert json.loads(run(*words).stdout)["guarantee"]["epsilon"] == 2
    assert (tmp_path / "shop-release" / "release.json").exists()


def test_what_is_there_is_not_asked_for_again(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\na,tea\n")
    ran = run("publish", "log.csv", "--items", "queries", "--epsilon", 3, "--tail", 1)
    assert "--items  " not in ran.stderr
    assert "--epsilon  " not in ran.stderr
    assert "--items queries" in ran.stderr
    assert "--epsilon 3" in ran.stderr
    assert "--tail 1" in ran.stderr
    assert "--privacy" not in ran.stderr
    assert "no log found" in run("publish", "nothing.csv").stderr


def test_a_value_that_begins_with_a_dash_is_proposed_as_a_value(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("-user,query\n1,tea\n2,tea\n")
    ran = run("publish", "log.csv", "--user=-user")
    assert ran.code == 2
    assert ran.stderr.count("--user=-user") == 1
    assert "--user " not in ran.stderr.partition("For example:")[2]


def test_items_per_user_and_output_have_defaults(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\na,tea\n")
    goal = ["--privacy", "strict", "--users", "1k", "--no-ledger", "--json"]
    found = json.loads(run("publish", "log.csv", "--items", "queries", *goal).stdout)
    assert found["guarantee"]["delta"] == 0.001
    assert found["plan"][0]["items_per_user"] == 2
    assert Path(found["directory"]).name == "log-release"
    assert run("publish", "log.csv", "--items", "queries", *goal).code != 0  # it exists


def test_the_nearest_option_is_named(run: Run) -> None:
    said = run("publish", "log.csv", "--items-per-users", 2).stderr
    assert "Did you mean '--items-per-user'?" in said


@pytest.mark.parametrize(("delta", "warned"), [("0.1", False), ("0.2", True)])
def test_a_large_delta_is_told(delta: str, warned: bool, run: Run) -> None:
    told = run("plan", "--users", 1000, "--items-per-user", 1, "--epsilon", 1, "--delta", delta)
    assert told.code == 0
    assert (f"delta = {delta} protects little" in told.stderr) == warned


def test_advice_needs_no_epsilon(run: Run) -> None:
    asked = ["plan", "--advise", "--items-per-user", 2, "--users", "500k", "--delta", "0.001"]
    ladder = json.loads(run(*asked, "--json").stdout)["ladder"]
    assert [each["level"] for each in ladder] == [None, "strict", "moderate", "permissive", None]
    needed = json.loads(run(*PLAN, "--json").stdout)["forecast"]["users_to_appear"]
    assert needed["95%"] == ladder[1]["users_to_appear"]
    said = run(*asked).stdout
    assert "moderate" in said
    assert "--privacy" in said
    assert "--epsilon" in run("plan", "--advise", "--users", 9, "-o", "plan.json").stderr
