"""Size, top-j precision and coverage, differences and distribution of counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from zealous.study.measures.measured import Measured
from zealous.study.measures.statistics import Statistics, bins, count_distribution
from zealous.study.releases.original_histogram import Original
from zealous.study.releases.released import (
    Released,
    original_as_release,
    released_by_index,
    released_by_text,
)

NONE = np.zeros(0, np.int64)


def original(users: Sequence[int]) -> Original:
    """Items named by their place, most users first."""
    counts = np.array(sorted(users, reverse=True), np.int64)
    names = [f"i{place}" for place in range(len(counts))]
    return Original(
        kind="queries",
        items=pa.table({"query": pa.array(names, pa.string())}),
        users=counts,
        times=counts,
        kept={},
        people=int(counts.max(initial=1)),
    )


def released(truth: Original, counts: Mapping[str, int]) -> Released:
    names, values = list(counts), list(counts.values())
    table = pa.table({"query": pa.array(names, pa.string()), "count": pa.array(values, pa.int64())})
    return released_by_text(truth, table)


Figures = dict[tuple[str, float | None], float]


def figures(found: Iterable[Measured]) -> Figures:
    listed = list(found)
    by_name = {(figure.measure, figure.at): figure.value for figure in listed}
    assert len(by_name) == len(listed), "a figure was yielded twice"
    return by_name


TRUTH = original([6, 3, 1])


def test_by_hand() -> None:
    """Two of three items, one with another count."""
    found = figures(Statistics(top=(2, 3, 4))(TRUTH, released(TRUTH, {"i0": 4, "i2": 1})))
    assert found["distinct", None] == 2
    assert found["total", None] == 5
    # Top 2: (6/9, 3/9) against (1, 0).
    assert found["l1", 2] == pytest.approx((3 / 9 + 3 / 9) / 2)
    assert found["missing", 2] == 1
    assert found["missing-share", 2] == 0.5
    # The absent item counts 1: (4/5, 1/5).
    assert found["kl", 2] == pytest.approx(
        6 / 9 * math.log((6 / 9) / (4 / 5)) + 3 / 9 * math.log((3 / 9) / (1 / 5))
    )
    # Top 3: (0.6, 0.3, 0.1) against (0.8, 0, 0.2).
    assert found["l1", 3] == pytest.approx((0.2 + 0.3 + 0.1) / 3)
    assert ("l1", 4) not in found
    # Scaled by 10/5: 8, 0, 2 against 6, 3, 1.
    assert found["average-difference", None] == pytest.approx((2 + 3 + 1) / 3)
    assert found["rms-difference", None] == pytest.approx(math.sqrt((4 + 9 + 1) / 3))
    assert found["total-variation", None] == pytest.approx(0.3)
    assert found["items-with-count", 1] == 1
    assert found["items-with-count", 4] == 1


def test_rows_that_the_original_lacks() -> None:
    """They are part of the release's size and total, and of the total variation."""
    found = figures(Statistics(top=(3,))(TRUTH, released(TRUTH, {"i0": 6, "new": 4})))
    assert found["distinct", None] == 2
    assert found["total", None] == 10
    assert found["average-difference", None] == pytest.approx((0 + 3 + 1) / 3)
    assert found["total-variation", None] == pytest.approx((0.3 + 0.1 + 0.4) / 2)
    assert found["l1", 3] == pytest.approx((0.4 + 0.3 + 0.1) / 3)
    assert found["items-with-count", 4] == 1


def test_nothing() -> None:
    """An empty release is 0 everywhere; for KL it is uniform."""
    found = figures(Statistics(top=(1, 3))(TRUTH, released_by_index(TRUTH, NONE, NONE)))
    assert found["distinct", None] == found["total", None] == 0
    assert found["l1", 3] == pytest.approx(1 / 3)
    assert found["kl", 1] == pytest.approx(0, abs=1e-12)
    entropy = -sum(p * math.log(p) for p in (0.6, 0.3, 0.1))
    assert found["kl", 3] == pytest.approx(math.log(3) - entropy)
    assert found["missing-share", 3] == 1
    assert found["average-difference", None] == pytest.approx(10 / 3)
    assert found["rms-difference", None] == pytest.approx(math.sqrt(46 / 3))
    assert found["total-variation", None] == 1
    assert not any(name == "items-with-count" for name, _ in found)


def test_an_original_without_items() -> None:
    empty = original([])
    found = figures(Statistics(top=(1, 10))(empty, released_by_index(empty, NONE, NONE)))
    assert found == {("distinct", None): 0, ("empty", None): 1, ("total", None): 0}


