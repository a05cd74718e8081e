"""The demo as a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run


@pytest.mark.extended
def test_the_demo_and_the_study(run: Run, tmp_path: Path) -> None:
    done = run("demo", "-o", "demo", "--users", 300, "--study")
    assert done.code == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "Report: demo/study/report.html"
    assert (tmp_path / "demo" / "study" / "report.html").is_file()


def test_the_demo_for_programs(run: Run, tmp_path: Path) -> None:
    found = json.loads(run("demo", "-o", "demo", "--users", 300, "--json").stdout)
    assert found["directory"] == "demo"
    assert found["verified"]
    for name in ("release/statement.html", "zealous-ledger.sqlite"):
        assert (tmp_path / "demo" / name).is_file()
    again = run("demo", "-o", "demo")
    assert (again.code, again.stdout) == (1, "")  # what is there is not touched
