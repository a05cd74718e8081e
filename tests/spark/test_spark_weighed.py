"""Counts, weights and noise that is kept: on Spark as on DuckDB and the oracle."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from oracle import md5_place
from sampling import sampled
from spark import QUICK, SPARK, Engines, read
from weighed import (
    KINDS,
    cases,
    expected,
    found,
    many,
    md5_rank,
    rows_of,
    table,
    tables,
    write,
)

import zealous as z
from zealous.cli import cli
from zealous.counting import kept as keeping
from zealous.counting.chosen import PUBLISHED, choose_items
from zealous.counting.histogram import histogram, users_keeping
from zealous.counting.kept import KeptTables, keep_items
from zealous.counting.same_user import KeptBySameUser
from zealous.engines.engine import Counted, Engine
from zealous.engines.sql import Step
from zealous.errors import ZealousError
from zealous.items import Kind
from zealous.logs.log import Log
from zealous.logs.open_log import open_log
from zealous.logs.source import Source
from zealous.mechanisms.of_keywords import MadeOf
from zealous.privacy.units import Select
from zealous.verification.verify import verify

pytest_plugins = ("spark",)
pytestmark = SPARK

KEY = 2**63 + 5
ROWS = many(800)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("weighed") / "log.parquet", ROWS)


@pytest.fixture
def same_order(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> Engines:
    """Both engines with the oracle's order."""
    for engine in engines:
        monkeypatch.setattr(type(engine), "rank_key", md5_rank)
    monkeypatch.setattr(type(engines[0]), "rank_bin", lambda _, rank: md5_place(rank))
    return engines


def opened(engine: Engine, path: Path, kind: Kind) -> Source:
    return open_log(read(engine, path), engine, kind.extra_columns())


def counter(source: Source, kind: Kind, select: Select = "random") -> Any:
    return partial(histogram, kind, source, select=select, key=KEY)


@pytest.mark.parametrize("name", sampled(list(KINDS), str, share=4))
def test_same_as_the_oracle(name: str, path: Path, same_order: Engines) -> None:
    kind = KINDS[name]
    sources = [opened(engine, path, kind) for engine in same_order]
    for number in {"queries": range(4), "query-clicks": (2, 3)}.get(name, (0, 1)):
        select, how = cases(name, ROWS)[number]
        right = expected(name, ROWS, key=KEY, select=select, **how)
        assert bool(right) == (how["only"] != [])
        for source in sources:
            assert found(counter(source, kind, select)(**tables(kind, how))) == right


@pytest.mark.extended
def test_queries_of_keywords_and_clicks_that_follow(path: Path, same_order: Engines) -> None:
    words = pa.table({"keyword": ["a", "日本", "100"]})
    counts, clicks = [], []
    for engine in same_order:
        source = opened(engine, path, z.query_clicks(9))
        made = counter(source, z.queries(2))(bound=2, at_least=1, only=[MadeOf(words)])
        counts.append(found(made))
        with users_keeping(z.queries(2), source, bound=2, select="random", key=KEY) as kept:
            of_kept = [KeptBySameUser(kept)]
            following = counter(source, z.query_clicks(9))(bound=9, at_least=1, only=of_kept)
            clicks.append(found(following))
    assert counts[0] == counts[1]
    assert set(counts[0]) == {("a",), ("日本",), ("a 日本",)}
    assert clicks[0] == clicks[1] != {}


# Noise that is kept


@pytest.fixture
def drawing(tmp_path: Path) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Adds noise, and writes down for how many rows."""
    seen = tmp_path / "seen"
    seen.touch()

    def draw(batch: pa.RecordBatch) -> pa.RecordBatch:
        with seen.open("a") as file:
            file.write(f"{batch.num_rows}\n")
        noise = np.frombuffer(os.urandom(2 * batch.num_rows), np.int16)
        noisy = pa.array(batch["count"].to_numpy() + noise)
        return batch.set_column(batch.num_columns - 1, "count", noisy)

    return draw


def drawn(tmp_path: Path) -> int:
    return sum(map(int, (tmp_path / "seen").read_text().split()))


def counts(spark: z.Spark, number: int) -> Counted:
    spark.add_table(
        "counts", pa.table({"it's a `b`.c": [*map(str, range(number))], "count": [0] * number})
    )
    return Counted(spark, lambda: nullcontext([Step("counted", "select * from counts")]))


@pytest.mark.false_alarm(1e-99, "3,000 noises of 16 bits, of which 1,000 differ")
def test_noise_is_drawn_once(spark: z.Spark, drawing: Any, tmp_path: Path) -> None:
    with spark:
        stored = counts(spark, 3000).store(drawing)
        assert drawn(tmp_path) == 3000
        rows, again = (found(rows_of(stored)) for _ in range(2))
        assert rows == again
        assert rows.keys() == {(str(n),) for n in range(3000)}
        assert len(set(rows.values())) > 1000
        assert drawn(tmp_path) == 3000

        # How the rows were made is forgotten: nothing could make them again.
        frame = spark.session.table(spark._views[stored.name])
        plan = frame._jdf.queryExecution().toString()
        assert "Scan ExistingRDD" in plan
        assert "MapInArrow" not in plan
        assert frame.columns == ["it's a `b`.c", "count"]
        assert len(found(counts(spark, 10).map_batches(drawing))) == 10
        nothing = counts(spark, 0).store(drawing)
        assert found(rows_of(nothing)) == {}


@pytest.mark.false_alarm(1e-99, "whatever noise is drawn, it is lost")
def test_what_was_lost_is_not_drawn_again(spark: z.Spark, drawing: Any, tmp_path: Path) -> None:
    """As if the executor that had the rows were gone."""
    with spark:
        stored = counts(spark, 100).store(drawing)
        for rdd in spark.session.sparkContext._jsc.getPersistentRDDs().values():
            rdd.unpersist(True)
        with pytest.raises(ZealousError, match="could not run a step"):
            list(rows_of(stored))
    assert drawn(tmp_path) == 100


@pytest.mark.false_alarm(1e-18, "two marks of 64 bits are the same")
def test_another_draw_of_the_same_rows_ends_the_run(
    spark: z.Spark, drawing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if a task that ran twice had left its rows twice: here they are made whenever read."""
    from pyspark.sql.classic.dataframe import DataFrame

    monkeypatch.setattr(DataFrame, "localCheckpoint", lambda frame, eager: frame)
    with spark:
        stored = counts(spark, 100).store(drawing)
        none = f"select * from {stored.name} where count > {10**9}"  # even where none would come
        for rows in (rows_of(stored), spark.batches([Step("none", none)])):
            with pytest.raises(ZealousError, match="ran a task twice"):
                list(rows)


