"""Each folder of tests has a budget, and what it took is measured with all that it began."""

from __future__ import annotations

import subprocess
import sys

from budgets import BUDGETS, folder_of, spent, table
from paths import TESTS

MINUTES = 8  # of `make test` on two cores
CHECKS = 50  # processor seconds of ruff and mypy, and of collecting tests twice
BUSY = "import time\nwhile time.process_time() < 0.3: pass\n"


def test_every_folder_of_tests_has_a_budget() -> None:
    folders = {path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")}
    assert folders == BUDGETS.keys()


def test_the_budgets_are_those_of_eight_minutes() -> None:
    assert sum(BUDGETS.values()) + CHECKS <= 2 * 60 * MINUTES


def test_the_table_says_what_is_over() -> None:
    lines = table({"noise": 12.4, "new": 1}, {"cli": 50, "noise": 12})
    assert [line.split() for line in lines[1:]] == [
        ["cli", "0", "50"],
        ["new", "1", "0", "over"],
        ["noise", "12", "12", "over"],
        ["all", "13", "62"],
    ]


def test_a_test_stands_in_a_folder() -> None:
    assert folder_of("tests/study/measures/test_caching.py::test_it") == "study"


def test_what_a_test_begins_is_measured_while_it_runs_and_after_its_end() -> None:
    before = spent()
    with subprocess.Popen(
        [sys.executable, "-c", f"{BUSY}print(flush=True)\ninput()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        running = spent()
    assert running - before >= 0.25 or sys.platform != "linux"
    assert spent() - before >= 0.25
