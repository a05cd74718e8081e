"""Whole publishing processes on Spark, `local[2]`, on logs of growing size: what each stage costs.

    python benchmarks/spark_scale.py [--users 50000 500000 5000000] [--driver-memory 6g] [--report]

Queries, m = 5, probabilistic. What stages read, send and spill comes from Spark's event log; time
and peak memory are those of all processes together; DuckDB publishes from the same file beside it.
Each size replaces its own entry in spark.json, so that they can be measured one by one. Prints
Markdown; `--report` measures nothing. spark_fit.py reckons from it what larger logs cost.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from publish import log_file

PROGRAM = Path(sys.executable).with_name("zealous")
RESULTS = Path(__file__).with_name("spark.json")
THREADS = 2
# What Spark counts of a stage, under shorter names and in bytes, rows and seconds.
FIGURES = {
    "rows_read": ("input.recordsRead", 1),
    "sent": ("shuffle.write.bytesWritten", 1),
    "rows_sent": ("shuffle.write.recordsWritten", 1),
    "spilled": ("diskBytesSpilled", 1),
    "to_driver": ("resultSize", 1),
    "cpu": ("executorCpuTime", 1e-9),
    "run": ("executorRunTime", 1e-3),
}
# The stages of those queries that look at the log, by the number of the query, or by how it hands
# over its rows where that says it.
STAGES = {
    "1": ["long texts: scan", "long texts: sum"],
    "2": ["users: scan, distinct", "users: distinct, count", "users: sum"],
    "8": ["ids: scan", "ids: what they look like"],
    "toArrow": [
        "scan, items, distinct",
        "distinct, m a user",
        "m a user, count",
        "count, tau, noise",
    ],
}


def main() -> None:
    arguments = _arguments()
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"runs": {}}
    for users in () if arguments.report else arguments.users:
        path = log_file(users)
        found["runs"][str(pq.read_metadata(path).num_rows)] = _measure(path, users, arguments)
        found["runs"] = dict(sorted(found["runs"].items(), key=lambda each: int(each[0])))
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    print(_report(found))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, nargs="+", default=[50_000, 500_000, 5_000_000])
    parser.add_argument("--driver-memory", default="6g")
    parser.add_argument("--report", action="store_true")
    return parser.parse_args()


def _measure(path: Path, users: int, arguments: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        conf = {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": folder.as_uri(),
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.driver.memory": arguments.driver_memory,
            "spark.local.dir": name,
        }
        given = [part for each in conf.items() for part in ("--spark-conf", "=".join(each))]
        master = ["--engine", "spark", "--spark-master", f"local[{THREADS}]"]
        load = os.getloadavg()[0]
        seconds, memory = _publish(path, users, folder / "spark", [*master, *given])
        (events,) = [each for each in folder.iterdir() if each.is_file()]
        stages = _stages(events)
        released = pq.read_metadata(folder / "spark" / "queries.parquet").num_rows
        embedded = ["--threads", str(THREADS), "--memory", "4GB", "--temporary", name]
        duckdb_seconds, duckdb_memory = _publish(path, users, folder / "duckdb", embedded)
    return {
        "users": users,
        "column_bytes": _column_bytes(path, ("user", "query")),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "load_before": round(load, 2),
        "versions": {name: version(name) for name in ("zealous", "pyspark", "duckdb")},
        "driver_memory": arguments.driver_memory,
        "released": released,
        "spark": {"seconds": round(seconds, 1), "peak_bytes": memory},
        "duckdb": {"seconds": round(duckdb_seconds, 1), "peak_bytes": duckdb_memory},
        "stages": stages,
    }


def _column_bytes(path: Path, names: Sequence[str]) -> int:
    """What there is to read: Spark does not count it where the file is local."""
    about = pq.read_metadata(path)
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    chunks = [group.column(n) for group in groups for n in range(group.num_columns)]
    return sum(each.total_compressed_size for each in chunks if each.path_in_schema in names)


def _publish(path: Path, users: int, output: Path, engine: list[str]) -> tuple[float, int]:
    """Seconds, and the most memory that the process and those it started had together."""
    command = [
        PROGRAM,
        "publish",
        path,
        "--items",
        "queries",
        "--users",
        users,
        "--items-per-user",
        5,
        "--epsilon",
        2,
        "--delta",
        "0.001",
        "--no-ledger",
        "-o",
        output,
        *engine,
    ]
    started = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [str(part) for part in command], stdout=subprocess.DEVNULL, stderr=said
        )
        memory = 0
        while process.poll() is None:
            memory = max(memory, _resident(process.pid))
            time.sleep(0.2)
        seconds = time.perf_counter() - started
        if process.returncode:
            said.seek(0)
            sys.exit(said.read().decode())
    return seconds, memory


def _resident(process: int) -> int:
    """Memory of a process and of all below it; what forked ones share counts once for each."""
    total = 0
    try:
        status = Path(f"/proc/{process}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        total = int(found[1]) * 1024 if found else 0
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                total += _resident(int(child))
    except OSError:
        pass  # it ended meanwhile
    return total


def _stages(events: Path) -> list[dict[str, Any]]:
    """The stages of each query in order, with Spark's figures."""
    query_of: dict[int, str] = {}
    done: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with events.open() as lines:
        for line in lines:
            event = json.loads(line)
            if event["Event"] == "SparkListenerJobStart":
                query = event["Properties"].get("spark.sql.execution.id", "")
                query_of |= dict.fromkeys(event["Stage IDs"], query)
            elif event["Event"] == "SparkListenerStageCompleted":
                stage = event["Stage Info"]
                done[query_of[stage["Stage ID"]]].append(stage)
    found = []
    for query, stages in done.items():
        stages.sort(key=lambda each: each["Stage ID"])
        handed_over = stages[0]["Stage Name"].partition(" ")[0]
        names = STAGES.get(handed_over, STAGES.get(query, []))
        for number, stage in enumerate(stages):
            known = len(names) == len(stages)
            name = names[number] if known else f"{query or 'schema'}: {number + 1}"
            found.append({"stage": name, "tasks": stage["Number of Tasks"], **_figures(stage)})
    return found


