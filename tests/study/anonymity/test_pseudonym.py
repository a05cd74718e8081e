"""Random user ids: nothing else changes, and nothing leads back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from anonymity_checks import is_pseudonymous
from anonymized import applied
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from zealous.engines.duckdb import DuckDB
from zealous.study.anonymity import Pseudonym


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(memory="2GB", threads=1) as engine:
        yield engine


def test_the_queries_stay_as_typed(engine: DuckDB, tmp_path: Path) -> None:
    rows = [("ann", " Green  TEA"), ("ann", "pot"), ("bob", "pot"), ("bob", "?!"), ("cid", None)]
    found, changed = applied(engine, tmp_path / "log.parquet", Pseudonym(), rows, "user query")
    assert sorted((user, query) for user, _, query in found) == sorted(rows[:3])
    assert is_pseudonymous((user, id_) for user, id_, _ in found)
    assert changed == {
        "users suppressed": (1, 3),
        "queries suppressed": (0, 3),
        "entries without a word": (2, 5),
    }


def test_times_are_kept(engine: DuckDB, tmp_path: Path) -> None:
    from datetime import datetime

    moment = datetime(2006, 3, 1, 12, 30)
    rows = [("ann", moment, "tea"), ("bob", None, "tea")]
    found, _ = applied(engine, tmp_path / "log.parquet", Pseudonym(), rows, "user time query")
    assert {(user, time, query) for user, _, time, query in found} == set(rows)


def test_another_run_gives_other_ids(engine: DuckDB, tmp_path: Path) -> None:
    rows = [(f"user-{number}", "tea") for number in range(50)]
    ids = []
    for _ in range(2):
        found, _ = applied(engine, tmp_path / "log.parquet", Pseudonym(), rows, "user query")
        ids.append({id_ for _, id_, _ in found})
    assert len(ids[0]) == len(ids[1]) == 50
    assert not ids[0] & ids[1]


def test_the_order_of_ids_tells_nothing_of_users(engine: DuckDB, tmp_path: Path) -> None:
    rows = [(f"{number:06}", "tea") for number in range(4_000)]
    found, _ = applied(engine, tmp_path / "log.parquet", Pseudonym(), rows, "user query")
    users = [int(user) for user, _, _ in sorted(found, key=lambda row: row[1])]
    count, middle = len(users), (len(users) - 1) / 2
    moved = sum((at - middle) * (user - middle) for at, user in enumerate(users))
    correlation = moved / sum((at - middle) ** 2 for at in range(count))
    assert abs(correlation) < 0.08  # five deviations


def test_an_empty_log_gives_nothing(engine: DuckDB, tmp_path: Path) -> None:
    found, changed = applied(engine, tmp_path / "log.parquet", Pseudonym(), [], "user query")
    assert found == []
    assert set(changed.values()) == {(0, 0)}


texts = st.text("ab Cé\u0301日本ก١-'%🙂", max_size=8)
logs = st.lists(st.tuples(st.sampled_from(["u1", "u2", "U2", "7"]), texts), max_size=12)


@examples(30)
@given(rows=logs)
def test_each_user_has_one_id(
    engine: DuckDB, tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    found, _ = applied(engine, path, Pseudonym(), rows, "user query")
    asked = [row for row in rows if any(map(str.isalnum, row[1]))]
    assert sorted((user, query) for user, _, query in found) == sorted(asked)
    assert is_pseudonymous((user, id_) for user, id_, _ in found)
