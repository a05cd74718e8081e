"""Whether what one person alone asked can be read in an output."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.logs.log import Log
from zealous.release.table import Table
from zealous.study.anonymity import KKeyword, KQuery, Pseudonym, TokenHash, anonymize
from zealous.study.attacks.presence import Presence, measure_presence
from zealous.study.attacks.rate import Rate
from zealous.synthetic import generate

START = datetime(2026, 1, 1)
NONE = Table(
    arrow=pa.table({"query": pa.array([], pa.string()), "count": pa.array([], pa.int64())})
)
# One user alone asked: green kiwi; kiwi green tea (whose tea nobody else used); rare thing (rare);
# weather thing now (now).
ROWS = [
    ("u1", "weather"),
    ("u1", "green kiwi"),
    ("u1", "Green  Kiwi"),
    ("u2", "Weather"),
    ("u2", "kiwi green tea"),
    ("u3", "weather"),
    ("u3", "rare thing"),
    ("u3", "weather thing"),
    ("u4", "weather thing now"),
    ("u4", "weather thing"),
]


def engine() -> DuckDB:
    return DuckDB(threads=1, memory="1GB")


def written(path: Path, rows: list[tuple[str, str]]) -> Log:
    times = [START + timedelta(hours=n) for n in range(len(rows))]
    users, queries = [user for user, _ in rows], [query for _, query in rows]
    pq.write_table(pa.table({"user": users, "time": times, "query": queries}), path)
    return z.read_log(path)


def shown(**columns: list[object]) -> dict[str, Table]:
    return {"any": Table(arrow=pa.table(columns))}


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return written(tmp_path / "log.parquet", ROWS)


def look(log: Log, tables: dict[str, Table], rows: pa.Table | None = None) -> tuple[int, ...]:
    """Seen queries, all of them, seen words, all of them."""
    found = measure_presence(log, tables, rows, sample=100, seed=1, engine=engine())
    return (found.query.successes, found.query.trials, found.word.successes, found.word.trials)


def test_nothing_is_in_an_empty_output(log: Log) -> None:
    assert look(log, {}) == (0, 4, 0, 3)
    assert look(log, {"queries": NONE}) == (0, 4, 0, 3)


def test_a_query_is_seen_whole_or_not_at_all(log: Log) -> None:
    assert look(log, shown(query=["green kiwi"])) == (1, 4, 0, 3)
    assert look(log, shown(query=["green", "kiwi", "kiwi green"])) == (0, 4, 0, 3)
    assert look(log, shown(query=["weather", "weather thing"])) == (0, 4, 0, 3)


def test_a_word_is_seen_alone_in_a_query_or_in_a_list(log: Log) -> None:
    assert look(log, shown(keyword=["tea", "teas", "no", "kiwi"])) == (0, 4, 1, 3)
    assert look(log, shown(query=["a cup of tea"], next_query=["now or never"])) == (0, 4, 2, 3)
    lists = pa.table({"id": ["a", "b"], "keywords": [["rare", "x"], []]})
    assert look(log, {}, lists) == (0, 4, 1, 3)


def test_a_pair_and_the_log_are_looked_at_too(log: Log) -> None:
    assert look(log, shown(query=["a"], next_query=["Rare  Thing"])) == (1, 4, 1, 3)
    rows = pa.table({"id": ["a"], "query": ["KIWI green tea"]})
    assert look(log, {"queries": NONE}, rows) == (1, 4, 1, 3)


def test_the_word_she_used_least_is_looked_for(tmp_path: Path) -> None:
    rows = [("u1", "aa bb"), ("u1", "aa cc"), ("u2", "dd")]
    log = written(tmp_path / "log.parquet", rows)
    # Of "aa bb" it is bb, of "aa cc" it is cc: aa was used twice.
    assert look(log, shown(keyword=["aa"])) == (0, 3, 0, 3)
    assert look(log, shown(keyword=["bb", "cc"])) == (0, 3, 2, 3)


def test_a_query_of_two_users_is_nobodys(tmp_path: Path) -> None:
    log = written(tmp_path / "log.parquet", [("u1", "Tea "), ("u2", "tea"), ("u2", "tea")])
    assert look(log, shown(query=["tea"], keyword=["tea"])) == (0, 0, 0, 0)


def test_each_method_by_what_it_leaves(log: Log, tmp_path: Path) -> None:
    methods = {
        "pseudonym": (Pseudonym(), (4, 4, 3, 3)),
        "k-query": (KQuery(k=2), (0, 4, 0, 3)),
        "k-keyword": (KKeyword(k=2), (0, 4, 0, 3)),
        "token-hash": (TokenHash(), (0, 4, 0, 3)),
    }
    for name, (method, expected) in methods.items():
        bundle = anonymize(tmp_path / name, log, method, engine=engine()).bundle
        assert look(log, dict(bundle.tables), bundle.log()) == expected, name


@pytest.mark.extended
def test_a_sample_is_fixed_by_its_seed(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    generate(path, users=1_000, seed=5)
    log = z.read_log(path)
    half = [
        query for n, query in enumerate(sorted(pq.read_table(path)["query"].to_pylist())) if n % 2
    ]
    tables = shown(query=half)

    def seen(seed: int) -> Presence:
        return measure_presence(log, tables, None, sample=300, seed=seed)

    assert seen(1) == seen(1)
    assert len({seen(seed).query.successes for seed in range(4)}) > 1
    assert seen(1).query.trials == 300
    goal = z.ProbabilisticDP(epsilon=2, delta="0.001", users=1_000)
    release = z.publish(log, goal, [z.queries(1), z.keywords(1)])
    found = measure_presence(log, release.tables, None, sample=300, seed=1)
    assert (found.query.successes, found.word.successes) == (0, 0)


def test_a_sample_of_nothing_is_refused(log: Log) -> None:
    with pytest.raises(UsageError, match="sample"):
        measure_presence(log, {}, None, sample=0, seed=1)


WORDS = st.sampled_from(["tea", "tee", "Tea", "kiwi", "été", "茶"])
QUERY = st.lists(WORDS, min_size=1, max_size=2).map(" ".join)
LOGS = st.lists(st.tuples(st.sampled_from(["u1", "u2", "u3"]), QUERY), min_size=1, max_size=8)


@examples(20)
@given(rows=LOGS, output=st.lists(QUERY, max_size=4))
def test_against_plain_python(rows: list[tuple[str, str]], output: list[str]) -> None:
    asked = [(user, query.lower()) for user, query in rows]
    used = [(user, word) for user, query in asked for word in query.split()]
    alone = {q for _, q in asked if len({u for u, other in asked if other == q}) == 1}
    own = {w for _, w in used if len({u for u, other in used if other == w}) == 1}
    rarest = {
        query: min(mine, key=lambda word: ([w for _, w in used].count(word), word))
        for query in alone
        if (mine := set(query.split()) & own)
    }
    read = {query.lower() for query in output}
    words = {word for query in read for word in query.split()}
    with TemporaryDirectory() as folder:
        log = written(Path(folder) / "log.parquet", rows)
        table = {"queries": Table(arrow=pa.table({"query": pa.array(output, pa.string())}))}
        found = measure_presence(log, table, None, sample=100, seed=1, engine=engine())
    assert found == Presence(
        query=Rate(successes=len(alone & read), trials=len(alone)),
        word=Rate(successes=sum(word in words for word in rarest.values()), trials=len(rarest)),
    )
