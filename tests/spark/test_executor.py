"""The session as it was, errors that quote nothing, ranks without bias, noise drawn once."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sampling import sampled
from spark import SPARK

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines.engine import Counted
from zealous.engines.executor import MapBatches
from zealous.engines.spark import Spark
from zealous.engines.sql import Step
from zealous.errors import ZealousError
from zealous.logs.open_log import open_log
from zealous.mechanisms import Zealous

pytest_plugins = ("spark",)
pytestmark = SPARK

DATA = "qzx"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.parquet"
    users = [f"{DATA}{n}" for n in range(40)]
    pq.write_table(pa.table({"user": users, "query": [f"{DATA} tea"] * 40}), path)
    return path


FAILURES: dict[str, Callable[[Spark], Any]] = {
    "a cast": lambda spark: spark.rows([Step("x", "select query::bigint from source")]),
    "an overflow": lambda spark: spark.rows(
        [Step("x", "select sum(length(query) * 9223372036854775807) from source")]
    ),
    "a column": lambda spark: spark.rows([Step("x", f"select {DATA} from source")]),
    "python": lambda spark: list(
        spark.batches([Step("x", "select * from source")], lambda batch: batch[batch[0][0].as_py()])
    ),
}


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[logging.LogRecord]]:
    """What PySpark logs of an error; its own handlers hold a stderr that is no longer read."""
    from pyspark.logger import PySparkLogger

    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", records.append)
    loggers = [
        PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")
    ]
    for logger in loggers:
        logger.addHandler(handler)
    yield records
    for logger in loggers:
        logger.removeHandler(handler)


@pytest.mark.parametrize("name", FAILURES)
def test_no_error_quotes_data(
    name: str,
    spark: Spark,
    log: Path,
    heard: list[logging.LogRecord],
    capfd: pytest.CaptureFixture[str],
) -> None:
    with spark:
        open_log(z.read_log(log, engine=spark), spark)
        with pytest.raises(
            ZealousError, match=r"could not run a step \([A-Z_.a-zA-Z]+\)"
        ) as raised:
            FAILURES[name](spark)
    assert DATA not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__
    assert heard == []
    assert capfd.readouterr() == ("", "")


def test_the_session_is_left_as_it_was(spark: Spark, log: Path) -> None:
    session = spark.session
    for name in ("source", "entries", "items"):
        session.range(3).createOrReplaceTempView(name)
    theirs = {"spark.sql.session.timeZone": "Asia/Tokyo", "spark.sql.ansi.enabled": "false"}
    before = {name: session.conf.get(name) for name in theirs}
    try:
        for name, value in theirs.items():
            session.conf.set(name, value)
        with spark:
            assert session.conf.get("spark.sql.session.timeZone") == "UTC"
            source = open_log(z.read_log(log, engine=spark), spark)
            counted = histogram(z.queries(1), source, bound=1, at_least=1, select="random", key=1)
            rows = [row for batch in counted for row in batch.to_pylist()]
            assert rows == [{"query": f"{DATA} tea", "count": 40}]
            for _ in range(2):
                spark.append_rows(
                    "kept", [*source.entries, Step("all", "select user from entries")]
                )
            assert spark.rows([Step("n", "select count(*) from kept")]) == [(80,)]
        assert {name: session.conf.get(name) for name in theirs} == theirs
        names = {row["tableName"] for row in session.sql("show tables").collect()}
        assert names >= {"source", "entries", "items"}
        assert not [name for name in names if name.startswith("zealous")]
        for name in ("source", "entries", "items"):
            assert session.table(name).count() == 3
    finally:
        for name, value in before.items():
            session.conf.set(name, value)
        for name in ("source", "entries", "items"):
            session.catalog.dropTempView(name)


def test_a_log_that_was_written_anew_is_read_anew(spark: Spark, tmp_path: Path) -> None:
    """In a notebook one session lives for days: what ids are must be looked at again."""
    path = tmp_path / "log.parquet"
    found = []
    for users in ([1, 2, 3], ["", " ", "a"]):
        pq.write_table(pa.table({"user": users, "query": ["q"] * 3}), path)
        with spark:
            source = open_log(z.read_log(path, engine=spark), spark)
            found += spark.rows([*source.entries, Step("n", "select count(*) from entries")])
    assert found == [(3,), (1,)]


# The order of a user's items


def spread(spark: Spark, frame: Any, key: int, m: int) -> float:
    """Chi-square per degree of freedom of how often each of 20 items is kept."""
    source = open_log(z.read_log(frame, engine=spark), spark)
    kept: Counter[str] = Counter()
    for batch in histogram(z.queries(m), source, bound=m, at_least=1, select="random", key=key):
        kept.update({row["query"]: row["count"] for row in batch.to_pylist()})
    users, share = kept.total() // m, m / 20
    return sum((c - users * share) ** 2 / (users * share * (1 - share)) for c in kept.values()) / 20


@pytest.mark.parametrize("kind", sampled(["bigint", "string"], str, share=2))
def test_selection_is_unbiased(kind: str, spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every item of a user is as likely to be kept; the same test finds another hash biased."""
    with spark:
        frame = spark.session.range(0, 1500 * 20, 1, 2).selectExpr(
            f"cast(id div 20 as {kind}) as user", "concat('item ', id % 20) as query"
        )
        for m, key in ((1, 1), (3, 2**63 + 11)):
            assert spread(spark, frame, key, m) < 2.6  # p < 1e-4 each
        rank = spark.rank_key
        monkeypatch.setattr(spark, "rank_key", lambda *given: f"{rank(*given)} % 7")
        assert spread(spark, frame, 1, 1) > 10


# Noise


def counts(spark: Spark, items: int, count: int) -> Counted:
    spark.add_table(
        "counts", pa.table({"item": [*range(items)], "count": pa.array([count] * items)})
    )
    return Counted(spark, lambda: nullcontext([Step("counted", "select item, count from counts")]))


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows came to the driver."""
    from pyspark.sql.classic.dataframe import DataFrame

    rows: list[int] = []
    fetch = DataFrame.toArrow

    def spy(frame: Any) -> pa.Table:
        table = fetch(frame)
        rows.append(table.num_rows)
        return table

    monkeypatch.setattr(DataFrame, "toArrow", spy)
    return rows


@pytest.mark.false_alarm(1e-10, "eight standard deviations of 20,000 noises, and of their mean")
def test_noise_is_drawn_once_for_each_row_where_it_is(spark: Spark, fetched: list[int]) -> None:
    mechanism = Zealous(items_per_user=1, scale=Fraction(3), tau=1, tau_prime=104)
    with spark:
        batches = mechanism.release(lambda **_: counts(spark, 20_000, 100))
    noisy = [count for batch in batches for count in batch["count"].to_pylist()]
    items = {item for batch in batches for item in batch["item"].to_pylist()}
    assert fetched == [len(noisy)]  # survivors alone came
    assert len(items) == len(noisy)
    ratio = 2.718281828 ** (-1 / 3)
    share = ratio**5 / (1 + ratio)  # P(noise > 4)
    assert abs(len(noisy) / 20_000 - share) < 0.018  # eight standard deviations
    assert min(noisy) == 105
    mean = sum(noisy) / len(noisy) - 105  # geometric
    assert abs(mean - ratio / (1 - ratio)) < 0.5


def test_batches_go_through_one_by_one() -> None:
    batches = [pa.record_batch({"a": [n]}) for n in range(3)]
    through: Iterator[pa.RecordBatch] = MapBatches(lambda batch: batch.slice(0, 0))(iter(batches))
    assert [batch.num_rows for batch in through] == [0, 0, 0]
