"""Similar histories: tiny logs by hand, and random ones against the checker and by trying all."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from anonymity_checks import has_similar_histories
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.logs.open_log import open_log
from zealous.study.anonymity import SimilarHistories, anonymize
from zealous.study.anonymity.set_arrays import count_held, sets_of
from zealous.study.anonymity.similar_histories import published_histories

Rows = list[tuple[str, str]]


def write(path: Path, rows: Rows) -> Path:
    users, queries = ([row[n] for row in rows] for n in (0, 1))
    table = {"user": pa.array(users, pa.string()), "query": pa.array(queries, pa.string())}
    pq.write_table(pa.table(table), path)
    return path


def log(**asked: str) -> Rows:
    """A log from what each user asked, queries parted by commas."""
    return [(user, query) for user, queries in asked.items() for query in queries.split(",")]


class Given(NamedTuple):
    rows: list[tuple[str, str, str]]
    changed: dict[str, tuple[int, int]]

    def histories(self) -> dict[str, str]:
        found = defaultdict(list)
        for user, _, query in self.rows:
            found[user].append(query)
        return {user: ",".join(sorted(queries)) for user, queries in found.items()}

    def pairs(self) -> Rows:
        return [(user, query) for user, _, query in self.rows]


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(threads=1, memory="1GB") as engine:
        yield engine


def applied(engine: DuckDB, path: Path, k: int, tolerance: Any = "0.2") -> Given:
    engine.drop("anonymous")
    source = open_log(z.read_log(path), engine)
    changed = SimilarHistories(k=k, tolerance=tolerance).apply(source)
    rows = engine.rows([Step("all", "select user, id, query from anonymous")])
    left = engine.rows([Step("t", "select table_name from duckdb_tables()")])
    assert left == [("anonymous",)]
    return Given(rows, {each.what: (each.number, each.of) for each in changed})


def test_by_hand(engine: DuckDB, tmp_path: Path) -> None:
    rows = log(
        ann="a,b,c,own one",
        bob="A,B,C",
        cat="a,b,bobs",
        dan="x",
        eve="x,y",
        fay="x",
        gil="odd",
        hal="very odd,!",
        ida="odder",
    )
    path = write(tmp_path / "log.parquet", rows)
    found = applied(engine, path, 3, "0")
    assert found.histories() == {
        **dict.fromkeys(["ann", "bob", "cat"], "a,b,c"),
        **dict.fromkeys(["dan", "eve", "fay"], "x"),
    }
    assert found.changed == {
        "users suppressed": (3, 9),
        "queries suppressed": (1 + 1 + 1 + 3, 17),
        "queries added": (1, 17),
    }
    # Half of 0.6 allows, beside three queries, one more (1/4) or one less (1/3 is too much).
    found = applied(engine, path, 3, "0.6")
    assert found.histories() == {
        "ann": "a,b,c,own one",
        "bob": "a,b,c",
        "cat": "a,b,bobs,c",
        **dict.fromkeys(["dan", "eve", "fay"], "x"),
    }
    # Half of 0.67 allows to leave one of three out, but not together with one more.
    alike = log(ann="a,b,c", bob="a,b,c", cat="a,b")
    path = write(tmp_path / "alike.parquet", alike)
    assert applied(engine, path, 3, "0.66").histories()["cat"] == "a,b,c"
    assert applied(engine, path, 3, "0.67").histories()["cat"] == "a,b"


def test_what_more_others_asked_is_kept(engine: DuckDB, tmp_path: Path) -> None:
    rare = ["q1", "q2", "q3"]
    others = {f"user {n}": f"odd {n}" for n in range(5)}
    others |= dict.fromkeys(["cat", "dan", "eli"], "a,b,c")
    others |= {"user 0": "odd 0,q2", "user 1": "odd 1,q2", "user 2": "odd 2,q3"}
    rows = log(ann="a,b,c," + ",".join(rare), bob="a,b,c,q1", **others)
    path = write(tmp_path / "log.parquet", rows)
    # Half of 0.5 allows one more. Bob, of Ann's group, asked q1; more of the log asked q2.
    assert applied(engine, path, 5, "0.5").histories()["ann"] == "a,b,c,q1"
    without = write(tmp_path / "without.parquet", [row for row in rows if row != ("bob", "q1")])
    assert applied(engine, without, 5, "0.5").histories()["ann"] == "a,b,c,q2"


def distance(one: set[int], other: set[int]) -> Fraction:
    return Fraction(len(one ^ other), len(one | other))


@examples(150)
@given(
    st.lists(st.sets(st.integers(0, 9), min_size=1), min_size=1, max_size=7),
    st.fractions(0, Fraction(99, 100), max_denominator=100),
)
def test_the_fewest_edits_within_half_the_tolerance(sets: list[set[int]], t: Fraction) -> None:
    pairs = [(number, item) for number, items in enumerate(sets) for item in sorted(items)]
    columns = (np.array([pair[n] for pair in pairs], np.int64) for n in (0, 1))
    made = sets_of(next(columns), next(columns), np.arange(len(sets)))
    groups = np.zeros(len(sets), np.int64)
    found = count_held(made, groups)
    shared = set(found.item[found.majority].tolist())
    users, queries, own = published_histories(made, groups, t)
    given: dict[int, set[int]] = defaultdict(set)
    for user, query in zip(users.tolist(), queries.tolist(), strict=True):
        assert query not in given[user]
        given[user].add(query)
    if not shared:
        assert not given
        return
    assert own == sum(len(given[number] & items) for number, items in enumerate(sets))
    for number, items in enumerate(sets):
        assert distance(given[number], shared) <= t / 2
        surplus, missing = len(items - shared), len(shared - items)
        fewest = min(
            surplus - a + missing - b
            for a in range(surplus + 1)
            for b in range(missing + 1)
            if Fraction(a + b, len(shared) + a) <= t / 2
        )
        assert len(given[number] ^ items) == fewest


logs = st.lists(
    st.tuples(
        st.sampled_from([f"user-{n}" for n in range(9)]),
        st.sampled_from(
            ["tea", "Tea ", "green  tea", "pot", "cup", "map", "news", "ü", "!", "日本"]
        ),
    ),
    max_size=50,
)


@examples(40)
@given(
    logs,
    st.integers(2, 4),
    st.sampled_from(["0", "0.2", 0.5, "2/3", "0.9"]),
    st.randoms(use_true_random=False),
)
def test_random_logs(
    engine: DuckDB,
    tmp_path_factory: pytest.TempPathFactory,
    rows: Rows,
    k: int,
    tolerance: str | float,
    chance: random.Random,
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    found = applied(engine, write(folder / "log.parquet", rows), k, tolerance)
    assert has_similar_histories(found.pairs(), k, Fraction(str(tolerance)))
    held = {(user, " ".join(query.lower().split())) for user, query in rows if query != "!"}
    given = Counter(found.pairs())
    assert set(given.values()) <= {1}
    assert found.changed == {
        "users suppressed": (
            len({user for user, _ in rows} - {user for user, _ in given}),
            len({user for user, _ in rows}),
        ),
        "queries suppressed": (len(held - set(given)), len(held)),
        "queries added": (len(set(given) - held), len(held)),
    }
    # Nothing but the order of the lines differs, and nothing but the ids may.
    again = applied(
        engine, write(folder / "again.parquet", chance.sample(rows, len(rows))), k, tolerance
    )
    assert again.histories() == found.histories()
    assert again.changed == found.changed


def test_an_id_is_a_user_and_new_in_each_run(engine: DuckDB, tmp_path: Path) -> None:
    path = write(tmp_path / "log.parquet", log(ann="a,b", bob="a,b", cat="a,b"))
    first, second = (applied(engine, path, 3).rows for _ in range(2))
    for rows in (first, second):
        assert len({user for user, _, _ in rows}) == len({each[:2] for each in rows}) == 3
    assert not {row[1] for row in first} & {row[1] for row in second}


def test_what_is_written(tmp_path: Path) -> None:
    path = write(tmp_path / "log.parquet", log(ann="a", bob="a,b", cat="a,c", dan="x"))
    bundle = anonymize(tmp_path / "out", z.read_log(path), SimilarHistories(k=3)).bundle
    written = bundle.log()
    assert written is not None
    assert written.column_names == ["id", "query"]
    assert bundle.record.settings == {"k": 3, "tolerance": "0.2"}
    assert bundle["queries"].arrow.to_pylist() == [{"query": "a", "count": 4}]


def test_nothing_is_left_where_nobody_shares_a_query(engine: DuckDB, tmp_path: Path) -> None:
    path = write(tmp_path / "log.parquet", log(ann="a", bob="b", cat="c"))
    found = applied(engine, path, 3)
    assert found.rows == []
    assert found.changed["users suppressed"] == (3, 3)
    found = applied(engine, write(tmp_path / "none.parquet", log(ann="!", bob="?")), 2)
    assert found.rows == []
    assert found.changed["queries suppressed"] == (0, 0)


@pytest.mark.parametrize("tolerance", ["1", 1.5, "-0.1", "much", "nan", True, "0.12345678901"])
def test_bad_tolerance(tolerance: Any) -> None:
    with pytest.raises(UsageError, match="tolerance must be"):
        SimilarHistories(k=2, tolerance=tolerance)


def test_bad_input(tmp_path: Path) -> None:
    given = z.read_log(write(tmp_path / "log.parquet", log(ann="a", bob="a")))
    with pytest.raises(UsageError, match="larger than the number of users"):
        anonymize(tmp_path / "out", given, SimilarHistories(k=3))
    assert not (tmp_path / "out").exists()


@pytest.mark.soak
@pytest.mark.real
def test_a_real_shop(engine: DuckDB, real: Path) -> None:
    """Customers in the place of users, and what they bought in the place of queries."""
    engine.drop("anonymous")
    columns = z.Columns(user="CustomerID", query="Description")
    source = open_log(z.read_log(real / "online_retail.csv.gz", columns=columns), engine)
    SimilarHistories(k=5, tolerance="0.2").apply(source)
    rows = engine.rows([Step("all", "select user, query from anonymous")])
    assert rows
    assert has_similar_histories(rows, 5, "0.2")
