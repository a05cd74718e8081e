"""What docs/reference/stability.md promises is there."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import click
import pytest
from paths import DOCS, FIXTURES

import zealous
from zealous.cli import cli

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
    """The options that each row promises for the first of its commands."""
    rows = re.findall(r"^\| `zealous (.+?)` ?.*? \| (.*) \|$", PAGE, re.MULTILINE)
    return {command: set(re.findall(r"(?<![\w-])--?[a-z-]+", text)) for command, text in rows}


@pytest.mark.parametrize("command", ["plan", "publish", "verify", "review", "approve"])
def test_promised_options_are_taken(command: str) -> None:
    (asked,) = [found for name, found in promised().items() if name.split()[0] == command]
    if command == "publish":
        (of_plan,) = [found for name, found in promised().items() if name == "plan"]
        asked |= of_plan - {"--releases"}
    assert asked
    assert asked <= options([command])


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        (["ledger", "init"], {"--cap-epsilon", "--cap-delta", "--dataset", "--approvers"}),
        (["ledger", "show"], {"--json"}),
        (["ledger", "events"], set()),
        (["ledger", "verify"], set()),
        (["inspect"], {"--json"}),
        (["start"], {"--json"}),
        (["audit"], {"--trials", "--json"}),
        (["generate"], {"-o", "--users", "--seed"}),
        (["demo"], {"-o"}),
        (["series", "run"], set()),
        (["series", "status"], set()),
        (["changes"], {"-o"}),
    ],
    ids=lambda each: " ".join(each if isinstance(each, list) else sorted(each)),
)
def test_other_promised_commands_are_there(path: list[str], asked: set[str]) -> None:
    assert asked <= options(path)
    assert " ".join(path[:1]) in PAGE


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
