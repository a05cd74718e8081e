"""What Spark would read in its own way is read as the embedded engine does, or refused."""

from __future__ import annotations

import codecs
import gzip
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sampling import sampled
from spark import SPARK, Engines, read

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines.on_cluster import OnCluster
from zealous.engines.spark import Spark
from zealous.errors import LogError, Refused, UsageError, ZealousError
from zealous.logs.log import FORMATS
from zealous.logs.open_log import open_log
from zealous.verification.verify import verify

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


@pytest.mark.extended
@pytest.mark.parametrize("name", ["_a.csv", ".a.csv", "a._COPYING_", "a:b.csv", "12:00.csv"])
def test_names_that_spark_cannot_read_are_refused(name: str, spark: Spark, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("user,query\nu1,q\n")
    with spark:
        told = outcome(spark, path, preset="csv")
    assert not isinstance(told, dict)
    assert told[0] is UsageError
    assert "rename" in told[1]


NAMES = ["a b", "a%20b", "a[1]", "a*b", "a?b", "{a,b}", "a\\b", "gr\u00f6\u00dfe", "a'b#;=", "\n"]


@pytest.mark.parametrize("name", sampled(NAMES, repr, share=6))
def test_a_name_is_no_pattern(name: str, engines: Engines, tmp_path: Path) -> None:
    """Whatever other files are called: a colon beside a pattern is an error of Hadoop's."""
    folder = tmp_path / name
    folder.mkdir()
    for each in (name, "aXb", "a1", "a", "a:b"):
        (folder / f"{each}.csv").write_text("user,query\nu1,q\n")
    write(folder / f"{name}.parquet", user=["u1", "u2"], query=["q", "q"])
    for engine in engines:
        assert counted(engine, folder / f"{name}.csv") == {"q": 1}
        assert counted(engine, folder / f"{name}.parquet") == {"q": 2}


def outcome(engine: Any, path: Any, **options: Any) -> Any:
    """What is counted, or what is said of it."""
    try:
        return counted(engine, path, **options)
    except ZealousError as error:
        return type(error), str(error)


ROWS = b"user,query\nu1,tea\nu2,tea\n"
FILES: dict[str, tuple[dict[str, bytes], Any]] = {
    "an empty one": ({"a.csv": b"", "b.csv": ROWS, "c.csv": b""}, {"tea": 2}),
    "an empty packed one": ({"a.csv": ROWS, "b.csv.gz": gzip.compress(b"")}, {"tea": 2}),
    "nothing but a mark": ({"a.csv": codecs.BOM_UTF8, "b.csv": ROWS}, {"tea": 2}),
    "only empty ones": ({"a.csv": b"", "b.csv": b""}, "does not name the columns"),
    "a blank line": ({"a.csv": b"\n", "b.csv": ROWS}, "does not name the columns"),
    "a header alone": ({"a.csv": b"user,query", "b.csv": ROWS}, {"tea": 2}),
    "another order": ({"a.csv": ROWS, "b.csv": b"query,user\ntea,u3\n"}, "the same columns"),
    "another column": ({"a.csv": ROWS, "b.csv": b"user,query,x\nu3,tea,1\n"}, "the same columns"),
    "marks and returns": (
        {"a.csv": codecs.BOM_UTF8 + ROWS, "b.csv": ROWS.replace(b"\n", b"\r\n")},
        {"tea": 2},
    ),
    "no gzip at all": ({"a.csv": ROWS, "b.csv.gz": ROWS}, "damaged"),
}


@pytest.mark.parametrize("name", sampled(list(FILES), str, share=6))
def test_several_text_files(name: str, engines: Engines, tmp_path: Path) -> None:
    files, expected = FILES[name]
    for file, content in files.items():
        (tmp_path / file).write_bytes(content)
    one, other = (outcome(engine, tmp_path) for engine in engines)
    assert one == other
    if isinstance(expected, str):
        assert one[0] is LogError
        assert expected in one[1]
    else:
        assert one == expected


NOT_READ = [*product(["csv", "jsonl"], [".lz4", ".snappy", ".deflate", ".XZ"])]


@pytest.mark.parametrize(("name", "ending"), sampled(NOT_READ, "".join, share=4))
def test_compression_that_is_not_read(
    name: str, ending: str, engines: Engines, tmp_path: Path
) -> None:
    """Hadoop would take the first bytes for a length, and Java would end for want of memory."""
    path = tmp_path / f"log.csv{ending}"
    path.write_bytes(ROWS)
    one, other = (outcome(engine, path, preset=name) for engine in engines)
    assert one == other
    assert one[0] is LogError
    assert "compressed in a way that is not read" in one[1]
    url = OnCluster(name="logs", url=f"file://{tmp_path}")
    with pytest.raises(LogError, match="not read"):
        engines[1].open("there", [url], FORMATS[name].layout, ["user"])


TABLES: dict[str, tuple[dict[str, Any], str | None]] = {
    "one more column": ({"user": ["u2"], "query": ["tea"], "x": [1]}, "the same columns"),
    "another order": ({"query": ["tea"], "user": ["u2"]}, "the same columns"),
    "another name": ({"User": ["u2"], "query": ["tea"]}, "the same columns"),
    "another type": ({"user": [2], "query": ["tea"]}, "different types"),
    "a dictionary": ({"user": pa.array(["u2"]).dictionary_encode(), "query": ["tea"]}, None),
    "large texts": ({"user": pa.array(["u2"], pa.large_string()), "query": ["tea"]}, None),
    "no rows": ({"user": pa.array([], pa.string()), "query": pa.array([], pa.string())}, None),
}


@pytest.mark.parametrize("name", sampled(list(TABLES), str, share=6))
def test_two_parquet_files(name: str, engines: Engines, tmp_path: Path) -> None:
    second, refused = TABLES[name]
    write(tmp_path / "a.parquet", user=["u1"], query=["tea"])
    write(tmp_path / "b.parquet", **second)
    one, other = (outcome(engine, tmp_path) for engine in engines)
    assert one == other
    if refused:
        assert one[0] is LogError
        assert refused in one[1]
    else:
        assert one == {"tea": 1 + len(second["user"])}


def test_a_column_that_nobody_needs_may_have_two_types(engines: Engines, tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", user=["u1"], query=["tea"], x=[1])
    write(tmp_path / "b.parquet", user=["u2"], query=["tea"], x=["1"])
    for engine in engines:
        assert counted(engine, tmp_path) == {"tea": 2}


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
    with pytest.raises(Refused, match="ledger="):
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


@pytest.mark.extended
@pytest.mark.false_alarm(1e-99, "whatever noise is drawn, it is verified")
def test_odd_names_are_published(spark: Spark, tmp_path: Path) -> None:
    names = ["a.b", "a`b", "[0]", 'a"b', "*", "{{x}}"]
    drinks = [("milk", "tea")[n % 2] for n in range(150)]
    write(tmp_path / "log.parquet", uid=list(range(150)), **dict.fromkeys(names, drinks))
    log = z.read_log(tmp_path / "log.parquet", columns=z.Columns(user="uid"), engine=spark)
    goal = z.ProbabilisticDP(epsilon=120, delta="0.01", users=200)
    kinds = [z.columns(name, items_per_user=1) for name in names]
    z.publish(log, goal, kinds, account=None).write(tmp_path / "out")
    assert all(check.ok for check in verify(tmp_path / "out"))
