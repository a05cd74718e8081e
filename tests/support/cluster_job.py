"""Counts the items of small logs on a Spark session of its own; the oracle's key ranks them.

Run by test_spark_cluster.py and test_spark_connect.py as a program, since a process can have one
kind of session only. Takes one JSON object and prints one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
from cluster import in_parts
from cluster_draws import draws, wait_for_executors

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines.engine import Counted
from zealous.items import kind_by_name
from zealous.logs.log import Log
from zealous.logs.open_log import open_log
from zealous.privacy.units import Select


class Spark(z.Spark):
    """With the oracle's rank key."""

    def rank_key(self, key: int, columns: Any) -> str:
        return f"md5('{key}|' || " + " || '|' || ".join(f'"{each}"' for each in columns) + ")"


def count(engine: Spark, log: Log, kind: str, select: Select) -> tuple[Counted, int]:
    source = open_log(log, engine)
    counted = histogram(kind_by_name(kind, 3), source, bound=3, at_least=1, select=select, key=7)
    return counted, source.skipped.total()


def as_rows(counted: Counted) -> list[Any]:
    return [list(row.values()) for batch in counted for row in batch.to_pylist()]


def processes(counted: Counted) -> list[int]:
    """Which processes a function runs in that is applied to the rows."""

    def own(batch: pa.RecordBatch) -> pa.RecordBatch:
        here = pa.array([os.getpid()] * batch.num_rows, pa.int64())
        return batch.set_column(batch.num_columns - 1, "count", here)

    found = pa.Table.from_batches(list(counted.map_batches(own)))
    return sorted(set(found["count"].to_pylist()))


def kill_in_mid_stage(
    session: Any, group: int, over: threading.Event, told: dict[str, Any]
) -> None:
    """Kill a worker and its executor, once some tasks of a stage are done and many are not."""
    tracker = session.sparkContext.statusTracker()
    while not over.is_set():
        for number in tracker.getActiveStageIds():
            stage = tracker.getStageInfo(number)
            if stage and 4 <= stage.numCompletedTasks < stage.numTasks - 2:
                os.killpg(group, signal.SIGKILL)
                told |= {"done": stage.numCompletedTasks, "of": stage.numTasks}
                return
        time.sleep(0.002)


def count_while_a_worker_is_killed(engine: Spark, asked: dict[str, Any]) -> dict[str, Any]:
    """Counted again, in more parts, where a stage was over before it was seen."""
    told: dict[str, Any] = {}
    path, kind, select = asked["count"]
    wait_for_executors(engine.session, 2)
    for parts in (100, 200, *[400] * 6):
        for name, value in in_parts(Path(path), parts).items():
            engine.session.conf.set(name, value)
        counted, told["skipped"] = count(engine, z.read_log(path, engine=engine), kind, select)
        over = threading.Event()
        killing = (engine.session, asked["group"], over, told)
        killer = threading.Thread(target=kill_in_mid_stage, args=killing)
        killer.start()
        told["histogram"] = as_rows(counted)
        over.set()
        killer.join()
        if "done" in told:
            break
    return told


def publish(engine: z.Spark, path: str) -> list[Any]:
    """Where tau is 1 all that was counted gets its noise, and it does so on the executors."""
    goal = z.Indistinguishability(epsilon=20, delta="1e-3")
    release = z.publish(z.read_log(path, engine=engine), goal, [z.queries(1)], account=None)
    return release["queries"].arrow.to_pylist()


def main() -> None:
    asked = json.loads(sys.argv[1])
    engine = Spark(master=asked["master"], conf=asked.get("conf"))
    told: dict[str, Any] = {"pid": os.getpid(), "histograms": []}
    excluded = asked.get("exclude")
    cleaning = z.Cleaning(exclude_users=Path(excluded)) if excluded else None
    with engine:
        for path, kind, select in asked["counts"]:
            log = z.read_log(path, engine=engine, cleaning=cleaning)
            counted, told["skipped"] = count(engine, log, kind, select)
            told["histograms"].append(as_rows(counted))
        if "where" in asked:
            path, kind, select = asked["where"]
            counted, _ = count(engine, z.read_log(path, engine=engine), kind, select)
            told["processes"] = processes(counted)
        if "draws" in asked:
            told["drawn"] = draws(engine, Path(asked["draws"]), "fails")
        if "kill" in asked:
            told["killed"] = count_while_a_worker_is_killed(engine, asked["kill"])
    if "publish" in asked:
        told["published"] = publish(z.Spark(engine.session), asked["publish"])
    print(json.dumps(told))


if __name__ == "__main__":
    main()
