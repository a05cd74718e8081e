"""Noise on each of a list of candidates: whoever gives the list, each item has one noise."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from counting import Counting
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from zealous.errors import UsageError
from zealous.items.candidate_sets import candidate_itemsets
from zealous.items.items_per_user import RANGES
from zealous.mechanisms import known_list
from zealous.mechanisms.choose import MECHANISMS
from zealous.mechanisms.known_list import (
    ItemTable,
    above_with_noise,
    with_noise_on_each,
)
from zealous.mechanisms.of_keywords import SpelledQueries, candidate_count
from zealous.mechanisms.protocol import CalibratedMechanism
from zealous.noise import DiscreteLaplace, seeded_bytes
from zealous.privacy.guarantee import Indistinguishability

LITTLE = DiscreteLaplace(scale=Fraction(1, 100))  # next to no noise
NOISE = DiscreteLaplace(scale=Fraction(2))


def batches(*rows: dict[str, Any]) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pylist([row]) for row in rows]


def rows(found: Sequence[pa.RecordBatch]) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for batch in found for row in batch.to_pylist()]


def each(keys: pa.Table, counted: list[pa.RecordBatch]) -> list[tuple[Any, ...]]:
    return rows(with_noise_on_each(ItemTable.of(keys), counted, LITTLE, seeded_bytes(1)))


# A table of items


def test_every_item_in_its_order() -> None:
    keys = pa.table({"a": ["x", "y", "x"], "b": ["1", "1", "2"], "count": [7, 8, 9]})
    counted = batches({"count": 4, "b": "2", "a": "x"}, {"count": 5, "b": "9", "a": "x"})
    assert each(keys, counted) == [("x", "1", 0), ("y", "1", 0), ("x", "2", 4)]
    assert each(keys, []) == [("x", "1", 0), ("y", "1", 0), ("x", "2", 0)]
    assert each(keys.slice(0, 0), counted) == []


def test_whatever_the_columns_are_called() -> None:
    names = ["zealous", "count_sum", "place"]
    keys = pa.table({name: pa.array(["k"], pa.large_string()) for name in names})
    counted = pa.record_batch(
        {name: ["k"] for name in names} | {"count": pa.array([2], pa.int32())}
    )
    (found,) = with_noise_on_each(ItemTable.of(keys), [counted], LITTLE, seeded_bytes(1))
    assert rows([found]) == [("k", "k", "k", 2)]
    assert found.schema.field("count").type == pa.int64()


@pytest.mark.parametrize("at_once", [1, 1000, 70_000, 1 << 20])
def test_many_items(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In however many pieces they come, and are looked up."""
    monkeypatch.setattr(known_list, "_AT_ONCE", at_once)
    size = 200 if at_once == 1 else 200_000
    names = np.random.default_rng(1).permutation(size).astype(str)
    keys = pa.table({"item": names})
    table = keys.append_column("count", pa.array(np.arange(size)))
    shuffled = table.take(np.random.default_rng(2).permutation(size)[: size // 2])
    found = pa.Table.from_batches(
        with_noise_on_each(
            ItemTable.of(keys), shuffled.to_batches(max_chunksize=20_000), LITTLE, seeded_bytes(1)
        )
    )
    assert found["item"].to_pylist() == names.tolist()
    expected = np.zeros(size, np.int64)
    expected[shuffled["count"].to_numpy()] = shuffled["count"].to_numpy()
    assert (found["count"].to_numpy() == expected).all()


def test_an_item_that_is_listed_twice_has_one_place() -> None:
    listed = ItemTable.of(pa.table({"item": ["b", "a", "b", "c", "a"]}))
    assert listed.table.to_pydict() == {"item": ["b", "a", "c"]}


def test_items_are_texts() -> None:
    """7 and "07" are two items of a log, and one number."""
    listed = ItemTable.of(pa.table({"item": [7, 8, 7]}))
    assert listed.table.to_pydict() == {"item": ["7", "8"]}
    counted = batches({"item": "07", "count": 3}, {"item": "7", "count": 2})
    assert rows(with_noise_on_each(listed, counted, LITTLE, seeded_bytes(1))) == [
        ("7", 2),
        ("8", 0),
    ]
    nothing = ItemTable.of(pa.table({"item": pa.nulls(0)}))
    assert (len(nothing), nothing.table.schema.field("item").type) == (0, pa.string())


def test_what_looks_alike_is_different() -> None:
    alike = ["é", "e\u0301", "E", "e", "e\u00a0", "e ", "е", "", "e\0", "e\0x"]
    listed = ItemTable.of(pa.table({"item": alike}))
    assert listed.table["item"].to_pylist() == alike
    assert listed.places(listed.table).tolist() == list(range(len(alike)))


def test_a_missing_value_is_refused() -> None:
    with pytest.raises(UsageError, match="missing"):
        ItemTable.of(pa.table({"a": ["x", None], "b": ["1", "1"]}))


def test_without_others() -> None:
    listed = ItemTable.of(pa.table({"item": ["b", "a", "c"]}))
    assert listed.without(None) is listed
    others = pa.table({"count": [1, 2], "item": ["x", "a"]})
    assert listed.without(others).table.to_pydict() == {"item": ["b", "c"]}


# Queries of keywords


def spelled(*words: str) -> SpelledQueries:
    return SpelledQueries.of(pa.chunked_array([pa.array(words, pa.string())]))


@given(
    st.lists(
        st.text(st.characters(exclude_characters=" ", exclude_categories=["Cs"]), min_size=1),
        max_size=5,
        unique=True,
    )
)
def test_places_and_queries_are_one_to_one(words: list[str]) -> None:
    """Whatever words there are, if only none has a space."""
    queries = spelled(*words)
    size = len(queries)
    assert size == candidate_count(len(words))
    found = pa.Table.from_batches([queries.items(np.arange(size))])
    made = (" ".join(each) for n in (1, 2, 3) for each in itertools.product(words, repeat=n))
    assert sorted(found["query"].to_pylist()) == sorted(made)
    assert len(set(found["query"].to_pylist())) == size
    assert queries.places(found).tolist() == list(range(size))


def test_what_is_no_query_of_keywords_has_no_place() -> None:
    queries = spelled("a", "b")
    others = ["", " ", "c", "a  b", " a", "a ", "a b a b", "a b c", "A", "ab", "a\u00a0b", "a\tb"]
    assert queries.places(pa.table({"query": others})).tolist() == [-1] * len(others)
    assert queries.places(pa.table({"query": pa.nulls(1, pa.string())})).tolist() == [-1]


@pytest.mark.parametrize("words", [["new", "york", "new york"], ["a", "b", "a"], ["a", ""]])
def test_keywords_that_spell_a_query_in_two_ways_are_refused(words: list[str]) -> None:
    with pytest.raises(UsageError, match="one word each"):
        spelled(*words)
    with pytest.raises(UsageError, match="one word each"):
        SpelledQueries.of(pa.chunked_array([pa.array(["a", None])]))


# Where noise is drawn


@dataclass
class Careless:
    """A list that nobody made distinct: items are found at the first of their places."""

    names: list[str]

    def __len__(self) -> int:
        return len(self.names)

    def items(self, places: Any) -> pa.RecordBatch:
        return pa.record_batch({"item": [self.names[place] for place in places]})

    def places(self, items: pa.Table) -> Any:
        return np.array([self.names.index(item) for item in items["item"].to_pylist()], np.int64)


def _refuses(draw: Callable[[], Any]) -> bool:
    try:
        draw()
    except UsageError as refused:
        return "different" in str(refused)
    return False


@pytest.mark.parametrize("names", ["ab", "aab", "aba"])
def test_no_noise_is_drawn_for_a_list_with_an_item_twice(names: str) -> None:
    listed = Careless(list(names))
    draws = (
        partial(with_noise_on_each, listed, [], NOISE),
        partial(above_with_noise, listed, [], NOISE, above=0),
    )
    for draw in draws:
        # Of a list too long to look at all, what is published is looked at.
        refused = [_refuses(partial(draw, seeded_bytes(seed))) for seed in range(40)]
        assert any(refused) == (len(set(names)) < len(names))


def test_both_ways_to_draw_are_the_same() -> None:
    """Noise for each, or how many and then which: the same chance and the same counts."""
    # Of each of four items many copies on one list: what becomes of each is another run.
    copies, above, runs = 100, 1, 800
    named = [f"{item}{copy}" for item in "abcd" for copy in range(copies)]
    listed = ItemTable.of(pa.table({"item": named}))
    held = {"b": 1, "c": 2}
    counted = batches(
        *({"item": name, "count": held[name[0]]} for name in named if name[0] in held),
        {"item": "x", "count": 9},
    )
    source = seeded_bytes(4)
    seen = [Counter[tuple[str, int]](), Counter[tuple[str, int]]()]
    draws: tuple[Callable[..., Any], ...] = (with_noise_on_each, above_with_noise)
    for found, draw in zip(seen, draws, strict=True):
        for _ in range(runs // copies):
            published = rows(draw(listed, counted, NOISE, source, above=above))
            assert len({name for name, _ in published}) == len(published)
            found.update((name[0], count) for name, count in published)
    law = stats.dlaplace(1 / 2)
    for item, true in zip("abcd", (0, 1, 2, 0), strict=True):
        chances = [law.pmf(n - true) for n in range(above + 1, 8)]
        chances.append(law.cdf(true - 8))
        for found in seen:
            numbers = [found[item, n] for n in range(above + 1, 8)]
            numbers.append(
                sum(n for (name, many), n in found.items() if (name, many >= 8) == (item, True))
            )
            for number, chance in zip(numbers, chances, strict=True):
                low, high = stats.binom.ppf([1e-9, 1 - 1e-9], runs, chance)
                assert low <= number <= high


def test_counts_of_one_item_add_up() -> None:
    """In however many rows an engine gives them."""
    listed = ItemTable.of(pa.table({"item": ["a", "b"]}))
    counted = batches(
        {"item": "a", "count": 500}, {"item": "b", "count": 7}, {"item": "a", "count": 70}
    )
    for draw in (with_noise_on_each, above_with_noise):
        found = rows(draw(listed, counted, LITTLE, seeded_bytes(1), above=3))
        assert found == [("a", 570), ("b", 7)]


# Every mechanism

SURE = {f"u{number}": frozenset(["aa" if number < 40 else "bb"]) for number in range(80)}
TWICE = pa.table({"query": list("ababa"), "url": list("ababa"), "count": [5, 4, 3, 2, 1]})
OF_THE_LOG = [
    "zealous",
    "laplace",
    "gaussian",
    "selection",
    "selection-twice",
    "pooled",
]


def given_twice(name: str, mechanism: Any) -> Any:
    """The mechanism with an input that has things several times; as it is where it has none."""
    if name in ("domain", "prior", "listed"):
        return mechanism.with_inputs(TWICE)
    if name == "results":
        return mechanism.with_inputs(TWICE, pa.table({"query": list("aabb"), "count": [1] * 4}))
    if name == "of-keywords":
        return mechanism.with_inputs(
            first=pa.table({"keyword": ["a", "b", "a"], "count": [5, 4, 3]})
        )
    if name in ("of-smaller", "of-smaller-gaussian"):
        return mechanism.with_inputs(
            candidate_itemsets([pa.table({"item_1": list("aab"), "count": [9, 9, 9]})])
        )
    if name == "after-look":  # people with a single item, and so one noise for each
        return mechanism.with_inputs(first=pa.table({"items": RANGES[:1], "count": [80]}))
    assert name in OF_THE_LOG, f"{name} is new: if it has a list, give it one with an item twice"
    return mechanism


@pytest.mark.parametrize("name", MECHANISMS)
def test_no_mechanism_gives_an_item_two_noises(name: str) -> None:
    kind: type[CalibratedMechanism] = MECHANISMS[name]
    made = kind.calibrate(Indistinguishability(epsilon=30, delta="0.01"), 1)
    if name.startswith("of-"):
        with pytest.raises(UsageError, match=r"different keywords|twice"):
            given_twice(name, made).release(Counting(SURE))
        return
    found = rows(given_twice(name, made).release(Counting(SURE)))
    assert sorted(item for *item, _ in found) == [["a", "a"], ["b", "b"]]
