"""Laplace noise whose scale is chosen with the threshold: figures, exactness, and ZEALOUS."""

from __future__ import annotations

import itertools
import operator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, get_args

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from records import part_of
from scipy.stats import dlaplace

from zealous.errors import UsageError
from zealous.mechanisms import Laplace, Zealous
from zealous.privacy.accounting import sparse
from zealous.privacy.accounting.exact import exact_delta, hockey_stick
from zealous.privacy.accounting.laplace import delta, scale_and_threshold
from zealous.privacy.accounting.sparse import (
    NoiseFamily,
    SparseHistogram,
    grid_number,
    least_integer,
    least_threshold,
)
from zealous.privacy.calibrate import any_published_probability, calibrate, scale_for
from zealous.privacy.guarantee import Guarantee, Indistinguishability, Neighbors, ProbabilisticDP

NEIGHBORS: tuple[Neighbors, ...] = get_args(Neighbors)
NOISE = NoiseFamily(
    hockey_stick=hockey_stick,
    tail=lambda scale, t: any_published_probability(scale, t, 1),
    scales=lambda place: Fraction(place + 1, 20),
)


def goal_of(epsilon: Any, delta: Any, neighbors: Neighbors) -> Indistinguishability:
    return Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)


def exact_of(found: Laplace, goal: Guarantee) -> Fraction:
    return exact_delta(
        scale=found.scale,
        tau=found.tau,
        tau_prime=found.tau_prime,
        items_per_user=found.items_per_user,
        epsilon=goal.epsilon,
        neighbors=goal.neighbors,
    )


def told(scale: Fraction, m: int, goal: Guarantee) -> float:
    """P(the loss of M counts is above epsilon), by scipy."""
    noise, moved = dlaplace(1 / float(scale)), goal.moved_counts(m)
    p = noise.cdf(0)
    law = np.array([1.0])
    for _ in range(moved):
        law = np.convolve(law, [1 - p, p])
    losses = (2 * np.arange(moved + 1) - moved) / float(scale)
    return float(law[losses > float(goal.epsilon)].sum())


# Known figures


@pytest.mark.parametrize(
    ("m", "neighbors", "scale", "published"),
    [
        (1, "replace", "2", 28),
        (1, "add-remove", "1", 15),
        (5, "replace", "10", 149),
        (5, "add-remove", "5", 76),
        (20, "replace", "25.75", 417),
        (20, "add-remove", "17.5625", 285),
    ],
)
def test_the_reference_table(m: int, neighbors: Neighbors, scale: str, published: int) -> None:
    found = Laplace.calibrate(goal_of(1, "1e-6", neighbors), m)
    assert (found.tau, found.tau_prime + 1, found.scale) == (1, published, Fraction(scale))


@pytest.mark.parametrize(
    ("m", "epsilon", "delta", "neighbors", "scale", "tau_prime"),
    [
        (100, 1, "1e-6", "replace", "59.375", 1054),
        (1000, 1, "1e-6", "replace", "189", 3787),
        (20, 1, "1e-20", "replace", "40", 1935),
        (50, 1, "1e-20", "replace", "82", 4041),
        (3, 1, "0.1", "replace", "2.6796875", 9),
        (5, "0.01", "1e-6", "add-remove", "498.5", 7345),
    ],
)
def test_golden_numbers(
    m: int, epsilon: Any, delta: str, neighbors: Neighbors, scale: str, tau_prime: int
) -> None:
    found = Laplace.calibrate(goal_of(epsilon, delta, neighbors), m)
    assert (found.scale, found.tau_prime) == (Fraction(scale), tau_prime)


# Never below ZEALOUS

GRID = list(
    itertools.product((1, 2, 3, 7, 30), ("0.03", 1, 9), ("1e-80", "1e-6", "0.02", "0.7"), NEIGHBORS)
)


