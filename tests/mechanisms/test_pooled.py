"""Pooled rounds: the mechanism, and how the engine weighs, against a count of a few lines."""

import os
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from counting import COLUMNS, Counting, Kept, listed, published, table
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from records import part_of
from scipy import stats

import zealous as z
from zealous.counting import kept as keeping
from zealous.counting.kept import STRENGTH, KeptTables
from zealous.counting.kept_arrays import KeptArrays
from zealous.counting.log_count import LogCount
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError, ZealousError
from zealous.logs.open_log import open_log
from zealous.mechanisms.pooled import Pooled, strength_table
from zealous.mechanisms.prior import Prior
from zealous.noise import seeded_bytes
from zealous.privacy.accounting.keys import GRAIN, WEIGHT
from zealous.privacy.accounting.pooled import MOST_KEPT, PooledRound

REJECT = 1e-4
LATER = PooledRound(scale=300, multiplier=50, threshold=150_000, steepness=150, cap=250)
ROUNDS = (PooledRound(scale=400, multiplier=40, threshold=60_000, steepness=0, cap=0), LATER, LATER)


def tiny(m: int = 2, kept: int = 3) -> Pooled:
    """Little noise, and thresholds that a few users pass."""
    scale = Fraction(52, GRAIN)
    return Pooled(items_per_user=m, scale=scale, kept_items_per_user=kept, rounds=ROUNDS)


items = st.sampled_from(["aa", "ab", "ba", "bb", "cc", "cd"])
histories = st.frozensets(items)
logs = st.dictionaries(st.sampled_from("pqrstuvwxyz"), histories, max_size=9)
mechanisms = st.builds(tiny, m=st.integers(1, 3), kept=st.integers(1, 4))


class Watched(Counting):
    """Remembers what users keep and are steered by."""

    def kept_items(self, bound: int, known: pa.Table | None = None) -> AbstractContextManager[Kept]:
        made = super().kept_items(bound, known)
        self.kept = made.__enter__()
        return made


@given(logs, mechanisms, st.integers(0, 10**6))
@examples(60)
def test_what_is_published_was_kept_and_each_user_gives_no_more_than_is_proved(
    log: dict[str, frozenset[str]], mechanism: Pooled, seed: int
) -> None:
    count = Watched(log)
    found = published(mechanism.release(count, seeded_bytes(seed)))
    assert found.keys() <= set(count.kept.items)
    assert all(len(kept) <= mechanism.kept_items_per_user for kept in count.kept.kept.values())
    assert sum("kept" in asked for asked in count.asked) == 1, "drawn anew"
    for before in (None, *count.kept.drawn):
        for user in log:
            by_item = dict.fromkeys(count.kept.items, STRENGTH)
            if before is not None:
                rows = zip(before["item"].to_pylist(), before["strength"].to_pylist(), strict=True)
                by_item = {count.kept.items[item]: strength for item, strength in rows}
            weights = count.kept.weights(user, by_item, WEIGHT).values()
            assert sum(weight**2 for weight in weights) <= WEIGHT**2


def test_noise_is_drawn_once_for_each_kept_item_in_each_round() -> None:
    drawn: list[int] = []

    class Counted:
        def __init__(self, *, scale: Fraction) -> None:
            self.scale = scale

        def sample(self, size: int, _: Any) -> Any:
            drawn.append(size)
            return np.zeros(size, np.int64)

    log = {"x": ["ab"], "y": ["ac"], "z": ["ad"]}
    with patch("zealous.mechanisms.pooled.DiscreteGaussian", Counted):
        assert not tiny().release(Counting(log, parts=1), os.urandom)
    assert drawn == [3, 3, 3]


