"""Query substitution as Jones et al. describe it: candidates, their features, the model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from zealous.study.measures.candidate_model import (
    FEATURES,
    Candidate,
    edit_distance,
    features,
    fit,
)
from zealous.study.measures.jones import LEARNERS, learn_with_model
from zealous.study.measures.jones import _held_out_people as half_of
from zealous.study.measures.ranking import ranking_quality
from zealous.study.measures.substitutes import Ranked, Substitutions
from zealous.study.measures.substitution import learn

Pairs = Sequence[tuple[str, str, int]]


def pairs_of(rows: Pairs) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(("query", "next_query", "count"), columns, strict=True)))


def queries_of(rows: dict[str, int]) -> pa.Table:
    return pa.table({"query": list(rows), "count": list(rows.values())})


def found(ranked: Ranked) -> list[str]:
    texts: list[str] = ranked.table["candidate"].to_pylist()
    return texts


def plain_distance(one: str, other: str) -> int:
    @cache
    def left(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        same = one[i - 1] == other[j - 1]
        return min(left(i - 1, j) + 1, left(i, j - 1) + 1, left(i - 1, j - 1) + (not same))

    return left(len(one), len(other))


@examples(200)
@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_edit_distance(one: str, other: str) -> None:
    assert edit_distance(one, other) == plain_distance(one, other)
    assert edit_distance(list(one), list(other)) == plain_distance(one, other)


def test_features_of_a_candidate() -> None:
    candidate = Candidate("cheap hotels in rome", np.expm1(2), 1)
    (row,) = features("cheap flights rome", [candidate], {candidate.text: 4}).tolist()
    assert dict(zip(FEATURES, row, strict=True)) == pytest.approx(
        {
            "edit distance": plain_distance("cheap flights rome", candidate.text) / 20,
            "word distance": 2 / 4,
            "prefix overlap": len("cheap ") / 20,
            "phrases replaced": 1,
            "whole query": 0,
            "words more": 1,
            "log-likelihood ratio": 2,
            "frequency of the candidate": np.log(5),
        }
    )
    assert features("q", [], {}).shape == (0, len(FEATURES))


def test_the_model_finds_what_matters_and_always_the_same() -> None:
    chance = np.random.default_rng(3)
    rows = chance.normal(size=(4_000, 3)) * [1, 10, 1]
    likely = 1 / (1 + np.exp(-(2 * rows[:, 0] - 0.1 * rows[:, 1])))
    wanted = (chance.random(4_000) < likely).astype(np.float64)
    model = fit(rows, wanted)
    assert model is not None
    assert model.weights == pytest.approx([2, -1, 0], abs=0.15)  # by deviation
    again = fit(rows, wanted)
    assert again is not None
    assert again.weights.tolist() == model.weights.tolist()
    assert model.rank(np.array([[1.0, 0, 0], [0, 0, 0], [0, 10, 0]])).argsort().tolist() == [
        2,
        1,
        0,
    ]


def test_with_too_few_nothing_is_fitted() -> None:
    rows = np.arange(40.0).reshape(40, 1)
    for right, fitted in ((9, False), (10, True), (30, True), (31, False)):
        wanted = (np.arange(40) < right).astype(np.float64)
        assert (fit(rows, wanted) is not None) == fitted


def test_half_of_the_people_are_held_out() -> None:
    counts = np.array([0, 1, 10_000, 0, 7])
    held = half_of(counts)
    assert ((held >= 0) & (held <= counts)).all()
    assert 4_700 < held[2] < 5_300  # six deviations of 50, and always the same
    assert half_of(counts).tolist() == held.tolist()
    assert half_of(counts[:0]).tolist() == []


OTHERS = [(f"other {n}", f"thing {n}", 50) for n in range(30)]


def test_only_what_exceeds_a_ratio_of_100_is_a_substitute() -> None:
    for times, kept in ((4, False), (60, True)):
        table = pairs_of([("car", "auto", times), *OTHERS])
        asked = pa.array(["car"])
        assert learn(table).scores.min() > 3.84
        strong = learn(table).scores[learn(table).known.to_pylist().index("car")] > 100
        assert strong == kept
        assert found(learn_with_model(table).top(asked, 5)) == (["auto"] if kept else [])
        assert found(LEARNERS["model"](table, None).top(asked, 5)) == ["auto"]


def units(learned: Substitutions) -> set[tuple[str, str]]:
    starts = learned.start.tolist()
    return {
        (unit, text)
        for unit, low, high in zip(learned.known.to_pylist(), starts[:-1], starts[1:], strict=True)
        for text in learned.instead[low:high].to_pylist()
    }


def test_a_query_with_the_first_phrase_is_followed_by_one_with_the_second() -> None:
    table = pairs_of([("cheap flights rome", "rome low-cost hotels", 5), ("a", "b", 9)])
    whole = {("cheap flights rome", "rome low-cost hotels"), ("a", "b")}
    known = queries_of({"cheap flights rome": 1})
    assert units(learn(table, known, least_score=-1)) == whole
    assert units(learn(table, known, least_score=-1, containing=True)) == whole | {
        (first, second) for first in ("cheap", "flights") for second in ("low", "cost", "hotels")
    }


def test_one_phrase_or_several_are_replaced() -> None:
    table = pairs_of([("red", "blue", 90), ("car", "bike", 80), *OTHERS])
    several = found(
        learn_with_model(table, queries_of({"red car": 1})).top(pa.array(["red car"]), 9)
    )
    assert sorted(several) == ["blue bike", "blue car", "red bike"]
    assert found(learn(table).top(pa.array(["red car"]), 9)) == ["blue car", "red bike"]


def test_what_people_ask_next_is_ranked_first() -> None:
    """By the ratio the phrase's substitute is better; people ask what is asked often."""
    rows: list[tuple[str, str, int]] = []
    asked: dict[str, int] = {}
    for n in range(40):
        rows += [(f"shop{n} sale", f"shop{n} offer", 40)]
        asked |= {f"shop{n} offer": 900, f"shop{n} sale": 50, f"shop{n} discount": 1}
    rows += [("sale", "discount", 4_000)]
    table, queries = pairs_of(rows), queries_of(asked)
    learned = learn_with_model(table, queries)
    assert learned.model is not None
    place = found(learned.top(pa.array(["shop7 sale"]), 5))
    assert place[0] == "shop7 offer"
    assert found(learn_with_model(table, queries).top(pa.array(["shop7 sale"]), 5)) == place


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_agrees_with_itself_and_takes_any_table(name: str) -> None:
    table = pairs_of([("red", "blue", 90), ("car", "bike", 80), *OTHERS])
    asked = pa.array(["red car", "red", "", "nothing"])
    top = LEARNERS[name](table, None).top(asked, 5)
    assert top.asked == 4
    for figure in ranking_quality(top, top):
        if figure.measure != "map-printed":
            assert figure.value == 1
    phrases = table.rename_columns(["phrase", "next_phrase", "count"])
    assert "blue car" in found(LEARNERS[name](phrases, None).top(asked, 5))
    empty = LEARNERS[name](table.slice(0, 0), None).top(asked, 5)
    assert empty.table.num_rows == 0
    assert empty.table.schema == top.table.schema
