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
from pages import blocks
from paths import ROOT

from zealous.study.grid.study import Study, read_study
from zealous.synthetic import generate
from zealous.version import EARLIER, VERSION

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

FEW = "600"  # people take a twentieth of the time, and the commands are the same
ENOUGH = "12000"  # of so many people something is published
INSTALL = ["python3 -m venv .venv", ". .venv/bin/activate", "pip install ."]
STUDIES = ["attack", "compare", "evaluate", "mechanisms"]
SMALL_STUDY = """
epsilons = [5]
items_per_user = [1]
k = [10]
methods = ["k-query"]
kinds = ["queries", "keywords"]
draws = 1
substituted = 1000
"""


def of_few(arguments: list[str], people: str = FEW) -> list[str]:
    """The same command, which makes a smaller log where it makes one, or attacks fewer people."""
    if arguments[:2] == ["study", "attack"]:
        return [*arguments, "--victims", "10"]
    if arguments[0] != "generate":
        return arguments
    place = arguments.index("--users") + 1
    return [*arguments[:place], people, *arguments[place + 1 :]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With the table of a shop."""
    (tmp_path / "shop.csv").write_text(
        "CustomerID,Description\n" + "".join(f"{n % 900},thing {n % 7}\n" for n in range(6000))
    )
    subprocess.run(["gzip", "shop.csv"], cwd=tmp_path, check=True)
    return tmp_path


def studies(arguments: list[str]) -> str | None:
    """Which of the study's long commands this is; no other makes use of what they write."""
    return arguments[1] if arguments[0] == "study" and arguments[1] in STUDIES else None


def left_out(few: bool) -> set[str]:
    """Of the study's long commands all but one; or none."""
    return set(STUDIES[1:]) if few else set()


def without_numbers(line: str) -> str:
    """A line as it is in every run, whatever the log and the noise."""
    return re.sub(r"[\d.,]*\d|[─\s]+", "#", line).strip("#")


@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_the_readme_runs_as_a_stranger_copies_it(
    few: bool, tmp_path: Path, commands: Forks
) -> None:
    """Each command prints what stands below it; "..." is for lines that are left out.

    How `zealous` comes onto the path is tried in test_core_install.py.
    """
    page = (ROOT / "README.md").read_text()
    install, *others = re.findall(r"```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?", page, re.DOTALL)
    assert install[0].splitlines() == INSTALL
    compared = 0
    for block, shown in others:
        for line in block.splitlines():
            program, *arguments = shlex.split(line)
            assert program == "zealous"
            if studies(arguments) in left_out(few):
                continue
            done = commands(COMMAND, *of_few(arguments, ENOUGH), folder=tmp_path)
            assert done.code == 0, (line, done.stderr)
        if arguments[0] == "plan":
            assert done.stdout == shown
        printed = iter(map(without_numbers, done.stdout.splitlines()))
        for line in shown.splitlines():
            assert line == "..." or without_numbers(line) in printed, (line, done.stdout)
        compared += bool(shown)
    assert compared == 5
    (program,) = blocks(ROOT / "README.md", "python")
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.extended
@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_the_guide_runs_from_top_to_bottom(few: bool, folder: Path, commands: Forks) -> None:
    guide = ROOT / "docs" / "guide" / "publishing.md"
    lines = [line for block in blocks(guide, "sh") for line in block.splitlines()]
    assert len(lines) == 17
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "zealous"
        if studies(arguments) in left_out(few):
            continue
        arguments = of_few(arguments)
        if arguments[:2] == ["study", "compare"]:  # the whole grid takes minutes
            (folder / "small.toml").write_text(SMALL_STUDY)
            arguments += ["--study", "small.toml"]
        done = commands(COMMAND, *arguments, folder=folder, timeout=600)
        assert done.code == 0, (line, done.stderr)
    (program,) = blocks(guide, "python")
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True, capture_output=True)


def test_every_page_is_in_the_index() -> None:
    """Proofs and extensions have an index of their own."""
    docs = ROOT / "docs"
    linked = set(re.findall(r"\]\(([^)#]+)\)", (docs / "README.md").read_text()))
    pages = {
        page.relative_to(docs).as_posix()
        for folder in ("guide", "reference", "study")
        for page in (docs / folder).glob("*.md")
    }
    assert len(pages) > 30
    assert pages <= linked


def run_the_python_of(page: str, folder: Path) -> None:
    generate(folder / "log.parquet", users=1000, seed=1)
    (program,) = blocks(ROOT / "docs" / f"{page}.md", "python")
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True, capture_output=True)


def test_the_page_of_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (f"u{n},{query}\n" for n in range(900) for query in ("tea", f"shoes {n % 9}"))
    (tmp_path / "log.csv").write_text("user,query\n" + "".join(rows))
    monkeypatch.chdir(tmp_path)
    known: dict[str, object] = {}
    for block in blocks(ROOT / "docs" / "reference" / "python.md", "python"):
        exec(block, known)
    told = capsys.readouterr().out
    assert "Charged as entry 1 of the ledger: epsilon 2, delta 0.001." in told
    assert "ReviewResult(0 of 10 rows removed)" in told


