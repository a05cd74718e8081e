"""Rank measures: by hand, and the library's beside plain definitions."""

from __future__ import annotations

import math
import random

import pyarrow as pa
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from zealous.study.measures.ranking import ranking_quality
from zealous.study.measures.substitution import Ranked

Lists = list[list[str]]
PRECISE = ("precision", "recall", "average-precision", "ndcg", "map-printed")


def ranked(lists: Lists) -> Ranked:
    """Candidates for queries 0, 1, ..., best first."""
    rows = [(q, text, rank) for q, found in enumerate(lists) for rank, text in enumerate(found)]
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    table = pa.table(
        {
            "place": pa.array(columns[0], pa.int64()),
            "candidate": pa.array(columns[1], pa.string()),
            "score": pa.array([100.0 - rank for rank in columns[2]], pa.float64()),
            "rank": pa.array(columns[2], pa.int64()),
        }
    )
    return Ranked(table=table, asked=len(lists))


def measured(truth: Lists, found: Lists, j: int) -> dict[str, float]:
    rows = list(ranking_quality(ranked(truth), ranked(found), top=(j,)))
    assert all(row.at == j for row in rows)
    assert len({row.measure for row in rows}) == len(rows)
    return {row.measure: row.value for row in rows}


# Plain definitions


def one_slowly(truth: list[str], found: list[str], j: int) -> dict[str, float]:
    """All measures of one query for which something was found."""
    truth, found = truth[:j], found[:j]
    if not truth:
        return dict.fromkeys(PRECISE, 0.0)
    hits = [text in truth for text in found]
    gains = {text: j - rank for rank, text in enumerate(truth)}
    discounted = [gains.get(text, 0) / math.log2(i + 2) for i, text in enumerate(found)]
    ideal = sum((j - i) / math.log2(i + 2) for i in range(len(truth)))
    return {
        "precision": sum(hits) / len(found),
        "recall": sum(hits) / len(truth),
        "average-precision": sum(sum(hits[: i + 1]) / (i + 1) for i in range(len(found)) if hits[i])
        / len(truth),
        "ndcg": sum(discounted) / ideal,
        "map-printed": sum(
            (i + 1) / ((found.index(text) if text in found else 0) + 1)
            for i, text in enumerate(truth)
        ),
    }


def slowly(truth: Lists, found: Lists, j: int) -> dict[str, float]:
    wanted = [q for q, each in enumerate(truth) if each]
    some = [q for q, each in enumerate(found) if each]
    result = {}
    if wanted:
        result["coverage"] = sum(bool(found[q]) for q in wanted) / len(wanted)
    if some:
        each = [one_slowly(truth[q], found[q], j) for q in some]
        result |= {name: sum(one[name] for one in each) / len(some) for name in PRECISE}
    return result


# By hand


def test_equal_lists() -> None:
    lists = [["a", "b"], ["c"], ["d", "e", "f"]]
    assert measured(lists, lists, 2) == pytest.approx(
        {
            "coverage": 1,
            "precision": 1,
            "recall": 1,
            "average-precision": 1,
            "ndcg": 1,
            "map-printed": 5 / 3,
        }
    )


def test_a_short_list_is_not_punished_in_precision() -> None:
    found = measured([["a", "b", "c", "d", "e"]], [["b"]], 5)
    assert found == pytest.approx(
        {
            "coverage": 1,
            "precision": 1,
            "recall": 1 / 5,
            "average-precision": 1 / 5,
            # gain 4 at once, of 5 + 4/log2(3) + 3/2 + 2/log2(5) + 1/log2(6)
            "ndcg": 4 / (5 + 4 / math.log2(3) + 3 / 2 + 2 / math.log2(5) + 1 / math.log2(6)),
            "map-printed": 1 + 2 + 3 + 4 + 5,
        }
    )


def test_both_lists_are_cut_at_j() -> None:
    found = measured([["a", "b", "c"]], [["x", "c", "a"]], 2)
    assert (found["precision"], found["recall"], found["ndcg"]) == (0, 0, 0)
    assert measured([["a", "b", "c"]], [["x", "c", "a"]], 3)["precision"] == pytest.approx(2 / 3)


def test_swapped() -> None:
    found = measured([["a", "b"]], [["b", "a"]], 2)
    assert found["precision"] == found["recall"] == found["average-precision"] == 1
    assert found["ndcg"] == pytest.approx((1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)))
    assert found["map-printed"] == pytest.approx(1 / 2 + 2 / 1)


def test_the_printed_map_rewards_what_is_missing() -> None:
    truth = [["a", "b", "c", "d", "e"]]
    assert measured(truth, truth, 5)["map-printed"] == pytest.approx(5)
    assert measured(truth, [["x"]], 5)["map-printed"] == pytest.approx(15)


def test_coverage_is_over_the_original_s_queries_and_the_rest_over_the_release_s() -> None:
    truth: Lists = [["a"], ["a"], ["a"], ["a"], []]
    found: Lists = [["a"], ["x"], [], [], ["a"]]
    assert measured(truth, found, 2) == pytest.approx(
        # The last query counts 0: the original yields nothing.
        {
            "coverage": 1 / 2,
            "precision": 1 / 3,
            "recall": 1 / 3,
            "average-precision": 1 / 3,
            "ndcg": 1 / 3,
            "map-printed": 2 / 3,
        }
    )


def test_the_same_candidate_of_another_query_is_no_hit() -> None:
    assert measured([["a"], ["b"]], [["b"], ["a"]], 2)["precision"] == 0


def test_nothing_found_or_nothing_to_find() -> None:
    assert measured([["a"], []], [[], []], 2) == {"coverage": 0}
    assert measured([[], []], [[], []], 2) == {}
    assert measured([[]], [["a"]], 2) == dict.fromkeys(PRECISE, 0)


def test_each_j_in_turn() -> None:
    rows = list(ranking_quality(ranked([["a", "b"]]), ranked([["a", "x"]])))
    assert [(row.at, row.value) for row in rows if row.measure == "precision"] == [
        (2, 0.5),
        (5, 0.5),
    ]
    assert {row.measure for row in rows} == {"coverage", *PRECISE}


# Beside plain definitions

_LISTS = st.lists(st.sampled_from("abcdefg"), max_size=6, unique=True)


@examples(150)
@given(st.lists(st.tuples(_LISTS, _LISTS), min_size=1, max_size=6), st.integers(1, 6))
def test_as_defined(pairs: list[tuple[list[str], list[str]]], j: int) -> None:
    truth, found = ([list(each[side]) for each in pairs] for side in (0, 1))
    assert measured(truth, found, j) == pytest.approx(slowly(truth, found, j), abs=1e-9)


def test_many_queries_as_defined() -> None:
    chance = random.Random(3)
    truth, found = (
        [chance.sample("abcdefghij", chance.randrange(6)) for _ in range(3000)] for _ in range(2)
    )
    for j in (2, 5):
        assert measured(truth, found, j) == pytest.approx(slowly(truth, found, j), abs=1e-9)
