"""The claimed delta of each mechanism against the truth: every tiny log and every neighbour.

As in test_enumeration, nothing is shared with the code under test but the algorithms' definitions.
Users beyond those whose logs are listed hold items at a height at which noise is not cut off, so
that the worst case is among what is listed. Items of equal count in two logs change nothing in what
tells them apart, and are left out; the others are independent.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import dlaplace
from tiny_worlds import NEIGHBORS, Counts, World, histories, merged, neighborhoods

from zealous.mechanisms import Gaussian, Laplace, Selection
from zealous.mechanisms.thresholds import Thresholds
from zealous.privacy.guarantee import Indistinguishability, Neighbors

Law = npt.NDArray[np.float64]  # the chances that an item is absent, and of each noisy count
Step = tuple[tuple[int, int], ...]  # for each item that differs its count in one log and the other

KINDS = (Laplace, Gaussian, Selection)
EQUAL = 1e-9


@dataclass(frozen=True, kw_only=True)
class Made:
    """A mechanism as it is, which a fault may have made another than it says."""

    says: Laplace | Gaussian | Selection
    factor: Fraction = Fraction(1)  # of the noise's scale
    at_least: bool = False  # `>=` for `>` at the second threshold

    def reach(self) -> int:
        """What noise exceeds with a chance that no float would notice."""
        wide = 38 if self.says.noise_law != "discrete-gaussian" else 9
        return math.ceil(wide * self.says.scale)

    @cache  # noqa: B019
    def noise(self, most: int | None = None) -> Law:
        """The chances of all noise within reach, from the least on."""
        scale, z = float(self.says.scale * self.factor), np.arange(-self.reach(), self.reach() + 1)
        if isinstance(self.says, Gaussian):
            weights = np.exp(-((z / scale) ** 2) / 2)
        else:
            weights = dlaplace(1 / scale).pmf(z)
        if most is not None:
            weights = np.where(z <= most, weights, 0)
        return np.asarray(weights / weights.sum())

    @cache  # noqa: B019
    def law(self, count: int, last: int, *, listed: bool = False) -> Law:
        """Of an item of so many users; `listed` gives it noise though nobody has it."""
        found = np.zeros(last + self.reach() + 1)
        if count < self.says.tau and not listed:
            found[0] = 1
            return found
        longer = float(self.says.raised_probability) if isinstance(self.says, Selection) else 0.0
        for more, part in ((0, 1 - longer), (1, longer)):
            held_to = self.says.tau_prime + more
            noise = self.noise(held_to if isinstance(self.says, Selection) else None)
            noisy = count + np.arange(-self.reach(), self.reach() + 1)
            shown = noisy > held_to - self.at_least
            np.add.at(found, noisy[shown], part * noise[shown])
            found[0] += part * noise[~shown].sum()
        return found


@cache
def steps(world: World, high: int) -> frozenset[Step]:
    """What two neighbours can differ in, where others hold each item never or `high` times."""
    found = set()
    for counts, near in neighborhoods(world):
        for other, base in itertools.product(
            near, itertools.product((0, high), repeat=len(counts))
        ):
            moved = zip(counts, other, base, strict=True)
            found.add(tuple(sorted((a + more, b + more) for a, b, more in moved if a != b)))
    return frozenset(found)


def excess(pairs: Iterable[tuple[Law, Law]], epsilon: float) -> float:
    """The hockey-stick divergence of independent items."""
    ones, others = zip(*(merged(*pair) for pair in pairs), strict=True)
    one, other = (reduce(lambda a, b: np.outer(a, b).ravel(), laws) for laws in (ones, others))
    return float(np.maximum(one - np.exp(epsilon) * other, 0).sum())


def true_delta(made: Made, world: World, epsilon: float, high: int) -> float:
    """The least delta for which all neighbours of a world are indistinguishable."""
    last = world.users + high
    return max(
        excess([(made.law(a, last), made.law(b, last)) for a, b in step], epsilon)
        for step in steps(world, high)
        if step
    )


def height(each: Thresholds) -> int:
    """So many users that their count hardly ever falls to the second threshold."""
    if isinstance(each, Laplace):
        return each.tau_prime  # from there on v and the threshold say the same
    if isinstance(each, Selection):
        return each.tau_prime + 2
    return each.tau_prime + math.ceil(6 * each.scale)


def goal_of(epsilon: Any, delta: Any, neighbors: Neighbors) -> Indistinguishability:
    return Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)


def world_of(most: int, neighbors: Neighbors, users: int = 2, items: int | None = None) -> World:
    """As many items as one step moves, but two at least and three at most."""
    moved = most * (2 if neighbors == "replace" else 1)
    return World(users=users, items=items or min(3, max(2, moved)), most=most, neighbors=neighbors)


# The claims are true, and nearly the truth

GIVEN: list[tuple[Any, Any]] = [
    *(
        (Laplace(items_per_user=m, scale=Fraction(scale), tau=tau, tau_prime=tau_prime), part)
        for m, scale, (tau, tau_prime), part in itertools.product(
            (1, 2), ("0.5", "2"), ((1, 1), (1, 3), (2, 2)), ("0.3", "0.7", "1", "1.5")
        )
    ),
    *(
        (Gaussian(items_per_user=m, scale=Fraction(scale), tau=1, tau_prime=tau_prime), part)
        for m, scale, tau_prime, part in itertools.product(
            (1, 2), ("1", "1.25"), (2, 4), ("0.5", "1", "2")
        )
    ),
]


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_given_parameters(neighbors: Neighbors) -> None:
    near = []
    for each, part in GIVEN:
        m = each.items_per_user
        goal = goal_of(Fraction(part) * (2 if neighbors == "replace" else 1) * m, "0.5", neighbors)
        if isinstance(each, Laplace):
            goal = goal_of(goal.epsilon / each.scale, "0.5", neighbors)
        items = 4 if isinstance(each, Laplace) and goal.moved_counts(m) == 4 else None
        world = world_of(m, neighbors, items=items)
        truth = true_delta(Made(says=each), world, float(goal.epsilon), height(each))
        claim = float(each.delta(goal))
        assert truth <= claim * (1 + EQUAL) + 1e-13
        near.append(truth > 0.9 * claim)
    # Where four counts move, the three items that are listed for Gaussian noise tell less than all.
    assert np.mean(near) > (0.8 if neighbors == "replace" else 0.99)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("kind", KINDS)
def test_calibrated_mechanisms_keep_their_goal(kind: Any, neighbors: Neighbors) -> None:
    for m, epsilon, delta in itertools.product((1, 2), (1, 4), ("0.3", "0.02", "1e-4")):
        if m > 1 and kind is Selection:
            continue
        goal = goal_of(epsilon, delta, neighbors)
        each = kind.calibrate(goal, m)
        claim = float(each.delta(goal))
        assert claim <= goal.delta
        for users, items in ((2, 2), (3, 2), (2, 3)):
            world = world_of(m, neighbors, users, items)
            truth = true_delta(Made(says=each), world, float(goal.epsilon), height(each))
            assert truth <= claim * (1 + EQUAL) + 1e-13
            if m == 1:
                assert truth >= 0.8 * claim


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_selection_with_given_parameters(neighbors: Neighbors) -> None:
    for tau_prime, longer, scale in itertools.product((0, 1, 4), ("0", "1/4"), ("1", "3")):
        each = Selection(
            items_per_user=1,
            scale=Fraction(scale),
            tau=1,
            tau_prime=tau_prime,
            raised_probability=Fraction(longer),
        )
        goal = goal_of((2 if neighbors == "replace" else 1) / each.scale, "0.5", neighbors)
        for users in (2, 3):
            world = world_of(1, neighbors, users)
            truth = true_delta(Made(says=each), world, float(goal.epsilon), height(each))
            assert truth == pytest.approx(float(each.delta(goal)), rel=EQUAL)


# Planted faults are seen


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "fault", [{"at_least": True}, {"factor": Fraction(8, 10)}], ids=["at least", "less noise"]
)
def test_a_fault_in_noise_or_threshold_is_caught(
    kind: Any, neighbors: Neighbors, fault: dict[str, Any]
) -> None:
    goal = goal_of(2, "0.01", neighbors)
    right = Made(says=kind.calibrate(goal, 1))
    world, high, claim = world_of(1, neighbors), height(right.says), float(right.says.delta(goal))
    assert true_delta(right, world, 2, high) <= claim * (1 + EQUAL)
    assert true_delta(replace(right, **fault), world, 2, high) > 1.2 * goal.delta


@pytest.mark.parametrize("kind", KINDS)
def test_a_forgotten_factor_of_two_is_caught(kind: Any) -> None:
    each = kind.calibrate(goal_of(1, "0.01", "add-remove"), 1)
    world = world_of(1, "replace")
    assert true_delta(Made(says=each), world, 1, height(each)) > 0.02


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("kind", [Laplace, Gaussian])
def test_a_user_with_twice_the_items_is_caught(kind: Any, neighbors: Neighbors) -> None:
    goal = goal_of(2, "0.01", neighbors)
    made = Made(says=kind.calibrate(goal, 1))
    world = world_of(2, neighbors)
    assert true_delta(made, world, 2, height(made.says)) > 1.5 * goal.delta


def listed_delta(made: Made, tau: int, epsilon: float) -> float:
    """The true delta of adding a user where any item that somebody has is listed, kept or not.

    Each of two users has any of three items, and keeps the first of hers.
    """
    every, last = histories(3, 3), 2

    def laws(log: tuple[Counts, ...]) -> list[Law]:
        kept = [tuple(int(i == held.index(1)) for i in range(3)) for held in log if any(held)]
        count = [sum(each[i] for each in kept) for i in range(3)]
        there = [any(held[i] for held in log) for i in range(3)]
        pairs = zip(count, there, strict=True)
        return [made.law(n, last, listed=tau == 0 and held) for n, held in pairs]

    worst = 0.0
    for one, other in itertools.product(every, repeat=2):
        both, single = laws((one, other)), laws((one,))
        for pair in ((both, single), (single, both)):
            moved = [(a, b) for a, b in zip(*pair, strict=True) if not np.array_equal(a, b)]
            if moved:
                worst = max(worst, excess(moved, epsilon))
    return worst


@pytest.mark.parametrize("kind", KINDS)
def test_a_first_threshold_of_zero_is_caught(kind: Any) -> None:
    goal = goal_of("0.5", "0.02", "add-remove")
    made = Made(says=kind.calibrate(goal, 1))
    claim = float(made.says.delta(goal))
    assert listed_delta(made, 1, 0.5) <= claim * (1 + EQUAL)
    if kind is Selection:  # its noise cannot lift what nobody has
        assert listed_delta(made, 0, 0.5) <= claim * (1 + EQUAL)
    else:
        assert listed_delta(made, 0, 0.5) > 1.5 * claim


@pytest.mark.parametrize("kind", KINDS)
def test_laws_are_whole(kind: Any) -> None:
    made = Made(says=kind.calibrate(goal_of(1, "0.02", "replace"), 1))
    for count in range(6):
        law = made.law(count, 9)
        assert law.sum() == pytest.approx(1, rel=1e-12)
        assert 1 - law[0] == pytest.approx(
            made.says.publication_probability(count), rel=1e-9, abs=1e-14
        )