@pytest.mark.extended
def test_the_page_of_anonymity_runs(tmp_path: Path) -> None:
    run_the_python_of("study/anonymity", tmp_path)


@pytest.mark.extended
def test_the_page_of_attacks_runs(tmp_path: Path) -> None:
    run_the_python_of("study/attacks", tmp_path)


@pytest.mark.parametrize(("page", "runs"), [("guide/sets", 5), ("guide/tail", 2)])
def test_the_commands_of_a_page_run(page: str, runs: int, tmp_path: Path, commands: Forks) -> None:
    lines = "\n".join(blocks(ROOT / "docs" / f"{page}.md", "sh")).splitlines()
    lines = [line for line in lines if line]
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "zealous"
        done = commands(COMMAND, *of_few(arguments), folder=tmp_path)
        assert done.code == 0, (line, done.stderr)
    assert len(lines) == runs


@pytest.mark.extended
def test_the_page_of_mechanisms_runs(folder: Path, commands: Forks) -> None:
    generate(folder / "log.parquet", users=1000, seed=1)
    (folder / "catalogue.csv").write_text("Description\n" + "thing 1\nthing 2\nthing 8\n")
    (folder / "results.csv").write_text("query,url\nweather,http://www.weather.example/\n")
    earlier = shlex.split(
        "publish log.parquet --items queries --items-per-user 2 --guarantee indistinguishable "
        "--epsilon 50 --delta 1e-6 -o last-month"
    )
    assert commands(COMMAND, *earlier, folder=folder).code == 0
    page = blocks(ROOT / "docs" / "guide" / "mechanisms.md", "sh")
    lines = [line for block in page for line in block.splitlines()]
    assert len(lines) == 8
    for line in lines:
        _, *arguments = shlex.split(line)
        done = commands(COMMAND, *arguments, folder=folder)
        assert done.code == 0, (line, done.stderr)


@pytest.mark.parametrize("name", ["study", "msweb"])
def test_the_findings_of_the_page_are_those_of_the_run(name: str) -> None:
    page = (ROOT / "docs" / "study" / "README.md").read_text()
    page = page[page.index(f"[{name}.json]({name}.json)") - 200 :]
    page = page[: page.index("\n\n", page.index("| verdict |"))]
    run = json.loads((ROOT / "docs" / "study" / f"{name}.json").read_text())
    assert len(run["findings"]) == 22
    for each in run["findings"]:
        verdict = "**differs**" if each["verdict"] == "differs" else each["verdict"]
        why = f" *{each['why']}*" if each["verdict"] == "differs" else ""
        start, end = each["claim"].partition(". (")[0], f"{each['measured']}{why} | "
        assert any(
            line.startswith(f"| {verdict} | {start}") and line.endswith(f"{end}{each['margin']} |")
            for line in page.splitlines()
        ), each["name"]
    verdicts = [each["verdict"] for each in run["findings"]]
    same, other = verdicts.count("as in the paper"), verdicts.count("differs")
    told = f"**{same} of the 22 findings are as in the paper, {other} differ"
    unknown = len(verdicts) - same - other
    assert f"{told}, {unknown} have too little data.**" if unknown else f"{told}.**" in page


def test_the_tables_of_the_page_are_those_of_the_run() -> None:
    page = (ROOT / "docs" / "study" / "README.md").read_text().splitlines()
    run = json.loads((ROOT / "docs" / "study" / "study.json").read_text())
    names = {"distinct": "distinct", "total": "total of"}
    for table, kinds in run["multiples_of_the_paper"].items():
        for kind, times in kinds.items():
            assert max(*times, *(1 / each for each in times)) < 1.3
            name = f"{names[table]} {kind.replace('-', ' ')}"
            assert f"| {name} | {' | '.join(f'{each:.2f}' for each in times)} |" in page
    for items in (*run["items_at_m_1"].values(), run["pooled_at_m_1"]):
        cells = [", ".join(f"{each:,}" for each in row) or "not run" for row in items.values()]
        assert any(line.endswith(f" | {' | '.join(cells)} |") for line in page)


def test_each_correction_of_the_paper_has_its_test() -> None:
    page = (ROOT / "docs" / "study" / "paper.md").read_text()
    numbered = re.findall(r"^(\d+)\. ", page.split("## Corrections")[1], re.MULTILINE)
    rows = re.findall(r"^\| (\d+) \| (\d+\.\d+\.\d+\S*) \| `(.+)::(.+)` \|$", page, re.MULTILINE)
    assert [number for number, *_ in rows] == numbered
    assert len(rows) >= 10
    for _, version, path, name in rows:
        assert version in (*EARLIER, VERSION)
        assert f"\ndef {name}(" in (ROOT / path).read_text(), name


def test_the_study_of_the_page_is_the_default(tmp_path: Path) -> None:
    (text,) = blocks(ROOT / "docs" / "study" / "README.md", "toml")
    (tmp_path / "study.toml").write_text(text)
    assert read_study(tmp_path / "study.toml") == Study()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