def test_evidence_is_a_sum_over_rounds_and_keys_take_no_more_weight() -> None:
    class Silent:
        def __init__(self, *, scale: Fraction) -> None:
            pass

        def sample(self, size: int, _: Any) -> Any:
            return np.zeros(size, np.int64)

    log = {str(user): ["ab", "ac"] for user in range(2)} | {"x": ["ab"], "y": ["ad"]}
    count = Watched(log)
    with patch("zealous.mechanisms.pooled.DiscreteGaussian", Silent):
        assert published(tiny().release(count, seeded_bytes(1))).keys() == {"ab", "ac"}
    first, second, _ = count.kept.drawn
    # Two give 707 to each of two items, one 999 to the first, which passes at once.
    assert first.sort_by("item")["evidence"].to_pylist() == [40 * 2413, 40 * 1414, 40 * 999]
    assert first.sort_by("item")["strength"][0].as_py() == 0
    assert second.num_rows == 2


def test_what_users_give_follows_from_noisy_weights_alone() -> None:
    """Four items of one true weight, and one of more, whose noise takes it away again."""
    moved = np.array([-2000, 0, 0, 2000, -3000])

    class Given:
        def __init__(self, *, scale: Fraction) -> None:
            pass

        def sample(self, _: int, __: Any) -> Any:
            return moved

    weights = {"listed": [0] * 5, "evidence": [0] * 5, "strength": [1] * 5}
    weights["weight"] = true = [999] * 4 + [3999]
    batch = pa.record_batch({name: pa.array(each) for name, each in weights.items()})
    first, second = (
        PooledRound(scale=1000, multiplier=40, threshold=10**9, steepness=100, cap=400)
        for _ in range(2)
    )
    made = Pooled(
        items_per_user=1, scale=Fraction(5), kept_items_per_user=9, rounds=(first, second)
    )
    with patch("zealous.mechanisms.pooled.DiscreteGaussian", Given):
        drawn = made._draw_round(0, os.urandom)(batch)
        least, *same, most, other = drawn["strength"].to_pylist()
    assert least < same[0] == same[1] == other < most
    assert drawn["weight"].to_pylist() == [*(moved + true)], "a true weight stays"


def test_evidence_has_the_noise_of_its_rounds_and_no_other() -> None:
    users = {f"u{number}": [f"a{number}"] for number in range(4000)}
    rounds = tuple(
        PooledRound(scale=scale, multiplier=multiplier, threshold=10**9, steepness=0, cap=0)
        for scale, multiplier in ((2000, 3), (1000, 7), (1, 1))
    )
    count = Watched(users)
    Pooled(items_per_user=1, scale=Fraction(5), kept_items_per_user=1, rounds=rounds).release(
        count, seeded_bytes(3)
    )
    last = count.kept.drawn[1]
    evidence = last["evidence"].to_numpy() - 10 * 999
    deviation = np.hypot(3 * 2000, 7 * 1000)
    for factor, right in ((0.85, False), (1, True), (1.15, False)):
        law = stats.norm(scale=deviation * factor)
        assert (stats.kstest(evidence, law.cdf).pvalue > REJECT) == right


def test_strengths_fit_into_exact_sums_and_rise_with_evidence() -> None:
    for steepness, cap in ((0, 0), (50, 100), (200, 450), (1000, 1000)):
        found = strength_table(
            PooledRound(scale=1, multiplier=1, threshold=1, steepness=steepness, cap=cap)
        )
        assert found.min() >= 1
        assert found.max() == found[-1] == STRENGTH
        assert (np.diff(found) >= 0).all()
    assert MOST_KEPT * STRENGTH**2 < 2**50


# The engine


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(memory="1GB", threads=2) as engine:
        yield engine


def log_count(engine: DuckDB, folder: Path, log: dict[str, list[str]], **how: Any) -> LogCount:
    rows = [(user, item[0], item[1:]) for user, items in log.items() for item in items * 2]
    named = zip(("user", *COLUMNS), zip(*rows, strict=True), strict=True)
    pq.write_table(pa.table({name: list(values) for name, values in named}), folder / "log.pq")
    kind = z.columns("query", "url", items_per_user=3)
    whole = z.read_log(folder / "log.pq", columns=z.Columns(user="user"))
    source = open_log(whole, engine, kind.extra_columns())
    return LogCount(kind=kind, source=source, select="random", key=7, **how)


