"""On a real cluster: a master and two workers, whose Python does not have this package."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import oracle
import pyarrow.parquet as pq
import pytest
from cluster import (
    CONF,
    DRAWS,
    PATIENCE,
    Cluster,
    bare,
    cluster,
    conf_options,
    entries,
    in_parts,
    write_csv,
    write_parquet,
)
from conftest import COMMAND

from zealous.ledger import Ledger

__all__ = ["bare", "cluster"]
pytestmark = pytest.mark.spark

PARTS = 60  # of the log whose driver is killed


def counted(rows: list[Any]) -> Counter[tuple[str, ...]]:
    return Counter({tuple(item): count for *item, count in rows})


def expected(kind: str, select: str) -> Counter[tuple[str, ...]]:
    return oracle.histogram(kind, entries(), 3, select, 7)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def told(cluster: Cluster, folder: Path) -> dict[str, Any]:
    """What was counted there; at last a task failed, and then a worker was killed in mid-job."""
    parquet = write_parquet(folder / "log.parquet", entries())
    text = write_csv(folder / "log.csv", entries(), bad=3)
    worker = cluster.running[name := list(cluster.running)[-1]]
    told = cluster.job(
        cluster.master,
        conf=CONF,
        counts=[(parquet, "query-pairs", "frequent")],
        where=(parquet, "queries", "first"),
        draws=folder,
        kill={"group": worker.pid, "count": (text, "queries", "random")},
    )
    if "done" in told["killed"]:
        assert worker.wait(30) == -signal.SIGKILL
        cluster.add_worker(name.rpartition("-")[2])
    return told


@pytest.mark.extended
def test_the_cluster_counts_what_the_oracle_counts(told: dict[str, Any]) -> None:
    assert counted(told["histograms"][0]) == expected("query-pairs", "frequent")
    # Noise is drawn by a function that is sent as this one was: it does not run in the driver.
    assert told["processes"]
    assert told["pid"] not in told["processes"]


@pytest.mark.extended
def test_a_worker_killed_in_mid_job_changes_nothing(told: dict[str, Any]) -> None:
    killed = told["killed"]
    assert 4 <= killed["done"] < killed["of"], "it was killed when the work was done"
    assert counted(killed["histogram"]) == expected("queries", "random")
    assert killed["skipped"] == 3


SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.multiplier": "1.01",
    "spark.speculation.minTaskRuntime": "50ms",
}


@pytest.mark.extended
def test_a_task_that_fails_and_runs_again_publishes_one_noise(
    told: dict[str, Any], folder: Path
) -> None:
    """It fails once it has drawn."""
    for how in ("through", "stored"):
        check_one_noise(runs_of(folder / how), told["drawn"][how]["reads"])


@pytest.mark.extended
def test_a_slow_task_that_runs_twice_publishes_one_noise(cluster: Cluster, tmp_path: Path) -> None:
    """A second run of it begins, on the other machine, and both end at the same time."""
    told = cluster.job(cluster.master, DRAWS, conf=CONF | SPECULATION, folder=tmp_path)
    for how in ("through", "stored"):
        runs = runs_of(tmp_path / how)
        if how == "stored" and "error" in told[how]:
            assert "ran a task twice" in told[how]["error"]
        else:
            check_one_noise(runs, told[how]["reads"])


def runs_of(folder: Path) -> dict[str, dict[str, int]]:
    """What each run of a task drew, by the numbers of the task and of the run."""
    runs = {path.stem: json.loads(path.read_text()) for path in folder.iterdir()}
    assert {"0-0", "0-1"} <= set(runs), "it did not run twice"
    assert runs["0-0"].keys() == runs["0-1"].keys()
    assert runs["0-0"] != runs["0-1"]
    return runs


def check_one_noise(runs: dict[str, dict[str, int]], reads: list[Any]) -> None:
    first, *again = reads
    published = dict(first)
    assert len(first) == len(published) == len(set().union(*runs.values()))
    for part in {name.partition("-")[0] for name in runs}:  # of each task the noise of one run
        drawn = [found for name, found in runs.items() if name.startswith(f"{part}-")]
        assert {item: published[item] for item in drawn[0]} in drawn
    assert all(rows == first for rows in again)


def publishing(cluster: Cluster, log: Path, conf: dict[str, str]) -> subprocess.Popen[bytes]:
    """The command, in a group of processes of its own."""
    folder = log.parent
    command = [
        COMMAND, "publish", log, "--engine", "spark", "--spark-master", cluster.master,
        *conf_options(conf), "--items", "queries", "--items-per-user", 1, "--users", 200,
        "--epsilon", 20, "--delta", "0.001", "--accept-delta", "--id", "one",
        "--ledger", folder / "ledger.sqlite", "-o", folder / "release", "--json",
    ]  # fmt: skip
    return subprocess.Popen(
        [str(part) for part in command],
        env=cluster.environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.mark.extended
@pytest.mark.false_alarm(1e-12, "40 of 200 people, give or take 5, keep a query that needs 3")
def test_the_command_publishes_from_the_cluster(cluster: Cluster, tmp_path: Path) -> None:
    log = write_parquet(tmp_path / "log.parquet", entries())
    process = publishing(cluster, log, CONF)
    said, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, complaints.decode()
    about = json.loads(said)
    (part,) = about["plan"]
    found = pq.read_table(tmp_path / "release" / "queries.parquet").to_pydict()
    true = oracle.histogram("queries", entries(), 10**6, "random", 0)
    assert "query 0 né" in found["query"]
    assert all(true[(query,)] >= part["tau"] for query in found["query"])
    assert all(count > part["tau_prime"] for count in found["count"])
    (entry,) = Ledger.open(tmp_path / "ledger.sqlite").history()
    assert entry.state == "released"


@pytest.mark.extended
def test_the_driver_killed_in_mid_job(cluster: Cluster, tmp_path: Path) -> None:
    # A job can end between two looks at it, or before the kill: then it is begun again.
    folders = (tmp_path / str(number) for number in range(10))
    folder = next(folder for folder in folders if killed_in_mid_job(cluster, folder))
    ledger = folder / "ledger.sqlite"

    # No release, no beginning of one, and the budget is spent.
    assert {path.name.partition("-")[0] for path in folder.iterdir()} == {"log.csv", ledger.name}
    (entry,) = Ledger.open(ledger).history()
    assert (entry.release, entry.state) == ("one", "reserved")
    assert Ledger.open(ledger).book().counted_entries() == [entry]


def killed_in_mid_job(cluster: Cluster, folder: Path) -> bool:
    """Whether the command was killed while its job was under way."""
    before = set(cluster.said_by_executors())
    process = in_mid_job(cluster, folder, before)
    if process is None:
        return False
    os.killpg(process.pid, signal.SIGSTOP)
    under_way = working(folder) and at_work(cluster, before)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    return under_way and process.returncode == -signal.SIGKILL


def working(folder: Path) -> bool:
    """Whether a release has been paid for and nothing of it is there yet."""
    history = Ledger.open(folder / "ledger.sqlite").history()
    beginnings = [path for path in folder.iterdir() if path.name.startswith((".", "release"))]
    return [entry.state for entry in history] == ["reserved"] and not beginnings


def in_mid_job(cluster: Cluster, folder: Path, before: set[str]) -> subprocess.Popen[bytes] | None:
    """The command once its job is under way; None if it had ended before that was seen."""
    folder.mkdir()
    log = write_csv(folder / "log.csv", entries())
    process = publishing(cluster, log, CONF | in_parts(log, PARTS))
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            complaints = process.communicate()[1]  # closes its ends of the pipes too
            assert process.returncode == 0, complaints.decode()
            return None
        if (folder / "ledger.sqlite").exists() and working(folder) and at_work(cluster, before):
            return process
        time.sleep(0.02)
    raise AssertionError("it was never at work")


def at_work(cluster: Cluster, before: set[str]) -> bool:
    """Whether a stage of a new application is under way: some tasks are done, and some are not."""
    said = cluster.said_by_executors()
    finished = Counter(
        stage
        for application in said.keys() - before
        for stage in re.findall(r"Finished task \S+ in stage (\d+)", said[application])
    )
    return any(3 < number < PARTS - 3 for number in finished.values())  # shuffles have 3 tasks
