"""What can be made of published sets and sequences, against all that could be, tried one by one."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from sets_oracle import Published, candidates, parts, possible, table

from zealous.errors import UsageError
from zealous.items.candidate_sets import (
    MAX_CANDIDATES,
    CandidateSets,
    Level,
    candidate_itemsets,
    candidate_sequences,
    find_places,
)

# Commas and blanks; capitals; two whose order in UTF-16 is not that of their code points.
NAMES = ["a", "A", "b", "a b", "é", "ß", "日本", "\ufb01", "\U0001f642", "a+b|c;d", 'x"y,z', "ab"]
GROW: dict[str, Callable[..., CandidateSets]] = {
    "sets": candidate_itemsets,
    "sequences": candidate_sequences,
}


def tables(levels: list[Published], shuffled: random.Random | None = None) -> list[pa.Table]:
    """As they are released; shuffled, in any order and in pieces."""
    whole = [table(each, size) for size, each in enumerate(levels, 1)]
    if shuffled is None:
        return whole
    mixed = [
        each.take(pa.array(shuffled.sample(range(len(each)), len(each)), pa.int64()))
        for each in whole
    ]
    return [pa.concat_tables([each.slice(0, 2), each.slice(2)]) for each in mixed]


def found(grown: CandidateSets) -> Published:
    """The candidates by their names."""
    columns = [each.to_pylist() for each in grown.columns(grown.parent, grown.last)]
    return dict(zip(zip(*columns, strict=True), grown.worth.tolist(), strict=True))


def places(grown: CandidateSets, parent: Any, last: Any) -> list[int]:
    """Where in the list some pairs of numbers are."""
    wanted = pa.table([pa.array(parent), pa.array(last)], names=grown.KEY)
    return grown.places(wanted).tolist()


@st.composite
def released(draw: Any, family: str) -> list[Published]:
    """What was published of sizes 1, 2, ...: at each size some of all that there could be."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=6))
    counts = st.integers(-5, 5)  # few of them, so that many are the same
    levels: list[Published] = [{(name,): draw(counts) for name in names}]
    for _ in range(draw(st.integers(0, 3 if family == "sets" else 2))):
        wider = sorted(candidates(family, levels))
        left_out = draw(st.sets(st.sampled_from(wider), max_size=6)) if wider else set()
        levels.append({item: draw(counts) for item in wider if item not in left_out})
    return levels


@pytest.mark.parametrize("family", GROW)
@examples(80)
@given(data=st.data(), most=st.sampled_from([MAX_CANDIDATES, MAX_CANDIDATES, 0, 1, 2, 5, 12]))
def test_all_that_can_be_made(family: str, data: Any, most: int) -> None:
    levels = data.draw(released(family))
    grown = GROW[family](tables(levels), most)
    wanted = candidates(family, levels, most)
    assert found(grown) == wanted
    assert len(grown) == len(wanted) <= most
    published = {item for level in levels for item in level}
    for item in wanted:  # however deep one looks, nothing in it is unpublished
        for size in range(1, len(item)):
            if family == "sets":
                assert published.issuperset(combinations(item, size))
            else:
                assert published.issuperset(item[n : n + size] for n in range(len(item) - size + 1))


@pytest.mark.parametrize("family", GROW)
@examples(60)
@given(data=st.data())
def test_tables_in_which_parts_are_missing(family: str, data: Any) -> None:
    """No release is such; still nothing is made of what is not there."""
    names = data.draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=5))
    levels: list[Published] = [{(name,): 1 for name in names}]
    for size in (2, 3)[: data.draw(st.integers(1, 2))]:
        wider = possible(family, [*names, "nowhere"], size)
        some = data.draw(st.sets(st.sampled_from(wider), max_size=25)) if wider else set()
        levels.append({item: data.draw(st.integers(-3, 3)) for item in sorted(some)})
    for item in found(GROW[family](tables(levels))):
        assert "nowhere" not in item
        assert all(part in levels[-1] for part in parts(family, item))
        beginnings = [item[:size] for size in range(1, len(item))]
        assert all(each in levels[len(each) - 1] for each in beginnings)


