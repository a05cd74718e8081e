"""The wheel with core dependencies alone publishes; the study says what it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from paths import ROOT

# Each command as if typed, in one process, as loading takes longer than most of them; what each
# said, until one does not end as it should.
SEVERAL = """import contextlib, io, json, sys
from zealous.cli import main

code, told = int(sys.argv[1]), []
for arguments in json.loads(sys.argv[2]):
    sys.argv[1:] = arguments
    streams = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            main()
        except SystemExit as ended:
            found = ended.code
    told.append([stream.getvalue() for stream in streams])
    if found != code:
        sys.exit(f"{arguments}: {found}, {told[-1]}")
print(json.dumps(told))
"""
GOAL = ["--items-per-user", "2", "--users", "2000", "--epsilon", "20", "--delta", "0.001"]


def required(package: Distribution) -> dict[str, Distribution]:
    """What it needs without any extra, and what that needs."""
    found: dict[str, Distribution] = {}
    waiting = [package]
    while waiting:
        for text in waiting.pop().requires or ():
            need = Requirement(text)
            name = canonicalize_name(need.name)
            if name not in found and (need.marker is None or need.marker.evaluate({"extra": ""})):
                found[name] = distribution(name)
                waiting.append(found[name])
    return found


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and its core dependencies, which are links to ours."""
    folder = tmp_path_factory.mktemp("core")
    wheels, environment = folder / "wheels", folder / "environment"
    python = environment / "bin" / "python"
    for module, *arguments in (
        ["hatchling", "build", "-t", "wheel", "-d", wheels],
        ["venv", "--without-pip", environment],
        [
            "pip",
            "--python",
            python,
            "--disable-pip-version-check",
            "install",
            "--quiet",
            "--no-index",
            "--no-deps",
            "--find-links",
            wheels,
            "zealous",
        ],
    ):
        command = [sys.executable, "-m", *map(str, (module, *arguments))]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (packages,) = environment.glob("lib/python3*/site-packages")
    (about,) = packages.glob("zealous-*.dist-info")
    for needed in required(PathDistribution(about)).values():
        for name in {file.parts[0] for file in needed.files or ()} - {"..", "__pycache__"}:
            (packages / name).symlink_to(str(needed.locate_file(name)))
    return environment / "bin"


def run(core: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [core / arguments[0], *arguments[1:]],
        cwd=folder,
        env=environment | {"XDG_STATE_HOME": str(folder)},
        capture_output=True,
        text=True,
    )


def run_several(
    core: Path, folder: Path, *commands: list[str], code: int = 0
) -> list[tuple[str, str]]:
    """What each of several commands printed, to stdout and to stderr."""
    done = run(core, folder, "python", "-c", SEVERAL, str(code), json.dumps(commands))
    assert done.returncode == 0, done.stderr
    return [(stdout, stderr) for stdout, stderr in json.loads(done.stdout)]


def test_everything_but_the_study_works(core: Path, tmp_path: Path) -> None:
    done = run(core, tmp_path, "zealous", "plan", *GOAL)
    assert done.returncode == 0, done.stderr
    run_several(
        core,
        tmp_path,
        ["generate", "-o", "log.parquet", "--users", "1000", "--seed", "7"],
        ["inspect", "log.parquet"],
        [
            "publish",
            "log.parquet",
            "--items",
            "queries,keywords",
            *GOAL,
            "--ledger",
            "ledger.sqlite",
            "-o",
            "release",
        ],
        ["verify", "release", "--ledger", "ledger.sqlite"],
        ["ledger", "show", "ledger.sqlite"],
        ["review", "release", "--flag-pii"],
        ["study", "guarantees", *GOAL, "--curve"],
        ["study", "anonymize", "log.parquet", "--method", "k-query", "-k", "5", "-o", "k-query"],
    )
    assert (tmp_path / "release" / "queries.csv").read_text().startswith("query,count,")


def test_the_study_says_what_it_needs(core: Path, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\na,tea\n")
    mechanisms = ["mechanisms", "log.csv", "--items", "queries", "--items-per-user", "1"]
    told = run_several(
        core,
        tmp_path,
        ["study", "compare", "log.csv", "-o", "study"],
        ["study", "evaluate", "log.csv", "--against", "log.csv"],
        ["study", "attack", "log.csv", "-o", "study"],
        ["study", *mechanisms, "-o", "study"],
        code=2,
    )
    needed = (
        "zealous: the study needs more packages: install zealous with its extra 'study', in the "
        "folder of its source: pip install '.[study]'\n"
    )
    assert [(out, " ".join(error.split()) + "\n") for out, error in told] == [("", needed)] * 4
    assert not (tmp_path / "study").exists()
    ((_, said),) = run_several(core, tmp_path, ["serve"], code=2)
    assert "pip install '.[web]'" in " ".join(said.split())


def test_every_module_and_public_name_can_be_imported(core: Path, tmp_path: Path) -> None:
    program = (
        "import importlib, importlib.util, pkgutil, zealous\n"
        "absent = 'matplotlib ir_measures scipy pandas pyspark sqlglot starlette'\n"
        "for each in absent.split():\n"
        "    assert importlib.util.find_spec(each) is None, each\n"
        "found = [each for each in pkgutil.walk_packages(zealous.__path__, 'zealous.')\n"
        "    if not each.name.startswith('zealous.web.')]\n"  # which the extra web is for
        "for each in found:\n"
        "    importlib.import_module(each.name)\n"
        "assert len(found) > 200\n"
        "from zealous import *\n"
        "assert callable(compare) and callable(publish)\n"
    )
    done = run(core, tmp_path, "python", "-c", program)
    assert done.returncode == 0, done.stderr