def _figures(stage: dict[str, Any]) -> dict[str, float]:
    told = {each["Name"]: each["Value"] for each in stage["Accumulables"]}
    return {
        name: round(float(told.get(f"internal.metrics.{counted}", 0)) * unit, 3)
        for name, (counted, unit) in FIGURES.items()
    }


def _report(found: dict[str, Any]) -> str:
    return "\n".join([*_runs(found["runs"]), *_details(found["runs"])])


def _runs(runs: dict[str, Any]) -> Iterator[str]:
    yield "| entries | Spark | peak memory | DuckDB | peak memory | rows to the driver |"
    yield "|---|---|---|---|---|---|"
    for entries, run in runs.items():
        spark, duckdb = run["spark"], run["duckdb"]
        yield (
            f"| {int(entries):,} | {spark['seconds']:.0f} s | {spark['peak_bytes'] / 1e9:.1f} GB "
            f"| {duckdb['seconds']:.1f} s | {duckdb['peak_bytes'] / 1e9:.1f} GB "
            f"| {run['released']:,} |"
        )


def _details(runs: dict[str, Any]) -> Iterator[str]:
    for entries, run in runs.items():
        yield f"\n{int(entries):,} entries ({run['date']}, load {run['load_before']}):\n"
        yield "| stage | tasks | rows read | sent | rows sent | spilled | CPU | to the driver |"
        yield "|---|---|---|---|---|---|---|---|"
        for each in run["stages"]:
            yield (
                f"| {each['stage']} | {each['tasks']} | {each['rows_read']:,.0f} "
                f"| {each['sent'] / 1e6:,.1f} MB | {each['rows_sent']:,.0f} "
                f"| {each['spilled'] / 1e6:,.0f} MB | {each['cpu']:.1f} s "
                f"| {each['to_driver'] / 1e6:.2f} MB |"
            )


if __name__ == "__main__":
    main()
