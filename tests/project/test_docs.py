"""What the README says works when typed, in order, by a stranger."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import COMMAND, Forks
from pages import LONG_PAGES, blocks
from paths import ROOT
from turns import in_turn, turn_of

from zealous.study.grid.study import Study, read_study
from zealous.synthetic import generate

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

FEW = "1500"  # people take a tenth of the time, and the commands are the same
SMALL_STUDY = """
epsilons = [5]
items_per_user = [1]
k = [10]
methods = ["k-query"]
draws = 1
substituted = 1000
"""


def of_few(arguments: list[str]) -> list[str]:
    """The same command, which makes a smaller log where it makes one."""
    if arguments[0] != "generate":
        return arguments
    place = arguments.index("--users") + 1
    return [*arguments[:place], FEW, *arguments[place + 1 :]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stranger")


def test_the_readme_runs_from_top_to_bottom(folder: Path, commands: Forks) -> None:
    (folder / "shop.csv").write_text(
        "CustomerID,Description\n" + "".join(f"{n % 900},thing {n % 7}\n" for n in range(6000))
    )
    subprocess.run(["gzip", "shop.csv"], cwd=folder, check=True)
    lines = [line for block in blocks(ROOT / "README.md", "sh") for line in block.splitlines()]
    ran = 0
    for line in lines:
        program, *arguments = shlex.split(line, comments=True)
        assert program in ("make", "zealous")
        if program == "zealous":
            arguments = of_few(arguments)
            if arguments[:2] == ["study", "compare"]:  # the whole grid takes minutes
                (folder / "small.toml").write_text(SMALL_STUDY)
                arguments += ["--study", "small.toml"]
            done = commands(COMMAND, *arguments, folder=folder, timeout=600)
            assert done.code == 0, (line, done.stderr)
            ran += 1
            if arguments[0] == "plan" and "-o" not in arguments:
                shown = blocks(ROOT / "README.md", "text")[0]
                assert done.stdout == shown
    assert ran == 23
    program = blocks(ROOT / "README.md", "python")[0]
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("page", in_turn(["anonymity", "attacks"], str, share=2))
def test_the_python_of_a_page_runs(page: str, tmp_path: Path) -> None:
    generate(tmp_path / "log.parquet", users=1000, seed=1)
    (program,) = blocks(ROOT / "docs" / f"{page}.md", "python")
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize(("page", "runs"), [("sets", 3), ("tail", 2)])
def test_the_commands_of_a_page_run(page: str, runs: int, tmp_path: Path, commands: Forks) -> None:
    lines = "\n".join(blocks(ROOT / "docs" / f"{page}.md", "sh")).splitlines()
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "zealous"
        done = commands(COMMAND, *of_few(arguments), folder=tmp_path)
        assert done.code == 0, (line, done.stderr)
    assert len(lines) == runs


@turn_of("mechanisms", LONG_PAGES)
def test_the_page_of_mechanisms_runs(tmp_path: Path, commands: Forks) -> None:
    generate(tmp_path / "log.parquet", users=1000, seed=1)
    things = "".join(f"{n % 900},thing {n % 7}\n" for n in range(6000))
    (tmp_path / "shop.csv").write_text(f"CustomerID,Description\n{things}")
    subprocess.run(["gzip", "shop.csv"], cwd=tmp_path, check=True)
    (tmp_path / "catalogue.csv").write_text("Description\n" + "thing 1\nthing 2\nthing 8\n")
    (tmp_path / "results.csv").write_text("query,url\nweather,http://www.weather.example/\n")
    earlier = shlex.split(
        "publish log.parquet --items queries --items-per-user 2 --guarantee indistinguishable "
        "--epsilon 50 --delta 1e-6 -o last-month"
    )
    assert commands(COMMAND, *earlier, folder=tmp_path).code == 0
    page = blocks(ROOT / "docs" / "mechanisms.md", "sh")
    lines = [line for block in page for line in block.splitlines()]
    assert len(lines) == 6
    for line in lines:
        _, *arguments = shlex.split(line)
        done = commands(COMMAND, *arguments, folder=tmp_path)
        assert done.code == 0, (line, done.stderr)


def test_the_findings_of_the_page_are_those_of_the_run() -> None:
    page = (ROOT / "docs" / "study.md").read_text()
    found = json.loads((ROOT / "docs" / "study.json").read_text())["findings"]
    assert len(found) == 17
    for each in found:
        verdict = {True: "yes", False: "**no**", None: "?"}[each["holds"]]
        row = next(line for line in page.splitlines() if each["measured"] in line)
        assert row.startswith(f"| {verdict} |")
        assert each["why"] in row


def test_the_study_of_the_page_is_the_default(tmp_path: Path) -> None:
    (text,) = blocks(ROOT / "docs" / "study.md", "toml")
    (tmp_path / "study.toml").write_text(text)
    assert read_study(tmp_path / "study.toml") == Study()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
