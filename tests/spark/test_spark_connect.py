"""Through Spark Connect: the session is a client of a server, whose Python has no zealous."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import oracle
import pytest
from cluster import (
    PATIENCE,
    Connect,
    bare,
    connect,
    entries,
    write_csv,
    write_parquet,
)
from conftest import COMMAND

__all__ = ["bare", "connect"]
pytestmark = pytest.mark.spark


def counted(rows: list[Any]) -> Counter[tuple[str, ...]]:
    return Counter({tuple(item): count for *item, count in rows})


@pytest.mark.extended
@pytest.mark.false_alarm(1e-12, "40 of 200 people, give or take 5, keep a query that needs 3")
def test_a_remote_session_counts_what_the_oracle_counts(connect: Connect, tmp_path: Path) -> None:
    parquet = write_parquet(tmp_path / "log.parquet", entries())
    text = write_csv(tmp_path / "log.csv", entries(), bad=2)
    (tmp_path / "gone.txt").write_text("u1\nu5\n")
    counts = [(parquet, "query-clicks", "frequent"), (text, "queries", "random")]
    told = connect.job(
        connect.url,
        counts=counts,
        exclude=tmp_path / "gone.txt",
        where=(text, "queries", "random"),
        publish=parquet,
    )
    left = [entry for entry in entries() if entry.user not in ("u1", "u5")]
    for (_, kind, select), rows in zip(counts, told["histograms"], strict=True):
        assert counted(rows) == oracle.histogram(kind, left, 3, select, 7)
    assert told["skipped"] == 2
    assert told["processes"]
    assert told["pid"] not in told["processes"]
    true = oracle.histogram("queries", entries(), 10**6, "random", 0)
    assert {row["query"] for row in told["published"]} <= {query for (query,) in true}
    assert "query 0 né" in {row["query"] for row in told["published"]}


@pytest.mark.extended
@pytest.mark.false_alarm(1e-12, "40 of 200 people, give or take 5, keep a query that needs 3")
def test_the_command_publishes_through_connect(connect: Connect, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "log.csv", entries(), bad=2)
    command = [
        COMMAND, "publish", log, "--engine", "spark", "--spark-master", connect.url,
        "--items", "queries", "--items-per-user", 1, "--users", 200, "--epsilon", 20,
        "--delta", "0.001", "--accept-delta", "--no-ledger", "-o", tmp_path / "release", "--json",
    ]  # fmt: skip
    done = subprocess.run(
        [str(part) for part in command],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "skipped 2 lines" in done.stderr
    assert json.loads(done.stdout)["files"]["queries"]
    rows = (tmp_path / "release" / "queries.csv").read_text().splitlines()
    assert any(row.startswith("query 0 né,") for row in rows)
