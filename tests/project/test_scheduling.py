"""Where several processes run the tests, what one of them must do alone comes first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from paths import TESTS
from scheduling import _LONG, longest_first, scope

ALONE = "tests/project/test_scheduling.py::test_it"
SHARING = "tests/project/test_extending_kind.py::test_it"  # what is installed for its tests
LONG = "tests/release/test_killed.py::test_it"
SPARK = "tests/spark/test_spark_sets.py::test_it"
CLUSTER = "tests/spark/test_spark_cluster.py::test_it"


def test_tests_are_run_together_only_where_they_share_something() -> None:
    assert scope(ALONE) == ALONE
    assert scope(SHARING) == SHARING.partition("::")[0]
    assert scope(SPARK) == scope("tests/spark/test_executor.py::test_it") == "spark"
    assert scope(CLUSTER) == "cluster"


def test_what_is_run_together_comes_first_and_else_their_order_is_kept() -> None:
    names = [f"{ALONE}[2]", SHARING, f"{ALONE}[1]", LONG, SPARK, CLUSTER]
    items: list[Any] = [SimpleNamespace(nodeid=name) for name in names]
    found = [item.nodeid for item in longest_first(items)]
    assert found == [CLUSTER, SPARK, SHARING, LONG, f"{ALONE}[2]", f"{ALONE}[1]"]


def test_files_that_are_named_are_there() -> None:
    missing = [name for name in _LONG if not any(TESTS.rglob(f"{name}.py"))]
    assert not missing
