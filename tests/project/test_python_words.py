"""Errors name arguments in Python and options on the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import zealous as z
from zealous.cli import cli
from zealous.errors import UsageError, speaking_options
from zealous.python_words import in_python

ROOT = Path(z.__file__).parent
# What speaks to people at a terminal alone, or is no message.
ELSEWHERE = (
    "cli",
    "owner",
    "audit",
    "python_words.py",
    "verification/verify.py",
    "verification/published_tables.py",
    "verification/claimed_guarantee.py",
)


def messages() -> Iterator[tuple[str, str]]:
    """The texts of calls that make an error: constants, and what stands between values."""
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(ELSEWHERE):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                for each in ast.walk(node.exc):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        yield name, each.value


def test_every_option_that_an_error_names_has_a_name_in_python() -> None:
    named = {(name, text) for name, text in messages() if re.search(r"--[a-z]", text)}
    assert len(named) > 30
    left = {
        (name, in_python(text))
        for name, text in named
        # A value of the message follows these; a command stays one.
        if re.search(r"--[a-z]", re.sub(r"--id $|`zealous [^`]*`", "", in_python(text)))
    }
    assert not left


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("say --time COLUMN", "say columns=z.Columns(time=...)"),
        ("--unit user-day needs", 'unit="user-day" needs'),
        ("leave out --unit and --period", "leave out unit and period"),
        ("say --time-format epoch or epoch-ms", "say time_format=epoch or epoch-ms"),
        ("with --id a -o s3://x/y: no", 'with account=z.Account(id="a") output="s3://x/y": no'),
        ("lower --items-per-user or --max-size", "lower items_per_user or max_size"),
        ("see `zealous plan --by A` or --by NAME", "see `zealous plan --by A` or by"),
        ("say --price-list FILE: no other", "say price_list: no other"),
        ("my--user.csv and --", "my--user.csv and --"),
    ],
)
def test_options_become_arguments(message: str, wanted: str) -> None:
    assert in_python(message) == wanted


def test_an_error_speaks_to_whoever_called(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("who,query\nu1,tea\n", encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape("with columns=z.Columns(user=...)")):
        z.read_log(log)
    ran = CliRunner().invoke(cli, ["inspect", str(log)])
    assert "with --user" in str(ran.exception)
    with pytest.raises(UsageError, match=re.escape("with columns=z.Columns(user=...)")):
        z.read_log(log)  # the command has ended
    with speaking_options(), pytest.raises(UsageError, match="with --user"):
        z.read_log(log)
