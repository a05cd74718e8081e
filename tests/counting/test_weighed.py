"""Counts, with and without lists of items, against a second implementation on DuckDB."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import md5_place
from weighed import (
    KINDS,
    Item,
    Row,
    asked,
    cases,
    expected,
    found,
    items,
    logs,
    many,
    md5_rank,
    rows_of,
    table,
    tables,
    write,
)
from weighed import given as weighed_given

import zealous as z
from zealous.counting.histogram import histogram, users_keeping
from zealous.counting.restriction import InTable
from zealous.counting.same_user import KeptBySameUser
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.items import Kind
from zealous.logs.open_log import open_log
from zealous.logs.source import Source
from zealous.privacy.units import Select

SELECTS = ("random", "first", "frequent")
KEY = 2**64 - 5
few = settings(
    examples(20),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(memory="2GB", threads=1) as engine, pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDB, "rank_key", md5_rank)
        patch.setattr(DuckDB, "rank_bin", lambda _, rank: md5_place(rank))
        yield engine


def opened(engine: DuckDB, kind: Kind, folder: Path, rows: Sequence[Row]) -> Source:
    return open_log(z.read_log(write(folder / "log.parquet", rows)), engine, kind.extra_columns())


def counter(source: Source, kind: Kind, select: Select = "random") -> Any:
    return partial(histogram, kind, source, select=select, key=KEY)


@pytest.mark.parametrize("name", KINDS)
@few
@given(data=st.data(), rows=logs, select=st.sampled_from(SELECTS), ahead=st.booleans())
def test_same_as_the_oracle(
    name: str,
    data: Any,
    rows: list[Row],
    select: Select,
    ahead: bool,
    tmp_path: Path,
    engine: DuckDB,
) -> None:
    """At once and in buckets of users, with and without looking ahead."""
    kind, how = KINDS[name], data.draw(asked(name))
    right = expected(name, rows, key=KEY, select=select, **how)
    source = opened(engine, kind, tmp_path, rows)
    with pytest.MonkeyPatch.context() as patch:
        if not ahead:
            patch.setattr(DuckDB, "rank_bin", lambda *_: None)
        for number in (1, 3):
            patch.setattr(engine, "buckets", lambda *_, number=number: number)
            assert found(counter(source, kind, select)(**tables(kind, how))) == right


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("number", [1, 3])
def test_many_users(
    name: str, number: int, tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "buckets", lambda *_: number)
    kind, rows = KINDS[name], many(800)
    source = opened(engine, kind, tmp_path, rows)
    for select, how in cases(name, rows):
        right = expected(name, rows, key=KEY, select=select, **how)
        assert found(counter(source, kind, select)(**tables(kind, how))) == right


@pytest.mark.parametrize("name", KINDS)
@few
@given(data=st.data(), rows=logs, bound=st.integers(1, 4), select=st.sampled_from(SELECTS))
def test_nobody_gives_more_than_she_may(
    name: str,
    data: Any,
    rows: list[Row],
    bound: int,
    select: Select,
    tmp_path: Path,
    engine: DuckDB,
) -> None:
    """Take one user away: at most `bound` counts change, each by one."""
    kind, how = KINDS[name], data.draw(asked(name)) | {"bound": bound, "at_least": 1}
    somebody = rows[0].user if rows else ""
    left = [row for row in rows if row.user != somebody]
    with_her, without = (
        found(counter(opened(engine, kind, tmp_path, each), kind, select)(**tables(kind, how)))
        for each in (rows, left)
    )
    moved = [with_her[item] - without.get(item, 0) for item in with_her]
    assert without.keys() <= with_her.keys()
    assert sum(map(bool, moved)) <= bound
    assert set(moved) <= {0, 1}


ROWS = [
    Row(f"u{n % 30}", f"q{n * 7 % 23}", n, (f"x{n % 3}",), f"p{n % 2}", str(n % 4))
    for n in range(300)
]
ROWS += [Row("u0", f"rare {n}", n, (f"r{n}",), f"r{n}", "9") for n in range(30)]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("number", [1, 4])
def test_noise_is_drawn_once(
    name: str, number: int, tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS[name]
    monkeypatch.setattr(engine, "buckets", lambda *_: number)
    count, seen = counter(opened(engine, kind, tmp_path, ROWS), kind), []
    counted = count(bound=3, at_least=1)
    true = found(counted)

    def noisy(batch: pa.RecordBatch) -> pa.RecordBatch:
        seen.append(batch.num_rows)
        noise = np.frombuffer(os.urandom(2 * batch.num_rows), np.int16)
        return batch.set_column(
            batch.num_columns - 1, "count", pa.array(batch["count"].to_numpy() + noise)
        )

    stored = counted.store(noisy)
    drawn, again = (found(rows_of(stored)) for _ in range(2))
    assert drawn == again
    assert drawn.keys() == true.keys()
    assert drawn != true
    assert sum(seen) == len(true)


@pytest.mark.parametrize("number", [1, 3])
def test_nothing_gives_nothing(
    number: int, tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "buckets", lambda *_: number)
    kind = KINDS["queries by place"]
    none = [pa.table({name: [] for name in (*kind.columns(), "count")}), table(kind, [])]
    full = counter(opened(engine, kind, tmp_path, ROWS), kind)
    assert none[0].schema.types == [pa.null()] * 3
    for empty in none:
        assert found(full(bound=2, at_least=1, only=[InTable(empty)])) == {}
    nobody = counter(opened(engine, kind, tmp_path, []), kind)
    stored = nobody(bound=2, at_least=1).store(lambda batch: batch)
    assert found(rows_of(stored)) == {}


NAMES = [
    "weight",
    "given",
    "Weight",
    "known",
    "distinct_items",
    "kept",
    "items",
    "steered",
    "ranked",
    "partial",
    "histogram",
    "position",
    "entries",
    "stored_0",
    'a "quote"',
    "it's 100% {x}",
    "日本",
    "a.b",
    ";--",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", [1, 2])
def test_a_column_may_have_any_name(
    name: str, number: int, tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "buckets", lambda *_: number)
    path, kind = tmp_path / "log.parquet", z.columns(name, "other", items_per_user=2)
    users, values = [n % 5 for n in range(40)], [f"v{n % 7}" for n in range(40)]
    log = pa.table({"user": users, name: values, "other": ["o"] * 40})
    pa.parquet.write_table(log, path)
    source = open_log(
        z.read_log(path, columns=z.Columns(user="user")), engine, kind.extra_columns()
    )
    values_of_five: list[Item] = [(f"v{n}", "o") for n in range(5)]
    only = table(kind, values_of_five[1:])
    assert only is not None
    counted = counter(source, kind, "frequent")(bound=7, at_least=1, only=[InTable(only)])
    assert found(counted) == dict.fromkeys(values_of_five[1:], 5)


@pytest.mark.parametrize("number", [1, 3])
def test_clicks_count_for_who_kept_their_query_and_nothing_stays_of_who_did(
    number: int, tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a list of clicks: what both let count is counted, and bounded then."""
    monkeypatch.setattr(engine, "buckets", lambda *_: number)
    kind, rows = KINDS["query-clicks"], many(800)
    source = opened(engine, kind, tmp_path, rows)
    known = sorted({item for row in rows for item in items("query-clicks", row)})[::2]
    listed = table(kind, known)
    assert listed is not None
    of_queries = dict(weighed_given("queries", rows, key=KEY, bound=2))
    right: Counter[Item] = Counter()
    followed = [row for row in rows if (row.query,) in of_queries[row.user]]
    for _, clicks in weighed_given("query-clicks", followed, key=KEY, bound=2, only=known):
        right.update(clicks)
    with users_keeping(KINDS["queries"], source, bound=2, select="random", key=KEY) as kept:
        only = [KeptBySameUser(kept), InTable(listed)]
        assert found(counter(source, kind)(bound=2, at_least=1, only=only)) == right
        assert kept.name in tables_of(engine)
    assert kept.name not in tables_of(engine)


def tables_of(engine: DuckDB) -> set[str]:
    return {
        name for (name,) in engine.rows([Step("all", "select table_name from duckdb_tables()")])
    }


def test_what_was_broken_off_counts_for_nobody_later(
    tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "buckets", lambda *_: 3)
    kind = KINDS["queries"]
    count = counter(opened(engine, kind, tmp_path, ROWS), kind)
    right = expected("queries", ROWS, key=KEY, bound=2, at_least=1)
    begun = count(bound=2, at_least=1).map_batches(lambda batch: batch)
    next(begun)
    begun.close()
    assert found(count(bound=2, at_least=1)) == right
    store = DuckDB.append_rows
    calls: list[str] = []

    def fails(self: DuckDB, name: str, steps: Sequence[Step]) -> None:
        calls.append(name)
        if len(calls) == 2:
            raise KeyboardInterrupt
        store(self, name, steps)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDB, "append_rows", fails)
        with pytest.raises(KeyboardInterrupt):
            list(count(bound=2, at_least=1))
    assert found(count(bound=2, at_least=1)) == right
