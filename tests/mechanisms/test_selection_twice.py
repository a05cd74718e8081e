"""Selection twice: the mechanism, and how the engine lets users choose, against a few lines."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from counting import COLUMNS, Chosen, Counting, published
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from records import part_of

import zealous as z
from zealous.counting.chosen import PUBLISHED, ChosenItems
from zealous.counting.log_count import LogCount
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.logs.open_log import open_log
from zealous.mechanisms.selection import Selection
from zealous.mechanisms.selection_twice import SelectionTwice
from zealous.noise import seeded_bytes
from zealous.privacy.guarantee import Indistinguishability, Neighbors, ProbabilisticDP
from zealous.series.comparable import comparable

GOAL = Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
POPULAR = [f"{number}" for number in range(300)]


def selection(scale: Any, tau_prime: int, longer: Any = 0) -> Selection:
    return Selection(
        items_per_user=1,
        scale=Fraction(scale),
        tau=1,
        tau_prime=tau_prime,
        raised_probability=Fraction(longer),
    )


def tiny(m: int = 3) -> SelectionTwice:
    """Little noise, and thresholds that a few users pass."""
    return SelectionTwice(
        items_per_user=m, first=selection(1, 3), second=selection("1/2", 2, "1/4")
    )


items = st.sampled_from(["aa", "ab", "ba", "bb", "cc", "cd"])
logs = st.dictionaries(st.sampled_from("pqrstuvwxyz"), st.frozensets(items), max_size=9)


class Watched(Counting):
    """Remembers how users choose."""

    @contextmanager
    def chosen_items(self, bound: int) -> Iterator[Chosen]:
        with super().chosen_items(bound) as self.chosen:
            yield self.chosen


# What is published


@given(logs, st.integers(1, 4), st.integers(0, 10**6))
@examples(60)
def test_each_item_is_published_once_and_above_the_threshold_of_its_time(
    log: dict[str, frozenset[str]], m: int, seed: int
) -> None:
    count, mechanism = Watched(log), tiny(m)
    found = published(mechanism.release(count, seeded_bytes(seed)))  # refuses what is there twice
    assert found.keys() <= set(count.chosen.items)
    assert all(len(kept) <= m for kept in count.chosen.kept.values())
    first = {item: noisy for item, (noisy, shown) in count.chosen.first.items() if shown}
    assert all(noisy > mechanism.first.tau_prime for noisy in first.values())
    assert first.items() <= found.items()
    assert all(found[item] > mechanism.second.tau_prime for item in found.keys() - first.keys())


def test_votes_go_where_they_decide() -> None:
    """One item is sure to pass at once; the others of its users pass the second time."""
    log = {user: ["aa", "bb" if int(user) % 2 else "cc"] for user in POPULAR}
    wanted = Counting(log, rank=lambda _, item: item)
    once = published(Selection.calibrate(GOAL, 1).release(wanted, seeded_bytes(1)))
    assert once.keys() == {"aa"}
    twice = published(SelectionTwice.calibrate(GOAL, 2).release(wanted, seeded_bytes(1)))
    assert twice.keys() == {"aa", "bb", "cc"}


def test_all_kept_items_get_noise_the_first_time_whoever_chose_them() -> None:
    log = {str(user): ["aa", *(f"b{item}" for item in range(100))] for user in range(5)}
    count = Watched(log, rank=lambda _, item: item)
    replace(tiny(101), first=selection(30, 300)).release(count, seeded_bytes(2))
    assert len({noisy for noisy, _ in count.chosen.first.values()}) > 40
    assert len(count.chosen.first) == 101


def test_counts_that_were_made_before_do_not_do() -> None:
    with pytest.raises(UsageError, match="use another mechanism"):
        tiny().release(lambda **_: [], seeded_bytes(1))


# How the engine lets users choose


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(memory="1GB", threads=2) as engine:
        yield engine


def log_count(engine: DuckDB, folder: Path, log: dict[str, list[str]], **how: Any) -> LogCount:
    rows = [(user, item[0], item[1:]) for user, items in log.items() for item in items * 2]
    named = zip(("user", *COLUMNS), zip(*rows, strict=True), strict=True)
    pq.write_table(pa.table({name: list(values) for name, values in named}), folder / "log.pq")
    kind = z.columns("query", "url", items_per_user=9)
    whole = z.read_log(folder / "log.pq", columns=z.Columns(user="user"))
    source = open_log(whole, engine, kind.extra_columns())
    return LogCount(kind=kind, source=source, select="random", key=7, **how)


def by_item(batches: Any) -> dict[str, int]:
    return published([each for each in batches if each.num_rows])


def order_by_key(engine: DuckDB, log: dict[str, list[str]]) -> dict[str, list[str]]:
    """Each user's items in the order that the public key gives them."""
    rank = engine.rank_key(7, ["user", *COLUMNS])
    rows = [(user, item[0], item[1:]) for user, items in log.items() for item in items]
    named = zip(("user", *COLUMNS), zip(*rows, strict=True), strict=True)
    engine.add_table("given_pairs", pa.table({name: list(values) for name, values in named}))
    found: dict[str, list[str]] = {}
    ranked = f"select user, query, url from given_pairs order by {rank}"
    for user, query, url in engine.rows([Step("ranked", ranked)]):
        found.setdefault(user, []).append(query + url)
    return found


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("buckets", [1, 3])
def test_users_choose_as_they_choose_here(
    engine: DuckDB, tmp_path: Path, buckets: int, ordered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the published key first, and then by what was drawn; also in parts."""
    draws, places = random.Random(1), [f"{query}{url}" for query in "abc" for url in "xyz"]
    log = {str(user): draws.sample(places, draws.randint(1, 6)) for user in range(60)}
    monkeypatch.setattr(DuckDB, "buckets", lambda *_: buckets)
    here = Chosen(order_by_key(engine, log))  # nobody has more than nine: all are kept
    noisy = {item: (draws.randint(-3, 9), int(draws.random() < 0.3)) for item in places}
    seen: dict[str, int] = {}

    def draw(batch: pa.RecordBatch) -> pa.RecordBatch:
        assert set(batch[PUBLISHED].to_pylist()) <= {0}
        rows = pa.Table.from_batches([batch])
        names = [a + b for a, b in zip(*(rows[name].to_pylist() for name in COLUMNS), strict=True)]
        assert not seen.keys() & set(names), "drawn twice"
        seen.update(zip(names, rows["count"].to_pylist(), strict=True))
        for place, column in enumerate(("count", PUBLISHED)):
            values = pa.array([noisy[name][place] for name in names], pa.int64())
            batch = batch.set_column(batch.schema.get_field_index(column), column, values)
        return batch

    with log_count(engine, tmp_path, log, ordered=ordered).chosen_items(9) as chosen:
        drawn = chosen.count_first(draw)
        first = here.count_first(lambda batch: batch)
        assert seen == {item: count for item, (count, _) in here.first.items()}
        assert 0 in seen.values() or len(seen) == len(places)
        here.first = noisy
        for target in (0, 3, 5):
            found = by_item(chosen.count_nearest(drawn, target))
            assert found == by_item(here.count_nearest(first, target))
            assert not any(noisy[item][1] for item in found), "published the first time"
        assert by_item(chosen.published(drawn)) == by_item(here.published(first))


def test_an_item_that_nobody_chose_first_is_among_them(engine: DuckDB, tmp_path: Path) -> None:
    log = {"x": ["aa", "ab", "ac"]}
    counts: list[int] = []

    def draw(batch: pa.RecordBatch) -> pa.RecordBatch:
        counts.extend(batch["count"].to_pylist())
        return batch

    with log_count(engine, tmp_path, log).chosen_items(3) as chosen:
        chosen.count_first(draw)
    assert sorted(counts) == [0, 0, 1]


def test_a_user_keeps_as_many_as_she_may(engine: DuckDB, tmp_path: Path) -> None:
    log = {str(user): [f"a{item}" for item in range(user)] for user in range(1, 9)}
    with log_count(engine, tmp_path, log).chosen_items(4) as chosen:
        assert isinstance(chosen, ChosenItems)
        counted = f"select count(*) from {chosen.kept.name} group by user"
        rows = engine.rows([Step("counted", counted)])
    assert sorted(n for (n,) in rows) == sorted(min(n, 4) for n in range(1, 9))


def test_it_is_published_from_a_log(tmp_path: Path) -> None:
    rows = [(user, item) for user in POPULAR for item in ("aa", "bb", f"own{user}")]
    columns = zip(("user", "item"), zip(*rows, strict=True), strict=True)
    pq.write_table(pa.table({name: list(each) for name, each in columns}), tmp_path / "log.pq")
    log = z.read_log(tmp_path / "log.pq", columns=z.Columns(user="user"))
    kinds = [z.columns("item", items_per_user=3)]
    release = z.publish(log, GOAL, kinds, mechanism="selection-twice", account=None)
    (found,) = release.tables.values()
    assert set(found.arrow["item"].to_pylist()) <= {"aa", "bb"}


# What is said of it


def calibrated(epsilon: Any, delta: Any, neighbors: Neighbors) -> SelectionTwice:
    goal = Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)
    return SelectionTwice.calibrate(goal, 3)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("epsilon", ["0.01", "1/3", 1, 8, 40])
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "0.01", "0.6"])
def test_both_times_together_keep_the_goal_and_use_it(
    epsilon: Any, delta: Any, neighbors: Neighbors
) -> None:
    goal = Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)
    found = SelectionTwice.calibrate(goal, 3)
    moved = 2 if neighbors == "replace" else 1
    assert found.delta(goal) <= goal.delta
    if found.second.tau_prime > 1:
        assert found.delta(goal) > Fraction(98, 100) * goal.delta
    used = moved / found.first.scale + moved / found.second.scale
    assert Fraction(999, 1000) * goal.epsilon < used <= goal.epsilon
    assert found.loss(neighbors).rate == used
    assert found.loss(neighbors).exposure >= found.delta(goal)
    assert found.delta(replace(goal, epsilon=goal.epsilon * Fraction(9, 10))) == 1
    assert SelectionTwice.from_record(part_of(found, goal)) == found


def test_what_it_refuses() -> None:
    with pytest.raises(UsageError, match="zealous mechanism"):
        SelectionTwice.calibrate(ProbabilisticDP(epsilon=1, delta="1e-6", users=9), 3)
    with pytest.raises(UsageError, match="items_per_user"):
        SelectionTwice.calibrate(GOAL, 0)
    with pytest.raises(UsageError, match="as much noise"):
        SelectionTwice(items_per_user=3, first=selection(1, 3), second=selection(2, 3))
    with pytest.raises(UsageError, match="as much noise"):
        SelectionTwice(items_per_user=3, first=selection(1, 2), second=selection(1, 3))
    assert tiny().delta(ProbabilisticDP(epsilon=1, delta="1e-6", users=9)) == 1
    part = part_of(calibrated(1, "1e-6", "replace"), Indistinguishability(epsilon=1, delta="1e-6"))
    assert part.parameters is not None
    for wrong in (
        {"longer": None},
        {"parameters": None},
        {"parameters": {**part.parameters, "first_tau_prime": -1}},
        {"parameters": {**part.parameters, "first_tau_prime": "9"}},
        {"parameters": {**part.parameters, "first_scale": "0"}},
        {"parameters": {**part.parameters, "first_scale": "1/100"}},
        {"parameters": {**part.parameters, "first_longer": "1/3"}},
    ):
        with pytest.raises(UsageError):
            SelectionTwice.from_record(structs.replace(part, **wrong))


def test_rates_sets_and_changes_do_not_go_with_it() -> None:
    kinds = [z.queries(3), z.query_clicks(3, rates=True)]
    for kind in kinds:
        with pytest.raises(UsageError, match=f"another mechanism for {kind.name()}"):
            z.plan(GOAL, kinds, mechanism={kind.name(): "selection-twice"})
    sets = z.itemsets("product", max_size=2, items_per_user=3)
    with pytest.raises(UsageError, match="is not for things:product"):
        z.plan(GOAL, sets, mechanism={"things:product": "selection-twice"})


def test_releases_of_it_are_not_compared(tmp_path: Path) -> None:
    """Who counts for an item follows from noise, so a change tells nothing."""
    rows = [(user, item) for user in POPULAR for item in ("aa", "bb")]
    columns = zip(("user", "item"), zip(*rows, strict=True), strict=True)
    pq.write_table(pa.table({name: list(each) for name, each in columns}), tmp_path / "log.pq")
    log = z.read_log(tmp_path / "log.pq", columns=z.Columns(user="user"))
    kinds = [z.columns("item", items_per_user=2)]
    one, two = (
        z.publish(log, GOAL, kinds, mechanism="selection-twice", account=None) for _ in range(2)
    )
    pairs, refused = comparable(one, two, same_key=True)
    assert not pairs
    assert refused == {"columns:item": "noise decided for which of the items each person counts"}


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_intervals_hold_whichever_time_published(neighbors: Neighbors) -> None:
    mechanism = calibrated(2, "1e-3", neighbors)
    found = mechanism.interval(0.9)
    most = mechanism.first.tau_prime + 8 * int(mechanism.first.scale)
    for made in (mechanism.first, mechanism.second):
        for users in (*range(1, made.tau_prime + 20, 3), most):
            last = users + made.tau_prime + 2  # noise is no larger
            above = [made.probability_above(users, t) for t in range(made.tau_prime, last)]
            chances = {
                made.tau_prime + 1 + place: above[place] - above[place + 1]
                for place in range(len(above) - 1)
            }
            inside = sum(
                chance
                for count, chance in chances.items()
                if found.low(count) <= users <= found.high(count)
            )
            assert inside >= 0.9 * above[0] - 1e-12
    small = mechanism.second.interval(0.9)
    assert found.high(mechanism.first.tau_prime) == small.high(mechanism.first.tau_prime)
    for count in range(int(found.certain_from), int(found.certain_from) + 50):
        assert (found.low(count), found.high(count)) == (count - found.error, count + found.error)


def test_its_readers_are_told_that_counts_are_too_low() -> None:
    found = calibrated(1, "1e-6", "add-remove")
    said = found.description.points(
        part_of(found, GOAL), units="users", each="each user", origin=None
    )
    assert any("too low" in each for each in said)
    assert any("above 131" in each and "above 14" in each for each in said)


def test_the_count_of_a_table_is_made_once(engine: DuckDB, tmp_path: Path) -> None:
    """A seed gives the same release, run after run."""
    log = {user: ["aa", "bb" if int(user) % 2 else "cc"] for user in POPULAR[:60]}
    first, second = (
        by_item(tiny().release(log_count(engine, tmp_path, log, ordered=True), seeded_bytes(5)))
        for _ in range(2)
    )
    assert first == second
