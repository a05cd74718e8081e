"""The real tables beside the project, published through the real command."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest
from conftest import Run
from paths import DOCS

pytestmark = pytest.mark.real
GOAL = ["--epsilon", 2, "--delta", "0.001"]


def rows(run: Run, *arguments: object) -> int:
    done = run("publish", *arguments, "--ledger", "ledger.sqlite", "-o", "out", "--json")
    assert done.code == 0, done.stderr
    (files,) = json.loads(done.stdout)["files"].values()
    return int(files["rows"])


def test_search_log(run: Run, real: Path) -> None:
    log = [real / "excite-small.log", "--format", "excite", "--items", "keywords"]
    wish = ["--items-per-user", 3, "--users", 1000, "--epsilon", 5, "--delta", "0.01"]
    assert rows(run, *log, *wish) >= 1


def test_shop(run: Run, real: Path) -> None:
    table = [real / "online_retail.csv.gz", "--user", "CustomerID"]
    wish = ["--items", "columns:Description", "--items-per-user", 20, "--users", 5000]
    assert rows(run, *table, *wish, "--epsilon", 10, "--delta", "0.001") > 20


def test_diagnoses(run: Run, real: Path) -> None:
    table = [real / "patient_diagnoses.csv.gz", "--user", "patient"]
    wish = ["--items", "columns:diag_1", "--items-per-user", 2, "--users", 100000]
    assert rows(run, *table, *wish, *GOAL) > 150


def test_page_visits_after_the_documented_line(run: Run, real: Path, tmp_path: Path) -> None:
    page = DOCS / "guide" / "logs.md"
    (line,) = re.findall(r"^zcat .*$", page.read_text(), re.MULTILINE)
    name = "anonymous-msweb.csv.gz"
    (tmp_path / name).write_bytes((real / name).read_bytes())
    subprocess.run(line, shell=True, cwd=tmp_path, check=True)
    with gzip.open(real / name, "rt", encoding="latin-1") as file:
        visits = sum(row.startswith("V") for row in file)
    assert len((tmp_path / "areas.csv").read_text().splitlines()) == visits + 1
    wish = ["--items", "columns:area", "--items-per-user", 2, "--users", 50000]
    assert rows(run, "areas.csv", *wish, *GOAL) > 80
