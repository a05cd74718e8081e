"""What Spark would read in its own way is read as the embedded engine does, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spark import SPARK, Engines, read

import zealous as z
from zealous.engines.spark import OnCluster, Spark
from zealous.errors import LogError, Refused, UsageError
from zealous.histogram import histogram
from zealous.source import open_log
from zealous.verify import verify

pytest_plugins = ("spark",)
pytestmark = SPARK
GOAL = z.ProbabilisticDP(epsilon=4, delta="1e-3", users=100)


def counted(engine: Any, path: Any, **options: Any) -> dict[str, int]:
    source = open_log(read(engine, path, **options), engine)
    batches = histogram(z.queries(1), source, bound=1, at_least=1, select="random", key=1)
    return {row["query"]: row["count"] for batch in batches for row in batch.to_pylist()}


def write(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def test_no_folder_adds_a_column(spark: Spark, tmp_path: Path) -> None:
    """Else one person's postcode would decide how all others are written."""
    for zip_code in ("01234", "AB1"):
        write(tmp_path / f"zip={zip_code}" / "a.parquet", user=[zip_code], query=["q"])
    url = OnCluster(name="logs", url=f"file://{tmp_path}")
    assert set(spark.columns([url], None) or {}) == {"user", "query"}


def test_the_same_file_twice_is_read_once(engines: Engines, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("user,query\nu1,q\nu2,q\n")
    for engine in engines:
        assert counted(engine, [path, path]) == {"q": 2}


def test_files_that_do_not_fit_together_are_refused(spark: Spark, tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", user=[1], query=["q"])
    write(tmp_path / "b.parquet", user=["1"], query=["q"])
    with pytest.raises(LogError, match="different types"):
        read(spark, tmp_path)


def test_names_that_spark_passes_over_are_refused(spark: Spark, tmp_path: Path) -> None:
    path = tmp_path / "_a.csv"
    path.write_text("user,query\nu1,q\n")
    with pytest.raises(UsageError, match="rename"):
        read(spark, path)


def test_a_collation_is_refused(spark: Spark) -> None:
    """By it one person could be several, or several people one."""
    frame = spark.session.sql("select 'al' collate UTF8_LCASE as user, 'q' as query")
    with spark, pytest.raises(UsageError, match="plain string"):
        open_log(z.read_log(frame, engine=spark), spark)


def test_numbers_to_leave_out_are_numbers_on_spark_too(engines: Engines, tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", user=pa.array([5, 7, 8], pa.uint64()), query=["q"] * 3)
    listed = tmp_path / "gone.txt"
    listed.write_text("5.0\n")
    gone = z.Cleaning(exclude_users=listed)
    for engine in engines:
        assert counted(engine, path, cleaning=gone) == {"q": 2}
    listed.write_text("7d\n")
    for engine in engines:
        with pytest.raises(LogError, match="not numbers"):
            open_log(read(engine, path, cleaning=gone), engine)


def test_a_log_of_several_names_needs_a_ledger_by_name(spark: Spark) -> None:
    frame = spark.session.sql("select 'u' as user, 'q' as query")
    with pytest.raises(Refused, match="--ledger"):
        z.publish(z.read_log(frame, engine=spark), GOAL, [z.queries(1)])


def test_settings_are_restored_when_blocks_are_nested(spark: Spark) -> None:
    outside = spark.session.conf.get("spark.sql.session.timeZone")
    try:
        spark.session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        mine = Spark(spark.session)
        with mine:
            with mine:
                assert spark.session.conf.get("spark.sql.session.timeZone") == "UTC"
            assert spark.session.conf.get("spark.sql.session.timeZone") == "UTC"
        assert spark.session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    finally:
        spark.session.conf.set("spark.sql.session.timeZone", outside)


def test_a_long_number_stops_nobody(engines: Engines, tmp_path: Path) -> None:
    times = ["9" * 1_000_000 + "x", "1", "2"]
    path = write(tmp_path / "a.parquet", user=["a", "b", "c"], query=["q"] * 3, time=times)
    for engine in engines:
        source = open_log(read(engine, path, time_format="epoch"), engine, unit="user-day")
        batches = histogram(z.queries(1), source, bound=1, at_least=1, select="first", key=1)
        assert [row["count"] for batch in batches for row in batch.to_pylist()] == [2]


def test_odd_names_are_published(spark: Spark, tmp_path: Path) -> None:
    names = ["a.b", "a`b", "[0]", 'a"b', "*", "{{x}}"]
    drinks = [("milk", "tea")[n % 2] for n in range(150)]
    write(tmp_path / "log.parquet", uid=list(range(150)), **dict.fromkeys(names, drinks))
    log = z.read_log(tmp_path / "log.parquet", columns=z.Columns(user="uid"), engine=spark)
    goal = z.ProbabilisticDP(epsilon=120, delta="0.01", users=200)
    kinds = [z.columns(name, items_per_user=1) for name in names]
    z.publish(log, goal, kinds, account=None).write(tmp_path / "out")
    assert all(check.ok for check in verify(tmp_path / "out"))