def test_counts_of_foreign_mechanisms() -> None:
    """A count below 1 is 1 in KL, and has no place in the distribution of counts."""
    low = figures(Statistics(top=(3,))(TRUTH, released(TRUTH, {"i0": 6, "i1": -2, "i2": 0})))
    one = figures(Statistics(top=(3,))(TRUTH, released(TRUTH, {"i0": 6, "i1": 1, "i2": 1})))
    assert low["kl", 3] == one["kl", 3]
    assert [at for name, at in low if name == "items-with-count"] == [6]
    below = figures(Statistics(top=(3,))(TRUTH, released(TRUTH, {"i0": -1})))
    assert below["total-variation", None] == 1
    assert below["average-difference", None] == pytest.approx(10 / 3)
    assert below["l1", 3] == pytest.approx(1 / 3)


def test_bins() -> None:
    """Single counts below 10, then six bins a decade."""
    edges = bins().tolist()
    assert edges[:17] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 22, 32, 47, 69, 100, 147]
    assert 1000 in edges
    assert 10**18 in edges
    assert edges == sorted(set(edges))


def test_distribution_is_a_density() -> None:
    """14 is the last count of a bin of five, 15 the first of one of seven."""
    found = figures(count_distribution(np.array([10, 14, 15, 9, 9, 0, -3], np.int64)))
    assert found == {
        ("items-with-count", 9.0): 2,
        ("items-with-count", math.sqrt(10 * 14)): 2 / 5,
        ("items-with-count", math.sqrt(15 * 21)): 1 / 7,
    }


logs = st.lists(st.integers(1, 200), min_size=1, max_size=30)


@examples(200)
@given(logs, st.data())
def test_like_the_definition(users: list[int], data: st.DataObject) -> None:
    """The sums over what is held agree with sums over everything."""
    truth = original(users)
    names = [*truth.items["query"].to_pylist(), "new", "newer"]
    counts = data.draw(st.dictionaries(st.sampled_from(names), st.integers(1, 300)))
    j = data.draw(st.integers(1, len(users)))
    found = figures(Statistics(top=(j,))(truth, released(truth, counts)))
    true = dict(zip(names, truth.users.tolist(), strict=False))
    top = list(true)[:j]
    p = np.array([true[name] for name in top]) / sum(true[name] for name in top)
    q = np.array([counts.get(name, 0) for name in top])
    assert found["l1", j] == pytest.approx(np.mean(np.abs(p - q / max(1, q.sum()))))
    q = np.maximum(q, 1)
    assert found["kl", j] == pytest.approx(float((p * np.log(p / (q / q.sum()))).sum()), abs=1e-12)
    assert found["missing", j] == sum(name not in counts for name in top)
    total, published = sum(true.values()), sum(counts.values())
    scale = total / published if published else 0
    off = np.array([users - scale * counts.get(name, 0) for name, users in true.items()])
    assert found["average-difference", None] == pytest.approx(np.abs(off).mean(), abs=1e-9)
    assert found["rms-difference", None] == pytest.approx(math.sqrt((off**2).mean()), abs=1e-6)
    each = {name: true.get(name, 0) / total - counts.get(name, 0) * scale / total for name in names}
    varied = sum(map(abs, each.values())) / 2 if counts else 1
    assert found["total-variation", None] == pytest.approx(varied, abs=1e-9)


@examples(100)
@given(logs, st.integers(1, 5))
def test_a_perfect_release(users: list[int], times: int) -> None:
    """The original, and any multiple of it, is no distance away."""
    truth = original(users)
    for copy in (
        original_as_release(truth),
        released_by_index(truth, np.arange(len(truth)), truth.users * times),
    ):
        found = figures(Statistics(top=(1, len(truth)))(truth, copy))
        for (name, _), value in found.items():
            if name not in {"distinct", "total", "items-with-count"}:
                assert value == pytest.approx(0, abs=1e-6), name
    assert found["total", None] == sum(users) * times


@examples(100)
@given(st.lists(st.integers(1, 10**7)))
def test_every_count_is_in_a_bin(counts: list[int]) -> None:
    edges = bins()
    items = 0.0
    for _, density, at in count_distribution(np.array(counts, np.int64)):
        assert at is not None
        place = int(np.searchsorted(edges, at, "right"))
        items += density * float(edges[place] - edges[place - 1])
    assert items == pytest.approx(len(counts))
