"""The processor time of each folder of tests, printed beside its budget after a full run.

It is printed and fails nothing: on a busy machine a sound program takes longer. `make test` is to
take 8 minutes on two idle cores, ruff and mypy included: about 800 processor seconds of tests,
where a run keeps 1.8 cores busy. A budget is 1.4 times what the folder took on a machine where all
of them took 557 seconds; one of half its speed goes over each of them.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path

import pytest

# Processor seconds of `make test`, by folder.
BUDGETS = {
    "audit": 37,
    "cli": 37,
    "counting": 14,
    "engines": 1,
    "files": 27,
    "items": 30,
    "ledger": 17,
    "logs": 20,
    "mechanisms": 49,
    "noise": 8,
    "owner": 5,
    "planning": 6,
    "planted": 31,
    "privacy": 38,
    "project": 78,
    "record": 6,
    "release": 81,
    "series": 20,
    "spark": 105,
    "study": 94,
    "synthetic": 8,
    "verification": 32,
    "web": 35,
}
_TAKEN = "processor seconds"


def spent() -> float:
    """The processor seconds of this process and all that it began, ended or still running."""
    own = os.times()
    total = own.user + own.system + own.children_user + own.children_system
    return total + sum(map(_seconds, _descendants(os.getpid())))


def _descendants(process: int) -> Iterator[int]:
    """The processes that one began and that still run; none where there is no /proc."""
    try:
        paths = list(Path(f"/proc/{process}/task").glob("*/children"))
        children = [int(child) for path in paths for child in path.read_text().split()]
    except OSError:  # it has ended
        return
    for child in children:
        yield child
        yield from _descendants(child)


def _seconds(process: int) -> float:
    """The processor seconds of a process and of those it began that have ended."""
    try:
        _, _, figures = Path(f"/proc/{process}/stat").read_text().rpartition(")")
    except OSError:
        return 0
    return sum(map(int, figures.split()[11:15])) / os.sysconf("SC_CLK_TCK")


def folder_of(test: str) -> str:
    """The folder of tests/ in which a test stands."""
    return test.removeprefix("tests/").partition("/")[0]


def table(seconds: Mapping[str, float], budgets: Mapping[str, float] = BUDGETS) -> list[str]:
    """One line a folder: what it took, and what it may take."""
    lines = [f"{'processor seconds':<20}{'taken':>8}{'budget':>8}"]
    for folder in sorted(budgets.keys() | seconds.keys()):
        taken, budget = seconds.get(folder, 0), budgets.get(folder, 0)
        lines.append(f"{folder:<20}{taken:>8.0f}{budget:>8.0f}{'  over' * (taken > budget)}")
    lines.append(f"{'all':<20}{sum(seconds.values()):>8.0f}{sum(budgets.values()):>8.0f}")
    return lines


class Timer:
    """Measures where the tests run, after the last of each folder; adds up where reports arrive."""

    def __init__(self) -> None:
        self.begun = spent()
        self.seconds: dict[str, float] = {}
        self.leaves_folder = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Not after every test: to look at each thread of Java takes longer than many of them."""
        following = nextitem and folder_of(nextitem.nodeid)
        self.leaves_folder = following != folder_of(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note what tests of one folder took that ran one after another."""
        report = yield
        if report.when == "teardown" and self.leaves_folder:
            before, self.begun = self.begun, spent()
            report.user_properties.append((_TAKEN, self.begun - before))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        folder, taken = folder_of(report.nodeid), dict(report.user_properties).get(_TAKEN)
        if isinstance(taken, float):
            self.seconds[folder] = self.seconds.get(folder, 0) + taken

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> None:
        if config.args_source is pytest.Config.ArgsSource.TESTPATHS:  # not of some tests alone
            for line in table(self.seconds):
                terminalreporter.write_line(line)
