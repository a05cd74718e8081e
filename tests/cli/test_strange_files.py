"""No file beside the data is taken for a part of the program, whatever its name is.

Where the processes that we start look for modules, none of these may be found: each would leave a
mark.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from cluster import conf_options
from spark import QUICK, SPARK, need_java

import zealous
from zealous.audit.runs import start_run
from zealous.study.report.style import figure_with_panels, render_svg
from zealous.web.jobs import Jobs

COMMAND = Path(sys.executable).with_name("zealous")
STRANGE = [
    "argparse", "array", "ast", "click", "codecs", "collections", "concurrent", "copyreg",
    "dataclasses", "datetime", "duckdb", "enum", "faulthandler", "functools", "importlib",
    "inspect", "io", "ir_measures", "jinja2", "json", "logging", "matplotlib",
    "multiprocessing", "numbers", "numpy", "operator", "os", "pandas", "pickle", "platform",
    "py4j", "pyarrow", "pyspark", "queue", "random", "re", "rich", "runpy", "secrets", "select",
    "shutil", "signal", "sitecustomize", "socket", "sqlglot", "sqlite3", "struct", "subprocess",
    "tempfile", "threading", "token", "traceback", "types", "typing", "usercustomize", "uuid",
    "warnings", "weakref", "zealous", "zipfile",
]  # fmt: skip
GOAL = shlex.split(
    "--items queries --items-per-user 1 --users 200 --epsilon 20 --delta 0.01 --no-ledger"
)
STUDY = 'epsilons = [1]\nk = [2]\ndraws = 1\nkinds = ["queries", "query-pairs"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A log, among files that have the names of modules."""
    lines = (f"u{n},2026-03-01 10:0{m},query {m}\n" for n in range(150) for m in range(3))
    (tmp_path / "log.csv").write_text("user,time,query\n" + "".join(lines))
    for name in STRANGE:
        mark = f"open({str(tmp_path / 'ran')!r}, 'a').write('{name} ')\n"
        (tmp_path / f"{name}.py").write_text(f"{mark}raise SystemExit(3)\n")
    (tmp_path / ".duckdbrc").write_text("select error('.duckdbrc was read');\n")
    return tmp_path


def ran(folder: Path) -> str:
    """The strange files that were run."""
    mark = folder / "ran"
    return mark.read_text() if mark.exists() else ""


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"PYTHONSTARTUP": "sitecustomize.py"},
    )


def test_publishing(folder: Path) -> None:
    done = run(folder, "publish", "log.csv", *GOAL, "-o", "release", "--json")
    assert ran(folder) == ""
    assert done.returncode == 0, done.stderr


@pytest.mark.extended
def test_the_second_process_of_a_study(folder: Path) -> None:
    (folder / "study.toml").write_text(STUDY)
    done = run(
        folder,
        *shlex.split("study compare log.csv --study study.toml --memory 3GB --threads 2 -o study"),
    )
    assert ran(folder) == ""
    assert done.returncode == 0, done.stderr


def test_the_runs_of_an_audit(folder: Path) -> None:
    done = start_run(folder / "log.csv", [*GOAL, "--json"])()
    assert ran(folder) == ""
    assert done.code == 0
    assert json.loads(done.stdout)["guarantee"]["epsilon"] == 20


def test_what_the_workbench_starts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    jobs = Jobs()
    code = jobs.start("a plan", ["--version"]).process.wait(60)
    jobs.close()
    assert ran(folder) == ""
    assert code == 0


def test_no_python_is_started_that_looks_for_modules_in_the_working_directory() -> None:
    started = [
        (path.name, line.strip())
        for path in Path(zealous.__file__).parent.rglob("*.py")
        for line in path.read_text().splitlines()
        if "[sys.executable" in line
    ]
    assert len(started) >= 2
    assert [each for each in started if '[sys.executable, "-P", ' not in each[1]] == []


@SPARK
@pytest.mark.extended
def test_python_on_the_executors(folder: Path) -> None:
    need_java()
    done = run(
        folder,
        "publish",
        "log.csv",
        *GOAL,
        "--engine",
        "spark",
        "--spark-master",
        "local[1]",
        *conf_options(QUICK),
        "-o",
        "release",
    )
    assert ran(folder) == ""
    assert done.returncode == 0, done.stderr


def test_how_pictures_look_is_not_read_from_the_working_directory(tmp_path: Path) -> None:
    def drawn() -> str:
        return render_svg(lambda: figure_with_panels(1)[0])

    program = (
        "from zealous.study.report.style import figure_with_panels, render_svg\n"
        "print(render_svg(lambda: figure_with_panels(1)[0]), end='')"
    )
    (tmp_path / "matplotlibrc").write_text("axes.facecolor: red\nxtick.major.size: 20\n")
    told = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == drawn()
