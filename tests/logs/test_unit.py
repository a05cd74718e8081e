"""The unit of privacy: which of a user's entries belong together, and the period of a log."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, cast, get_args

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from units import PAIRS, check_one_to_one

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.items import Kind
from zealous.logs.log import Cleaning
from zealous.logs.open_log import open_log
from zealous.logs.source import count_users
from zealous.privacy.guarantee import UNITS, Unit
from zealous.privacy.period import Period

START = datetime(2026, 3, 1, 23, 0)
Row = tuple[str, int | None, str, str | None]  # user, minutes from the start, query, session

rows = st.lists(
    st.tuples(
        st.sampled_from(["a", "a 2026-03-01", "b"]),
        st.none() | st.integers(0, 200).map(lambda n: n * 7),
        st.sampled_from(["tea", "milk", "cups"]),
        st.sampled_from(["1", "2026-03-011", "", None]),
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(memory="2GB", threads=1) as engine:
        yield engine


def write(path: Path, found: list[Row], *, session: bool) -> Path:
    times = [None if row[1] is None else START + timedelta(minutes=row[1]) for row in found]
    table = {
        "user": pa.array([row[0] for row in found], pa.string()),
        "time": pa.array(times, pa.timestamp("us")),
        "query": pa.array([row[2] for row in found], pa.string()),
    }
    if session:
        table["session"] = pa.array([row[3] for row in found], pa.string())
    pq.write_table(pa.table(table), path)
    return path


def counted(
    engine: DuckDB,
    path: Path,
    unit: Unit,
    bound: int = 99,
    kind: Kind = z.queries(1),  # noqa: B008
    **how: Any,
) -> dict[str, int]:
    log = z.read_log(path, cleaning=Cleaning(**how))
    source = open_log(log, engine, unit=unit)
    batches = histogram(kind, source, bound=bound, at_least=1, select="random", key=5)
    (item,) = kind.columns()
    return {row[item]: row["count"] for batch in batches for row in batch.to_pylist()}


def expected(found: list[Row], unit: Unit, session: bool) -> dict[str, int]:
    """The same, without SQL."""
    held: dict[str, set[object]] = defaultdict(set)
    last: dict[str, tuple[int, int]] = {}
    for user, minute, query, label in sorted(
        found, key=lambda row: (row[0], row[1] if row[1] is not None else -1)
    ):
        if unit in ("user", "query", "keyword"):
            held[query].add(user)
        elif unit == "session" and session:
            if label:
                held[query].add((user, label))
        elif minute is None:
            continue
        elif unit == "user-day":
            held[query].add((user, (START + timedelta(minutes=minute)).date()))
        else:
            begun, before = last.get(user, (minute, minute))
            if minute > before + 30:
                begun = minute
            last[user] = (begun, minute)
            held[query].add((user, begun))
    return {query: len(units) for query, units in held.items()}


@pytest.mark.parametrize(
    ("form", "asked", "refused"),
    [
        ("%H:%M:%S", {"unit": "user-day"}, True),
        ("%H:%M:%S", {"unit": "session"}, True),
        ("%d %H:%M", {"unit": "user-day"}, True),
        ("%H:%M:%S", {"period": Period.parse("2026-03")}, True),
        ("%H:%M:%S", {}, False),
        ("%d/%m/%Y %H:%M", {"unit": "user-day"}, False),
        ("%Y %j", {"unit": "user-day"}, False),
        ("epoch", {"unit": "session"}, False),
    ],
)
def test_times_without_a_date_tell_no_day(
    form: str, asked: dict[str, Any], refused: bool, engine: DuckDB, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text("user,time,query\na,12:00:00,tea\n")
    log = z.read_log(tmp_path / "log.csv", time_format=form)
    if not refused:
        open_log(log, engine, **asked)
        return
    with pytest.raises(UsageError, match="needs times with a year, a month and a day"):
        open_log(log, engine, **asked)


@pytest.mark.parametrize("session", [True, False])
@pytest.mark.parametrize("unit", get_args(Unit))
@examples(30)
@given(found=rows)
def test_counts_units(
    engine: DuckDB,
    tmp_path_factory: pytest.TempPathFactory,
    unit: Unit,
    session: bool,
    found: list[Row],
) -> None:
    path = write(tmp_path_factory.mktemp("unit") / "log.parquet", found, session=session)
    assert counted(engine, path, unit) == expected(found, unit, session)


def test_a_session_may_last_for_months(engine: DuckDB, tmp_path: Path) -> None:
    """Each has a query of its own; others are in between, by whom they are not cut."""
    begun, rows = START, list[Row]()
    for number, (steps, pause) in enumerate([(1, 31), (6_000, 31), (3, 90_000), (4_000, 31)]):
        minutes = range(0, steps * 29, 29)
        first = int((begun - START).total_seconds()) // 60
        rows += [("a", first + minute, f"session {number}", None) for minute in minutes]
        begun += timedelta(minutes=minutes[-1] + pause)
    rows += [("b", minute, "other", None) for minute in range(0, 90_000, 1_500)]
    random.Random(1).shuffle(rows)
    path = write(tmp_path / "log.parquet", rows, session=False)
    for limits in (z.Limits(), z.Limits(entries=7_000)):  # with the entries of a heavy user stored
        found = counted(engine, path, "session", limits=limits)
        assert found == {**{f"session {number}": 1 for number in range(4)}, "other": 60}


@pytest.mark.parametrize("seed", range(3))
def test_sessions_are_cut_to_the_microsecond(engine: DuckDB, tmp_path: Path, seed: int) -> None:
    """Also before 1970; a pause as long as the gap ends none."""
    chance, gap = random.Random(seed), timedelta(minutes=30)
    eve = datetime(1970, 1, 1)
    times = [eve + timedelta(minutes=each) for each in (-210, -180, -149, -15, 20)]
    for _ in range(60):
        near = chance.choice([0, 1, 1, 2, 3]) * gap / chance.choice([1, 1, 2])
        times.append(times[-1] + near + timedelta(microseconds=chance.choice([0, 0, 1])))
    begun = times[:1]
    for before, time in itertools.pairwise(times):
        begun.append(time if time - before > gap else begun[-1])
    chance.shuffle(order := list(range(len(times))))
    table = {
        "user": ["a"] * len(times),
        "query": [str(n) for n in order],
        "time": pa.array([times[n] for n in order], pa.timestamp("us")),
    }
    pq.write_table(pa.table(table), tmp_path / "log.parquet")
    source = open_log(z.read_log(tmp_path / "log.parquet"), engine, unit="session")
    found = engine.rows([*source.entries, Step("named", "select query::int, user from entries")])
    micros = [(each - eve) // timedelta(microseconds=1) for each in begun]
    assert sorted(found) == [(n, f"a {each}") for n, each in enumerate(micros)]
    assert 5 < len(set(begun)) < 50


# Ids that look like the names of units, or end where others begin.
ids = st.text(st.sampled_from("1 :-a0\u0301"), min_size=1, max_size=4) | st.sampled_from(
    ["a 2026-03-01", "a 1772319600000000", "1:a", "2:a1", "17850.0", "0001-01-01"]
)
dates = st.datetimes(datetime(1, 1, 1), datetime(9998, 12, 31)).map(lambda at: at.replace(hour=1))


@pytest.mark.parametrize("which", PAIRS)
def test_names_of_units_are_one_to_one(engine: DuckDB, tmp_path: Path, which: str) -> None:
    unit, pairs = PAIRS[which]
    check_one_to_one(engine, pairs, unit, tmp_path / "l.parquet")


@examples(50)
@given(
    pairs=st.lists(st.tuples(ids, ids), min_size=1, max_size=30)
    | st.lists(st.tuples(ids, dates), min_size=1, max_size=30)
)
def test_names_of_any_units_are_one_to_one(
    engine: DuckDB, tmp_path_factory: pytest.TempPathFactory, pairs: list[Any]
) -> None:
    path = tmp_path_factory.mktemp("names") / "l.parquet"
    unit: Unit = "session" if isinstance(pairs[0][1], str) else "user-day"
    check_one_to_one(engine, pairs, unit, path)


@pytest.mark.parametrize("session", [True, False])
@pytest.mark.parametrize("unit", ["user-day", "session"])
def test_one_unit_moves_only_its_own_items(
    engine: DuckDB, tmp_path: Path, unit: Unit, session: bool
) -> None:
    # One user with three units far apart, each of ten items, of which two count.
    history: list[Row] = [
        ("a", day * 1440 + n, f"d{day} q{n}", str(day)) for day in range(3) for n in range(10)
    ]
    whole = counted(engine, write(tmp_path / "w.parquet", history, session=session), unit, 2)
    for gone in range(3):
        rest = [row for row in history if row[3] != str(gone)]
        path = write(tmp_path / f"{gone}.parquet", rest, session=session)
        left = counted(engine, path, unit, 2)
        assert left == {q: n for q, n in whole.items() if not q.startswith(f"d{gone}")}


def test_one_query_moves_only_its_own_keywords(engine: DuckDB, tmp_path: Path) -> None:
    """However many others she asks, and of which two keywords count."""
    queries = [" ".join(f"{letter}{n}" for n in range(8)) for letter in "abc"]
    history: list[Row] = [("a", n, query, None) for n, query in enumerate(queries)]
    path = write(tmp_path / "w.parquet", history, session=False)
    whole = counted(engine, path, "query", 2, kind=z.keywords(2))
    assert len(whole) == 6
    for gone in "abc":
        rest = [row for row in history if not row[2].startswith(gone)]
        path = write(tmp_path / f"{gone}.parquet", rest, session=False)
        left = counted(engine, path, "query", 2, kind=z.keywords(2))
        assert left == {word: n for word, n in whole.items() if not word.startswith(gone)}


def test_a_query_and_a_keyword_count_once_for_a_user(engine: DuckDB, tmp_path: Path) -> None:
    asked = ["Green tea", "green  TEA", "green tea", "tea tea", "tea cups", "?"]
    history: list[Row] = [(user, n, query, None) for user in "ab" for n, query in enumerate(asked)]
    path = write(tmp_path / "w.parquet", history, session=False)
    assert counted(engine, path, "query") == {"green tea": 2, "tea tea": 2, "tea cups": 2}
    words = counted(engine, path, "query", kind=z.keywords(9))
    assert words == {"tea": 6, "green": 2, "cups": 2}  # a keyword: for each query that holds it
    words = counted(engine, path, "keyword", kind=z.keywords(1))
    assert words == {"tea": 2, "green": 2, "cups": 2}
    # A robot's other queries are left.
    limited = counted(engine, path, "query", max_entries_per_user=2)
    assert limited == {"tea tea": 2, "tea cups": 2}


@pytest.mark.parametrize("limits", [z.Limits(), z.Limits(entries=3)])
def test_keywords_of_a_list_are_units(engine: DuckDB, tmp_path: Path, limits: z.Limits) -> None:
    lists = [["Tea ", "tea", " "], ["tea", "milk"], None, ["milk", None], ["tea"], ["tea"]]
    table = {"user": ["a", "a", "a", "b", "a", "a"], "words": pa.array(lists)}
    pq.write_table(pa.table(table), tmp_path / "log.parquet")
    columns, cleaning = z.Columns(keywords="words"), Cleaning(limits=limits)
    log = z.read_log(tmp_path / "log.parquet", columns=columns, cleaning=cleaning)
    source = open_log(log, engine, unit="keyword")
    batches = histogram(z.keywords(1), source, bound=1, at_least=1, select="random", key=5)
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert sorted((row["keyword"], row["count"]) for row in rows) == [("milk", 2), ("tea", 1)]
    assert count_users(source) == 3


@pytest.mark.parametrize(
    ("unit", "kinds", "why"),
    [
        ("query", [z.query_pairs(1)], "not published"),
        ("query", [z.phrase_pairs(1)], "not published"),
        ("query", z.itemsets("x", max_size=2, items_per_user=2), "not published"),
        ("query", [z.columns("x", items_per_user=1)], "not published"),
        ("query", [z.queries(2)], "items_per_user"),
        ("keyword", [z.keywords(2)], "items_per_user"),
        ("keyword", [z.queries(1)], "not published"),
        ("keyword", [z.clicks(1)], "not published"),
        ("keyword", [z.query_clicks(1)], "not published"),
    ],
)
def test_items_that_a_weak_unit_is_too_small_for(unit: Unit, kinds: Any, why: str) -> None:
    goal = z.Indistinguishability(epsilon=1, delta="1e-9", unit=unit)
    with pytest.raises(UsageError, match=why):
        z.plan(goal, kinds)


def test_a_robot_day_leaves_the_users_other_days(engine: DuckDB, tmp_path: Path) -> None:
    history: list[Row] = [("a", n, "many", None) for n in range(30)]
    history.append(("a", 2000, "one", None))
    path = write(tmp_path / "log.parquet", history, session=False)
    assert counted(engine, path, "user-day", max_entries_per_user=5) == {"one": 1}
    assert counted(engine, path, "user", max_entries_per_user=5) == {}


def test_the_bound_is_on_units(engine: DuckDB, tmp_path: Path) -> None:
    history: list[Row] = [("a", 0, "x", None), ("a", 1440, "x", None), ("b", None, "x", None)]
    log = z.read_log(write(tmp_path / "log.parquet", history, session=False))
    assert count_users(open_log(log, engine, unit="user-day")) == 2
    assert count_users(open_log(log, engine)) == 2
    goal = z.ProbabilisticDP(epsilon=9, delta="0.1", users=1, unit="user-day")
    with pytest.raises(z.ZealousError, match="more user-days than"):
        z.publish(log, goal, [z.queries(1)], account=None, attendance="proceed")
    goal = z.ProbabilisticDP(epsilon=9, delta="0.1", users=1, unit="query")
    assert count_users(open_log(log, engine, unit="query")) == 2
    with pytest.raises(z.ZealousError, match="more user-queries than"):
        z.publish(log, goal, [z.queries(1)], account=None, attendance="proceed")


@pytest.mark.parametrize(("unit", "most"), [("user-day", 3), ("session", 3 * 48)])
def test_one_person_has_few_units_in_a_period(
    engine: DuckDB, tmp_path: Path, unit: Unit, most: int
) -> None:
    """However she spreads her entries: docs/proofs/bounding.md, from which U can be declared."""
    for pause in (1, 15, 30, 31, 45):
        minutes = range(0, 5 * 1440, pause)
        history: list[Row] = [("a", minute, f"q{minute}", None) for minute in minutes]
        log = z.read_log(write(tmp_path / "log.parquet", history, session=False))
        period = Period.parse("2026-03-02..2026-03-04")
        assert 0 < count_users(open_log(log, engine, unit=unit, period=period)) <= most


def test_a_unit_needs_its_column(engine: DuckDB, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\na,x\n")
    for unit in ("user-day", "session"):
        with pytest.raises(UsageError, match="time="):
            open_log(z.read_log(tmp_path / "log.csv"), engine, unit=unit)
    (tmp_path / "bought.csv").write_text("user,product\na,x\n")
    for weak in ("query", "keyword"):
        with pytest.raises(UsageError, match="query="):
            open_log(z.read_log(tmp_path / "bought.csv"), engine, unit=weak)


def test_every_claim_names_its_unit() -> None:
    for unit in get_args(Unit):
        for definition in (z.ProbabilisticDP, z.Indistinguishability):
            goal = definition(epsilon=1, delta="1e-9", users=5, unit=unit)
            kind = z.keywords(1) if unit == "keyword" else z.queries(1)
            text = str(z.plan(goal, [kind]))
            assert f"unit: {UNITS[unit]}" in text
            assert ("A weak unit of privacy" in text) == (unit in ("query", "keyword"))
            assert goal.share(goal.epsilon / 2).unit == unit
    with pytest.raises(UsageError, match="unit"):
        z.ProbabilisticDP(epsilon=1, delta="1e-9", users=5, unit=cast("Unit", "week"))


def test_a_period_keeps_its_days(engine: DuckDB, tmp_path: Path) -> None:
    history: list[Row] = [("a", 59, "one", None), ("a", 60, "two", None), ("a", None, "no", None)]
    log = z.read_log(write(tmp_path / "log.parquet", history, session=False))
    for text, kept in (
        ("2026-03-01", {"one"}),
        ("2026-03-02", {"two"}),
        ("2026-03", {"one", "two"}),
    ):
        source = open_log(log, engine, period=Period.parse(text))
        batches = histogram(z.queries(1), source, bound=9, at_least=1, select="random", key=1)
        assert {row["query"] for batch in batches for row in batch.to_pylist()} == kept


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026", date(2026, 1, 1), date(2026, 12, 31)),
        ("2024-Q1", date(2024, 1, 1), date(2024, 3, 31)),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("2026-W53", date(2026, 12, 28), date(2027, 1, 3)),
        ("2026-03-05", date(2026, 3, 5), date(2026, 3, 5)),
        ("2026-03..2026-Q3", date(2026, 3, 1), date(2026, 9, 30)),
    ],
)
def test_periods(text: str, first: date, last: date) -> None:
    period = Period.parse(text)
    assert (period.first, period.end) == (first, last + timedelta(days=1))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "march",
        "2026-3",
        "2026-13",
        "2026-02-30",
        "2026-Q5",
        "..",
        "2026-03..2026-02",
        "2025-W53",
        "0000",
        "9999",
    ],
)
def test_no_periods(text: str) -> None:
    with pytest.raises(UsageError, match="period"):
        Period.parse(text)


def test_periods_overlap_by_their_days() -> None:
    quarter, month, later = (Period.parse(each) for each in ("2026-Q1", "2026-03", "2026-04"))
    assert quarter.overlaps(month)
    assert month.overlaps(quarter)
    assert not month.overlaps(later)
    assert not later.overlaps(quarter)
