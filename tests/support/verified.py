"""Releases that `verify` is tried on, and changes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from forging import as_written, forge, restate

from zealous.release.bundle import _write_csv
from zealous.release.table import INTERVAL, sorted_table, write_parquet
from zealous.verification.verify import Check, verify

About = dict[str, Any]


def failed(path: Path, **options: Any) -> dict[str, str]:
    checks = verify(path, **options)
    assert all(isinstance(check, Check) for check in checks)
    return {check.name: check.detail for check in checks if check.ok is False}


def retable(path: Path, kind: str, change: Callable[[pa.Table], pa.Table], *, both: bool) -> None:
    about = json.loads((path / "release.json").read_text())
    before = pq.read_table(path / f"{kind}.parquet").drop_columns(list(INTERVAL))
    table = as_written(about, kind, change(before))
    write_parquet(table, path / f"{kind}.parquet")
    if both:
        _write_csv(table, path / f"{kind}.csv")
    forge(path, lambda about: about["files"][kind].update(rows=table.num_rows))


def with_count(table: pa.Table, count: int) -> pa.Table:
    """The last row's count, changed."""
    counts = [*table["count"].to_pylist()[:-1], count]
    return table.set_column(1, "count", pa.array(counts, pa.int64()))


def resorted(table: pa.Table) -> pa.Table:
    return sorted_table(table, ("query",)).arrow


def old(about: About) -> None:
    """As an earlier version planned, whose choice of parameters is not repeated."""
    about.pop("planner")
    restate(about)
