"""The programs that make pages and pictures say what they do before they do it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

PROGRAMS = [
    path
    for path in sorted((Path(__file__).parents[2] / "tools").glob("*.py"))
    if '__name__ == "__main__"' in path.read_text()
]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_help_does_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ".parse_args()" in path.read_text()  # else what follows would write files
    monkeypatch.setattr(sys, "argv", [path.name, "--help"])
    monkeypatch.setattr(sys, "path", [*sys.path])  # a program may add to it
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 0
    assert f"usage: {path.name} [-h]" in capsys.readouterr().out