@pytest.mark.parametrize("family", GROW)
@examples(40)
@given(data=st.data(), most=st.sampled_from([MAX_CANDIDATES, 7]), seed=st.integers(0, 99))
def test_the_order_of_the_rows_changes_nothing(
    family: str, data: Any, most: int, seed: int
) -> None:
    levels = data.draw(released(family))
    one = GROW[family](tables(levels), most)
    other = GROW[family](tables(levels, random.Random(seed)), most)
    assert one.names.equals(other.names)
    for own, others in zip(one.levels, other.levels, strict=True):
        assert np.array_equal(own.codes, others.codes)
        assert np.array_equal(own.counts, others.counts)
    for name in ("parent", "last", "worth"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("family", GROW)
@examples(60)
@given(data=st.data(), most=st.sampled_from([MAX_CANDIDATES, 9]))
def test_places_are_those_of_the_candidates(family: str, data: Any, most: int) -> None:
    grown = GROW[family](tables(data.draw(released(family))), most)
    assert places(grown, grown.parent, grown.last) == list(range(len(grown)))
    order = list(zip(grown.parent.tolist(), grown.last.tolist(), strict=True))
    assert order == sorted(set(order))
    # Every other pair of numbers that counting could come with is none.
    every = list(product(range(len(grown.levels[-1].codes)), range(len(grown.names))))
    others = [pair for pair in every if pair not in set(order)]
    parent, last = np.array(others, np.int64).reshape(-1, 2).T
    assert places(grown, parent, last) == [-1] * len(others)
    beyond = np.full(len(grown), len(grown.names), np.int64)
    assert places(grown, grown.parent, beyond) == [-1] * len(grown)


@pytest.mark.parametrize("family", GROW)
@examples(60)
@given(data=st.data(), most=st.sampled_from([MAX_CANDIDATES, 9]))
def test_the_tables_for_the_engine(family: str, data: Any, most: int) -> None:
    """By them a set is found thing by thing: (place, next thing) is the next place."""
    levels = data.draw(released(family))
    grown = GROW[family](tables(levels), most)
    things = {row["grown:name"]: row for row in grown.things().to_pylist()}
    assert {(name,): row["order:worth"] for name, row in things.items()} == levels[0]
    code = {name: row["grown:code"] for name, row in things.items()}
    assert [*code] == sorted(code)
    assert [*code.values()] == list(range(len(code)))
    place: dict[tuple[str, ...], Any] = {(name,): number for name, number in code.items()}
    for size, level in enumerate(levels[1:], 2):
        rows = {
            (row["grown:parent"], row["grown:last"]): row["grown:place"]
            for row in grown.smaller_sets(size).to_pylist()
        }
        assert len(rows) == len(level)
        place |= {item: rows[place[item[:-1]], code[item[-1]]] for item in level}
    by_name = {(place[item[:-1]], code[item[-1]]): worth for item, worth in found(grown).items()}
    listed = grown.candidate_table().to_pylist()
    assert by_name == {
        (row["grown:parent"], row["grown:last"]): row["order:worth"] for row in listed
    }
    used = {name for item in found(grown) for name in item}
    assert {row["grown:name"] for row in grown.used_things().to_pylist()} == used


@pytest.mark.parametrize("family", GROW)
def test_nothing_and_one_thing(family: str) -> None:
    grow = GROW[family]
    for empty in (
        table({}, 1),
        table({}, 1).slice(0, 0),
        pa.Table.from_batches([], table({}, 1).schema),
    ):
        assert len(grow([empty])) == 0
        assert len(grow([empty, table({}, 2), table({}, 3)])) == 0
        assert grow([empty]).things().num_rows == 0
        assert grow([empty]).names.type == pa.string()
    alone: list[Published] = [{("日本",): -7}]
    assert found(grow(tables(alone))) == ({} if family == "sets" else {("日本", "日本"): -7})
    again: list[Published] = [*alone, {("日本", "日本"): 3}]
    if family == "sequences":  # the same thing may come again, however often
        assert found(grow(tables(again))) == {("日本",) * 3: 3}
    assert len(grow([*tables(alone), table({}, 2)])) == 0


def test_a_part_that_was_not_published() -> None:
    """Three things of which two pairs were published are no set; with the third pair they are."""
    things: Published = {(name,): 9 for name in "abcd"}
    pairs: Published = {("a", "b"): 5, ("a", "c"): 4, ("a", "d"): 1}
    assert found(candidate_itemsets(tables([things, pairs]))) == {}
    assert found(candidate_itemsets(tables([things, {**pairs, ("b", "c"): 3}]))) == {
        ("a", "b", "c"): 3
    }
    following: Published = {("a", "b"): 5, ("b", "a"): 4, ("c", "c"): 2}
    assert found(candidate_sequences(tables([things, following]))) == {
        ("a", "b", "a"): 4,
        ("b", "a", "b"): 4,
        ("c", "c", "c"): 2,
    }


@pytest.mark.parametrize(("family", "number"), [("sets", 92), ("sequences", 65)])
def test_more_than_can_be_looked_at(family: str, number: int) -> None:
    """The most frequent things, as many as it takes; ties in the order of their names."""
    names = [f"thing {n:04}" for n in range(300)]
    things: Published = {(name,): 100 - n // 7 for n, name in enumerate(names)}
    grown = GROW[family](tables([things]), 4225)
    assert {name for item in found(grown) for name in item} == set(names[:number])
    assert len(grown) == (number * (number - 1) // 2 if family == "sets" else number**2)


def test_numbers_do_not_run_over() -> None:
    """The largest place and the largest thing are still one number of 63 bits."""
    things, last = 50_000_000, 49_999_999
    level = Level(
        codes=np.array([[0, 1], [7, last]]),
        parent=np.array([0, MAX_CANDIDATES - 1]),
        counts=np.array([1, 1]),
        things=things,
    )
    assert level.find(
        np.array([MAX_CANDIDATES - 1, MAX_CANDIDATES - 1, -1]), np.array([last, 0, last])
    ).tolist() == [
        1,
        -1,
        -1,
    ]
    assert find_places(np.array([], np.int64), np.array([3, 4])).tolist() == [-1, -1]


@examples(40)
@given(data=st.data(), count=st.integers(-6, 6))
def test_those_that_can_be_above_a_count(data: Any, count: int) -> None:
    """As their parts were published, or as single things were counted again."""
    levels = data.draw(released("sets"))
    grown = candidate_itemsets(tables(levels))
    assert found(grown.possibly_above(count)) == found(grown)
    if len(levels) == 1:
        again = {item: data.draw(st.integers(-5, 5)) for item in sorted(levels[0])}
        grown = grown.with_count_limits(np.array([*again.values()], np.int64))
        limit = {item: min(again[name,] for name in item) for item in found(grown)}
    else:
        grown, limit = grown.with_count_limits(), candidates("sets", levels)
    kept = grown.possibly_above(count)
    assert found(kept) == {item: n for item, n in found(grown).items() if limit[item] > count}
    assert places(kept, kept.parent, kept.last) == list(range(len(kept)))
    assert found(kept.possibly_above(count)) == found(kept)


@pytest.mark.parametrize("family", GROW)
def test_what_was_published_twice_is_refused(family: str) -> None:
    """Two places would spell one set."""
    single = pa.table({"item_1": ["a", "b", "c"], "count": [9, 8, 7]})
    pairs = pa.table({"item_1": ["a", "a"], "item_2": ["b", "c"], "count": [5, 4]})
    GROW[family]([single, pairs])
    for released in ([single.take([0, 1, 2, 1])], [single, pairs.take([0, 1, 0])]):
        told = ""
        try:
            GROW[family](released)
        except UsageError as refused:
            told = str(refused)
        assert "twice" in told
