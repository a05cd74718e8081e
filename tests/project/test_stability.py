"""What docs/reference/stability.md promises is there."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from conftest import Run
from paths import DOCS, FIXTURES

import zealous
from zealous.audit.audit import Audit
from zealous.audit.whole_releases import Check
from zealous.cli import cli
from zealous.cli.audit import _audit_as_json

NEWER = {"build"}  # of what later versions added
PAGE = (DOCS / "reference" / "stability.md").read_text()


def options(path: list[str]) -> set[str]:
    """All options that a command takes."""
    context = click.Context(cli, info_name="zealous")
    command: click.Command = cli
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(context, name)
        assert found is not None, f"zealous {' '.join(path)} is promised"
        command = found
    return {option for each in command.params for option in [*each.opts, *each.secondary_opts]}


def promised() -> dict[str, set[str]]:
    """The options that each row promises, by command."""
    text = PAGE.split("## Commands\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `zealous ([a-z ]+)\b.*?` \| (.*)\|$", text, re.MULTILINE)
    found = {name.strip(): set(re.findall(r"(?<![\w-])--?[a-z-]+", given)) for name, given in rows}
    return {**found, "publish": found["publish"] | found["plan"] - {"--releases"}}


@pytest.mark.parametrize("command", promised())
def test_promised_options_are_taken(command: str) -> None:
    assert promised()[command] <= options(command.split())


def commands_of(group: click.Group, *before: str) -> Iterator[str]:
    """Every command, each of a group for itself."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands_of(command, *before, name)
        else:
            yield " ".join([*before, name])


def test_every_command_is_promised_or_named_as_not_promised() -> None:
    there = {name for name in commands_of(cli) if not name.startswith("study ")}
    assert there == set(promised())
    assert "Not promised: `zealous study`" in PAGE


# Exit codes, and what --json prints

SMALL = ["--items", "queries", "--items-per-user", "2", "--users", "1000"]
GOAL = [*SMALL, "--epsilon", "8", "--delta", "0.001"]
SERIES = """
name = "shop"
log = "{period}.csv"
every = "month"
first = "2024-03"
last = "2024-03"
plan = "monthly.json"
ledger = "monthly.sqlite"
releases = "releases"
"""
# What an earlier one makes comes first.
PRINTED = {
    "plan": ["plan", *GOAL],
    "publish": ["publish", "log.csv", *GOAL, "--ledger", "l.sqlite", "-o", "release"],
    "verify": ["verify", "release"],
    "review": ["review", "release", "--flag-pii", "-o", "reviewed"],
    "changes": ["changes", "release", "reviewed"],
    "ledger show": ["ledger", "show", "l.sqlite"],
    "inspect": ["inspect", "log.csv"],
    "start": ["start", "log.csv", "--users", "1000", "--privacy", "strict"],
    "series run": ["series", "run", "series.toml"],
    "series status": ["series", "status", "series.toml"],
    "series price": ["series", "price", "series.toml", "--again", "2024-03"],
}


def promised_keys() -> dict[str, set[str]]:
    text = PAGE.split("prints has at least these keys:\n")[1].split("\n## ")[0]
    return {
        name: set(keys.split())
        for name, keys in re.findall(r"^\| `(.+?)` \| `(.+)` \|$", text, re.MULTILINE)
    }


def test_exit_codes_and_keys_of_json_are_those_promised(run: Run, tmp_path: Path) -> None:
    keys = promised_keys()
    assert set(keys) == {*PRINTED, "audit"}  # below
    rows = [
        f"u{user},{query},2024-03-0{1 + user % 9}\n"
        for user in range(300)
        for query in ("tea", "shoes")
    ]
    for name in ("log.csv", "2024-03.csv"):
        (tmp_path / name).write_text("user,query,time\n" + "".join(rows))
    (tmp_path / "series.toml").write_text(SERIES)
    assert run("plan", *GOAL, "--time", "time", "-o", "monthly.json").code == 0
    for name, arguments in PRINTED.items():
        ran = run(*arguments, "--json")
        assert ran.code == 0, (name, ran.stderr)
        assert keys[name] <= set(json.loads(ran.stdout)), name
    (tmp_path / "release" / "queries.csv").unlink()
    assert run("verify", "release").code == 1
    assert run("publish", "absent.csv", *GOAL, "--no-ledger", "-o", "other").code == 1
    assert run("plan", *SMALL, "--nonsense").code == 2
    assert run("plan", *SMALL, "--epsilon", "-1", "--delta", "0.001").code == 2


def test_the_keys_that_an_audit_prints() -> None:
    found = Audit(trials=1, measurements=[], checks=[Check(name="one", passed=True)])
    assert promised_keys()["audit"] <= set(_audit_as_json(found))


def rows_of(section: str) -> list[tuple[list[str], list[str]]]:
    """The names of each row of a table, and what it promises of them."""
    text = PAGE.split(f"## {section}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \| (?:`(.*)`)? ?\|$", text, re.MULTILINE)
    return [(re.findall(r"`(?:z\.)?(\w+)`", names), inside.split()) for names, inside in rows]


@pytest.mark.parametrize(("names", "parameters"), rows_of("Python"), ids=lambda each: each[0])
def test_promised_parameters_are_taken(names: list[str], parameters: list[str]) -> None:
    for name in names:
        taken = inspect.signature(getattr(zealous, name)).parameters
        assert [each for each in taken if each in parameters] == parameters, name


def test_promised_names_are_public() -> None:
    names = set(re.findall(r"`z\.(\w+)`", PAGE.split("## Python")[1]))
    assert len(names) > 35
    assert names == set(zealous.__all__) - {"__version__"}


@pytest.mark.parametrize(
    "path",
    sorted(FIXTURES.glob("*/*/release.json")),
    ids=lambda path: f"{path.parts[-3]}/{path.parts[-2]}",
)
def test_promised_keys_are_in_every_release_so_far(path: Path) -> None:
    """And golden files have those of today."""
    record = json.loads(path.read_text())
    promised = rows_of("release.json")
    assert len(promised) > 4
    for names, inside in promised:
        assert set(names) <= set(record)
        found = record[names[0]] if inside else {}
        for each in found if isinstance(found, list) else [found]:
            assert set(inside) - (NEWER if "0.1.0" in path.parts else set()) <= set(each), names
