"""Groups of similar sets: sizes, owners, who is left out, what they share, and how few edits."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.items import has_word, normalized_query, words
from zealous.logs.open_log import open_log
from zealous.study.anonymity import gathering
from zealous.study.anonymity.groups import group
from zealous.study.anonymity.numbered import number_sets
from zealous.study.anonymity.session_steps import session_steps
from zealous.study.anonymity.set_arrays import (
    Ints,
    Sets,
    consecutive_runs,
    count_edits,
    count_held,
    occurrence_number,
    sets_of,
)
from zealous.synthetic import generate

Lists = list[tuple[int, set[int]]]


def made(rows: Lists) -> Sets:
    """Sets from (owner, items)."""
    pairs = [(number, item) for number, (_, items) in enumerate(rows) for item in sorted(items)]
    numbers, items = (np.array([pair[n] for pair in pairs], np.int64) for n in (0, 1))
    return sets_of(numbers, items, np.array([owner for owner, _ in rows], np.int64))


def members(groups: Ints) -> dict[int, list[int]]:
    found = defaultdict(list)
    for number, chosen in enumerate(groups.tolist()):
        found[chosen].append(number)
    return found


def counted_edits(rows: Lists, groups: Ints) -> int:
    """The edits the slow way: to what at least half of the group has, or to nothing."""
    total = 0
    for chosen, numbers in members(groups).items():
        counts = Counter(item for number in numbers for item in rows[number][1])
        shared = {item for item, count in counts.items() if 2 * count >= len(numbers)}
        target = shared if chosen >= 0 else set()
        total += sum(len(rows[number][1] ^ target) for number in numbers)
    return total


@cache
def most_kept(counts: tuple[int, ...], k: int) -> int:
    """The most sets that can be in groups, by trying all; counts are the sets of each owner."""
    best = 0
    for chosen in product(*(range(count + 1) for count in counts)):
        if k <= sum(chosen) < 2 * k and sum(map(bool, chosen)) >= k:
            left = tuple(sorted(c - t for c, t in zip(counts, chosen, strict=True) if c > t))
            best = max(best, sum(chosen) + most_kept(left, k))
    return best


def rows_of(owners: st.SearchStrategy[int], items: int, most: int) -> st.SearchStrategy[Lists]:
    return st.lists(st.tuples(owners, st.sets(st.integers(0, items), max_size=6)), max_size=most)


@examples(300)
@given(rows_of(st.integers(0, 15), 6, 60), st.integers(2, 6))
def test_each_group_has_k_owners_and_the_right_size(rows: Lists, k: int) -> None:
    groups = group(made(rows), k)
    assert len(groups) == len(rows)
    found = members(groups)
    out = found.pop(-1, [])
    assert sorted(found) == list(range(len(found)))
    for numbers in found.values():
        assert k <= len(numbers) < 2 * k
        assert len({rows[number][0] for number in numbers}) >= k
    owners = Counter(owner for owner, _ in rows)
    if len(owners) < k:
        assert len(out) == len(rows)
    elif max(owners.values()) * k <= len(rows):
        assert not out


@examples(150)
@given(rows_of(st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3]), 3, 9), st.integers(2, 3))
def test_as_few_sets_as_possible_are_suppressed(rows: Lists, k: int) -> None:
    counts = tuple(sorted(Counter(owner for owner, _ in rows).values()))
    assert (group(made(rows), k) >= 0).sum() == most_kept(counts, k)


@examples(150)
@given(
    st.lists(st.integers(1, 12) | st.sampled_from([30, 60]), min_size=2, max_size=14),
    st.integers(2, 6),
    st.integers(2, 12),
    st.randoms(use_true_random=False),
)
def test_heavy_owners_are_given_all_the_room_there_is(
    counts: list[int], k: int, items: int, chance: random.Random
) -> None:
    rows: Lists = [
        (owner, set(chance.choices(range(items), k=chance.randint(0, 4))))
        for owner, count in enumerate(counts)
        for _ in range(count)
    ]
    found = members(group(made(rows), k))
    out = found.pop(-1, [])
    for numbers in found.values():
        assert k <= len(numbers) < 2 * k
        assert len({rows[number][0] for number in numbers}) >= k
    most = max(g for g in range(len(rows) + 1) if sum(min(c, g) for c in counts) >= g * k)
    assert len(out) == max(0, len(rows) - most * (2 * k - 1))
    # Owners with fewer sets than there are groups lose at most what no group of k is left for.
    if out and max(counts) > most:
        assert sum(counts[rows[number][0]] <= most for number in out) < k


def test_one_owner_with_most_sets_loses_only_what_has_no_room() -> None:
    # Three owners, k = 2: two groups, each of one of the others' sets and two of the first's.
    rows: Lists = [(0, {n}) for n in range(9)] + [(1, {1}), (2, {2})]
    groups = group(made(rows), 2)
    assert (groups < 0).sum() == 11 - 2 * 3
    assert {0} == {rows[number][0] for number in members(groups)[-1]}


@examples(200)
@given(rows_of(st.integers(0, 9), 5, 40), st.integers(2, 4))
def test_representatives_and_edits_are_those_of_the_slow_way(rows: Lists, k: int) -> None:
    sets = made(rows)
    groups = group(sets, k)
    found = count_held(sets, groups)
    expected = {
        (chosen, item): (count, len(numbers))
        for chosen, numbers in members(groups).items()
        if chosen >= 0
        for item, count in Counter(i for n in numbers for i in rows[n][1]).items()
    }
    keys = zip(found.group.tolist(), found.item.tolist(), strict=True)
    values = zip(found.count.tolist(), found.size.tolist(), strict=True)
    assert dict(zip(keys, values, strict=True)) == expected
    assert found.majority.tolist() == [2 * count >= size for count, size in expected_in(expected)]
    assert count_edits(sets, groups) == counted_edits(rows, groups)
    assert count_edits(sets, groups) <= len(sets.items)


def expected_in(expected: dict[tuple[int, int], tuple[int, int]]) -> list[tuple[int, int]]:
    return [expected[key] for key in sorted(expected)]


def test_exactly_half_is_in_the_representative() -> None:
    sets = made([(0, {1, 2}), (1, {1, 2}), (2, {1}), (3, {1, 3})])
    found = count_held(sets, np.zeros(4, np.int64))
    assert found.item[found.majority].tolist() == [1, 2]
    assert count_edits(sets, np.zeros(4, np.int64)) == 2 + 1


def test_equal_sets_need_no_edits() -> None:
    rows: Lists = [(owner, {kind, 100}) for kind in range(20) for owner in range(3 + kind % 5)]
    assert count_edits(made(rows), group(made(rows), 3)) == 0


def test_equal_sets_come_before_those_that_share_their_frequent_items() -> None:
    rows: Lists = [(n, {*range(10), *range(20 + n % 2 * 9, 29 + n % 2 * 9)}) for n in range(6)]
    assert count_edits(made(rows), group(made(rows), 3)) == 0


def test_equal_sets_of_one_owner_hide_nobody() -> None:
    rows: Lists = [(0, {1})] * 5 + [(1, {2}), (2, {2}), (3, {2}), (4, {1})]
    groups = group(made(rows), 3)
    assert all(len({rows[n][0] for n in of}) >= 3 for of in members(groups).values())


def test_sets_that_share_more_come_together_and_odd_ones_last() -> None:
    three: Lists = [(n, {1, 2, 3, 10 + n}) for n in range(3)]
    two: Lists = [(n, {1, 4, 20 + n}) for n in range(3, 6)]
    odd: Lists = [(n, {30 + n}) for n in range(6, 9)]
    # Interleaved, so that neither their order nor their owners tell which belong together.
    rows = [row for trio in zip(three, odd, two, strict=True) for row in trio]
    groups = group(made(rows), 3)
    kinds = [{number % 3 for number in numbers} for numbers in members(groups).values()]
    assert sorted(kinds, key=min) == [{0}, {1}, {2}]
    assert count_edits(made(rows), groups) == 3 + 3 + 3


def test_an_owner_s_second_set_joins_a_group_that_shares_its_items() -> None:
    # It hides nobody else there, and among the odd ones it would lose what it shares.
    rows: Lists = [(n % 3, {1, 2, 10 + n}) for n in range(4)] + [(n, {50 + n}) for n in range(4, 7)]
    groups = group(made(rows), 3)
    assert sorted(members(groups).values()) == [[0, 1, 2, 3], [4, 5, 6]]
    assert count_edits(made(rows), groups) == 4 + 3


def test_nothing_to_group() -> None:
    some: list[Lists] = [[], [(0, {1})], [(0, set()), (1, set())]]
    for rows in some:
        groups = group(made(rows), 3)
        assert (groups == -1).all()
        assert count_edits(made(rows), groups) == sum(len(items) for _, items in rows)
    assert (group(made([(0, set()), (1, set()), (2, set())]), 3) == 0).all()


def test_runs_and_turns() -> None:
    runs = consecutive_runs(np.array([5, 0, 9]), np.array([2, 0, 3]))
    assert runs.tolist() == [5, 6, 9, 10, 11]
    assert occurrence_number(np.array([3, 3, 4, 7, 7, 7])).tolist() == [0, 1, 0, 0, 1, 2]
    assert occurrence_number(np.zeros(0, np.int64)).tolist() == []


def test_too_few_counters_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: Lists = [(n % 40, {n % 7, 7 + n % 11, 18 + n % 3, 30 + n}) for n in range(300)]
    before = group(made(rows), 4)
    monkeypatch.setattr(gathering, "_MOST_COUNTERS", 2)
    monkeypatch.setattr(gathering, "_CHUNK", 10)
    assert (group(made(rows), 4) == before).all()


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    generate(path, users=3000, seed=5)
    return path


@pytest.fixture(scope="module")
def searched(log: Path) -> dict[str, Sets]:
    """The sessions and the histories of a synthetic log."""
    return {"sessions": _sessions(log), "histories": _histories(log)}


def test_no_order_of_the_lines_gives_other_numbers(
    log: Path, searched: dict[str, Sets], tmp_path: Path
) -> None:
    lines = pq.read_table(log)
    pq.write_table(lines.take(np.arange(len(lines))[::-1]), tmp_path / "backwards.parquet")
    for kind, read in (("sessions", _sessions), ("histories", _histories)):
        again = read(tmp_path / "backwards.parquet")
        for name in ("offsets", "items", "owners"):
            assert (getattr(again, name) == getattr(searched[kind], name)).all()


def _sessions(path: Path) -> Sets:
    with DuckDB(threads=1, memory="1GB") as engine:
        source = open_log(z.read_log(path), engine)
        each = f"select user, session, unnest({words('query')}) as item from sessions"
        steps = [*source.entries, *session_steps(source, 30), Step("held", each)]
        return number_sets(engine, steps, ("user", "session"))


def _histories(path: Path) -> Sets:
    with DuckDB(threads=1, memory="1GB") as engine:
        source = open_log(z.read_log(path), engine)
        each = (
            f"select user, {normalized_query(False)} as item from entries where {has_word('query')}"
        )
        return number_sets(engine, [*source.entries, Step("held", each)], ("user",))


def by_sorting(sets: Sets, k: int, *, frequent_first: bool) -> Ints:
    """The simple way: sort the sets as words are sorted, and cut. Owners play no role in it."""
    counts = np.bincount(sets.items)
    order = np.lexsort((np.arange(len(counts)), -counts if frequent_first else counts * 0))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    parts = np.split(rank[sets.items], sets.offsets[1:-1])
    ordered = sorted(range(len(sets)), key=lambda n: sorted(parts[n].tolist()))
    groups = np.empty(len(sets), np.int64)
    groups[ordered] = np.minimum(np.arange(len(sets)) // k, len(sets) // k - 1)
    return groups


@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize("kind", ["sessions", "histories"])
def test_far_more_is_saved_than_by_sorting(searched: dict[str, Sets], kind: str, k: int) -> None:
    sets = searched[kind]
    groups = group(sets, k)
    assert (groups >= 0).all()
    saved = len(sets.items) - count_edits(sets, groups)
    for frequent_first in (False, True):
        simple = by_sorting(sets, k, frequent_first=frequent_first)
        assert saved > 1.25 * (len(sets.items) - count_edits(sets, simple))


def with_a_bot(number: int) -> Lists:
    """Three hundred users with ten sessions of two words, and a bot with as many of one."""
    chance = random.Random(2)

    def rare(most: int) -> int:
        return min(chance.randint(0, most), chance.randint(0, most))

    rows: Lists = [(1 + n % 300, {rare(30), 31 + rare(300)}) for n in range(3000)]
    return rows + [(0, {chance.randint(0, 30)}) for _ in range(number)]


def cut_around(rows: Lists, k: int, *, frequent_first: bool) -> Ints:
    """The simple way that hides: the users' sets sorted and cut every k, the bot where room is."""
    counts = Counter(item for _, items in rows for item in items)
    rank = {item: (-counts[item] * frequent_first, item) for item in counts}
    order = sorted(range(len(rows)), key=lambda n: sorted(rank[item] for item in rows[n][1]))
    groups = np.full(len(rows), -1, np.int64)
    growing: list[dict[int, int]] = []
    number = 0
    for n in order:
        owner = rows[n][0]
        if not owner:
            continue
        into = next((each for each in growing if owner not in each), None)
        if into is None:
            growing.append(into := {})
        into[owner] = n
        if len(into) == k:
            groups[list(into.values())] = number
            growing.remove(into)
            number += 1
    rest = sorted((n for n in order if groups[n] < 0), key=lambda n: not rows[n][0])
    places = np.repeat(np.arange(number), k - 1)[: len(rest)]
    groups[rest[: len(places)]] = places
    return groups


