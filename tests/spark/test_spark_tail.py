"""What is told of rare queries is the same on Spark, on DuckDB and to the oracle."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracle import md5_place
from sampling import sampled
from spark import SPARK, Engines, md5_rank, read
from tail_oracle import FACTS, NAMES, Entry, as_arrow, expected, many, published, write

from zealous.counting.histogram import histogram
from zealous.counting.restriction import InTable
from zealous.engines.engine import Engine
from zealous.engines.sql import Step
from zealous.items import tail
from zealous.logs.open_log import open_log
from zealous.logs.source import Source

pytest_plugins = ("spark",)
pytestmark = SPARK

KINDS = {kind.name(): kind for kind in tail(99)}
NOBODY: dict[str, dict[str, int]] = {"queries": {}, "keywords": {}, "ngrams-2": {}, "ngrams-3": {}}


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return many(200)


@pytest.fixture(scope="module")
def path(entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("tail") / "log.parquet", entries)


def counted(source: Source, name: str, tables: Any, **how: Any) -> Counter[str]:
    kind = KINDS[name].with_inputs(as_arrow(tables))
    known = kind.known_items()
    if isinstance(known, pa.Table):
        how["only"] = [InTable(known)]
    found: Counter[str] = Counter()
    for batch in map(kind.as_published, histogram(kind, source, at_least=1, **how)):
        for item, count in zip(batch[0].to_pylist(), batch["count"].to_pylist(), strict=True):
            assert item not in found
            found[item] = count
    return found


@pytest.mark.parametrize("name", sampled(NAMES, str, share=6))
def test_same_as_the_oracle(
    name: str,
    entries: list[Entry],
    path: Path,
    engines: Engines,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for engine in engines:
        monkeypatch.setattr(type(engine), "rank_key", md5_rank)
    monkeypatch.setattr(type(engines[0]), "rank_bin", lambda _, rank: md5_place(rank))
    sources = [open_log(read(engine, path), engine) for engine in engines]
    tables = published(entries, 7)
    how: dict[str, Any] = {"bound": 1 if name in FACTS else 2, "key": 2**63 + 7}
    for select in ("random", "first") if name not in NAMES[:2] else ("random",):
        right = expected(name, entries, tables, select=select, listed=True, **how)
        assert right.total() > 5
        for source in sources:
            found = counted(source, name, tables, select=select, **how)
            assert found == right, (source.engine, select, found - right, right - found)


def values(engine: Engine, path: Path, name: str) -> dict[str, str]:
    """The fact of each query, where each is of another user."""
    source = open_log(read(engine, path), engine)
    steps = KINDS[name].with_inputs(as_arrow(NOBODY)).steps(source)
    last = Step("told", "select user, value from items")
    return dict(engine.rows([*source.entries, *steps, last]))


@pytest.mark.parametrize("every", [29, pytest.param(1, marks=pytest.mark.soak)])
def test_every_character_has_the_same_script(every: int, engines: Engines, tmp_path: Path) -> None:
    blocks = ((0x4E10, 0x9FF0), (0xAC10, 0xD790), (0x17010, 0x18AF0), (0xE000, 0xF8FF))
    points = [
        point
        for point in [*range(1, 0xD800), *range(0xE000, 0x18E00), *range(0x1AF00, 0x1FC00)]
        if not any(low < point < high for low, high in blocks)
    ][::every]
    points += [0x20000, 0x2A6DF, 0x2A700, 0x2B81D, 0x2CEA1, 0x2EBE0, 0x2F800, 0x31350]
    rows = [Entry(f"{point:x}", f"1{chr(point)}", 0) for point in points]
    rows += [Entry(f"?{point:x}", f"a {chr(point)}", 0) for point in (0x37E, 0x61F, 0xFF1F, 0x3F)]
    log = write(tmp_path / "log.parquet", rows)
    for name in ("scripts", "questions"):
        one, other = (values(engine, log, name) for engine in engines)
        assert len(one) == len(rows)
        assert {user for user in one if one[user] != other[user]} == set()
    assert other["?37e"] == other["?61f"] == other["?ff1f"] == other["?3f"] == "yes"


@pytest.mark.extended
def test_every_hour(engines: Engines, tmp_path: Path) -> None:
    """Of moments of any year and fraction, whatever type they have."""
    begin = datetime(1969, 12, 31, 23, 59, 59, 999_999)
    moments = [begin + timedelta(minutes=37 * n, days=400 * n) for n in range(-60, 60)]
    moments += [datetime(1, 1, 1), datetime(9998, 12, 31, 23, 59, 59, 999_999)]
    right = {str(n): str(moment.hour) for n, moment in enumerate(moments)}
    assert len(set(right.values())) == 24
    users = list(right)
    columns = {
        "plain": pa.array(moments, pa.timestamp("us")),
        "zoned": pa.array(moments, pa.timestamp("us", tz="Asia/Kolkata")),
        "text": pa.array([moment.isoformat(" ") for moment in moments]),
    }
    for name, column in columns.items():
        table = {"user": users, "query": ["x"] * len(users), "time": column}
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
        for engine in engines:
            assert values(engine, tmp_path / f"{name}.parquet", "hours") == right, name


@pytest.mark.extended
def test_nobody_stops_the_run_with_a_long_query(engines: Engines, tmp_path: Path) -> None:
    number = 600  # which fit into the longest text that is looked at
    text = " ".join(f"É{n % 977}" for n in range(number))
    log = write(tmp_path / "log.parquet", [Entry("u", text, 0), Entry("v", "a b", 0)])
    keywords = {f"é{n}": 100 - n for n in range(50)} | {"a": 1, "b": 1}
    tables = NOBODY | {"keywords": keywords, "ngrams-2": {"é0 é1": 3, "é1 é2": 3, "a b": 1}}
    right = {
        "ngrams-2": {"é0 é1": 1, "a b": 1},
        "ngrams-3": {"é0 é1 é2": 1},
        "with-keywords": {"yes": 2},
    }
    for engine in engines:
        source = open_log(read(engine, log), engine)
        for name, each in right.items():
            assert counted(source, name, tables, bound=1, select="random", key=3) == each
