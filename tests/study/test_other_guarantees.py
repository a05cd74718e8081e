"""What a study publishes under indistinguishability, beside the paper's guarantee."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from zealous.errors import UsageError
from zealous.mechanisms import Zealous
from zealous.privacy.calibrate import satisfied_guarantees
from zealous.privacy.guarantee import Indistinguishability
from zealous.study.grid.other_guarantees import (
    OTHER_GUARANTEES,
    OtherGuaranteeCandidate,
    goal_for,
)
from zealous.study.grid.study import Study
from zealous.study.releases.original_histogram import Original
from zealous.study.report.results_view import Entry
from zealous.study.report.sheets import promise_text

PEOPLE = 50_000


def mechanism(name: str, epsilon: float, m: int) -> Zealous:
    found = OTHER_GUARANTEES[name](goal_for(epsilon, 0.001, PEOPLE), m)
    assert isinstance(found, Zealous)
    return found


@pytest.mark.parametrize("name", ["indistinguishable", "korolova"])
@pytest.mark.parametrize(("epsilon", "m"), [(0.5, 1), (1, 6), (5, 1), (10, 6)])
def test_the_parameters_keep_the_promise(name: str, epsilon: float, m: int) -> None:
    made, goal = mechanism(name, epsilon, m), goal_for(epsilon, 0.001, PEOPLE)
    assert goal.delta == Fraction("0.001") / PEOPLE
    kept = satisfied_guarantees(
        scale=made.scale, tau=made.tau, tau_prime=made.tau_prime, items_per_user=m
    )
    found = next(
        each
        for each in kept
        if isinstance(each, Indistinguishability) and each.neighbors == goal.neighbors
    )
    assert found.epsilon <= goal.epsilon
    assert found.delta <= goal.delta


@pytest.mark.parametrize(("epsilon", "m"), [(0.5, 1), (1, 6), (5, 1), (10, 6)])
def test_korolova_never_has_a_lower_threshold_than_the_best(epsilon: float, m: int) -> None:
    best, printed = (mechanism(name, epsilon, m) for name in ("indistinguishable", "korolova"))
    assert printed.tau == 1
    assert printed.tau_prime >= best.tau_prime


@pytest.mark.parametrize("name", OTHER_GUARANTEES)
def test_a_release_holds_the_frequent_and_repeats_itself(name: str) -> None:
    users = np.array([5_000, 4_000, 2], np.int64)
    original = Original(
        kind="queries",
        items=pa.table({"query": ["a", "b", "c"]}),
        users=users,
        times=users,
        kept={1: users},
        people=PEOPLE,
    )
    by = OtherGuaranteeCandidate(name=name, epsilon=1, delta=0.001, m=1, draws=2, seed=7)
    first, again, other = (by.release({"queries": original}, draw)["queries"] for draw in (0, 0, 1))
    assert first.index.tolist() == [0, 1]
    assert first.counts.tolist() == again.counts.tolist()
    assert first.counts.tolist() != other.counts.tolist()


def test_the_summary_tells_both_guarantees() -> None:
    def promise(method: str) -> str:
        return promise_text(Entry(method=method, epsilon=5.0, m=1), 0.001, [], people=PEOPLE)

    assert promise("zealous").endswith("-indistinguishable")
    assert promise("korolova").endswith("(5, 2e-8)-indistinguishability")


def test_an_unknown_mechanism_is_refused() -> None:
    with pytest.raises(UsageError, match="mechanisms are indistinguishable, korolova, gaussian"):
        Study(mechanisms=("laplace",))