def test_never_a_higher_threshold_than_zealous() -> None:
    lower = 0
    for m, epsilon, most, neighbors in GRID:
        goal = goal_of(epsilon, most, neighbors)
        found, other = Laplace.calibrate(goal, m), Zealous.calibrate(goal, m)
        assert found.tau_prime <= other.tau_prime
        assert found.scale <= other.scale
        assert found.delta(goal) <= goal.delta
        lower += found.tau_prime < other.tau_prime
    assert lower > 10


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("m", [1, 4])
def test_not_even_where_zealous_uses_the_last_digit_of_delta(m: int, neighbors: Neighbors) -> None:
    for epsilon in (1, "0.7", 5):
        whole = calibrate(goal_of(epsilon, "1e-9", neighbors), m)
        goal = goal_of(epsilon, whole.delta, neighbors)
        found = Laplace.calibrate(goal, m)
        assert (found.tau_prime, found.scale) == (whole.tau_prime, whole.scale)
        assert found.delta(goal) == whole.delta


def test_an_epsilon_of_many_digits_gets_a_scale_that_can_be_drawn() -> None:
    goal = goal_of("3.333333333333333333", "1e-6", "replace")
    found = Laplace.calibrate(goal, 1)
    assert found.scale == scale_for(goal, 1)
    assert (
        found.noise_sampler().sample(3, lambda size: bytes(range(size % 251)) + bytes(size)).size
        == 3
    )


# The delta, against the exact one


@examples(60)
@given(
    scale=st.fractions(Fraction(1, 4), 20, max_denominator=20),
    t=st.integers(-2, 60),
    m=st.integers(1, 12),
    part=st.fractions(Fraction(1, 20), Fraction(5, 4), max_denominator=20),
    neighbors=st.sampled_from(NEIGHBORS),
)
def test_an_upper_bound_and_by_how_much(
    scale: Fraction, t: int, m: int, part: Fraction, neighbors: Neighbors
) -> None:
    moved = 2 * m if neighbors == "replace" else m
    goal = goal_of(part * moved / scale, "0.5", neighbors)
    each = Laplace(items_per_user=m, scale=scale, tau=3, tau_prime=3 + t)
    truth, claim = exact_of(each, goal), each.delta(goal)
    assert truth <= claim * (1 + Fraction(1, 10**29))
    assert claim <= truth * (1 + Fraction(told(scale, m, goal)) + Fraction(1, 10**9))
    if part >= 1:
        assert claim == truth == any_published_probability(scale, t, m)


def test_the_bound_is_attained_where_delta_is_small() -> None:
    for m, neighbors in itertools.product((5, 20), NEIGHBORS):
        goal = goal_of(1, "1e-6", neighbors)
        found = Laplace.calibrate(goal, m)
        above = found.delta(goal) / exact_of(found, goal) - 1
        assert abs(above) < Fraction(1, 1000)
        assert above > -Fraction(1, 10**29)  # both are rounded up


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_largest_case_is_found_without_trying_all(
    neighbors: Neighbors, monkeypatch: pytest.MonkeyPatch
) -> None:
    for m, t, epsilon in itertools.product((1, 2, 9, 40), (-1, 0, 5, 40), ("0.1", 1)):
        at = SparseHistogram(NOISE, Fraction(7, 2), m, goal_of(epsilon, "0.5", neighbors))
        q = any_published_probability(at.scale, t, 1)
        every = [1 - (1 - q) ** c * (1 - Fraction(at.shift_delta(c))) for c in range(m + 1)]
        assert float(at.delta(t)) == pytest.approx(float(max(every)), rel=1e-12)
        with monkeypatch.context() as patch:
            patch.setattr(sparse, "_MOST_STEPS", 1)
            assert at.delta(t) >= max(every)


# Least of all


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize(("m", "most"), [(1, "0.1"), (3, "0.001"), (8, "1e-6"), (5, "0.3")])
def test_neither_a_lower_threshold_nor_less_noise_would_do(
    m: int, most: str, neighbors: Neighbors
) -> None:
    goal = goal_of(1, most, neighbors)
    found = scale_and_threshold(goal, m)
    top = scale_for(goal, m)
    tried = [top * Fraction(n, 400) for n in range(10, 420)]

    def holds(scale: Fraction, tau_prime: int) -> bool:
        needed = delta(scale=scale, tau=1, tau_prime=tau_prime, items_per_user=m, goal=goal)
        return needed <= goal.delta

    assert holds(found.scale, found.tau_prime)
    # Between the scales of the grid at most one more could be had.
    assert not any(holds(each, found.tau_prime - 2) for each in tried)
    less = found.scale * Fraction(512, 513)
    assert not holds(less, found.tau_prime)
    assert not holds(found.scale, found.tau_prime - 1)


