"""Packages from outside, as pages of docs/extending/ write them, installed in a folder."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from conftest import Forks
from pages import blocks
from paths import ROOT

STRICT = "import warnings; warnings.simplefilter('error')\n"
COMMAND = "from zealous.cli import main; main()"


class Outside:
    """A folder in which the package of a page is installed.

    Attributes:
        folder: Where it is; commands run there.
    """

    def __init__(self, page: str, folder: Path, forks: Forks) -> None:
        path = ROOT / "docs" / "extending" / page
        for code in blocks(path, "python"):
            name = code.partition("\n")[0].removeprefix("# The module ")
            (folder / f"{name}.py").write_text(code)
        (text,) = blocks(path, "toml")
        project = tomllib.loads(text)["project"]
        about = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        lines = []
        for group, points in project["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
        (about / "entry_points.txt").write_text("\n".join(lines))
        self.folder = folder
        self._forks = forks

    def command(self, *arguments: object, code: int = 0) -> str:
        """What a command of zealous prints."""
        return self._run(COMMAND, *arguments, code=code)

    def python(self, program: str, *arguments: object) -> str:
        """What a program prints."""
        return self._run(program, *arguments)

    def _run(self, program: str, *arguments: object, code: int = 0) -> str:
        path = self.folder / "program.py"
        path.write_text(STRICT + program)
        paths = os.pathsep.join([str(self.folder), str(ROOT / "src")])
        done = self._forks(path, *arguments, folder=self.folder, PYTHONPATH=paths)
        assert done.code == code, done.stderr
        return done.stdout
