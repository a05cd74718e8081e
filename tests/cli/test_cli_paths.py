"""A path that cannot be one is refused in a line, whatever option it is given to."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Run

from zealous.errors import UsageError
from zealous.logs.log import Cleaning

LONG = "x" * 300
NOT_UTF_8 = "a\udcffb"
PUBLISH = (
    "publish",
    "log.csv",
    "--items",
    "queries",
    "--items-per-user",
    1,
    "--users",
    100,
    "--epsilon",
    2,
    "--delta",
    "0.001",
    "--accept-delta",
)
COMMANDS = {
    "--exclude-users": (*PUBLISH, "--no-ledger", "-o", "release", "--exclude-users"),
    "--plan": ("publish", "log.csv", "--no-ledger", "-o", "release", "--plan"),
    "--domain": (*PUBLISH, "--no-ledger", "-o", "release", "--mechanism", "domain", "--domain"),
    "--prior": (*PUBLISH, "--no-ledger", "-o", "release", "--mechanism", "prior", "--prior"),
    "--temporary": (*PUBLISH, "--no-ledger", "-o", "release", "--temporary"),
    "--ledger": (*PUBLISH, "-o", "release", "--ledger"),
    "-o": (*PUBLISH, "--ledger", "ledger.sqlite", "-o"),
    "inspect": ("inspect",),
    "verify": ("verify",),
    "ledger": ("ledger", "show"),
}


@pytest.mark.parametrize("name", [LONG, f"{LONG}/x", "d/" * 3000, NOT_UTF_8], ids=[*"abcd"])
@pytest.mark.parametrize("option", COMMANDS)
def test_no_path_is_an_unforeseen_error(option: str, name: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\n" + "".join(f"u{n},q\n" for n in range(40)))
    done = run(*COMMANDS[option], name)
    assert done.code in (1, 2), done.said
    assert "unforeseen" not in done.said
    assert "Traceback" not in done.said
    assert not (tmp_path / "release").exists()
    assert not (tmp_path / "ledger.sqlite").exists(), "what can be refused is refused before"


@pytest.mark.parametrize("name", [LONG, "a\0b", NOT_UTF_8], ids=[*"abc"])
def test_a_file_of_users_that_cannot_be_one(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be found"):
        Cleaning(exclude_users=Path(name))
