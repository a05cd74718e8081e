"""Neighbouring words stay together where they go together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from slow_phrases import Histogram, cut_slowly, joined_slowly

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.items import words as sql_words
from zealous.study.measures.phrases import Words, find_phrases, words


def cut(texts: list[str], histogram: Histogram) -> list[list[str]]:
    """The phrases of texts, as the program has them."""
    names = pa.array([text for text, _ in histogram], pa.string())
    phrases = find_phrases(names, np.array([count for _, count in histogram], np.int64))
    split = words(pa.array(texts, pa.string()))
    low = np.flatnonzero(phrases.starts(split))
    high = np.append(low[1:], len(split.flat))[: len(low)]
    found: list[list[str]] = [[] for _ in texts]
    for place, text in zip(split.text()[low], split.join(low, high).to_pylist(), strict=True):
        found[place].append(text)
    return found


def test_words_are_those_of_keywords() -> None:
    texts = ["new york", "o'reilly's", "Ärger im Büro", "côte d'azur", "a.b", "日本 語", "x²"]
    with DuckDB(threads=1) as engine:
        engine.add_table("texts", pa.table({"query": texts}))
        steps = [Step("cut", f"select query, {sql_words('query')} as words from texts")]
        expected = dict(engine.rows(steps))
    found = words(pa.array(texts))
    ends = pairwise(found.start.tolist())
    assert [found.flat[a:b].to_pylist() for a, b in ends] == [expected[text] for text in texts]


def test_texts_without_words() -> None:
    found = words(pa.array(["", "a b", "?!", " ", "c"]))
    assert found.flat.to_pylist() == ["a", "b", "c"]
    assert found.start.tolist() == [0, 0, 2, 2, 2, 3]
    assert found.text().tolist() == [1, 1, 4]
    assert found.first().tolist() == [True, False, True]
    nothing = words(pa.array([], pa.string()))
    assert (len(nothing.flat), nothing.start.tolist()) == (0, [0])


def test_joining_words() -> None:
    found = Words(flat=pa.array(["a", "b", "c"]), start=np.array([0, 3]))
    texts = found.join(np.array([0, 1, 2, 0]), np.array([3, 1, 3, 2]))
    assert texts.to_pylist() == ["a b c", "", "c", "a b"]


def test_what_goes_together_by_hand() -> None:
    # Of 1,024 words 1,022 are "the", and of two neighbours one is "new york": the ratios are
    # 0.5 / (1 / 1024)^2 = 2^19 and 0.5 / (1022 / 1024)^2, about a half.
    histogram = [("new york", 1), ("the", 1020), ("the the", 1)]
    assert cut(["new york", "the new york the", "york new", "the the"], histogram) == [
        ["new york"],
        ["the", "new york", "the"],
        ["york", "new"],
        ["the", "the"],
    ]


@pytest.mark.parametrize(("others", "together"), [(15, False), (16, True)])
def test_the_threshold_is_eight_bits_and_exclusive(others: int, together: bool) -> None:
    # p(a b) = 1 of 1, p(a) = p(b) = 1 / (2 + n): the ratio is (2 + n)^2, and 16^2 is not above 2^8.
    histogram = [("a b", 1), ("c", others - 1)]
    assert cut(["a b"], histogram) == [["a b"] if together else ["a", "b"]]


def test_counts_are_weights_and_those_below_one_are_left_aside() -> None:
    assert cut(["a b"], [("a b", 5), ("c", 75)]) == [["a b"]]
    assert cut(["a b"], [("a b", 5), ("c", 70)]) == [["a", "b"]]
    assert cut(["a b"], [("a b", 0), ("c", 75)]) == [["a", "b"]]
    assert cut(["a b"], [("a b", -5), ("c", 75)]) == [["a", "b"]]


def test_unknown_words_and_an_empty_histogram() -> None:
    assert cut(["x y", "a x", ""], [("a b", 1), ("c", 99)]) == [["x", "y"], ["a", "x"], []]
    assert cut(["x y"], []) == [["x", "y"]]
    assert cut([], [("a b", 1), ("c", 99)]) == []


def test_two_texts_are_never_joined() -> None:
    assert cut(["a", "b"], [("a b", 1), ("c", 99)]) == [["a"], ["b"]]


_TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d'e", "é"]), max_size=5).map(" ".join)
_ROWS = st.lists(st.tuples(_TEXTS, st.integers(-1, 4)), max_size=12)


@examples(150)
@given(rows=_ROWS, rare=st.integers(0, 400), texts=st.lists(_TEXTS, max_size=5))
def test_as_defined(rows: Histogram, rare: int, texts: list[str]) -> None:
    histogram = [*rows, ("z", rare)]
    joined = joined_slowly(histogram)
    assert cut(texts, histogram) == [cut_slowly(text, joined) for text in texts]
