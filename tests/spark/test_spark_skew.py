"""Skew is the normal case: an item that everybody has, a robot that has everything.

In a process of its own, since the memory of a session is fixed when Java starts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cluster import PATIENCE, need_java

import zealous as z
from zealous.counting.bound import ContributionBound, bound_contributions
from zealous.engines.sql import Step, statement
from zealous.engines.transpile import to_spark
from zealous.logs.open_log import open_log

pytest_plugins = ("spark",)
pytestmark = pytest.mark.spark

USERS, ROBOT, M = 100_000, 1_000_000, 3
# The robot's rows alone, at 200 bytes each, are more than the memory below leaves for work.
MEMORY = "600m"
LOG = f"""
    select 'u' || n as user, 'tea' as query, to_timestamp(n) as time from range({USERS}) t(n)
    union all select 'u' || n, 'own ' || n % 50_000, to_timestamp(n + 60) from range({USERS}) t(n)
    union all select 'robot', repeat('robotic ', 25) || n % 300_000, to_timestamp(n)
        from range({ROBOT}) t(n)
"""
PROGRAM = """
import json, sys
import zealous as z
from zealous.counting.histogram import histogram
from zealous.logs.open_log import open_log

path, memory, m = sys.argv[1], sys.argv[2], int(sys.argv[3])
conf = {"spark.driver.memory": memory, "spark.driver.host": "127.0.0.1"}
told = {}
with z.Spark(master="local[2]", conf=conf) as engine:
    source = open_log(z.read_log(path, engine=engine), engine)
    for kind in (z.queries(m), z.query_pairs(m)):
        counted = histogram(kind, source, bound=m, at_least=1, select="random", key=1)
        counts = {}
        for batch in counted:
            *items, count = batch.columns
            counts["all"] = counts.get("all", 0) + sum(count.to_pylist())
            for item, number in zip(items[0].to_pylist(), count.to_pylist()):
                if item == "tea":
                    counts["tea"] = counts.get("tea", 0) + number
        told[kind.name()] = counts
print(json.dumps(told))
"""


def write(query: str, path: Path, **how: Any) -> None:
    found = duckdb.sql(query)
    assert found is not None
    found.write_parquet(str(path), **how)


@pytest.mark.soak
def test_neither_a_robot_nor_a_frequent_item_needs_more_memory(tmp_path: Path) -> None:
    need_java()
    log = tmp_path / "log.parquet"
    write(LOG, log, row_group_size=100_000)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, log, MEMORY, str(M)],
        env=os.environ | {"SPARK_LOCAL_DIRS": str(tmp_path), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert told["queries"] == {"all": 2 * USERS + M, "tea": USERS}
    assert told["query-pairs"] == {"all": USERS + M, "tea": USERS}


def plan(engine: z.Spark, steps: Sequence[Step]) -> list[str]:
    """The operators of the plan for some steps, from the last to the first."""
    sql = to_spark(statement(steps), engine._views)
    said = engine.session.sql(sql)._jdf.queryExecution().executedPlan().toString()
    return re.findall(r"^[ :+-]*(?:\*\(\d+\) )?(\w.*)$", said, re.MULTILINE)


def test_each_partition_drops_what_it_can_before_it_is_sent(spark: z.Spark, tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    write("select 'u' as user, 'tea' as query", log)
    with spark as engine:
        source = open_log(z.read_log(log, engine=engine), engine)
        kind, choice = z.queries(M), ContributionBound(most=M, select="random", key=1)
        steps = [*kind.steps(source), *bound_contributions(kind, source, choice)]
        count = Step("n", "select query, count(*) as count from kept group by query")
        found = plan(engine, [*source.entries, *steps, count])
    marks = []
    for each in reversed(found):
        if each.startswith("Exchange"):
            marks.append("send")
        elif each.startswith("WindowGroupLimit"):
            marks.append(f"limit {each.rpartition(' ')[2].lower()}")
        elif "Aggregate" in each:
            marks.append("aggregate")
    assert marks == [
        "aggregate",
        "send",
        "aggregate",  # a user's distinct items: a robot's are in all parts
        "limit partial",
        "send",
        "limit final",  # at most m of a user leave each part
        "aggregate",
        "send",
        "aggregate",  # a frequent item is one row of each part
    ], found


def robots_log(path: Path) -> Path:
    rows = "select 'robot' as user, n::varchar as query, to_timestamp(n) as time"
    write(f"{rows} from range(5000) t(n) union all select 'ann', 'tea', to_timestamp(1)", path)
    return path


FEW = z.Cleaning(limits=z.Limits(entries=2000))
NUMBER = Step("n", "select count(*), count(distinct query) from entries")


@pytest.mark.extended
def test_no_machine_sorts_all_entries_of_one_person(spark: z.Spark, tmp_path: Path) -> None:
    """Windows over a person are limited to as many rows as count, by each part of the log."""
    log = robots_log(tmp_path / "log.parquet")
    with spark as engine:
        source = open_log(z.read_log(log, engine=engine, cleaning=FEW), engine)
        assert engine.rows([*source.entries, NUMBER]) == [(2001, 2001)]
        stored = [rows.steps for table in engine._stored.tables.values() for rows in table]
        found = [each for steps in stored for each in plan(engine, steps)]
    windows = [each for each in found if each.startswith("Window ")]
    limits = [each.rpartition(" ")[2] for each in found if each.startswith("WindowGroupLimit")]
    assert windows
    assert limits.count("Partial") == limits.count("Final") == 2, found


@pytest.mark.extended
def test_entries_of_one_person_are_worked_out_once(spark: z.Spark, tmp_path: Path) -> None:
    """Whatever follows reads what is left of them: her entries alone do not decide how long."""
    log = robots_log(tmp_path / "log.parquet")
    with spark as engine:
        source = open_log(
            z.read_log(log, engine=engine, cleaning=FEW), engine, unit="session", key=1
        )
        found = plan(engine, source.entries)
        # Of all others: entries and, four times in all, the moments of which sessions are made.
        assert sum("FileScan parquet" in each for each in found) <= 5, found
        assert sum("ExistingRDD" in each for each in found) <= 6, found


@pytest.mark.extended
def test_stored_rows_that_are_lost_are_worked_out_again(spark: z.Spark, tmp_path: Path) -> None:
    """As if the executor that had them were gone."""
    log = robots_log(tmp_path / "log.parquet")
    with spark as engine:
        source = open_log(z.read_log(log, engine=engine, cleaning=FEW), engine)
        for _ in range(2):
            for rdd in engine.session.sparkContext._jsc.getPersistentRDDs().values():
                rdd.unpersist(True)
            assert engine.rows([*source.entries, NUMBER]) == [(2001, 2001)]