@pytest.mark.parametrize("listed", sampled([False, True], str, share=2))
def test_it_is_weighed_on_both_engines_alike(listed: bool, path: Path, same_order: Engines) -> None:
    """What users give in three rounds, by names: numbers are each engine's own."""
    kind = KINDS["queries"]
    known = table(kind, [("a",), ("nobody's",)]) if listed else None
    assert known is None or known.num_rows == 2
    found = []
    for engine in same_order:
        source = opened(engine, path, kind)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(keeping, "_SHARE", 1 << 60)  # tables also where arrays would do
            with keep_items(kind, source, bound=3, select="random", key=KEY, listed=known) as kept:
                assert isinstance(kept, KeptTables)
                weights, stored = three_rounds(engine, kept)
        found.append([[(name, *rest) for name, _, *rest in each] for each in weights])
        for name in stored:  # nothing stays of who keeps what
            with pytest.raises(ZealousError):
                engine.rows([Step("gone", f"select * from {name}")])
    assert found[0] == found[1]
    assert len(found[0][0]) > 5


def three_rounds(engine: Engine, kept: KeptTables) -> tuple[list[list[tuple[Any, ...]]], set[str]]:
    """What each round left, and the names of the tables that there were."""
    names = {
        row["kept:number"]: row["query"]
        for batch in engine.batches([Step("named", f"select * from {kept.items}")])
        for row in batch.to_pylist()
    }

    def next_strength(batch: pa.RecordBatch) -> pa.RecordBatch:
        """True weights as evidence, and strengths by name, one of them 0."""
        rows = batch.to_pylist()
        evidence = [row["evidence"] + row["weight"] for row in rows]
        called = [names[row["item"]] for row in rows]
        strength = [0 if name == "100%" else 1 + 997 * len(name) for name in called]
        for name, values in (("evidence", evidence), ("strength", strength)):
            column = pa.array(values, pa.int64())
            batch = batch.set_column(batch.schema.get_field_index(name), name, column)
        return batch

    weights, stored = [], {kept.items, kept.pairs}
    for number in range(3):
        keys = [
            row["query"] for batch in kept.weigh(1000, next_strength) for row in batch.to_pylist()
        ]
        assert keys == (["100%"] if number == 0 else [])
        assert kept.state is not None
        stored.add(kept.state.name)
        rows = [row for batch in rows_of(kept.state) for row in batch.to_pylist()]
        weights.append(sorted((names[row["item"]], *row.values()) for row in rows))
    return weights, stored


def test_users_choose_on_both_engines_alike(path: Path, same_order: Engines) -> None:
    """First by the key, then by what was drawn, which here follows from the name."""

    def draw(batch: pa.RecordBatch) -> pa.RecordBatch:
        names = batch["query"].to_pylist()
        drawn = {"count": [len(each) for each in names], PUBLISHED: [each == "a" for each in names]}
        for name, values in drawn.items():
            column = pa.array(map(int, values), pa.int64())
            batch = batch.set_column(batch.schema.get_field_index(name), name, column)
        return batch

    told = []
    for engine in same_order:
        kind = z.queries(3)
        source = opened(engine, path, kind)
        with choose_items(kind, source, bound=3, select="random", key=KEY) as chosen:
            true = chosen.count_first(lambda batch: batch)
            stored = chosen.count_first(draw)
            second = chosen.count_nearest(stored, 4)
            told.append([found(rows_of(true)), found(chosen.published(stored)), found(second)])
    assert told[0] == told[1]
    first, shown, second = told[0]
    assert shown == {("a",): 1}
    assert ("a",) not in second
    assert len(second) > 2
    assert len(first) > 5


