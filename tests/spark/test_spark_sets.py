"""Sets and sequences: Spark, DuckDB and a short oracle in Python count the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
import sets_oracle as oracle
from families import FAMILIES
from oracle import md5_place
from sampling import sampled
from sets_oracle import NAMES, Names, Published, Row, people, write
from spark import SPARK, Engines, read

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines.engine import Engine
from zealous.engines.sql import Step, identifier
from zealous.items import CombinedKind
from zealous.logs.open_log import open_log

pytest_plugins = ("spark",)
pytestmark = SPARK

KEY = 2**64 - 5
THINGS = 6
# A family, and the columns that say what is together and what comes first.
CASES = [
    ("itemsets", None, None),
    ("itemsets", "basket", None),
    ("sequences", None, "when"),
    ("sequences", "basket", "when"),
]


def md5_rank(_: Engine, key: int, columns: Sequence[str]) -> str:
    """As `oracle.md5_rank`, by functions that both engines have."""
    texts = (f"cast({identifier(each)} as varchar)" for each in columns)
    return f"md5('{key}|' || " + " || '|' || ".join(texts) + ")"


@pytest.fixture(autouse=True)
def known_ranks(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    for engine in engines:
        monkeypatch.setattr(type(engine), "rank_key", md5_rank)
    monkeypatch.setattr(type(engines[0]), "rank_bin", lambda _, rank: md5_place(rank))


def kinds(
    family: str, names: Sequence[str], basket: str | None, largest: int, things: int = THINGS
) -> list[CombinedKind]:
    made = FAMILIES[family](*names, max_size=largest, items_per_user=things, basket=basket)
    return [kind for kind in made if isinstance(kind, CombinedKind)]


def counted(
    engine: Engine, path: Path, time: str | None, kind: CombinedKind, levels: Sequence[Published]
) -> Counter[Names]:
    sizes = [1, *range(1, kind.size)]
    smaller = [levels[0], levels[0], *levels[1:]][: len(sizes)]
    tables = [oracle.table(each, size) for each, size in zip(smaller, sizes, strict=True)]
    known = kind.with_inputs(dict(zip(kind.builds_on(), tables, strict=True)))
    log = read(engine, path, columns=z.Columns(user="user", time=time))
    source = open_log(log, engine, kind.extra_columns())
    how = {"select": "random", "key": KEY, "at_least": 1, "bound": kind.items_per_user}
    found: Counter[Names] = Counter()
    for batch in histogram(known, source, **how):  # type: ignore[arg-type]
        for row in known.as_published(batch).to_pylist():
            count = row.pop("count")
            assert tuple(row.values()) not in found
            found[tuple(row.values())] = count
    return found


def case_name(case: tuple[str | None, ...]) -> str:
    return "-".join(each or "" for each in case)


@pytest.mark.parametrize(
    ("family", "basket", "time"),
    sampled(CASES, case_name, share=6),
)
def test_same_as_the_oracle(
    family: str, basket: str | None, time: str | None, engines: Engines, tmp_path: Path
) -> None:
    chance = random.Random(f"{family} {basket}")
    rows = people(chance, 2)
    path = write(tmp_path / "table.parquet", rows)
    levels = oracle.released(chance, family, chance.sample(NAMES, 9), 2)
    own = oracle.histories(family, rows, basket=bool(basket), timed=bool(time))
    for kind in kinds(family, ["thing_0", "thing_1"], basket, 3):
        how = {"size": kind.size, "things": THINGS, "m": kind.items_per_user, "key": KEY}
        right = oracle.counts(family, own, levels, **how)
        assert right.total() > 9
        for engine in engines:
            found = counted(engine, path, time, kind, levels)
            assert found - right == right - found == Counter(), (engine, kind.size)


def test_the_order_of_baskets(engines: Engines, tmp_path: Path) -> None:
    """Names that engines might put in another order: each has a thing of its own, in turn."""
    baskets = [
        "0", "00", "7.0", "007", "7", "7.00", "7.5", "12", "100", "9" * 40, "1" + "0" * 40, "-1",
        "+1", "1e3", ".0", "0.0", "A", "a", "Z", "ä", "\u0667", "\uff17", "\ufb01", "\U00010400",
        "日本", "7 0", "A B", "A-B", "a\\b", "_", "%",
    ]  # fmt: skip
    names = [f"t{number:02}" for number in range(len(baskets))]
    rows = [Row("u", (name,), basket) for name, basket in zip(names, baskets, strict=True)]
    path = write(tmp_path / "table.parquet", random.Random(2).sample(rows, len(rows)))
    levels: list[Published] = [{(name,): 1 for name in names}]
    *_, kind = kinds("sequences", ["thing_0"], "basket", 2, len(names))
    order = sorted(baskets, key=lambda name: (*oracle.number(name), name))
    of = dict(zip(baskets, names, strict=True))
    right = {(of[one], of[following]): 1 for one, following in pairwise(order)}
    for engine in engines:
        assert counted(engine, path, None, kind, levels) == right, engine


def test_ranks_of_what_is_the_same_and_of_what_is_missing(engines: Engines) -> None:
    values = "(values (3, 'b'), (3, 'a'), (null, 'a'), (1, null), (3, 'b'), (null, 'a'), (-1, ''))"
    ranks = [
        "dense_rank() over (order by n)",
        "dense_rank() over (order by n desc)",
        "dense_rank() over (order by n nulls last, t)",
        "dense_rank() over (partition by t order by n)",
        "least(n, 2)",
    ]
    rows = [*map(str, ranks)]
    sql = f"select coalesce(n, 9), coalesce(t, '-'), {', '.join(rows)} from {values} as given(n, t)"
    one, other = (
        sorted(tuple(map(str, row)) for row in engine.rows([Step("ranked", sql)]))
        for engine in engines
    )
    assert one == other


@pytest.mark.parametrize("family", sampled(list(FAMILIES), str, share=2))
def test_nothing_was_published(family: str, engines: Engines, tmp_path: Path) -> None:
    path = write(tmp_path / "table.parquet", [Row("u", ("tea",), "1", 1), Row("u", ("x",), "2", 2)])
    *_, kind = kinds(family, ["thing_0"], "basket", 3)
    for engine in engines:
        assert counted(engine, path, None, kind, [{}, {}]) == {}


@pytest.mark.extended
@pytest.mark.false_alarm(1e-60, "five counts at a scale below 0.007")
def test_a_release(spark: z.Spark, tmp_path: Path) -> None:
    """From the table to the last size, with noise so small that there is none."""
    rows = [Row(f"u{n % 30}", ("ab"[n // 30],), time=n // 30) for n in range(60)]
    log = read(spark, write(tmp_path / "table.parquet", rows), columns=z.Columns(time="when"))
    goal = z.ProbabilisticDP(epsilon=9000, delta="0.5", users=50)
    made = FAMILIES["sequences"]("thing_0", max_size=2, items_per_user=2)
    release = z.publish(log, goal, made, account=None, select="first")
    tables = {name: table.arrow.to_pylist() for name, table in release.tables.items()}
    assert tables["people"] == [{"who": "everyone", "count": 30}]
    assert tables["sequences-1:thing_0"] == [
        {"item_1": "a", "count": 30},
        {"item_1": "b", "count": 30},
    ]
    assert tables["sequences-2:thing_0"] == [{"item_1": "a", "item_2": "b", "count": 30}]
