"""k-session: tiny logs by hand, random logs against the checker and a plain cutting of sessions."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from anonymity_checks import is_k_session_anonymous
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.logs.open_log import open_log
from zealous.study.anonymity import KSession, anonymize

START = datetime(2026, 3, 1)


class Asked(NamedTuple):
    user: str
    query: str
    minute: int | None = 0
    session: str | None = None
    keywords: list[str] | None = None


def write(path: Path, rows: list[Asked], *more: str, times: bool = True) -> Path:
    """A log with times, or none, and more columns: session, keywords."""
    columns: dict[str, Any] = {
        "user": pa.array([row.user for row in rows], pa.string()),
        "query": pa.array([row.query for row in rows], pa.string()),
    }
    if times:
        moments = [None if r.minute is None else START + timedelta(minutes=r.minute) for r in rows]
        columns["time"] = pa.array(moments, pa.timestamp("us"))
    if "session" in more:
        columns["session"] = pa.array([row.session for row in rows], pa.string())
    if "keywords" in more:
        columns["keywords"] = pa.array([row.keywords for row in rows], pa.list_(pa.string()))
    pq.write_table(pa.table(columns), path)
    return path


class Given(NamedTuple):
    """What came of a log."""

    rows: list[tuple[str, str, list[str]]]
    changed: dict[str, tuple[int, int]]

    def sessions(self) -> Counter[tuple[str, str]]:
        return Counter((user, " ".join(keywords)) for user, _, keywords in self.rows)


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(threads=1, memory="1GB") as engine:
        yield engine


def applied(engine: DuckDB, path: Path, k: int, **settings: Any) -> Given:
    engine.drop("anonymous")
    source = open_log(z.read_log(path), engine)
    changed = KSession(k=k, **settings).apply(source)
    rows = engine.rows([Step("all", "select user, id, keywords from anonymous")])
    left = engine.rows([Step("t", "select table_name from duckdb_tables()")])
    assert left == [("anonymous",)]
    assert all(keywords == sorted(set(keywords)) for _, _, keywords in rows)
    return Given(rows, {each.what: (each.number, each.of) for each in changed})


BY_HAND = [
    Asked("ann", "green tea"),
    Asked("ann", "Tea pot", 5),
    Asked("bob", "GREEN tea, pot!", 9),
    Asked("cat", "tea cup"),
    Asked("dan", "tea cup", 0),
    Asked("dan", "rare", 100),
    Asked("eve", "other thing", 7),
    Asked("eve", "without a time", None),
    Asked("eve", "???", 7),
]


def test_by_hand(engine: DuckDB, tmp_path: Path) -> None:
    found = applied(engine, write(tmp_path / "log.parquet", BY_HAND), 2)
    assert found.sessions() == {
        ("ann", "green pot tea"): 1,
        ("bob", "green pot tea"): 1,
        ("cat", "cup tea"): 1,
        ("dan", "cup tea"): 1,
        # Two sessions that share nothing: each keyword is in half of them.
        ("dan", "other rare thing"): 1,
        ("eve", "other rare thing"): 1,
    }
    assert found.changed == {
        "users suppressed": (0, 5),
        "queries without a session": (1, 8),
        "sessions suppressed": (0, 6),
        "sessions emptied": (0, 6),
        "keywords deleted": (0, 13),
        "keywords added": (3, 13),
    }


def test_sessions_that_share_nothing_are_emptied(engine: DuckDB, tmp_path: Path) -> None:
    rows = [Asked(user, f"tea {user}") for user in "abc"] + [Asked(user, user) for user in "def"]
    found = applied(engine, write(tmp_path / "log.parquet", rows), 3)
    assert found.sessions() == {
        **{(user, "tea"): 1 for user in "abc"},
        **{(user, ""): 1 for user in "def"},
    }
    assert found.changed == {
        "users suppressed": (0, 6),
        "queries without a session": (0, 6),
        "sessions suppressed": (0, 6),
        "sessions emptied": (3, 6),
        "keywords deleted": (6, 9),
        "keywords added": (0, 9),
    }


def test_k_counts_users_and_not_sessions(engine: DuckDB, tmp_path: Path) -> None:
    rows = [Asked("ann", "tea", 100 * n) for n in range(9)]
    rows += [Asked("bob", "cup"), Asked("cat", "pot")]
    found = applied(engine, write(tmp_path / "log.parquet", rows), 3)
    # One group of three users has room for two more of Ann's sessions.
    assert found.changed["sessions suppressed"] == (11 - 5, 11)
    assert found.changed["users suppressed"] == (0, 3)
    assert {user for user, _, _ in found.rows} == {"ann", "bob", "cat"}
    assert is_k_session_anonymous(found.rows, 3)


def test_fewer_users_than_k_with_sessions(engine: DuckDB, tmp_path: Path) -> None:
    rows = [Asked("ann", "tea"), Asked("bob", "tea"), Asked("cat", "tea", None)]
    found = applied(engine, write(tmp_path / "log.parquet", rows), 3)
    assert found.rows == []
    assert found.changed["users suppressed"] == (3, 3)
    assert found.changed["queries without a session"] == (1, 3)
    assert found.changed["sessions suppressed"] == (2, 2)
    assert found.changed["keywords deleted"] == (2, 2)


def test_a_log_without_words(engine: DuckDB, tmp_path: Path) -> None:
    found = applied(
        engine, write(tmp_path / "log.parquet", [Asked("ann", "??"), Asked("bob", "!")]), 2
    )
    assert found.rows == []
    assert found.changed["users suppressed"] == (2, 2)
    assert found.changed["queries without a session"] == (0, 0)
    assert found.changed["sessions suppressed"] == (0, 0)


def test_the_gap_ends_a_session(engine: DuckDB, tmp_path: Path) -> None:
    rows = [Asked(user, word, minute) for user in "ab" for word, minute in (("x", 0), ("y", 31))]
    path = write(tmp_path / "log.parquet", rows)
    assert applied(engine, path, 2).sessions() == {(u, w): 1 for u in "ab" for w in "xy"}
    assert applied(engine, path, 2, session_gap=31).sessions() == {("a", "x y"): 1, ("b", "x y"): 1}


def test_the_log_s_own_sessions(engine: DuckDB, tmp_path: Path) -> None:
    rows = [
        *(Asked(user, word, 0, f"session {word}") for user in "ab" for word in "xy"),
        Asked("a", "z", 0, None),
        Asked("b", "z", 0, " "),
    ]
    for times in (True, False):
        path = write(tmp_path / f"{times}.parquet", rows, "session", times=times)
        found = applied(engine, path, 2)
        assert found.sessions() == {(u, w): 1 for u in "ab" for w in "xy"}
        assert found.changed["queries without a session"] == (2, 6)


def test_most_queries_may_be_without_a_session(engine: DuckDB, tmp_path: Path) -> None:
    rows = [Asked(user, "tea", minute) for user in "ab" for minute in (0, None, None, None)]
    found = applied(engine, write(tmp_path / "log.parquet", rows), 2)
    assert found.changed["sessions suppressed"] == (0, 2)
    assert found.changed["queries without a session"] == (6, 8)
    assert "queries without keywords" not in found.changed


@pytest.mark.parametrize("more", [(), ("session",)])
def test_the_log_s_own_keywords(engine: DuckDB, tmp_path: Path, more: tuple[str, ...]) -> None:
    rows = [
        Asked(user, "新茶 壶", minute, str(minute), keywords)
        for user in ("u1", "u2")
        for minute, keywords in [(0, ["新茶", " Big  Pot "]), (90, ["壶", "", " "]), (200, [])]
    ]
    path = write(tmp_path / "log.parquet", rows, "keywords", *more)
    found = applied(engine, path, 2)
    assert found.sessions() == {(u, w): 1 for u in ("u1", "u2") for w in ("big pot 新茶", "壶")}
    assert found.changed["queries without a session"] == (0, 6)
    assert found.changed["queries without keywords"] == (2, 6)


@pytest.mark.parametrize("more", [(), ("session",)])
def test_queries_without_keywords_are_told(
    engine: DuckDB, tmp_path: Path, more: tuple[str, ...]
) -> None:
    lists: list[Any] = [["tea"], [], None, [" ", ""], [None], [None, "pot"]]
    rows = [Asked(user, "tea pot", 0, "one", words) for user in "ab" for words in lists]
    rows += [Asked(user, "tea", None, None, words) for user in "ab" for words in (["x"], [])]
    rows += [Asked("a", "?!", 0, "one", [])]
    found = applied(engine, write(tmp_path / "log.parquet", rows, "keywords", *more), 2)
    assert found.sessions() == {("a", "pot tea"): 1, ("b", "pot tea"): 1}
    assert found.changed["queries without a session"] == (4, 16)
    assert found.changed["queries without keywords"] == (8, 16)


WORDS = [*"abcdefgh", "tea", "ünï", "日本"]
logs = st.lists(
    st.builds(
        Asked,
        user=st.sampled_from([f"user-{n}" for n in range(7)]),
        query=st.lists(st.sampled_from([*WORDS, "!"]), max_size=4).map(" ".join),
        minute=st.none() | st.sampled_from([0, 10, 60, 61, 200, 300]),
    ),
    max_size=40,
)


def cut(rows: list[Asked]) -> Counter[tuple[str, frozenset[str]]]:
    """Who had which sets of keywords, the slow way."""
    asked = defaultdict(list)
    for row in rows:
        if row.minute is not None and set(row.query.split()) - {"!"}:
            asked[row.user].append((row.minute, set(row.query.split()) - {"!"}))
    found: Counter[tuple[str, frozenset[str]]] = Counter()
    for user, queries in asked.items():
        held: set[str] = set()
        before = None
        for minute, words in sorted(queries, key=lambda each: each[0]):
            if before is not None and minute - before > 30:
                found[user, frozenset(held)] += 1
                held = set()
            held |= words
            before = minute
        found[user, frozenset(held)] += 1
    return found


@examples(40)
@given(logs, st.integers(2, 4), st.randoms(use_true_random=False))
def test_random_logs(
    engine: DuckDB,
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[Asked],
    k: int,
    chance: random.Random,
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    found = applied(engine, write(folder / "log.parquet", rows), k)
    assert is_k_session_anonymous(found.rows, k)
    sessions = cut(rows)
    total = sum(len(words) * number for (_, words), number in sessions.items())
    given, changed = found.sessions(), found.changed
    assert changed["sessions suppressed"] == (
        sessions.total() - given.total(),
        sessions.total(),
    )
    assert changed["keywords deleted"][1] == changed["keywords added"][1] == total
    words = [row for row in rows if set(row.query) - set(" !")]
    untimed = sum(row.minute is None for row in words)
    assert changed["queries without a session"] == (untimed, len(words))
    published = sum(len(keywords) for _, _, keywords in found.rows)
    assert published == total - changed["keywords deleted"][0] + changed["keywords added"][0]
    assert changed["sessions emptied"][0] == sum(not keywords for _, _, keywords in found.rows)
    users = {row.user for row in rows}
    assert changed["users suppressed"] == (len(users - {user for user, _ in given}), len(users))
    for user, number in Counter(user for user, _ in given.elements()).items():
        assert number <= sum(n for (other, _), n in sessions.items() if other == user)
    # Nothing but the order of the lines differs, and nothing but the ids may.
    again = applied(engine, write(folder / "again.parquet", chance.sample(rows, len(rows))), k)
    assert again.sessions() == given
    assert again.changed == changed


def test_ids_are_new_in_each_run(engine: DuckDB, tmp_path: Path) -> None:
    path = write(tmp_path / "log.parquet", BY_HAND)
    first, second = ({row[1] for row in applied(engine, path, 2).rows} for _ in range(2))
    assert len(first) == len(second) == 6
    assert not first & second
    assert all(len(each) == 16 and int(each, 16) >= 0 for each in first | second)


def test_what_is_written(tmp_path: Path) -> None:
    rows = [Asked(user, "tea") for user in "abc"] + [Asked(user, user) for user in "def"]
    path = write(tmp_path / "log.parquet", rows)
    bundle = anonymize(tmp_path / "out", z.read_log(path), KSession(k=3)).bundle
    log = bundle.log()
    assert log is not None
    assert log.column_names == ["id", "keywords"]
    assert sorted(log["keywords"].to_pylist()) == [[], [], [], ["tea"], ["tea"], ["tea"]]
    assert bundle.record.gives == ("keywords",)
    assert bundle["keywords"].arrow.to_pylist() == [{"keyword": "tea", "count": 3}]


def test_bad_input(tmp_path: Path) -> None:
    untimed = z.read_log(write(tmp_path / "untimed.parquet", BY_HAND, times=False))
    timed = z.read_log(write(tmp_path / "timed.parquet", BY_HAND))
    with pytest.raises(UsageError, match="neither times nor session ids"):
        anonymize(tmp_path / "out", untimed, KSession(k=2))
    with pytest.raises(UsageError, match="larger than the number of users"):
        anonymize(tmp_path / "out", timed, KSession(k=6))
    with pytest.raises(UsageError, match="k must be at least 2"):
        KSession(k=1)
    assert not (tmp_path / "out").exists()


@pytest.mark.real
def test_a_real_search_log(engine: DuckDB, real: Path) -> None:
    engine.drop("anonymous")
    source = open_log(z.read_log(real / "excite-small.log", preset="excite"), engine)
    KSession(k=5).apply(source)
    rows = engine.rows([Step("all", "select user, id, keywords from anonymous")])
    assert is_k_session_anonymous(rows, 5)
    assert any(keywords for _, _, keywords in rows)