@contextmanager
def kept_in(engine: DuckDB, folder: Path, log: Any, way: str, **how: Any) -> Iterator[Any]:
    """Who keeps what, as arrays or as tables of the engine."""
    count = log_count(engine, folder, log, ordered=way == "arrays")
    nothing_fits = patch.object(keeping, "_SHARE", 1 << 60)  # but for what is in order
    with nothing_fits, count.kept_items(**how) as found:
        assert isinstance(found, KeptArrays if way == "arrays" else KeptTables)
        yield found


@pytest.mark.parametrize("way", ["arrays", "tables"])
@pytest.mark.parametrize("known", [(), ("ax", "nobody's")])
@pytest.mark.parametrize("buckets", [1, 3])
def test_it_is_weighed_as_it_is_weighed_here(
    engine: DuckDB, tmp_path: Path, buckets: int, known: tuple[str, ...], way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Item by item; also in parts, as large logs are."""
    chosen, places = random.Random(1), [f"{query}{url}" for query in "abc" for url in "xyz"]
    log = {str(user): chosen.sample(places, chosen.randint(1, 6)) for user in range(40)}
    monkeypatch.setattr(DuckDB, "buckets", lambda *_: buckets)
    monkeypatch.setattr("zealous.counting.kept_arrays._PAIRS_AT_ONCE", 7)
    monkeypatch.setattr("zealous.counting.kept_arrays._ITEMS_AT_ONCE", 4)
    listed = table(dict.fromkeys(known, 0)) if known else None
    here = Kept(log, known)  # nobody has more than six: all are kept
    drawn: dict[int, tuple[int, int, int]] = {}
    seen: list[dict[str, int]] = []

    def draw(batch: pa.RecordBatch) -> pa.RecordBatch:
        seen.extend(batch.to_pylist())
        for number in batch["item"].to_pylist():
            strength = chosen.choice([0, 32, chosen.randint(33, STRENGTH)])
            drawn[number] = (number * 1000, strength, -number)
        values = [drawn[number] for number in batch["item"].to_pylist()]
        for place, name in enumerate(("evidence", "strength", "weight")):
            column = pa.array([value[place] for value in values], pa.int64())
            batch = batch.set_column(batch.schema.get_field_index(name), name, column)
        return batch

    before = None
    with kept_in(engine, tmp_path, log, way, bound=6, listed=listed) as kept:
        names = numbers_of(kept)
        for _ in range(3):
            seen.clear()
            keys = published_items(kept.weigh(WEIGHT, draw))
            right = here.weighed(before, WEIGHT).to_pylist()
            found = [{**row, "item": here.items.index(names[row["item"]])} for row in seen]
            assert sorted(found, key=str) == sorted(right, key=str)
            rows = [(here.items.index(names[row["item"]]), *drawn[row["item"]]) for row in seen]
            columns = zip(("item", "evidence", "strength"), zip(*rows, strict=False), strict=False)
            before = pa.table({name: pa.array(values, pa.int64()) for name, values in columns})
            assert keys == published_items(here.keys(before))
        assert way == "tables" or kept.items.dtype == np.int32


@pytest.mark.parametrize("way", ["arrays", "tables"])
def test_nothing_stays_of_who_keeps_what(engine: DuckDB, tmp_path: Path, way: str) -> None:
    """Not in the engine and not on its disk, and of rounds that are over neither."""

    def stored() -> set[str]:
        views = "select view_name from duckdb_views() where not internal"
        tables = f"select table_name from duckdb_tables() union all {views}"
        names = {name for (name,) in engine.rows([Step("all", tables)])}
        return {name for name in names if name.startswith("stored_")} | {
            file.name for file in engine.directory.glob("kept-*")
        }

    log = {str(user): ["aa", "ab", f"c{user}"] for user in range(9)}
    before = stored()
    with kept_in(engine, tmp_path, log, way, bound=3) as kept:
        sizes = set()
        for _ in range(4):
            list(kept.weigh(WEIGHT, lambda batch: batch))
            sizes.add(len(stored() - before))
        assert sizes == {1 if way == "arrays" else 4}  # items; also pairs, a state and its file
    assert stored() == before


def numbers_of(kept: Any) -> dict[int, str]:
    """The item of each number."""
    if isinstance(kept, KeptTables):
        rows = kept.engine.batches([Step("all", f"select * from {kept.items}")])
        read = [row for batch in rows for row in batch.to_pylist()]
        return {row["kept:number"]: row["query"] + row["url"] for row in read}
    numbers = range(1, len(kept.listed))
    return {
        number: next(iter(published_items(kept.names(pa.table({"item": [number]})))))
        for number in numbers
    }


def published_items(batches: Any) -> set[str]:
    found = [batch for batch in batches if batch.num_rows]
    return set(listed(pa.Table.from_batches(found))) if found else set()


@pytest.mark.parametrize("way", ["arrays", "tables"])
def test_a_user_keeps_as_many_as_she_may_and_each_pair_once(
    engine: DuckDB, tmp_path: Path, way: str
) -> None:
    log = {str(user): [f"a{item}" for item in range(user)] for user in range(1, 9)}
    right = sorted(min(n, 4) for n in range(1, 9))
    with kept_in(engine, tmp_path, log, way, bound=4) as kept:
        if way == "arrays":
            each = np.split(kept.items, kept.starts[1:])
            assert sorted(len(set(items)) for items in each) == right
            assert sorted(map(len, each)) == right
            return
        sql = f"select person, count(*), count(distinct item) from {kept.pairs} group by person"
        rows = engine._run(sql).fetchall()
    assert sorted(row[1:] for row in rows) == [(n, n) for n in right]


@pytest.mark.parametrize("way", ["arrays", "tables"])
def test_no_ids_of_users_stay_once_they_have_numbers(
    engine: DuckDB, tmp_path: Path, way: str
) -> None:
    stored = "select column_name from duckdb_columns() where table_name like 'stored_%'"
    with kept_in(engine, tmp_path, {"x": ["aa"], "y": ["aa", "ab"]}, way, bound=2):
        columns = {name for (name,) in engine._run(stored).fetchall()}
    assert columns >= {"query", "url", "kept:number"}
    assert "user" not in columns


def test_nobody_keeps_anything(engine: DuckDB, tmp_path: Path) -> None:
    weights: list[int] = []

    def draw(batch: pa.RecordBatch) -> pa.RecordBatch:
        weights.extend(batch["weight"].to_pylist())
        return batch

    with log_count(engine, tmp_path, {"x": ["aa"]}).kept_items(1) as kept:
        assert isinstance(kept, KeptArrays)
        nothing = replace(kept, items=kept.items[:0], starts=kept.starts[:0])
        assert published_items(nothing.weigh(WEIGHT, draw)) == set()
    assert weights == [0]


def test_a_rehearsal_without_people_runs_what_a_large_log_will(
    engine: DuckDB, tmp_path: Path
) -> None:
    count = log_count(engine, tmp_path, {"x": ["aa"]})
    of_nobody = replace(count, source=count.source.without_entries())
    with count.kept_items(1) as kept, of_nobody.kept_items(1) as kept_by_nobody:
        assert isinstance(kept, KeptArrays)
        assert isinstance(kept_by_nobody, KeptTables)


# A public list


LIST = {"ba": 7, **dict.fromkeys((f"z{number}" for number in range(20_000)), 1)}
LISTED = Prior(items_per_user=2, scale=Fraction(52, GRAIN), kept_items_per_user=3, rounds=ROUNDS)
SURE = {str(user): ["aa", "ab", "ba"] for user in range(30)}


def test_listed_items_get_noise_and_less_is_enough_for_them() -> None:
    calm = tuple(replace(each, scale=4000, threshold=40 * 4000 * 4) for each in ROUNDS[:1])
    made = replace(LISTED, rounds=calm, head_start=150)
    found = published(made.with_inputs(table(LIST)).release(Counting(SURE), seeded_bytes(1)))
    # 30 users give 577 to each: 17,310 is above 10,000, which is 2.5 deviations, and above 16,000.
    by_noise = [item for item in found if item[0] == "z"]
    assert "ba" in found
    assert stats.binomtest(len(by_noise), 20_000, stats.norm.sf(2.5)).pvalue > REJECT
    assert max(abs(found[item]) for item in by_noise) < 5


def test_listed_items_are_ahead_in_what_users_give() -> None:
    count = Watched(SURE)
    rounds = tuple(replace(each, threshold=10**9) for each in ROUNDS)
    made = replace(LISTED, rounds=rounds)
    made.with_inputs(table({"ba": 7})).release(count, seeded_bytes(1))
    first, second, _ = (each.sort_by("item") for each in count.kept.drawn)
    assert first["strength"].to_pylist()[2] == STRENGTH  # far ahead: at the cap, as are the others
    assert second.num_rows == 3


def test_rows_that_are_not_in_order_are_refused() -> None:
    def read(*persons: list[int]) -> KeptArrays:
        given = [pa.array(each, pa.int64()) for each in persons]
        rows = [pa.record_batch({"person": each, "item": each}) for each in given]
        numbers = [pa.record_batch({"item": [1, 2, 3, 4, 5], "listed": [0] * 5})]
        return KeptArrays.read(rows, numbers, lambda _: iter(()), STRENGTH)

    assert read([1, 1, 2], [], [2, 5]).starts.tolist() == [0, 2, 4]
    for wrong in ([[1, 2, 1]], [[1, 2], [1]]):
        with pytest.raises(ZealousError, match="did not sort"):
            read(*wrong)


def test_a_prior_needs_its_list_and_a_head_start_that_is_one() -> None:
    made = LISTED
    with pytest.raises(UsageError, match="needs its list"):
        made.release(Counting(SURE), os.urandom)
    wrong: Any
    for wrong in (-1, 1001, 1.5, True):
        with pytest.raises(UsageError, match="head_start"):
            replace(made, head_start=wrong)
    goal = z.Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
    found = Prior.calibrate(goal, 3)
    assert Prior.from_record(part_of(found, goal)) == found
    assert found.delta(goal) == Pooled.calibrate(goal, 3).delta(goal)


# Counts of the keys


@pytest.mark.parametrize("scale", [Fraction(500, GRAIN), Fraction(2503, GRAIN), Fraction(8)])
def test_the_noise_on_counts_has_its_scale_and_no_other(scale: Fraction) -> None:
    many = {f"u{n}": [f"a{n}"] for n in range(15_000)}
    sure = PooledRound(scale=1, multiplier=1, threshold=100, steepness=0, cap=0)
    made = Pooled(items_per_user=1, scale=scale, kept_items_per_user=1, rounds=(sure,))
    found = np.array([*published(made.release(Counting(many), seeded_bytes(1))).values()]) - 1
    assert found.size == len(many)
    for factor, right in ((0.85, False), (1, True), (1.15, False)):
        deviation = float(scale) * factor
        ends = np.arange(-3 * int(scale), 3 * int(scale) + 1, max(1, int(scale) // 2)) + 0.5
        expected = np.diff([0, *stats.norm.cdf(ends / deviation), 1]) * found.size
        seen = np.histogram(found, [-np.inf, *ends, np.inf])[0]
        assert (stats.chisquare(seen, expected).pvalue > REJECT) == right


def test_who_has_more_keys_than_may_count_counts_for_some_and_all_are_published() -> None:
    found = published(tiny(m=1).release(Counting(SURE), seeded_bytes(1)))
    assert found.keys() == {"aa", "ab", "ba"}
    assert 25 <= sum(found.values()) <= 35
    first = Counting(SURE, rank=lambda _, item: item)
    nobody = published(tiny(m=1).release(first, seeded_bytes(1)))
    assert nobody.keys() == found.keys()
    assert abs(nobody["ba"]) < 5 < 25 < nobody["aa"]
