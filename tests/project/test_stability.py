"""What docs/reference/stability.md promises is there."""

from __future__ import annotations

import re

import click
import pytest
from paths import DOCS

import zealous
from zealous.cli import cli

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


def test_promised_names_are_public() -> None:
    names = set(re.findall(r"`z\.(\w+)`", PAGE.split("## Python")[1]))
    assert len(names) > 15
    assert names <= set(zealous.__all__)
