"""What no mechanism can exceed: reached by the optimal one, and exceeded by none of ours."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from zealous.items import queries
from zealous.items.items_per_user import ItemsPerUser
from zealous.logs.log import read_log
from zealous.mechanisms.selection import Selection
from zealous.planning.part_text import describe
from zealous.planning.plan import plan
from zealous.privacy.accounting.at_best import fewest_users, most_items
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
from zealous.release.publish import publish

GOALS = [
    Indistinguishability(epsilon=epsilon, delta=delta, neighbors="add-remove")
    for epsilon in ("0.01", "0.5", "1", "2", "4", "20")
    for delta in ("1e-12", "1e-6", "0.01", "0.4")
]


def optimal(goal: Indistinguishability, users: int) -> float:
    """The recursion of docs/proofs/selection.md."""
    factor, delta, chance = math.exp(goal.epsilon), float(goal.delta), 0.0
    for _ in range(users):
        chance = min(factor * chance + delta, 1 - (1 - chance - delta) / factor, 1.0)
    return chance


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: f"{goal.epsilon}-{float(goal.delta):g}")
def test_it_is_where_the_optimal_mechanism_reaches_half(goal: Indistinguishability) -> None:
    users = fewest_users(goal)
    assert users is not None
    assert optimal(goal, users) >= 0.5 > optimal(goal, users - 1)
    if goal.delta > 1 - math.exp(-goal.epsilon):
        return  # more than its noise can use
    made = Selection.calibrate(goal, 1)
    assert made.publication_probability(users) >= 0.5 - 1e-6  # its delta is in parts of 2^-28
    assert made.publication_probability(users - 1) < 0.5


@pytest.mark.parametrize("goal", GOALS[::5], ids=lambda goal: f"{goal.epsilon}-{goal.delta}")
def test_no_log_yields_more_items_than_that(goal: Indistinguishability) -> None:
    """The items of a log, all of c users, that the optimal mechanism publishes on average."""
    users = fewest_users(goal)
    assert users is not None
    for each in {*range(1, 40), users, 2 * users}:
        pairs = 10_000 * each
        assert 10_000 * optimal(goal, each) <= pairs / users + 1e-6
        assert most_items(goal, pairs) == pairs // users


def test_without_a_delta_nothing_of_the_log_alone_can_appear() -> None:
    goal = Indistinguishability(epsilon=4, delta=0)
    assert fewest_users(goal) is None
    assert most_items(goal, 10**9) == 0


def test_numbers_at_the_ends_of_what_can_be_asked() -> None:
    for epsilon, delta, users in (
        (Fraction(10**9), Fraction(1, 10**300), 2),
        (Fraction(1, 10**6), Fraction(1, 2), 1),
        (Fraction(1), Fraction(1, 10**100), 231),
    ):
        goal = Indistinguishability(epsilon=epsilon, delta=delta)
        assert fewest_users(goal) == users, epsilon


def test_a_plan_of_a_small_log_says_it() -> None:
    goal = ProbabilisticDP(epsilon=1, delta="0.001", users=60)
    (part,) = plan(goal, [queries(2)]).parts
    said = describe(part)
    assert "whatever the mechanism, an item of fewer than 7 users appears with less than" in said
    assert "60 users with at most 2 items each yield at most 17 items on average" in said


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "selection", "pooled"])
def test_no_release_holds_more_items_than_its_plan_says(mechanism: str) -> None:
    """Of people with many items: `pooled` finds more than the one of each that it counts."""
    goal = Indistinguishability(epsilon=1, delta="1e-6", users=400, neighbors="add-remove")
    planned = plan(goal, [queries(1)], mechanism=mechanism)
    pairs = [(f"u{user}", f"q{(7 * user + n) % 60}") for user in range(400) for n in range(32)]
    log = read_log(pa.table(dict(zip(("user", "query"), zip(*pairs, strict=True), strict=True))))
    found = publish(log, planned, account=None)["queries"].arrow
    said = re.search(r"yield at most ([0-9]+) items", describe(planned.parts[0]))
    assert said is not None
    assert found.num_rows <= int(said[1])
    assert int(said[1]) == (914 if mechanism == "pooled" else 28)  # 32 items of each, or one
    assert mechanism != "pooled" or found.num_rows > 28


def test_of_a_public_list_and_before_a_look_no_number_of_items_is_said(tmp_path: Path) -> None:
    """Items that nobody has are published, too; or hundreds of each person may be kept."""
    goal = Indistinguishability(epsilon=1, delta="1e-6", users=100, neighbors="add-remove")
    known = tmp_path / "known.csv"
    known.write_text("query\ntea\n")
    kind = queries(1)
    looked = plan(goal, [ItemsPerUser(of=kind), kind], mechanism="auto")
    for planned in (plan(goal, [kind], prior=known), plan(goal, [kind], domain=known), looked):
        assert "yield at most" not in describe(planned.parts[-1])
    assert looked.parts[-1].mechanism.deciding_items_per_user() == 512
