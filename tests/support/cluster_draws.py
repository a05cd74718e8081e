"""Draws noise on a cluster of which a task fails, or is slow and run a second time beside itself.

Run by test_spark_cluster.py as a program for a slow task, and used by cluster_job.py for one that
fails. Takes one JSON object and prints one. Each run of a task writes what it drew to a file, which
shows that it ran, and what it would have published.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import zealous as z
from zealous.engines.engine import Counted
from zealous.engines.sql import Step
from zealous.errors import ZealousError

ITEMS = 400
PATIENCE = 120


def drawing(folder: Path, trouble: str) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Adds noise and writes it down; then the first task fails, or waits for its second run."""
    folder.mkdir()

    def draw(batch: pa.RecordBatch) -> pa.RecordBatch:
        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        noise = np.frombuffer(os.urandom(4 * batch.num_rows), np.int32) // 2
        drawn = dict(zip(batch["item"].to_pylist(), noise.tolist(), strict=True))
        part = f"{task.partitionId()}-{task.attemptNumber()}"
        (folder / f"{part}.part").write_text(json.dumps(drawn))
        (folder / f"{part}.part").rename(folder / f"{part}.json")
        if trouble == "fails" and part == "0-0":
            raise RuntimeError
        end = time.monotonic() + PATIENCE
        other = folder / ("0-1.json" if part == "0-0" else "0-0.json")
        while trouble == "is slow" and part in ("0-0", "0-1") and time.monotonic() < end:
            if other.exists():  # both go on at once
                break
            time.sleep(0.005)
        return batch.set_column(1, "count", pa.array(noise, pa.int64()))

    return draw


def values(batches: Any) -> list[tuple[str, int]]:
    return sorted((row["item"], row["count"]) for batch in batches for row in batch.to_pylist())


def attempt(work: Callable[[], Sequence[Any]]) -> dict[str, Any]:
    try:
        return {"reads": work()}
    except ZealousError as error:
        return {"error": str(error)}


def draws(engine: z.Spark, folder: Path, trouble: str) -> dict[str, Any]:
    """What is published where one task of each job is in trouble."""
    items = pa.table({"item": [f"item {n}" for n in range(ITEMS)], "count": [0] * ITEMS})
    engine.add_table("counts", items)
    counted = Counted(
        engine, lambda: nullcontext([Step("counted", "select item, count from counts")])
    )
    through = drawing(folder / "through", trouble)
    stored = drawing(folder / "stored", trouble)

    def read_stored() -> list[Any]:
        kept = counted.store(stored)
        return [
            values(engine.batches([Step("kept", f"select * from {kept.name}")])) for _ in range(4)
        ]

    return {
        "through": attempt(lambda: [values(counted.map_batches(through))]),
        "stored": attempt(read_stored),
    }


def wait_for_executors(session: Any, number: int) -> None:
    known = session.sparkContext._jsc.sc().statusTracker()
    while len(known.getExecutorInfos()) <= number:  # the driver is one of them
        time.sleep(0.05)


def main() -> None:
    asked = json.loads(sys.argv[1])
    with z.Spark(master=asked["master"], conf=asked["conf"]) as engine:
        wait_for_executors(engine.session, 2)
        told = draws(engine, Path(asked["folder"]), "is slow")
    print(json.dumps(told))


if __name__ == "__main__":
    main()
