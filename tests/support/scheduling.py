"""Which process runs which tests, and in which order, where several run them (`pytest -n`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT
from xdist.scheduler.loadscope import LoadScopeScheduling

# Tests that share what takes long to start run in one process.
_TOGETHER = {
    "cluster": ("test_spark_cluster", "test_spark_connect"),
    "spark": ("test_spark_", "test_executor"),
    "report": ("test_report",),
}
# Files whose tests take many seconds each, or wait for other programs: not at the end, when a
# process that waits leaves a core idle.
_LONG = (
    "test_corpus",
    "test_docs",
    "test_drafts",
    "test_killed",
    "test_later_wishes",
    "test_ledger_processes",
    "test_mutations",
    "test_own",
    "test_publish_screen",
    "test_series",
    "test_serve",
    "test_soak",
    "test_spent",
    "test_strange_files",
    "test_tail_measures",
    "test_vanity",
)


class Scheduling(LoadScopeScheduling):
    """Gives each test to whichever process is free, and those that share something to one."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # their order is that of `longest_first`

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)


def scope(test: str) -> str:
    """What a test is run together with: named tests, those of its file, or nothing."""
    path = test.partition("::")[0]
    return _together(path) or (path if _shares(path) else test)


def longest_first(items: list[pytest.Item]) -> list[pytest.Item]:
    """What one process must do alone comes first, so that no other waits for it at the end."""
    return sorted(items, key=lambda item: _rank(item.nodeid))


def _rank(test: str) -> int:
    path = test.partition("::")[0]
    if name := _together(path):
        return list(_TOGETHER).index(name)
    if _shares(path):
        return len(_TOGETHER)
    return len(_TOGETHER) + (1 if Path(path).stem in _LONG else 2)


def _together(path: str) -> str:
    file = Path(path).name
    return next((name for name, files in _TOGETHER.items() if file.startswith(files)), "")


@cache
def _shares(path: str) -> bool:
    """Whether the tests of a file share what is made once for all of them."""
    return 'scope="module"' in (ROOT / path).read_text(encoding="utf-8")
