"""Pooled rounds: the mechanism, and how the engine weighs, against a count of a few lines."""

import os
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from counting import COLUMNS, Counting, Kept, published
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import zealous as z
from zealous.counting.kept import STRENGTH
from zealous.counting.log_count import LogCount
from zealous.engines.duckdb import DuckDB
from zealous.logs.open_log import open_log
from zealous.mechanisms.pooled import Pooled, strength_table
from zealous.noise import seeded_bytes
from zealous.privacy.accounting.pooled import MOST_KEPT, PooledRound
from zealous.privacy.accounting.rounds import GRAIN, WEIGHT

REJECT = 1e-4
LATER = PooledRound(scale=300, part=50, threshold=150_000, steepness=150, cap=250)
ROUNDS = (PooledRound(scale=400, part=40, threshold=60_000, steepness=0, cap=0), LATER, LATER)


def tiny(m: int = 2, kept: int = 3) -> Pooled:
    """Little noise, and thresholds that a few users pass."""
    return Pooled(items_per_user=m, scale=Fraction(52, GRAIN), kept=kept, rounds=ROUNDS)


items = st.sampled_from(["aa", "ab", "ba", "bb", "cc", "cd"])
histories = st.frozensets(items)
logs = st.dictionaries(st.sampled_from("pqrstuvwxyz"), histories, max_size=9)
mechanisms = st.builds(tiny, m=st.integers(1, 3), kept=st.integers(1, 4))


class Watched(Counting):
    """Remembers what users keep and are steered by."""

    def kept_items(self, bound: int) -> Kept:
        self.kept = super().kept_items(bound)
        return self.kept


@given(logs, mechanisms, st.integers(0, 10**6))
@examples(60)
def test_what_is_published_was_kept_and_each_user_gives_no_more_than_is_proved(
    log: dict[str, frozenset[str]], mechanism: Pooled, seed: int
) -> None:
    count = Watched(log)
    found = published(mechanism.release(count, seeded_bytes(seed)))
    assert found.keys() <= set(count.kept.items)
    assert all(len(kept) <= mechanism.kept for kept in count.kept.kept.values())
    assert sum("kept" in asked for asked in count.asked) == 1, "drawn anew"
    for strengths in count.kept.given:
        for user in log:
            by_item = dict.fromkeys(count.kept.items, STRENGTH)
            if strengths is not None:
                rows = zip(
                    strengths["item"].to_pylist(), strengths["weight"].to_pylist(), strict=True
                )
                by_item = {count.kept.items[item]: weight for item, weight in rows}
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
    first, second = (each for each in count.kept.given if each is not None)
    # Two give 707 to each of two items, one 999 to the first, which passes at once.
    assert first.sort_by("item")["evidence"].to_pylist() == [40 * 2413, 40 * 1414, 40 * 999]
    assert first.sort_by("item")["weight"][0].as_py() == 0
    assert second.num_rows == 2


def test_evidence_has_the_noise_of_its_rounds_and_no_other() -> None:
    users = {f"u{number}": [f"a{number}"] for number in range(4000)}
    rounds = tuple(
        PooledRound(scale=scale, part=part, threshold=10**9, steepness=0, cap=0)
        for scale, part in ((2000, 3), (1000, 7), (1, 1))
    )
    count = Watched(users)
    Pooled(items_per_user=1, scale=Fraction(5), kept=1, rounds=rounds).release(
        count, seeded_bytes(3)
    )
    last = count.kept.given[-1]
    assert last is not None
    evidence = last["evidence"].to_numpy() - 10 * 999
    deviation = np.hypot(3 * 2000, 7 * 1000)
    for factor, right in ((0.85, False), (1, True), (1.15, False)):
        law = stats.norm(scale=deviation * factor)
        assert (stats.kstest(evidence, law.cdf).pvalue > REJECT) == right


def test_strengths_fit_into_exact_sums_and_rise_with_evidence() -> None:
    for steepness, cap in ((0, 0), (50, 100), (200, 450), (1000, 1000)):
        found = strength_table(
            PooledRound(scale=1, part=1, threshold=1, steepness=steepness, cap=cap)
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


@pytest.mark.parametrize("buckets", [1, 3])
def test_the_engine_weighs_as_it_is_weighed_here(
    engine: DuckDB, tmp_path: Path, buckets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, places = random.Random(1), [f"{query}{url}" for query in "abc" for url in "xyz"]
    log = {str(user): chosen.sample(places, chosen.randint(1, 6)) for user in range(40)}
    monkeypatch.setattr(DuckDB, "buckets", lambda *_: buckets)
    kept = log_count(engine, tmp_path, log, ordered=True).kept_items(6)
    here = Kept(log)  # nobody has more than six: all are kept
    strengths = None
    for _ in range(3):
        found = pa.Table.from_batches(kept.weigh(strengths, WEIGHT)).sort_by("item")
        expected = pa.Table.from_batches(here.weigh(_from_zero(strengths), WEIGHT))
        expected = expected.sort_by("item")
        assert found["weight"].to_pylist() == expected["weight"].to_pylist()
        assert found["evidence"].to_pylist() == expected["evidence"].to_pylist()
        drawn = [chosen.choice([0, 32, chosen.randint(33, STRENGTH)]) for _ in range(len(found))]
        strengths = found.set_column(2, "weight", pa.array(drawn, pa.int64()))
        strengths = strengths.set_column(1, "evidence", pa.array(range(len(found)), pa.int64()))
        names = pa.Table.from_batches(kept.without_strength(strengths))
        here_names = pa.Table.from_batches(here.without_strength(_from_zero(strengths)))
        assert sorted(names.to_pylist(), key=str) == sorted(here_names.to_pylist(), key=str)


def _from_zero(strengths: pa.Table | None) -> pa.Table | None:
    """Numbers of items as they are here: the engine's begin with 1, in the same order."""
    if strengths is None:
        return None
    numbers = pa.array([item - 1 for item in strengths["item"].to_pylist()], pa.int64())
    return strengths.set_column(0, "item", numbers)


def test_a_user_keeps_as_many_as_she_may_and_each_pair_once(engine: DuckDB, tmp_path: Path) -> None:
    log = {str(user): [f"a{item}" for item in range(user)] for user in range(1, 9)}
    kept = log_count(engine, tmp_path, log).kept_items(4)
    sql = f"select person, count(*), count(distinct item) from {kept.pairs} group by person"
    rows = engine._run(sql).fetchall()
    assert sorted(row[1:] for row in rows) == sorted((min(n, 4),) * 2 for n in range(1, 9))
