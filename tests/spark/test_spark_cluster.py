"""On a real cluster: a master and two workers, whose Python does not have this package."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import oracle
import pyarrow.parquet as pq
import pytest
from cluster import (
    CONF,
    DRAWS,
    PATIENCE,
    Cluster,
    cluster,
    conf_options,
    entries,
    write_csv,
    write_parquet,
)
from conftest import COMMAND

from zealous.ledger import Ledger

__all__ = ["cluster"]
pytestmark = pytest.mark.spark


def counted(rows: list[Any]) -> Counter[tuple[str, ...]]:
    return Counter({tuple(item): count for *item, count in rows})


def expected(kind: str, select: str) -> Counter[tuple[str, ...]]:
    return oracle.histogram(kind, entries(), 3, select, 7)


@pytest.fixture(scope="module")
def told(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What was counted there; in the middle of the last count a worker was killed."""
    folder = tmp_path_factory.mktemp("logs")
    parquet = write_parquet(folder / "log.parquet", entries())
    text = write_csv(folder / "log.csv", entries(), bad=3)
    worker = cluster.running[-1]
    for parts in (40, 150, *[400] * 6):  # a stage may be over before it is seen
        told = cluster.job(
            cluster.master,
            conf=CONF | in_parts(text, parts),
            counts=[(parquet, "query-pairs", "frequent"), (text, "queries", "random")],
            kill=worker.pid,
            where=(parquet, "queries", "first"),
        )
        if "done" in told:
            break
    assert worker.wait(30) == -signal.SIGKILL
    cluster.add_worker()
    return told


def test_the_cluster_counts_what_the_oracle_counts(told: dict[str, Any]) -> None:
    assert counted(told["histograms"][0]) == expected("query-pairs", "frequent")
    assert told["skipped"] == 3
    # Noise is drawn by a function that is sent as this one was: it does not run in the driver.
    assert told["processes"]
    assert told["pid"] not in told["processes"]


def test_a_worker_killed_in_mid_job_changes_nothing(told: dict[str, Any]) -> None:
    assert 4 <= told["done"] < told["of"], "it was killed when the work was done"
    assert counted(told["histograms"][1]) == expected("queries", "random")


SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.multiplier": "1.01",
    "spark.speculation.minTaskRuntime": "50ms",
}


@pytest.mark.parametrize("trouble", ["fails", "is slow"])
def test_a_task_that_runs_twice_publishes_one_noise(
    trouble: str, cluster: Cluster, tmp_path: Path
) -> None:
    """It fails once it has drawn, or a second run of it begins and both end at the same time."""
    slow = trouble == "is slow"
    if slow:  # the second run is never on the machine of the first
        cluster.add_worker(host="127.0.0.2")
    conf = CONF | (SPECULATION if slow else {})
    told = cluster.job(
        cluster.master, DRAWS, conf=conf, folder=tmp_path, trouble=trouble, executors=2 + slow
    )
    for how in ("through", "stored"):
        runs = {path.stem: json.loads(path.read_text()) for path in (tmp_path / how).iterdir()}
        assert {"0-0", "0-1"} <= set(runs), "it did not run twice"
        assert runs["0-0"].keys() == runs["0-1"].keys()
        assert runs["0-0"] != runs["0-1"]
        if how == "stored" and slow and "error" in told[how]:
            assert "ran a task twice" in told[how]["error"]
            continue
        first, *again = told[how]["reads"]
        published = dict(first)
        assert len(first) == len(published) == len(set().union(*runs.values()))
        for part in {name.partition("-")[0] for name in runs}:  # of each task the noise of one run
            drawn = [found for name, found in runs.items() if name.startswith(f"{part}-")]
            assert {item: published[item] for item in drawn[0]} in drawn
        assert all(rows == first for rows in again)


def in_parts(log: Path, number: int) -> dict[str, str]:
    """So many tasks that a stage takes a while."""
    size = str(log.stat().st_size // number)
    return {
        "spark.sql.files.maxPartitionBytes": size,
        "spark.sql.files.openCostInBytes": "0",
        "spark.sql.files.minPartitionNum": "1",
    }


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


def test_the_driver_killed_in_mid_job(cluster: Cluster, tmp_path: Path) -> None:
    # A job can end between two looks at it, or before the kill: then it is begun again.
    folders = (tmp_path / str(number) for number in range(10))
    folder = next(folder for folder in folders if killed_in_mid_job(cluster, folder))
    ledger = folder / "ledger.sqlite"

    # No release, no beginning of one, and the budget is spent.
    assert {path.name.partition("-")[0] for path in folder.iterdir()} == {"log.csv", ledger.name}
    (entry,) = Ledger.open(ledger).history()
    assert (entry.release, entry.state) == ("one", "reserved")
    assert Ledger.open(ledger).book().counted() == [entry]


def killed_in_mid_job(cluster: Cluster, folder: Path) -> bool:
    """Whether the command was killed while its job was under way."""
    process = in_mid_job(cluster, folder)
    if process is None:
        return False
    os.killpg(process.pid, signal.SIGSTOP)
    under_way = working(folder)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    return under_way and process.returncode == -signal.SIGKILL


def working(folder: Path) -> bool:
    """Whether a release has been paid for and nothing of it is there yet."""
    history = Ledger.open(folder / "ledger.sqlite").history()
    beginnings = [path for path in folder.iterdir() if path.name.startswith((".", "release"))]
    return [entry.state for entry in history] == ["reserved"] and not beginnings


def in_mid_job(cluster: Cluster, folder: Path) -> subprocess.Popen[bytes] | None:
    """The command once its job is under way; None if it had ended before that was seen."""
    folder.mkdir()
    log = write_csv(folder / "log.csv", entries())
    port = free_port()
    seen = {"spark.ui.enabled": "true", "spark.ui.port": str(port)}
    process = publishing(cluster, log, CONF | in_parts(log, 30) | seen)
    ledger = folder / "ledger.sqlite"
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            complaints = process.communicate()[1]  # closes its ends of the pipes too
            assert process.returncode == 0, complaints.decode()
            return None
        try:
            if ledger.exists() and Ledger.open(ledger).history() and at_work(port):
                return process
        except OSError:
            assert process.wait(PATIENCE) == 0  # its page went before it did
        time.sleep(0.02)
    raise AssertionError("it was never at work")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def at_work(port: int) -> bool:
    """Whether a stage is under way: some of its tasks are done, and some are not."""
    api = f"http://127.0.0.1:{port}/api/v1/applications"
    with urlopen(api) as answer:
        (application,) = json.load(answer)
    with urlopen(f"{api}/{application['id']}/stages?status=active") as answer:
        stages = json.load(answer)
    return any(0 < each["numCompleteTasks"] < each["numTasks"] - 2 for each in stages)
