"""Columns that hold times."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from log_entries import NOON, Entries, written

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError, ZealousError
from zealous.logs.log import Columns, Log, read_log
from zealous.logs.open_log import open_log
from zealous.logs.source import extra_column


@pytest.fixture
def entries(tmp_path: Path) -> Entries:
    """The chosen columns of a log's entries, in sorted order."""

    def select(log: Log, *names: str, extra: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
        with DuckDB(threads=1, temporary=tmp_path) as engine:
            source = open_log(log, engine, extra)
            chosen = Step("chosen", f"select {', '.join(names)} from entries")
            return sorted(engine.rows([*source.entries, chosen]), key=repr)

    return select


def test_one_way_to_write_a_number(tmp_path: Path) -> None:
    plain = ("0.5", "10000000", "12345678.5", f"{10**17}", "0.001", "0.0001", "0.000015")
    powers = ("1e19", "-2.5e300", "1e-7", "1.25e-10")
    written: dict[float, str | None] = {
        float(text): text for text in (*plain, *powers, "123456789012345.6")
    }
    written |= {-0.0: "0", math.inf: None, -math.inf: None, math.nan: None}
    numbers = pa.array(list(written))
    path = tmp_path / "l.parquet"
    table = {"user": [*"abcdefghijklmnop"], "n": numbers, "url": pa.array([[n] for n in written])}
    pq.write_table(pa.table(table), path)
    with DuckDB(threads=1, temporary=tmp_path) as engine:
        source = open_log(read_log(path), engine, ["n"])
        sql = 'select "column:n", url from entries order by user'
        found = engine.rows([*source.entries, Step("all", sql)])
    assert [text for text, _ in found] == list(written.values())
    assert [texts for _, texts in found] == [[text] for text in written.values()]


@pytest.mark.parametrize(
    ("values", "kind", "form"),
    [
        ([NOON], pa.timestamp("s"), None),
        ([NOON], pa.timestamp("us"), None),
        ([NOON], pa.timestamp("ns"), None),
        ([datetime(2006, 3, 1, 12, tzinfo=UTC)], pa.timestamp("us", "UTC"), None),
        ([datetime(2006, 3, 1, 12, tzinfo=UTC)], pa.timestamp("us", "America/New_York"), None),
        ([datetime(2006, 3, 1, 12, tzinfo=UTC)], pa.timestamp("ns", "UTC"), None),
        ([1141214400], pa.int64(), "epoch"),
        ([1141214400], pa.int32(), "epoch"),
        ([1141214400.0], pa.float64(), "epoch"),
        ([1141214400_000], pa.int64(), "epoch-ms"),
        (["1141214400"], pa.string(), "epoch"),
        (["2006-03-01 12:00:00"], pa.string(), None),
        (["01/03/2006 12:00"], pa.string(), "%d/%m/%Y %H:%M"),
        ([20060301120000], pa.int64(), "%Y%m%d%H%M%S"),
    ],
)
def test_typed_times(
    values: list[Any], kind: pa.DataType, form: str | None, tmp_path: Path, entries: Entries
) -> None:
    table = pa.table({"user": ["a", "b"], "time": pa.array([*values, None], kind)})
    pq.write_table(table, tmp_path / "l.parquet")
    found = entries(read_log(tmp_path / "l.parquet", time_format=form), "user", "time")
    assert found == [("a", NOON), ("b", None)]


def test_dates_are_times(tmp_path: Path, entries: Entries) -> None:
    table = pa.table({"user": ["a"], "time": pa.array([date(2006, 3, 1)], pa.date32())})
    pq.write_table(table, tmp_path / "l.parquet")
    assert entries(read_log(tmp_path / "l.parquet"), "time") == [(datetime(2006, 3, 1),)]


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["ms", "us"])
def test_a_moment_beyond_all_years_stops_nobody(
    unit: str, zone: str | None, tmp_path: Path, entries: Entries
) -> None:
    """As a time, as an item and as an id, which is nobody's then."""
    most = 2**63 - 1
    beyond = [most, most - 1, -most, -most - 1, -most + 1, 10**18, -(10**18)]
    noon = 1_141_214_400 * (1000 if unit == "ms" else 10**6)
    moments = pa.array([noon, *beyond]).cast(pa.timestamp(unit, zone))
    table = {"user": [*"abcdefgh"], "time": moments, "moment": moments, "url": [*"abcdefgh"]}
    table["unused"] = moments
    pq.write_table(pa.table(table), tmp_path / "l.parquet")
    log = read_log(tmp_path / "l.parquet")
    try:
        found = entries(log, "user", "time", extra_column("moment"), extra=("moment",))
        known = entries(read_log(tmp_path / "l.parquet", columns=Columns(user="moment")), "url")
    except ZealousError as why:
        raise AssertionError("one moment ended the run") from why
    text = "2006-03-01 12:00:00" + ("+00" if zone else "")
    assert found == [("a", NOON, text), *((user, None, None) for user in "bcdefgh")]
    assert known == [("a",)]


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(19, 0)])
def test_numbers_are_times_only_when_it_is_said(
    kind: pa.DataType, tmp_path: Path, entries: Entries
) -> None:
    table = pa.table({"user": ["a"], "time": pa.array([1141214400]).cast(kind)})
    pq.write_table(table, tmp_path / "l.parquet")
    with pytest.raises(UsageError, match="time_format=epoch"):
        entries(read_log(tmp_path / "l.parquet"), "time")


@pytest.mark.parametrize(
    "time",
    [
        "",
        "yesterday",
        "2006-13-01",
        "294247-01-10 04:00:54",
        "20000-01-01",
        "infinity",
        "-infinity",
        "1000-01-01 (BC)",
        "9999-12-31 23:59:59",
    ],
)
def test_what_is_no_time_stops_nobody(time: str, tmp_path: Path, entries: Entries) -> None:
    path = tmp_path / "l.csv"
    path.write_text(f"user,time\nann,2006-03-01 12:00:00\nmallory,{time}\n")
    later = "time + interval 10 year"
    assert entries(read_log(path), "user", "time", later) == [
        ("ann", NOON, datetime(2016, 3, 1, 12)),
        ("mallory", None, None),
    ]


@pytest.mark.parametrize("time", ["", "x", "nan", "inf", "-1e300", "1e300", "9" * 40, "3e11"])
@pytest.mark.parametrize("form", ["epoch", "epoch-ms"])
def test_numbers_that_are_no_times_stop_nobody(
    time: str, form: str, tmp_path: Path, entries: Entries
) -> None:
    path = tmp_path / "l.csv"
    path.write_text(f"user,time\nann,0\nmallory,{time}\n")
    found: dict[Any, Any] = dict(entries(read_log(path, time_format=form), "user", "time"))
    assert found["ann"] == datetime(1970, 1, 1)
    assert found["mallory"] is None or time == "3e11"


def test_a_pattern_that_is_none(tmp_path: Path, entries: Entries) -> None:
    path = written(tmp_path / "l.csv")
    with pytest.raises(UsageError, match="time_format must be epoch"):
        entries(read_log(path, time_format="%Q"), "time")
    assert entries(read_log(path, time_format="it's"), "time") == [(None,), (None,)]
