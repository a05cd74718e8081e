"""Items, bounding and counting against a second implementation and against planted bugs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from oracle import Entry, md5_place, md5_rank
from oracle import histogram as expected
from search_entries import counted, entries, write

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines import duckdb
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import LogError, UsageError
from zealous.items import Kind
from zealous.logs.open_log import open_log
from zealous.privacy.units import Select

KINDS: dict[str, Callable[[int], Kind]] = {
    "queries": z.queries,
    "keywords": z.keywords,
    "clicks": z.clicks,
    "query-pairs": z.query_pairs,
    "query-clicks": z.query_clicks,
}
SELECTS: tuple[Select, ...] = get_args(Select)


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(memory="2GB", threads=1) as engine:
        yield engine


@pytest.mark.parametrize("select", SELECTS)
@pytest.mark.parametrize("name", KINDS)
@examples(25)
@given(rows=entries, m=st.integers(1, 3), key=st.integers(0, 2**64 - 1))
def test_same_as_the_oracle(
    name: str,
    select: Select,
    rows: list[Entry],
    m: int,
    key: int,
    tmp_path_factory,
    engine,
) -> None:
    path = write(tmp_path_factory.mktemp("log") / "log.parquet", rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDB, "rank_key", lambda _, key, columns: md5_rank(key, columns))
        patch.setattr(DuckDB, "rank_bin", lambda _, rank: md5_place(rank))
        found = counted(engine, path, KINDS[name](m), m=m, select=select, key=key)
    assert found == expected(name, rows, m, select, key)


@examples(60)
@given(
    held=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 30)), max_size=60),
    m=st.integers(1, 6),
    ranks=st.integers(1, 40),
    places=st.integers(1, 63),
)
def test_looking_ahead_changes_nothing(
    held: list[tuple[int, int]], m: int, ranks: int, places: int, tmp_path_factory, engine
) -> None:
    """Whatever ranks and places coincide, the first m are those of the window alone."""
    rows = [Entry(f"u{user}", f"q{query}", 0) for user, query in held]
    path = write(tmp_path_factory.mktemp("log") / "log.parquet", rows)
    rank = DuckDB.rank_key
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDB, "rank_key", lambda *given: f"{rank(*given)} % {ranks}")
        patch.setattr(
            DuckDB, "rank_bin", lambda _, rank: f"({rank} * {places} // {ranks})::tinyint"
        )
        ahead = counted(engine, path, z.queries(m), m=m)
        patch.setattr(DuckDB, "rank_bin", lambda *_: None)
        assert ahead == counted(engine, path, z.queries(m), m=m)


@examples(30)
@given(ranks=st.lists(st.integers(0, 2**64 - 1) | st.sampled_from([0, 2**64 - 1]), min_size=2))
def test_a_place_never_falls_as_the_rank_rises(ranks: list[int], engine) -> None:
    near = {min(max(rank + step, 0), 2**64 - 1) for rank in ranks for step in (-1, 0, 1)}
    ordered = ", ".join(f"({rank}::ubigint)" for rank in sorted(near))
    sql = f"select {engine.rank_bin('rank')} from (values {ordered}) ranks(rank) order by rank"
    places = [place for (place,) in engine.rows([Step("places", sql)])]
    assert places == sorted(places)
    assert 0 <= places[0] <= places[-1] <= 62


@pytest.mark.parametrize("name", ["binned", "limits", "near", "distinct_items", "kept", "items"])
def test_a_column_may_be_called_as_a_step(name: str, tmp_path, engine) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"user,{name}\n" + "".join(f"{n % 3},v{n}\n" for n in range(30)))
    found = counted(engine, path, z.columns(name, items_per_user=2), m=2)
    assert sum(found.values()) == 6


@pytest.mark.parametrize("name", KINDS)
def test_buckets_of_users_give_the_same(name: str, tmp_path, engine, monkeypatch) -> None:
    rows = [
        Entry(f"u{n % 40}", f"q{n * 7 % 23} w{n % 5}", n * 30, (f"x{n % 9}", f"y{n % 4}"))
        for n in range(600)
    ]
    path = write(tmp_path / "log.parquet", rows)
    whole = counted(engine, path, KINDS[name](2), m=2)
    monkeypatch.setattr(duckdb, "_BYTES_PER_ROW", engine.working_memory // 100)
    assert engine.buckets(600, 0) == 6
    assert counted(engine, path, KINDS[name](2), m=2) == whole
    assert sum(whole.values()) == 80


def test_the_threshold_is_on_users_and_keeps_equality(tmp_path, engine) -> None:
    rows = [Entry("u1", "often", 0)] * 9 + [Entry(f"v{n}", "three", 0) for n in range(3)]
    rows += [Entry(f"w{n}", "four", 0) for n in range(4)]
    source = open_log(z.read_log(write(tmp_path / "log.parquet", rows)), engine)
    kind = z.queries(1)
    batches = histogram(kind, source, bound=1, at_least=3, select="random", key=1)
    found = sorted(tuple(row.values()) for batch in batches for row in batch.to_pylist())
    assert found == [("four", 4), ("three", 3)]


def test_the_threshold_holds_over_buckets_too(tmp_path, engine, monkeypatch) -> None:
    rows = [Entry(f"v{n}", "five", 0) for n in range(5)] + [Entry("x", "one", 0)]
    monkeypatch.setattr(duckdb, "_BYTES_PER_ROW", engine.working_memory // 2)
    source = open_log(z.read_log(write(tmp_path / "log.parquet", rows)), engine)
    batches = histogram(z.queries(1), source, bound=1, at_least=5, select="random", key=1)
    assert [row for b in batches for row in b.to_pylist()] == [{"query": "five", "count": 5}]


def test_rare_items_are_not_dropped_before_bounding(tmp_path, engine) -> None:
    """Each user has one frequent and nine rare items: about a tenth may keep the frequent one."""
    users = 2000
    rows = [
        Entry(f"u{n}", query, 0)
        for n in range(users)
        for query in ["common", *(f"rare {n} {i}" for i in range(9))]
    ]
    found = counted(engine, write(tmp_path / "log.parquet", rows), z.queries(1), m=1)
    assert 0.07 * users < found["common",] < 0.13 * users
    assert sum(found.values()) == users


def spread(engine: DuckDB, path: Path, key: int, *, users: int, items: int, m: int) -> float:
    """Chi-square per degree of freedom of how often each item is kept."""
    share = m / items
    found = counted(engine, path, z.queries(m), m=m, key=key)
    assert len(found) == items
    return (
        sum(
            (count - users * share) ** 2 / (users * share * (1 - share)) for count in found.values()
        )
        / items
    )


def test_selection_is_unbiased(tmp_path, engine, monkeypatch) -> None:
    """Every item of a user is as likely to be kept; the same test finds a single hash biased."""
    size = {"users": 20_000, "items": 40, "m": 2}
    names = pa.array(map(str, range(size["users"])))
    items = pa.array(f"item {n}" for n in range(size["items"]))
    each = np.indices((len(names), len(items))).reshape(2, -1)
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"user": names.take(each[0]), "query": items.take(each[1])}), path)
    keys = (1, 2**63 + 11, 987654321)
    assert max(spread(engine, path, key, **size) for key in keys) < 2.1  # p < 1e-4 each
    single = staticmethod(lambda key, columns: f"hash({key}::ubigint, {', '.join(columns)})")
    monkeypatch.setattr(DuckDB, "rank_key", single)
    assert min(spread(engine, path, key, **size) for key in keys) > 10


def test_the_order_of_lines_changes_nothing(tmp_path, engine) -> None:
    rows = [Entry(f"u{n % 7}", f"q{n % 11}", n % 5, (f"c{n % 6}",)) for n in range(200)]
    for name, make in KINDS.items():
        for select in SELECTS:
            one = counted(engine, write(tmp_path / "a.parquet", rows), make(2), m=2, select=select)
            other = counted(
                engine, write(tmp_path / "b.parquet", rows[::-1]), make(2), m=2, select=select
            )
            assert one == other, (name, select)


def test_a_session_column_replaces_the_gap(tmp_path, engine) -> None:
    path = tmp_path / "log.jsonl"
    rows = [
        {"user": "a", "query": "one", "time": "2026-01-01 00:00:00", "session": "s"},
        {"user": "a", "query": "two", "time": "2026-01-01 09:00:00", "session": "s"},
        {"user": "a", "query": "three", "time": "2026-01-01 09:00:01", "session": "t"},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    columns = z.Columns(session="session")
    assert counted(engine, path, z.query_pairs(5), m=5, columns=columns) == {("one", "two"): 1}


def test_a_blank_session_id_is_no_session(tmp_path, engine) -> None:
    path = tmp_path / "log.csv"
    rows = [
        f"{user},2026-01-01 00:0{n},{query},{session}"
        for user in "ab"
        for n, (query, session) in enumerate(
            [("one", ""), ("two", " "), ("three", "s"), ("four", "s")]
        )
    ]
    path.write_text("\n".join(["user,time,query,session", *rows]) + "\n")
    assert counted(engine, path, z.query_pairs(5), m=5) == {("three", "four"): 2}


def test_session_gap(tmp_path, engine) -> None:
    rows = [Entry("a", "one", 0), Entry("a", "two", 1800), Entry("a", "three", 3601)]
    path = write(tmp_path / "log.parquet", rows)
    assert counted(engine, path, z.query_pairs(5), m=5) == {("one", "two"): 1}
    assert len(counted(engine, path, z.query_pairs(5, session_gap=31), m=5)) == 2


def test_folding_ignores_the_order_of_words(tmp_path, engine) -> None:
    rows = [Entry("a", "red shoes", 0), Entry("b", "Shoes, RED!", 0), Entry("c", "shoes", 0)]
    path = write(tmp_path / "log.parquet", rows)
    found = counted(engine, path, z.queries(5, fold_words=True), m=5)
    assert found == {("red shoes",): 2, ("shoes",): 1}


def test_an_attribute_becomes_part_of_the_item(tmp_path, engine) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,query,country\n1,tea,uk\n2,tea,uk\n3,tea,de\n4,tea,\n")
    found = counted(engine, path, z.queries(5, by="country"), m=5)
    assert found == {("tea", "uk"): 2, ("tea", "de"): 1}
    found = counted(engine, path, z.columns("country", "query", items_per_user=1), m=1)
    assert found == {("uk", "tea"): 2, ("de", "tea"): 1}


def test_lists_of_keywords_are_taken_as_they_are(tmp_path, engine) -> None:
    path = tmp_path / "log.jsonl"
    rows = [
        {"user": "a", "query": "東京天気", "keywords": ["東京", "天気 "]},
        {"user": "b", "query": "天気", "keywords": ["天気", " "]},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    columns = z.Columns(keywords="keywords")
    assert counted(engine, path, z.keywords(5), m=5, columns=columns) == {
        ("東京",): 1,
        ("天気",): 2,
    }


def test_excluded_and_overactive_users_are_left_out(tmp_path, engine) -> None:
    rows = [
        Entry(user, "q", n) for user, most in (("a", 1), ("b", 2), ("c", 9)) for n in range(most)
    ]
    path = write(tmp_path / "log.parquet", rows)
    listed = tmp_path / "ids.txt"
    listed.write_text("b\n\n unknown\n")
    for cleaning, users in (
        (z.Cleaning(), 3),
        (z.Cleaning(exclude_users=listed), 2),
        (z.Cleaning(max_entries_per_user=2), 2),
        (z.Cleaning(max_entries_per_user=1, exclude_users=listed), 1),
    ):
        source = open_log(z.read_log(path, cleaning=cleaning), engine)
        batches = histogram(z.queries(1), source, bound=1, at_least=1, select="random", key=1)
        assert [row["count"] for b in batches for row in b.to_pylist()] == [users]


def test_no_column_of_the_log_can_take_the_place_of_the_order(tmp_path, engine) -> None:
    """Columns called as the pipeline might call its own change nothing."""
    path = tmp_path / "log.csv"
    rows = [
        f"{user},2026-01-01 10:00:0{second},q{second},{value},{value},{value},s"
        for user in range(3)
        for second, value in enumerate("dcba")
    ]
    path.write_text("\n".join(["user,time,query,since,often,before,session", *rows]) + "\n")
    for name in ("since", "often", "before"):
        kind = z.columns(name, items_per_user=2)
        assert counted(engine, path, kind, m=2, select="first") == {("d",): 3, ("c",): 3}
        by = counted(engine, path, z.query_pairs(9, by=name), m=9)
        assert by == {("q0", "q1", "c"): 3, ("q1", "q2", "b"): 3, ("q2", "q3", "a"): 3}
    assert len(counted(engine, path, z.query_pairs(9, by="session"), m=9)) == 3


IDS = [
    pa.int64(),
    pa.uint64(),
    pa.float64(),
    pa.float32(),
    pa.decimal128(10, 0),
    pa.decimal128(12, 2),
    pa.string(),
]


@pytest.mark.parametrize("kind", IDS, ids=str)
def test_excluded_ids_may_be_written_as_any_program_writes_them(kind, tmp_path, engine) -> None:
    path, listed = tmp_path / "log.parquet", tmp_path / "ids.txt"
    ids = [17850, 17851, 17852, 17853]
    users = pa.array([str(each) for each in ids]) if kind == pa.string() else pa.array(ids, kind)
    pq.write_table(pa.table({"user": users, "query": ["q"] * 4}), path)
    listed.write_text('17850\n"17851"\n 17852 \n17853.0\n')
    source = open_log(z.read_log(path, cleaning=z.Cleaning(exclude_users=listed)), engine)
    batches = histogram(z.queries(1), source, bound=1, at_least=1, select="random", key=1)
    assert [row["count"] for b in batches for row in b.to_pylist()] == []
    if kind != pa.string():
        listed.write_text("somebody\n")
        with pytest.raises(LogError, match="not numbers"):
            open_log(z.read_log(path, cleaning=z.Cleaning(exclude_users=listed)), engine)


def test_no_item_counts_a_user_twice(
    tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kind that keeps more columns than it counts may keep one item a user."""
    kind = z.queries(2)
    monkeypatch.setattr(type(kind), "kept_columns", lambda _: ("query", "time"))
    rows = [Entry("a", "x", 1), Entry("a", "x", 2)]
    source = open_log(z.read_log(write(tmp_path / "log.parquet", rows)), engine)
    with pytest.raises(UsageError, match="count as one item twice"):
        histogram(kind, source, bound=2, at_least=1, select="random", key=1)
