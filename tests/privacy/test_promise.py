"""The promise in one sentence says no more and no less than the guarantee."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zealous.privacy.guarantee import (
    Guarantee,
    Indistinguishability,
    Neighbors,
    ProbabilisticDP,
    Unit,
)
from zealous.privacy.promise import promise


def test_the_paper_s_guarantee() -> None:
    goal = ProbabilisticDP(epsilon=2, delta="0.001", users=1000)
    assert promise(goal) == (
        "With 99.9 % certainty, this release changes nobody's odds between any two histories by "
        "more than a factor of 7.39."
    )


def test_indistinguishability_is_per_person() -> None:
    goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
    assert promise(goal) == (
        "For each person, this release is nearly as likely with that data as without it: the "
        "probability of any event differs by at most a factor of 2.72, plus a delta of 1e-6 per "
        "person."
    )


@pytest.mark.parametrize("kind", [ProbabilisticDP, Indistinguishability])
def test_without_delta_nothing_is_left_out(kind: type[Guarantee]) -> None:
    said = promise(kind(epsilon=1, delta=0, users=10))
    assert "certainty" not in said
    assert "plus" not in said
    assert said.endswith("a factor of 2.72.")


@pytest.mark.parametrize("delta", ["1e-13", "1e-80", "1e-300"])
def test_however_small_delta_is_no_certainty_is_promised(delta: str) -> None:
    assert "100 %" not in promise(ProbabilisticDP(epsilon=1, delta=delta, users=10))
    assert f"plus a delta of {delta} " in promise(Indistinguishability(epsilon=1, delta=delta))


def test_each_unit_and_neighbours_have_words_of_their_own() -> None:
    said = {
        promise(ProbabilisticDP(epsilon=1, delta="0.1", users=9, neighbors=each, unit=unit))
        for each in get_args(Neighbors)
        for unit in get_args(Unit)
    }
    assert len(said) == len(get_args(Neighbors)) * len(get_args(Unit))


@given(
    st.fractions(Fraction(1, 10**15), Fraction(99, 100)),
    st.fractions(Fraction(1, 100), Fraction(9)),
)
def test_no_number_is_better_than_the_guarantee(delta: Fraction, epsilon: Fraction) -> None:
    said = promise(ProbabilisticDP(epsilon=epsilon, delta=delta, users=9))
    found = re.fullmatch(r"With (\S+) % certainty, .* a factor of ([\d,.]+)\.", said)
    assert found is not None
    assert Fraction(found[1]) <= 100 * (1 - delta)
    assert float(found[2].replace(",", "")) >= math.exp(epsilon) * (1 - 1e-9)
