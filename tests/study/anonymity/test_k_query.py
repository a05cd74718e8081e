"""k-query and the cutting into sessions, against a second implementation in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from anonymity_checks import is_k_query_anonymous
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import LogError, UsageError
from zealous.logs.open_log import open_log
from zealous.study.anonymity import Changed, KQuery, anonymize, histograms
from zealous.study.anonymity.session_steps import session_steps

START = datetime(2026, 3, 1)
Row = tuple[Any, ...]


class Asked(NamedTuple):
    user: str
    query: str
    minute: int | None = None
    session: str | None = None


def write(path: Path, rows: Iterable[Asked], *, sessions: bool = False) -> Path:
    rows = list(rows)
    moments = [
        None if row.minute is None else START + timedelta(minutes=row.minute) for row in rows
    ]
    columns = {
        "user": pa.array([row.user for row in rows], pa.string()),
        "query": pa.array([row.query for row in rows], pa.string()),
        "time": pa.array(moments, pa.timestamp("us")),
    }
    if sessions:
        columns["session"] = pa.array([row.session for row in rows], pa.string())
    pq.write_table(pa.table(columns), path)
    return path


def applied(path: Path, method: KQuery) -> tuple[list[Row], dict[str, tuple[int, int]]]:
    """The rows (user, id, time, query) and what the owner is told."""
    with DuckDB(threads=1, memory="1GB") as engine:
        changed = method.apply(open_log(z.read_log(path), engine))
        rows = engine.rows([Step("all", "select user, id, time, query from anonymous")])
        left = engine.rows([Step("t", "select table_name from duckdb_tables()")])
    assert left == [("anonymous",)]
    return rows, {each.what: (each.number, each.of) for each in changed}


def sessions_of(rows: Iterable[Row]) -> Counter[Row]:
    """Who had which sessions, the ids forgotten."""
    found = defaultdict(list)
    for user, session, time, query in rows:
        found[user, session].append((time, query))
    assert len({session for _, session in found}) == len(found), "two sessions have one id"
    return Counter((user, tuple(sorted(asked, key=str))) for (user, _), asked in found.items())


def expected(
    rows: list[Asked], k: int, gap: int, *, by_id: bool = False, similar: bool = False
) -> Counter[Row]:
    """Sessions cut and filtered the slow way."""
    known = [
        row for row in rows if (row.session or "").strip() or (row.minute is not None and not by_id)
    ]
    known = [row._replace(query=" ".join(row.query.lower().split())) for row in known]
    users = defaultdict(set)
    for row in known:
        users[row.query].add(row.user)
    words: dict[tuple[str, int | None], set[str]] = defaultdict(set)
    for row in known:  # all that is asked at one moment
        words[row.user, row.minute] |= set(row.query.split())
    found: dict[Row, list[Any]] = defaultdict(list)
    last: dict[str, tuple[int, int]] = {}
    for row in sorted(known, key=lambda row: -1 if row.minute is None else row.minute):
        label: object = row.session
        if not by_id:
            assert row.minute is not None
            before, number = last.get(row.user, (-(10**6), 0))
            new = row.minute - before > gap
            if similar and row.minute > before:
                new = new or not words[row.user, row.minute] & words[row.user, before]
            label = number + new
            last[row.user] = (row.minute, label)
        time = None if row.minute is None else START + timedelta(minutes=row.minute)
        if len(users[row.query]) >= k:
            found[row.user, label].append((time, row.query))
    return Counter((user, tuple(sorted(asked, key=str))) for (user, _), asked in found.items())


QUERIES = ["tea", "Tea ", "green  tea", "чай", "ЧАЙ", "お茶", "चाय", "tea pot", "7"]
asked_rows = st.lists(
    st.builds(
        Asked,
        user=st.sampled_from(["u1", "u2", "u3", "u4", "u5", "u6"]),
        query=st.sampled_from(QUERIES),
        minute=st.none() | st.integers(0, 8).map(lambda step: step * 10),
        session=st.none() | st.sampled_from(["s1", "s2", "", " "]),
    ),
    max_size=25,
)


@examples(30)
@given(rows=asked_rows, k=st.integers(2, 4), gap=st.sampled_from([1, 10, 30]))
def test_sessions_by_pauses(rows, k, gap, tmp_path_factory) -> None:
    rows = [row._replace(session=None) for row in rows]
    path = write(tmp_path_factory.mktemp("log") / "log.parquet", rows)
    found, told = applied(path, KQuery(k=k, session_gap=gap))
    assert sessions_of(found) == expected(rows, k, gap)
    assert is_k_query_anonymous(((row[0], row[3]) for row in found), k)
    assert told["queries suppressed"] == (len(rows) - len(found), len(rows))
    users = {row.user for row in rows}
    assert told["users suppressed"] == (len(users - {row[0] for row in found}), len(users))
    texts = {" ".join(row.query.lower().split()) for row in rows}
    gone = texts - {row[3] for row in found}
    assert told["distinct queries suppressed"] == (len(gone), len(texts))


@examples(30)
@given(rows=asked_rows, k=st.integers(2, 4), gap=st.sampled_from([10, 30]))
def test_sessions_by_similarity(rows, k, gap, tmp_path_factory) -> None:
    """Also with queries that are dropped: sessions do not depend on what others asked."""
    rows = [row._replace(session=None) for row in rows]
    path = write(tmp_path_factory.mktemp("log") / "log.parquet", rows)
    found, _ = applied(path, KQuery(k=k, session_gap=gap, by_similarity=True))
    assert sessions_of(found) == expected(rows, k, gap, similar=True)


def test_a_query_without_a_word_of_the_last_one_ends_a_session(tmp_path) -> None:
    asked = ["green tea", "tea", "tea pot", "flights", "flights rome", "tea"]
    rows = [Asked(user, query, n) for user in "ab" for n, query in enumerate(asked)]
    path = write(tmp_path / "log.parquet", rows)
    for similar, sessions in ((False, 1), (True, 3)):
        found, _ = applied(path, KQuery(k=2, by_similarity=similar))
        assert len(sessions_of(found)) == 2 * sessions
    with DuckDB(threads=1, memory="1GB") as engine:
        source = open_log(z.read_log(path), engine)
        steps = [*source.entries, *session_steps(source, 30, by_similarity=True)]
        cut = engine.rows(
            [*steps, Step("n", "select count(distinct (user, session)) from sessions")]
        )
    assert cut == [(6,)]


@examples(20)
@given(rows=asked_rows, k=st.integers(2, 4))
def test_sessions_by_their_ids(rows, k, tmp_path_factory) -> None:
    path = write(tmp_path_factory.mktemp("log") / "log.parquet", rows, sessions=True)
    found, told = applied(path, KQuery(k=k))
    assert sessions_of(found) == expected(rows, k, 30, by_id=True)
    assert is_k_query_anonymous(((row[0], row[3]) for row in found), k)
    assert told["queries suppressed"] == (len(rows) - len(found), len(rows))
    named = {(row.user, row.session) for row in rows if (row.session or "").strip()}
    kept = {(row[0], row[1]) for row in found}
    assert told["sessions suppressed"] == (len(named) - len(kept), len(named))


def test_by_hand(tmp_path) -> None:
    rows = [
        Asked("a", "Green Tea", 0),
        Asked("a", "my own name", 5),
        Asked("a", "tea pot", 31),
        Asked("a", "green tea", 62),
        Asked("b", "green  tea", 0),
        Asked("b", "green tea", 1),
        Asked("c", "tea pot", None),
        Asked("c", "???", 3),
        Asked("c", "elsewhere", None),
    ]
    found, told = applied(write(tmp_path / "log.parquet", rows), KQuery(k=2))
    at = lambda minute: START + timedelta(minutes=minute)  # noqa: E731
    # Between 31 and 62 there are 31 minutes; "tea pot" has one user whose session is known.
    assert sessions_of(found) == Counter(
        [
            ("a", ((at(0), "green tea"),)),
            ("a", ((at(62), "green tea"),)),
            ("b", ((at(0), "green tea"), (at(1), "green tea"))),
        ]
    )
    assert told == {
        "users suppressed": (1, 3),
        "sessions suppressed": (0, 3),
        "queries suppressed": (4, 8),
        "distinct queries suppressed": (3, 4),
    }


def test_a_pause_as_long_as_the_gap_ends_no_session(tmp_path) -> None:
    rows = [Asked(user, "tea", minute) for user in "ab" for minute in (0, 30, 61)]
    found, told = applied(write(tmp_path / "log.parquet", rows), KQuery(k=2))
    assert sorted(len(asked) for _, asked in sessions_of(found)) == [1, 1, 2, 2]
    assert told["sessions suppressed"] == (0, 4)


def test_a_user_counts_once(tmp_path) -> None:
    rows = [Asked("a", "tea", minute) for minute in range(9)] + [Asked("b", "pot", 0)]
    assert applied(write(tmp_path / "log.parquet", rows), KQuery(k=2))[0] == []


def test_a_blank_session_is_none(tmp_path) -> None:
    rows = [Asked(user, "tea", 0, session) for user in "ab" for session in ("s", " ", None, "")]
    rows += [Asked("a", "???", 0, session) for session in ("s", " ", None)]  # no query at all
    found, told = applied(write(tmp_path / "log.parquet", rows, sessions=True), KQuery(k=2))
    assert len(found) == 2
    assert told["queries suppressed"] == (6, 8)


def test_a_log_without_times_has_its_session_ids(tmp_path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,query,session\na,tea,s\na,tea,t\nb,tea,s\nb,tea,t\n")
    made = anonymize(tmp_path / "out", z.read_log(path), KQuery(k=2))
    log = made.bundle.log()
    assert log is not None
    assert log.column_names == ["id", "query"]
    assert len(set(log["id"].to_pylist())) == 4


def test_ids_lead_nowhere(tmp_path) -> None:
    rows = [Asked(f"user-{n}", "tea", 0) for n in range(50)]
    path = write(tmp_path / "log.parquet", rows)
    one, two = (applied(path, KQuery(k=2))[0] for _ in range(2))
    assert not {row[1] for row in one} & {row[1] for row in two}
    assert sorted(one) != sorted(one, key=lambda row: row[1])
    assert not any(row[0] in row[1] for row in one)


def test_the_output(tmp_path) -> None:
    rows = [Asked(user, query, 0) for user in "abc" for query in ("Green Tea", f"only {user}")]
    path = write(tmp_path / "log.parquet", rows)
    made = anonymize(tmp_path / "out", z.read_log(path), KQuery(k=3))
    log = made.bundle.log()
    assert log is not None
    assert log["query"].to_pylist() == ["green tea"] * 3
    assert log["time"].to_pylist() == [START] * 3
    assert log["id"].to_pylist() == sorted(log["id"].to_pylist())
    assert list(made.bundle["queries"].arrow.to_pylist()) == [{"query": "green tea", "count": 3}]
    assert made.bundle.record.settings == {
        "k": 3,
        "session_gap": 30,
        "by_similarity": False,
        "clicks": False,
    }
    assert Changed(what="queries suppressed", number=3, of=6) in made.changed
    assert all("only" not in file.read_text() for file in (tmp_path / "out").glob("*.csv"))


def test_bad_input(tmp_path) -> None:
    for k in (1, 0, -3):
        with pytest.raises(UsageError, match="k must be"):
            KQuery(k=k)
    log = z.read_log(write(tmp_path / "log.parquet", [Asked("a", "tea", 0), Asked("b", "tea", 0)]))
    with pytest.raises(UsageError, match="k is larger than the number of users"):
        anonymize(tmp_path / "out", log, KQuery(k=3))
    empty = z.read_log(write(tmp_path / "empty.parquet", []))
    with pytest.raises(LogError, match="no entry with a user id"):
        anonymize(tmp_path / "out", empty, KQuery(k=2))
    assert not (tmp_path / "out").exists()


def test_a_log_without_times_and_sessions_is_refused(tmp_path) -> None:
    (tmp_path / "log.csv").write_text("user,query\na,tea\nb,tea\n")
    with pytest.raises(UsageError, match="neither times nor session ids"):
        anonymize(tmp_path / "out", z.read_log(tmp_path / "log.csv"), KQuery(k=2))


def test_nothing_is_left_of_a_log_where_all_is_rare(tmp_path) -> None:
    path = write(tmp_path / "log.parquet", [Asked("a", "tea", 0), Asked("b", "pot", 0)])
    made = anonymize(tmp_path / "out", z.read_log(path), KQuery(k=2))
    log = made.bundle.log()
    assert log is not None
    assert log.num_rows == 0
    assert len(made.bundle["queries"]) == 0


@pytest.mark.real
def test_a_real_log(real) -> None:
    log = z.read_log(real / "excite-small.log", "excite")
    with DuckDB(threads=1, memory="1GB") as engine:
        KQuery(k=3).apply(open_log(log, engine))
        rows = engine.rows([Step("all", "select user, query from anonymous")])
    assert rows
    assert is_k_query_anonymous(rows, 3)


CLICKED = [  # user, query, url
    ("a", "Tea", "https://tea.example"),
    ("b", "tea", "https://tea.example"),
    ("b", "tea", "https://only-b.example"),
    ("c", "tea", None),
    ("a", "own a", "https://secret.example"),
]


@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize("sessions", [False, True])
def test_clicks_of_queries_that_stay_are_kept(tmp_path: Path, lists: bool, sessions: bool) -> None:
    rows = [Asked(user, query, 0, "s") for user, query, _ in CLICKED]
    table = pq.read_table(write(tmp_path / "bare.parquet", rows, sessions=sessions))
    urls = [([url] if url else None) if lists else url for *_, url in CLICKED]
    pq.write_table(table.append_column("url", pa.array(urls)), tmp_path / "log.parquet")
    log = z.read_log(tmp_path / "log.parquet")
    made = anonymize(tmp_path / "out", log, KQuery(k=2, clicks=True)).bundle
    kept = made.log()
    assert kept is not None
    assert kept.schema.types[-1] == (pa.list_(pa.string()) if lists else pa.string())
    assert sorted(map(str, kept["url"].to_pylist())) == sorted(map(str, urls[:4]))
    assert made.record.gives == ("keywords", "queries", "clicks", "query-pairs")
    # The second has one id alone: k is about queries, and the output says what that leaves open.
    expected = {"https://tea.example": 2, "https://only-b.example": 1}
    assert {row["url"]: row["count"] for row in made["clicks"].arrow.to_pylist()} == expected
    assert "one person alone" in made.record.lacks
    in_place = histograms(log, KQuery(k=2, clicks=True))["clicks"]
    assert {row["url"]: row["count"] for row in in_place.to_pylist()} == expected


def test_clicks_are_kept_only_where_they_are_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "bare.parquet", [Asked(user, "tea", 0) for user in "abc"])
    with pytest.raises(UsageError, match="url"):
        anonymize(tmp_path / "out", z.read_log(path), KQuery(k=2, clicks=True))
    assert not (tmp_path / "out").exists()
    table = pq.read_table(path).append_column("url", pa.array(["https://x.example"] * 3))
    pq.write_table(table, tmp_path / "log.parquet")
    made = anonymize(tmp_path / "out", z.read_log(tmp_path / "log.parquet"), KQuery(k=2)).bundle
    assert made.record.log is not None
    assert "url" not in made.record.log.columns
    assert "clicks" not in made.record.gives
    assert len(made["clicks"]) == 0
