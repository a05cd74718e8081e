"""The guide's year of a shop, for fewer people and the first three months of it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from conftest import COMMAND, Forks
from pages import blocks
from paths import DOCS

PAGE = DOCS / "guide" / "series.md"
FEWER = {"20000": "400", "366": "92", "100000": "1000", "2012-02": "2011-05"}


def fewer(text: str) -> str:
    for large, small in FEWER.items():
        text = text.replace(large, small)
    return text


def test_the_year_of_the_guide(tmp_path: Path, commands: Forks) -> None:
    (months,) = blocks(PAGE, "python")[:1]
    (tmp_path / "months.py").write_text(months)
    (tmp_path / "series.toml").write_text(fewer(blocks(PAGE, "toml")[0]))
    said = ""
    for block in blocks(PAGE, "text")[:3]:
        for line in fewer(block).splitlines():
            if line == "python months.py":
                subprocess.run([sys.executable, "months.py"], cwd=tmp_path, check=True)
                continue
            program, *arguments = shlex.split(line)
            assert program == "zealous"
            done = commands(COMMAND, *arguments, folder=tmp_path)
            assert done.code == 0, done.stderr
            said = done.stdout
    assert "The budget lasts until 2011-05." in said
    assert sorted(path.name for path in (tmp_path / "releases").iterdir()) == [
        *("2011-03", "2011-04", "2011-04.changes", "2011-05", "2011-05.changes")
    ]
    assert ElementTree.fromstring((tmp_path / "budget.svg").read_text())


def test_its_pictures_are_what_the_commands_draw() -> None:
    for name in ("budget", "changes"):
        ElementTree.fromstring((DOCS / f"figures/series/{name}.svg").read_text())
        assert f"](../figures/series/{name}.svg)" in PAGE.read_text()