def test_the_scan_finds_the_least_of_a_family() -> None:
    for m, most, neighbors in itertools.product((1, 3), ("0.05", "1e-4"), NEIGHBORS):
        goal = goal_of(1, most, neighbors)
        found = least_threshold(NOISE, goal, m)
        for place in range(150):
            at = SparseHistogram(NOISE, NOISE.scales(place), m, goal)
            for t in (found.tau_prime - 2, found.tau_prime - 1):
                assert at.has_delta_at_most(t, goal.delta) == (at.delta(t) <= goal.delta)
            assert not at.has_delta_at_most(found.tau_prime - 2, goal.delta)
            if at.scale <= found.scale:
                assert at.has_delta_at_most(found.tau_prime - 1, goal.delta) == (
                    at.scale == found.scale
                )


def test_a_larger_goal_never_raises_the_threshold() -> None:
    for m, neighbors in itertools.product((1, 6, 25), NEIGHBORS):
        by_delta = [
            scale_and_threshold(goal_of(1, d, neighbors), m).tau_prime
            for d in ("1e-9", "1e-6", "0.01", "0.5")
        ]
        assert by_delta == sorted(by_delta, reverse=True)
        by_epsilon = [
            scale_and_threshold(goal_of(e, "1e-6", neighbors), m).tau_prime
            for e in ("0.1", 1, 5, 50)
        ]
        assert by_epsilon == sorted(by_epsilon, reverse=True)


# Pieces, and refusals


def test_the_places_rise_and_are_dense() -> None:
    values = [grid_number(place) for place in range(6000)]
    pairs = list(itertools.pairwise(values))
    assert all(after - before > 0 for before, after in pairs)
    assert all(512 * (after - before) <= before for before, after in pairs if before >= 512)


def test_least_is_the_first_that_holds() -> None:
    for bound in (0, 1, 2, 3, 17, 1000):
        assert least_integer(partial(operator.le, bound), 0) == bound
        assert least_integer(partial(operator.le, bound), 5) == max(bound, 5)
    assert least_integer(lambda place: False, 0) is None


def test_a_delta_below_all_decimals_is_not_zero() -> None:
    goal = goal_of(10**7, "0.5", "replace")
    each = Laplace(items_per_user=2, scale=Fraction(1, 10**6), tau=1, tau_prime=9)
    assert 0 < each.delta(goal) < Fraction(1, 10**300)
    assert 0 < SparseHistogram(NOISE, each.scale, 2, goal).delta(8) < Fraction(1, 10**300)


@pytest.mark.parametrize("m", [0, True, 1.0, "2"], ids=repr)
def test_items_per_user_must_be_a_whole_number(m: Any) -> None:
    with pytest.raises(UsageError, match="items_per_user"):
        Laplace.calibrate(goal_of(1, "1e-6", "replace"), m)


def test_other_guarantees_are_refused() -> None:
    other = ProbabilisticDP(epsilon=1, delta="1e-6", users=100)
    with pytest.raises(UsageError, match="zealous mechanism"):
        Laplace.calibrate(other, 2)
    with pytest.raises(UsageError, match="delta above 0"):
        Laplace.calibrate(goal_of(1, 0, "replace"), 2)
    found = Laplace.calibrate(goal_of(1, "1e-6", "replace"), 2)
    assert found.delta(other) == 1


def test_it_is_made_again_and_says_what_to_expect() -> None:
    goal = goal_of(1, "1e-6", "replace")
    found = Laplace.calibrate(goal, 20)
    part = part_of(found, goal)
    assert Laplace.from_record(part) == found
    with pytest.raises(UsageError, match="tau_prime"):
        Laplace.from_record(structs.replace(part, tau_prime=None))
    with pytest.raises(UsageError, match="scale"):
        Laplace.from_record(part_of(found, goal, scale="0")).delta(goal)
    noise = dlaplace(1 / float(found.scale))
    assert found.publication_probability(0) == 0
    for count in (1, 400, found.tau_prime, 500):
        assert found.publication_probability(count) == pytest.approx(
            noise.cdf(count - found.tau_prime - 1)
        )
    assert (
        noise.cdf(found.noise_quantile(0.95)) - noise.cdf(-found.noise_quantile(0.95) - 1) >= 0.95
    )
    assert Decimal(found.expected_unique_items(1)) < 20 * Decimal("1e-6")
