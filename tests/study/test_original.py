"""The true histograms: the same that publishing counts, for every m at once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines.duckdb import DuckDB
from zealous.errors import ReleaseError
from zealous.items import Kind
from zealous.logs.open_log import open_log
from zealous.logs.source import count_users
from zealous.study.releases import original_histogram as counting
from zealous.study.releases.released import (
    original_as_release,
    released_by_index,
    released_by_text,
)

BOUNDS = (1, 2, 5)
KEY = 11


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from zealous.synthetic import generate

    path = tmp_path_factory.mktemp("original") / "log.parquet"
    generate(path, users=1_000, seed=3)
    return path


def counted(path: Path, kind: Kind, folder: Path) -> counting.Original:
    with DuckDB() as engine:
        source = open_log(z.read_log(path), engine)
        counting.count_original(kind, source, folder / "counts.parquet", bounds=BOUNDS, key=KEY)
        return counting.read_original(kind, folder / "counts.parquet", count_users(source), BOUNDS)


@pytest.mark.parametrize("make", [z.keywords, z.queries, z.clicks, z.query_pairs, z.phrase_pairs])
def test_one_pass_counts_what_publishing_counts(make, log: Path, tmp_path: Path) -> None:
    found = counted(log, make(1), tmp_path)
    items = list(zip(*(column.to_pylist() for column in found.items.columns), strict=True))
    with DuckDB() as engine:
        source = open_log(z.read_log(log), engine)
        for m in (*BOUNDS, 10**6):
            batches = histogram(make(m), source, bound=m, at_least=1, select="random", key=KEY)
            expected: Counter[tuple[str, ...]] = Counter()
            for batch in batches:
                *columns, counts = (column.to_pylist() for column in batch.columns)
                expected.update(dict(zip(zip(*columns, strict=True), counts, strict=True)))
            counts = found.users if m == 10**6 else found.kept[m]
            assert +Counter(dict(zip(items, counts.tolist(), strict=True))) == expected
    assert (np.diff(found.users) <= 0).all()
    assert (found.times >= found.users).all()
    ties = [i for i in range(len(items) - 1) if found.users[i] == found.users[i + 1]]
    assert ties
    assert all(items[i] < items[i + 1] for i in ties)


def test_buckets_of_users_give_the_same(log: Path, tmp_path: Path, monkeypatch) -> None:
    whole = counted(log, z.queries(1), tmp_path)
    monkeypatch.setattr(DuckDB, "buckets", lambda *_: 4)
    parts = counted(log, z.queries(1), tmp_path)
    assert whole.items.equals(parts.items)
    assert (whole.kept[2] == parts.kept[2]).all()
    assert (whole.times == parts.times).all()


def test_times_count_searches_and_users_people(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,query\nu1,a\nu1,a\nu1,b\nu2,a\nu3,c\n")
    found = counted(path, z.queries(1), tmp_path)
    assert found.items["query"].to_pylist() == ["a", "b", "c"]
    assert found.users.tolist() == [2, 1, 1]
    assert found.times.tolist() == [3, 1, 1]
    assert found.kept[1].sum() == 3
    assert found.people == 3


ORIGINAL = counting.Original(
    kind="query-pairs",
    items=pa.table({"query": ["a", "a", "b"], "next_query": ["b", "c", "c"]}),
    users=np.array([5, 3, 1]),
    times=np.array([6, 4, 1]),
    kept={1: np.array([3, 2, 1])},
    people=9,
)


def test_a_table_is_laid_beside_the_original() -> None:
    table = pa.table(
        {"count": [4, 7, 2, 1], "next_query": ["c", "z", "b", "c"], "query": ["a", "a", "a", "a"]}
    )
    found = released_by_text(ORIGINAL, table)
    assert found.index.tolist() == [0, 1]
    assert found.counts.tolist() == [2, 5]  # (a, c) twice
    assert found.beyond.to_pylist() == [{"query": "a", "next_query": "z", "count": 7}]
    assert (found.total, len(found)) == (14, 3)
    rows = {(r["query"], r["next_query"]): r["count"] for r in found.table().to_pylist()}
    assert rows == {("a", "b"): 2, ("a", "c"): 5, ("a", "z"): 7}


def test_two_items_are_not_one_text() -> None:
    table = pa.table({"query": ["ab", "a"], "next_query": ["", "bb"], "count": [1, 1]})
    assert len(released_by_text(ORIGINAL, table).index) == 0


def test_columns_of_another_kind_are_refused() -> None:
    with pytest.raises(ReleaseError, match="next_query"):
        released_by_text(ORIGINAL, pa.table({"keyword": ["a"], "count": [1]}))


def test_rows_of_the_original_come_in_order() -> None:
    found = released_by_index(ORIGINAL, np.array([2, 0]), np.array([1, 8]))
    assert (found.index.tolist(), found.counts.tolist()) == ([0, 2], [8, 1])
    assert original_as_release(ORIGINAL).total == 9