# From a DataFrame to a release


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows came to the driver, each time that some came."""
    from pyspark.sql.classic.dataframe import DataFrame

    rows: list[int] = []
    fetch = DataFrame.toArrow

    def spy(frame: Any) -> pa.Table:
        came = fetch(frame)
        rows.append(came.num_rows)
        return came

    monkeypatch.setattr(DataFrame, "toArrow", spy)
    return rows


QUERIES = 60


@pytest.fixture
def log(spark: z.Spark) -> Log:
    """Everybody asks for something frequent, and for much that nobody else does."""
    chance = random.Random(3)
    rows = []
    for user in range(300):
        asked = [f"q{int(QUERIES * chance.random() ** 2)}" for _ in range(6)]
        rows += [(f"u{user}", query) for query in [*asked, *(f"own {user} {n}" for n in range(9))]]
    users, queries = zip(*rows, strict=True)
    frame = spark.session.createDataFrame(pa.table({"user": users, "query": queries}))
    return z.read_log(frame, engine=spark)


MECHANISMS = ["pooled", "gaussian", "domain", "prior"]


@pytest.mark.false_alarm(1e-9, "40 queries, give or take 3, where 11 are enough")
@pytest.mark.parametrize("mechanism", sampled(MECHANISMS, str, share=len(MECHANISMS)))
def test_published(mechanism: str, log: Any, fetched: list[int], tmp_path: Path) -> None:
    listed = tmp_path / "listed.csv"
    listed.write_text("query,count\n" + "".join(f"q{n},{99 - n}\n" for n in range(QUERIES + 9)))
    files: dict[str, Any] = {mechanism: listed} if mechanism in ("domain", "prior") else {}
    goal = z.Indistinguishability(epsilon=12, delta="1e-3", neighbors="add-remove")
    release = z.publish(log, goal, [z.queries(4)], mechanism=mechanism, account=None, **files)
    rows = release["queries"].arrow
    names = set(rows["query"].to_pylist())
    if mechanism == "domain":
        assert names == {f"q{n}" for n in range(QUERIES + 9)}
        assert fetched == [QUERIES]  # before their noise: no more than is published
    else:
        assert 10 < len(names) < 90
        assert "q0" in names
    if mechanism == "gaussian":
        assert fetched == [len(names)]
    if mechanism == "pooled":  # the keys of each round, and counts of those that somebody keeps
        *keys, last = fetched
        assert last <= sum(keys) == len(names)
    most = max(zip(rows["count"].to_pylist(), rows["query"].to_pylist(), strict=True))
    assert most[1] in {f"q{n}" for n in range(8)}
    assert 20 < most[0] < 250
    release.write(tmp_path / "release")
    assert all(check.ok for check in verify(tmp_path / "release"))


@pytest.mark.false_alarm(1e-20, "of 300 people 100 choose an item, give or take 9; 20 are enough")
def test_published_by_choosing_twice(spark: z.Spark, fetched: list[int], tmp_path: Path) -> None:
    rows = [(f"u{n}", query) for n in range(1500) for query in ("a", f"b{n % 5}", f"own {n}")]
    users, queries = zip(*rows, strict=True)
    frame = spark.session.createDataFrame(pa.table({"user": users, "query": queries}))
    goal = z.Indistinguishability(epsilon=12, delta="1e-3", neighbors="add-remove")
    log = z.read_log(frame, engine=spark)
    release = z.publish(log, goal, [z.queries(3)], mechanism="selection-twice", account=None)
    names = release["queries"].arrow["query"].to_pylist()
    assert {"a", *(f"b{n}" for n in range(5))} <= set(names)
    assert sum(fetched) == len(names)  # of what nobody may see nothing comes to the driver
    release.write(tmp_path / "release")
    assert all(check.ok for check in verify(tmp_path / "release"))


@pytest.mark.extended
@pytest.mark.false_alarm(1e-12, "ten queries of 14 people, or more, that need 5 at a scale of 1")
def test_the_command(spark: z.Spark, path: Path, tmp_path: Path) -> None:
    assert spark.session is not None  # which is the one that the command finds
    conf = [part for each in QUICK.items() for part in ("--spark-conf", "=".join(each))]
    place = str(tmp_path / "release")
    command = [
        "publish", path, "--engine", "spark", "--spark-master", "local[2]", *conf,
        "--mechanism", "pooled", "--guarantee", "indistinguishable", "--neighbors", "add-remove",
        "--items", "queries", "--items-per-user", 3, "--epsilon", 20, "--delta", "1e-3",
        "--no-ledger", "-o", place, "--json",
    ]  # fmt: skip
    done = CliRunner().invoke(cli, [str(part) for part in command])
    assert done.exit_code == 0, done.output
    (part,) = json.loads(done.stdout)["plan"]
    assert part["mechanism"] == "pooled"
    lines = (tmp_path / "release" / "queries.csv").read_text().splitlines()
    assert 5 < len(lines) <= 11
    assert CliRunner().invoke(cli, ["verify", place]).exit_code == 0
