"""The limits on what one person can bring are the same on both engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sampling import sampled
from spark import SPARK, Engines, read

import zealous as z
from zealous.engines.engine import Engine
from zealous.engines.sql import Step
from zealous.logs.open_log import open_log

pytest_plugins = ("spark",)
pytestmark = SPARK

TIME = "2026-01-01 10:00:00"
ROWS = [
    {"user": "ann", "query": "é" * 12, "urls": ["a", "b" * 22], "time": TIME},
    {"user": "bob", "query": "é" * 12 + "x", "urls": [""] * 25, "time": TIME},
    {"user": "c" * 25, "query": "x" * 25, "urls": [""] * 26, "time": TIME + " " * 7},
    {"user": "d" * 26, "query": "tea", "urls": ["a", "b" * 24], "time": TIME},
    {"user": "eve", "query": "x" * 26, "urls": [], "time": TIME},
]


def entries(engine: Engine, path: Path, **limits: int) -> list[Any]:
    cleaning = z.Cleaning(limits=z.Limits(**limits))
    log = read(engine, path, columns=z.Columns(url="urls"), cleaning=cleaning)
    source = open_log(log, engine, key=5)
    shown = (
        "select user, query, time is null, array_to_string(url, '-') as urls from entries "
        "where array_length(url) > 0 union all select user, query, time is null, null "
        "from entries where not coalesce(array_length(url), 0) > 0"
    )
    return sorted(engine.rows([*source.entries, Step("shown", shown)]), key=repr)


@pytest.mark.parametrize("suffix", sampled(["jsonl", "parquet"], str, share=2))
def test_texts_and_lists_over_the_limit(suffix: str, engines: Engines, tmp_path: Path) -> None:
    path = tmp_path / f"log.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    one, other = (entries(engine, path, text=25) for engine in engines)
    assert one == other
    assert one == [
        ("ann", "é" * 12, False, "a-" + "b" * 22),
        ("bob", "é" * 12 + "x", False, "-" * 24),
        ("c" * 25, "x" * 25, True, None),
        ("eve", None, False, None),
    ]


def test_lists_of_texts_that_are_not_utf_8(engines: Engines, tmp_path: Path) -> None:
    """What they count for is told by all their bytes; of those under the limit the rest stays."""
    lists: list[list[bytes | None]]
    lists = [[b"\xff" * 25, b"a"], [b"\xff" * 22, b"a"], [b"\xff", None, b"b" * 21], [b""] * 26]
    texts = pa.array([text for each in lists for text in each], pa.binary())
    present, starts, data = texts.buffers()
    spoilt = pa.StringArray.from_buffers(len(texts), starts, data, present)
    ends = pa.array([0, 2, 4, 7, 33], pa.int32())
    users = pa.array(["ann", "bob", "cat", "dan"])
    columns = {"user": users, "query": users, "time": pa.array([TIME] * 4)}
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table(columns | {"urls": pa.ListArray.from_arrays(ends, spoilt)}), path)
    one, other = (entries(engine, path, text=25) for engine in engines)
    assert one == other
    assert [urls for *_, urls in one] == [None, "a", "b" * 21, None]


def test_a_list_over_the_limit_is_one_text_over_it(engines: Engines, tmp_path: Path) -> None:
    """Not as many elements as the limit has bytes: each takes the place of several."""
    path, limit = tmp_path / "log.parquet", 10**4
    lists = [[""] * limit, ["a" * 999] * 10, ["é"] * limit, [""] * limit + [None]]
    users = [f"u{n}" for n in range(4)]
    rows = pa.table({"user": users, "query": ["q"] * 4, "urls": lists, "time": [TIME] * 4})
    pq.write_table(rows, path)
    spark = engines[1]
    with spark:
        spark.open("listed", [path], None, ["user", "urls"], ["urls"], z.Limits(text=limit))
        held = "select array_length(urls), strlen(array_to_string(urls, '')) from listed"
        found = spark.rows([Step("held", f"{held} order by user")])
    assert found == [(limit, 0), (10, 9990), (1, limit + 1), (1, limit + 1)]
    one, other = (entries(engine, path, text=limit) for engine in engines)
    assert one == other
    assert [urls is None for *_, urls in one] == [False, False, True, True]


def test_the_largest_limit(engines: Engines, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    one, other = (entries(engine, path, text=2**31 - 1) for engine in engines)
    assert one == other
    assert len(one) == len(ROWS)


def told(engine: Engine, path: Path) -> dict[str, int]:
    limits = z.Limits(text=25, entries=2, words=2)
    log = read(engine, path, columns=z.Columns(url="urls"), cleaning=z.Cleaning(limits=limits))
    return dict(+open_log(log, engine).skipped)


@pytest.mark.parametrize("suffix", sampled(["jsonl", "parquet"], str, share=2))
def test_the_owner_is_told_the_same(suffix: str, engines: Engines, tmp_path: Path) -> None:
    asked = ("a b", "a b c", "a, b; c")
    rows = [*ROWS, *(ROWS[0] | {"query": query} for query in asked)]
    path = tmp_path / f"log.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    one, other = (told(engine, path) for engine in engines)
    assert one == other
    assert sorted(one.values()) == [1, 2, 3, 3]


@pytest.mark.extended
def test_the_first_entries_in_time(engines: Engines, tmp_path: Path) -> None:
    lines = [f"ann,q{n},2026-01-01 10:00:{n:02}" for n in range(40)]
    lines += ["ann,q1,2026-01-01 10:00:01", "bob,tea,"]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["user,query,time", *lines[::-1], ""]))
    for engine in engines:
        log = read(engine, path, cleaning=z.Cleaning(limits=z.Limits(entries=6)))
        source = open_log(log, engine)
        found = engine.rows([*source.entries, Step("all_of_them", "select query from entries")])
        assert sorted(query for (query,) in found) == ["q0", "q1", "q2", "q3", "q4", "tea"]
