"""Spark, DuckDB and a short oracle in Python give the same histograms of the same log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from oracle import md5_place
from sampling import sampled
from spark import SPARK, Engines, md5_rank, read
from units import PAIRS, check_one_to_one
from wide_oracle import Entry, Item, expected, known, logs

import zealous as z
from zealous import Spark
from zealous.counting.histogram import histogram
from zealous.engines.sql import Step
from zealous.items import Kind
from zealous.logs.id_sketch import sketch_ids
from zealous.logs.open_log import open_log
from zealous.logs.source import Source
from zealous.privacy.period import Period

pytest_plugins = ("spark",)
pytestmark = SPARK

BEGIN = datetime(2026, 3, 1, 20)


@pytest.fixture(scope="module")
def many() -> list[Entry]:
    """Many small logs that hypothesis made, of different people: one query looks at all."""
    found: list[Entry] = []

    @settings(
        max_examples=200,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(logs)
    def collect(entries: list[Entry]) -> None:
        number = len(found)
        for each in entries:
            user = each.user.replace("u", f"u{number}").replace("v", f"v{number}")
            found.append(each._replace(user=user))

    collect()
    assert len(found) > 300
    return found


@pytest.fixture(scope="module")
def path(many: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> Path:
    times = [None if e.time is None else BEGIN + timedelta(seconds=e.time) for e in many]
    texts = pa.list_(pa.string())
    columns = {
        "who": pa.array([each.user for each in many], pa.string()),
        "query": pa.array([each.query for each in many], pa.string()),
        "time": pa.array(times, pa.timestamp("us")),
        "urls": pa.array([each.urls for each in many], texts),
        "visit": pa.array([each.session for each in many], pa.string()),
        "country": pa.array([each.country for each in many], pa.string()),
        "words": pa.array([each.keywords for each in many], texts),
    }
    path = tmp_path_factory.mktemp("parity") / "log.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def counted(source: Source, kind: Kind, **how: Any) -> Counter[Item]:
    found: Counter[Item] = Counter()
    for batch in histogram(kind, source, at_least=1, **how):
        for row in batch.to_pylist():
            count = row.pop("count")
            item = tuple(row.values())
            assert item not in found
            found[item] = count
    return found


KINDS: dict[str, tuple[Kind, dict[str, str]]] = {
    "queries": (z.queries(9), {}),
    "queries folded": (z.queries(9, fold_words=True), {}),
    "queries by country": (z.queries(9, by="country"), {}),
    "keywords": (z.keywords(9), {}),
    "keywords of a column": (z.keywords(9), {"keywords": "words"}),
    "clicks": (z.clicks(9), {}),
    "query-clicks folded": (z.query_clicks(9, fold_words=True), {}),
    "query-pairs": (z.query_pairs(9), {}),
    "query-pairs by country": (z.query_pairs(9, by="country"), {}),
    "query-pairs of a session": (z.query_pairs(9), {"session": "visit"}),
    "phrase-pairs": (z.phrase_pairs(9), {}),
    "columns": (z.columns("visit", "country", items_per_user=9), {}),
}


@pytest.mark.parametrize("name", sampled(list(KINDS), str, share=6))
def test_same_as_the_oracle(
    name: str,
    many: list[Entry],
    path: Path,
    engines: Engines,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind, roles = KINDS[name]
    columns = z.Columns(user="who", **roles)
    sources = [
        open_log(read(engine, path, columns=columns), engine, kind.extra_columns())
        for engine in engines
    ]
    for engine in engines:
        monkeypatch.setattr(type(engine), "rank_key", md5_rank)
    monkeypatch.setattr(type(engines[0]), "rank_bin", lambda _, rank: md5_place(rank))
    for bound, select in enumerate(("random", "first", "frequent"), 1):
        how: dict[str, Any] = {"bound": bound, "select": select, "key": 2**64 - bound}
        right = expected(kind, roles, many, **how)
        assert right.total() > 5
        for source in sources:
            found = counted(source, kind, **how)
            assert found - right == right - found == Counter(), (source.engine, select)


@pytest.mark.extended
def test_ids_have_the_same_sketch(many: list[Entry], path: Path, engines: Engines) -> None:
    columns = z.Columns(user="who")
    sketches = [
        sketch_ids(open_log(read(engine, path, columns=columns), engine, sketch_key="k"), "k")
        for engine in engines
    ]
    assert sketches[0] == sketches[1]
    assert sketches[0].slots.count("--") < 256


UNITS: list[dict[str, Any]] = [
    {"unit": "user-day"},
    {"unit": "session"},
    {"unit": "session", "session": "visit"},
    {"unit": "user", "most": 3},
    {"unit": "user-day", "most": 2, "excluded": True},
    {"unit": "user", "period": "2026-03-02", "excluded": True},
]


def units(
    entries: list[Entry],
    *,
    unit: str,
    session: str | None = None,
    most: int = 10**9,
    excluded: Sequence[str] = (),
    period: str | None = None,
) -> Counter[Any]:
    """How many entries each unit of privacy has, its name being what makes it one."""
    found: Counter[Any] = Counter()
    last: dict[str, tuple[int, int]] = {}
    in_order = sorted(known(entries), key=lambda each: -1 if each.time is None else each.time)
    for user, _, time, _, visit, *_ in in_order:
        day = None if time is None else (BEGIN + timedelta(seconds=time)).date().isoformat()
        if user in excluded or (period and day != period):
            continue
        if unit == "user":
            found[user] += 1
        elif session:
            if visit is not None and visit.strip(" \u3000"):
                found[user, visit] += 1
        elif time is not None and unit == "user-day":
            found[user, day] += 1
        elif time is not None:
            before, began = last.get(user, (-(10**9), 0))
            last[user] = (time, began if time - before <= 30 * 60 else time)
            found[user, last[user][1]] += 1
    return Counter({key: number for key, number in found.items() if number <= most})


def _case_name(case: dict[str, Any]) -> str:
    return "-".join(map(str, case.values()))


@pytest.mark.parametrize("which", sampled(list(PAIRS), str, share=3))
def test_names_of_units_are_one_to_one(which: str, spark: Spark, tmp_path: Path) -> None:
    unit, pairs = PAIRS[which]
    with spark:
        check_one_to_one(spark, pairs, unit, tmp_path / "l.parquet", partial(read, spark))


@pytest.mark.parametrize("case", sampled(UNITS, _case_name, share=3, group=itemgetter("unit")))
def test_units_periods_and_cleaning(
    case: dict[str, Any], many: list[Entry], path: Path, engines: Engines, tmp_path: Path
) -> None:
    excluded = sorted({each.user for each in known(many) if each.user.isprintable()})[::3]
    listed = tmp_path / "ids"
    listed.write_text("\n".join(excluded))
    cleaning = z.Cleaning(
        exclude_users=listed if case.get("excluded") else None,
        max_entries_per_user=case.get("most"),
    )
    columns = z.Columns(user="who", session=case.get("session"))
    period = case.get("period")
    found = []
    for engine in engines:
        log = read(engine, path, columns=columns, cleaning=cleaning)
        days = Period.parse(period) if period else None
        source = open_log(log, engine, unit=case["unit"], period=days)
        sql = "select user, count(*) from entries group by user"
        found.append(Counter(dict(engine.rows([*source.entries, Step("counted", sql)]))))
    right = units(many, **case | {"excluded": excluded if case.get("excluded") else ()})
    assert found[0] == found[1]
    assert sorted(found[0].values()) == sorted(right.values())