def edits_of_users(rows: Lists, groups: Ints) -> int:
    """The edits of all sets but the bot's."""
    total = 0
    for chosen, numbers in members(groups).items():
        counts = Counter(item for number in numbers for item in rows[number][1])
        shared = {i for i, count in counts.items() if chosen >= 0 and 2 * count >= len(numbers)}
        total += sum(len(rows[number][1] ^ shared) for number in numbers if rows[number][0])
    return total


@pytest.mark.parametrize("number", [0, 1000, 2000, 5000])
def test_one_bot_takes_little_from_everybody_else(number: int) -> None:
    k = 10
    rows = with_a_bot(number)
    groups = group(made(rows), k)
    # With the bot there can be 333 groups, since 3,000 sets of others are nine for each of these.
    assert (groups < 0).sum() == max(0, len(rows) - 333 * 19) == max(0, number - 3327)
    alone = with_a_bot(0)
    before = edits_of_users(alone, group(made(alone), k))
    assert edits_of_users(rows, groups) < 1.06 * before
    for frequent_first in (False, True):
        simple = cut_around(rows, k, frequent_first=frequent_first)
        assert edits_of_users(rows, groups) < edits_of_users(rows, simple)
        assert count_edits(made(rows), groups) < (0.8 if number else 1) * count_edits(
            made(rows), simple
        )


def test_a_bot_unlike_everybody_spares_groups_as_long_as_there_is_room() -> None:
    # 300 groups of ten have room for 2,700 sets; what ten share, nine more cannot outvote.
    users: Lists = [(1 + n % 300, {n // 300 % 10, 10 + n % 300 // 10}) for n in range(3000)]
    before = edits_of_users(users, group(made(users), 10))
    rows: Lists = [*users, *((0, {1000 + n}) for n in range(2700))]
    groups = group(made(rows), 10)
    assert (groups >= 0).all()
    assert edits_of_users(rows, groups) <= before
