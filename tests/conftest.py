"""What all tests share: the real command, and the real tables where they are."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

COMMAND = Path(sys.executable).with_name("zealous")


class Ran(NamedTuple):
    """What a command left on its way out."""

    code: int
    stdout: str
    stderr: str

    @property
    def said(self) -> str:
        return self.stdout + self.stderr


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the installed command in tmp_path; its temporary files go to tmp_path/tmp."""
    temporary = tmp_path / "tmp"

    def command(*arguments: object, **options: Any) -> Ran:
        temporary.mkdir(exist_ok=True)
        done = subprocess.run(
            [COMMAND, *map(str, arguments)],
            cwd=tmp_path,
            env=os.environ | {"TMPDIR": str(temporary), "XDG_STATE_HOME": str(temporary)},
            capture_output=True,
            timeout=120,
            **options,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return command


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of real tables beside the project."""
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real tables are not here")
    return folder
