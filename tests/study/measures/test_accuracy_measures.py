"""Exact inaccuracy beside that of a release."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from inaccuracy import inaccuracy

from zealous.mechanisms import Zealous
from zealous.noise import seeded_bytes
from zealous.privacy.calibrate import Calibration
from zealous.study.measures.accuracy import counted_mistakes, expected_inaccuracy
from zealous.study.measures.measured import Measured
from zealous.study.releases.original_histogram import Original
from zealous.study.releases.released import Released, released_by_index, released_by_text
from zealous.study.theory.accuracy_theorem import AccuracyTarget

PLAN = Calibration(scale=Fraction(2), tau=2, tau_prime=6, delta=Fraction(1, 1000))


def original(kept: list[int]) -> Original:
    """`kept` are the users after bounding; before it each item has ten more."""
    counts = np.array(kept, np.int64)
    names = pa.array([f"i{place}" for place in range(len(kept))], pa.string())
    users = counts + 10
    return Original(
        kind="queries",
        items=pa.table({"query": names}),
        users=users,
        times=users,
        kept={3: counts},
        people=1000,
    )


def release(truth: Original, rows: list[int]) -> Released:
    index = np.array(rows, np.int64)
    return released_by_index(truth, index, np.full(len(rows), 9))


def both(found: Released, plan: Calibration, m: int) -> list[Measured]:
    return [*expected_inaccuracy(found.original, plan, m), *counted_mistakes(found, plan, m)]


def test_by_hand() -> None:
    """tau* = 6; at xi = 2 from 8 on items should be there, and below 4 they should not."""
    truth = original([9, 8, 7, 6, 5, 4, 3, 2, 0])
    found = {(m, at): v for m, v, at in counted_mistakes(release(truth, [1, 3, 5, 6, 7]), PLAN, 3)}
    assert {at for _, at in found} == {0, 2, 4, 8}
    assert found["inaccuracy-retain", 0] == 2  # 9 and 7
    assert found["inaccuracy-filter", 0] == 3  # 4, 3 and 2
    assert found["inaccuracy-retain", 2] == 1  # 9
    assert found["inaccuracy-filter", 2] == 2  # 3 and 2
    assert found["inaccuracy-retain", 4] == 0
    assert found["inaccuracy-filter", 4] == 0
    assert found["inaccuracy-filter", 8] == 0  # nothing has fewer than -2 users


def test_a_row_that_the_original_lacks_has_no_users() -> None:
    truth = original([9])
    strange = pa.table({"query": ["new"], "count": pa.array([9], pa.int64())})
    found = {(m, at): v for m, v, at in counted_mistakes(released_by_text(truth, strange), PLAN, 3)}
    assert found["inaccuracy-filter", 0] == found["inaccuracy-filter", 4] == 1
    assert found["inaccuracy-filter", 8] == 0


def test_expected_by_hand() -> None:
    """alpha = exp(-1/2): an item of 6 users is published with P(eta > 0) = alpha/(1 + alpha)."""
    alpha = math.exp(-1 / 2)
    found = {(m, at): v for m, v, at in expected_inaccuracy(original([6, 6, 4, 1]), PLAN, 3)}
    assert found["inaccuracy-retain-exact", 0] == pytest.approx(2 * (1 - alpha / (1 + alpha)))
    assert found["inaccuracy-filter-exact", 0] == pytest.approx(alpha**3 / (1 + alpha))
    assert found["inaccuracy-retain-exact", 2] == 0
    assert found["inaccuracy-filter-exact", 2] == 0  # 4 is not below 4, and 1 is below tau


def test_all_of_it() -> None:
    truth = original([9, 3])
    names = {figure.measure for figure in both(release(truth, [0]), PLAN, 3)}
    assert names == {
        "inaccuracy-retain",
        "inaccuracy-filter",
        "inaccuracy-retain-exact",
        "inaccuracy-filter-exact",
    }


@examples(100)
@given(
    st.lists(st.integers(0, 500), max_size=40),
    st.fractions(Fraction(1, 5), 20, max_denominator=5),
    st.integers(1, 20),
    st.integers(0, 100),
)
def test_expected_is_that_of_the_theory(kept: list[int], scale: Fraction, tau: int, t: int) -> None:
    plan = Calibration(scale=scale, tau=tau, tau_prime=tau + t, delta=Fraction(1, 2))
    found = {(m, at): v for m, v, at in expected_inaccuracy(original(kept), plan, 3)}
    for slack in (0, 1, 2, 4):
        wanted = AccuracyTarget(tau + t, slack * scale)
        theory = inaccuracy(plan, Counter(kept), wanted)
        at = float(wanted.xi)
        assert found["inaccuracy-retain-exact", at] == pytest.approx(theory.retain, abs=1e-15)
        assert found["inaccuracy-filter-exact", at] == pytest.approx(theory.filter, abs=1e-15)


def test_simulation_agrees() -> None:
    """Many items and real noise: each half within five standard deviations of its expectation."""
    truth = original([count for count in range(1, 40) for _ in range(500)])
    mechanism = Zealous(items_per_user=3, scale=PLAN.scale, tau=2, tau_prime=6)

    def count(*, bound: int, at_least: int, **_: object) -> list[pa.RecordBatch]:
        index = np.flatnonzero(truth.kept[bound] >= at_least)
        return [pa.record_batch({"item": index, "count": truth.kept[bound][index]})]

    batches = list(mechanism.release(count, seeded_bytes(5)))
    index = np.concatenate([batch["item"].to_numpy() for batch in batches])
    figures = {(m, at): v for m, v, at in both(release(truth, index.tolist()), PLAN, 3)}
    compared = 0
    for (name, at), exact in figures.items():
        if name.endswith("-exact"):
            seen = figures[name.removesuffix("-exact"), at]
            assert abs(seen - exact) <= 5 * math.sqrt(exact) + 1e-9
            compared += exact > 100
    assert compared >= 4
