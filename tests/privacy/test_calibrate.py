"""Calibration against the numbers of the paper's analysis and against a scan at 200 digits."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, get_args

import pytest
from examples import examples
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import dlaplace

from zealous.errors import UsageError
from zealous.mechanisms import Zealous
from zealous.privacy.calibrate import (
    Calibration,
    any_published_probability,
    calibrate,
    covers_absence,
    float_rounded_up,
    least_count,
    most_items_at_tau,
    noise_quantile,
    publication_probability,
    satisfied_guarantees,
    tail,
)
from zealous.privacy.guarantee import Guarantee, Indistinguishability, Neighbors, ProbabilisticDP

NEIGHBORS: tuple[Neighbors, ...] = get_args(Neighbors)


# Golden numbers


@pytest.mark.parametrize(
    ("users", "m", "epsilon", "delta", "scale", "tau_prime"),
    [
        (500_000, 2, 1, "0.001", Fraction(4), 79),
        (500_000, 2, 1, "0.01", Fraction(4), 69),
        (500_000, 5, 2, "0.001", Fraction(5), 102),
        (500_000, 1, 5, "0.001", Fraction(2, 5), 8),
        (500_000, 1, 1, "0.001", Fraction(2), 39),
        (500_000, 6, 1, "0.001", Fraction(12), 236),
        (500_000, 40, 1, "0.001", Fraction(80), 1571),
    ],
)
def test_probabilistic_golden_numbers(
    users: int, m: int, epsilon: int, delta: str, scale: Fraction, tau_prime: int
) -> None:
    found = calibrate(ProbabilisticDP(epsilon=epsilon, delta=delta, users=users), m)
    assert (found.scale, found.tau_prime) == (scale, tau_prime)


@pytest.mark.parametrize(
    ("m", "epsilon", "delta", "neighbors", "tau_prime"),
    [
        (2, 1, "0.001", "replace", 29),
        (5, 2, "0.001", "replace", 40),
        (5, 1, "1e-6", "replace", 148),
        (5, 1, "1e-6", "add-remove", 75),
    ],
)
def test_indistinguishable_golden_numbers(
    m: int, epsilon: int, delta: str, neighbors: Neighbors, tau_prime: int
) -> None:
    goal = Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)
    found = calibrate(goal, m)
    assert (found.tau, found.tau_prime) == (1, tau_prime)


@pytest.mark.parametrize(
    ("m", "epsilon", "delta", "neighbors", "tau_prime"),
    [
        (1, "0.1", "0.05", "replace", 47),
        (1, "0.1", "0.05", "add-remove", 24),
        (3, "0.1", "0.05", "replace", 204),
        (1, "1e-4", "0.001", "replace", 124_293),
    ],
)
def test_a_large_delta_decides_alone(
    m: int, epsilon: str, delta: str, neighbors: Neighbors, tau_prime: int
) -> None:
    goal = Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)
    found = calibrate(goal, m)
    assert (found.tau, found.tau_prime) == (1, tau_prime)
    zealous = Zealous.calibrate(goal, m)
    assert zealous.delta(goal) == found.delta <= goal.delta
    assert replace(zealous, tau_prime=tau_prime - 1).delta(goal) > goal.delta


def test_one_user_more_can_raise_the_threshold() -> None:
    def tau_prime(users: int) -> int:
        return calibrate(ProbabilisticDP(epsilon=5, delta="0.001", users=users), 1).tau_prime

    assert (tau_prime(43_115), tau_prime(43_116)) == (7, 8)


def test_a_generous_bound_on_users_is_cheap() -> None:
    goals = [ProbabilisticDP(epsilon=1, delta="0.001", users=n) for n in (500_000, 1_000_000)]
    one, two = (calibrate(goal, 2) for goal in goals)
    assert one.tau_prime <= two.tau_prime <= one.tau_prime + math.ceil(0.7 * one.scale)


def test_the_ceiling_of_lambda_is_not_always_the_best_tau() -> None:
    goal = ProbabilisticDP(epsilon=2 / Fraction("4.05"), delta="0.001", users=500_000)
    assert calibrate(goal, 1).tau == 4


@pytest.mark.parametrize("users", [1, 2, 3, 10])
def test_tau_is_never_beyond_the_users(users: int) -> None:
    goal = ProbabilisticDP(epsilon="0.01", delta="0.001", users=users)
    assert calibrate(goal, 3).tau <= users


def test_indistinguishability_does_not_depend_on_users() -> None:
    found = {
        calibrate(Indistinguishability(epsilon=1, delta="1e-6", users=users), 5)
        for users in (None, 1, 500_000)
    }
    assert len(found) == 1


# Lambda


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("epsilon", ["0.7", 0.7, "1/3", "1e-3", 12])
def test_lambda_is_exact(epsilon: Any, neighbors: Neighbors) -> None:
    goal = ProbabilisticDP(epsilon=epsilon, delta="0.001", users=1000, neighbors=neighbors)
    assert calibrate(goal, 3).scale * goal.epsilon == (6 if neighbors == "replace" else 3)


def test_an_epsilon_of_many_digits_gets_a_scale_a_hair_above() -> None:
    goal = ProbabilisticDP(epsilon="0.3333333333333333333", delta="0.001", users=1000)
    scale = calibrate(goal, 20).scale
    assert 40 / goal.epsilon <= scale <= 40 / goal.epsilon + Fraction(1, 2**20)
    assert max(scale.numerator, scale.denominator) <= 2**48


def test_a_scale_beyond_sampling_is_refused() -> None:
    with pytest.raises(UsageError, match="epsilon is too small"):
        calibrate(Indistinguishability(epsilon="1e-9", delta="0.001"), 2)


@pytest.mark.parametrize("m", [0, -1, 1.0, "2", None, True], ids=repr)
def test_items_per_user_must_be_a_whole_number(m: Any) -> None:
    with pytest.raises(UsageError, match="items_per_user"):
        calibrate(Indistinguishability(epsilon=1, delta="0.001"), m)


# Least, against a scan of every tau and every t


def digits_200() -> Any:
    return localcontext(Context(prec=200))


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


class Scan:
    """Section 3 of the mathematics word by word; nothing is taken from the code under test."""

    def __init__(self, goal: Guarantee, m: int) -> None:
        self.goal, self.m = goal, m
        self.scale = Fraction(m * (2 if goal.neighbors == "replace" else 1)) / goal.epsilon
        self.alpha = (-decimal(1 / self.scale)).exp()
        self.most = decimal(goal.delta)

    def taus(self) -> range:
        if isinstance(self.goal, Indistinguishability):
            return range(1, 2)
        return range(1, min(self.goal.users or 0, math.floor(4 * self.scale) + 5) + 1)

    def items(self, tau: int) -> int:
        if isinstance(self.goal, Indistinguishability):
            return self.m
        return math.floor(Fraction((self.goal.users or 0) * self.m, tau))

    def delta(self, tau: int, t: int) -> Decimal:
        return 1 - (1 - self.tail(t)) ** self.items(tau)

    def tail(self, t: int) -> Decimal:
        return self.alpha ** (t + 1) / (1 + self.alpha)

    def holds(self, tau: int, t: int) -> bool:
        absence = isinstance(self.goal, Indistinguishability) or self.tail(t) <= 1 - self.alpha
        return absence and self.delta(tau, t) <= self.most

    def least(self) -> tuple[int, Decimal, int]:
        """(tau', delta, tau)."""
        found = []
        for tau in self.taus():
            t = next(t for t in itertools.count() if self.holds(tau, t))
            found.append((tau + t, self.delta(tau, t), tau))
        return min(found)


@st.composite
def goals(draw: st.DrawFn) -> tuple[Guarantee, int]:
    kind = draw(st.sampled_from([ProbabilisticDP, Indistinguishability]))
    neighbors = draw(st.sampled_from(NEIGHBORS))
    m = draw(st.integers(1, 6))
    scale = draw(st.fractions(Fraction(1, 6), 5, max_denominator=30))
    users = draw(st.one_of(st.integers(1, 12), st.integers(1, 10**6)))
    digits = draw(st.integers(1, 999))
    delta = Fraction(digits, 1000) / 10 ** draw(st.sampled_from([0, 0, 1, 3, 6, 12]))
    moved = m * (2 if neighbors == "replace" else 1)
    return kind(epsilon=moved / scale, delta=delta, users=users, neighbors=neighbors), m


@examples(60)
@given(goals())
# Ties in tau' where K T and 1 - (1 - T)^K order the taus differently.
@example((ProbabilisticDP(epsilon=1, delta="0.3", users=5, neighbors="add-remove"), 2))
@example((ProbabilisticDP(epsilon=8, delta="0.99", users=5), 6))
# Absence decides, and without that condition another tau would be the best.
@example((ProbabilisticDP(epsilon="0.4", delta="0.5", users=2), 1))
def test_is_the_least_of_all(case: tuple[Guarantee, int]) -> None:
    goal, m = case
    found = calibrate(goal, m)
    t = found.tau_prime - found.tau
    with digits_200():
        scan = Scan(goal, m)
        tau_prime, delta, tau = scan.least()
        assert found.scale == scan.scale
        assert found.tau_prime == tau_prime
        # The conditions hold for what was found, and its delta is an upper bound, hardly above.
        assert scan.holds(found.tau, t)
        assert 1 <= decimal(found.delta) / scan.delta(found.tau, t) <= 1 + Decimal("1e-9")
        assert found.delta <= goal.delta
        # One lower violates a condition whatever tau is. Below t = 0 nobody looks: there absence
        # is never covered, and an item of one user would be published more often than not.
        for other in scan.taus():
            assert other > tau_prime - 1 or not scan.holds(other, tau_prime - 1 - other)
        assert 1 / (1 + scan.alpha) > max(1 - scan.alpha, Decimal("0.5"))  # T(-1)
        # Among all tau with this tau' the one with the least delta.
        assert found.tau == tau
        assert decimal(found.delta) == pytest.approx(delta, rel=Decimal("1e-9"))


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("delta", ["1e-80", "1e-300", "0.999999"])
@pytest.mark.parametrize("kind", [ProbabilisticDP, Indistinguishability])
def test_is_the_least_for_extreme_deltas(
    kind: type[Guarantee], delta: str, neighbors: Neighbors
) -> None:
    goal = kind(epsilon=8, delta=delta, users=500_000, neighbors=neighbors)
    found = calibrate(goal, 2)
    with localcontext(Context(prec=500)):
        scan = Scan(goal, 2)
        tau_prime, least, tau = scan.least()
        assert (found.tau, found.tau_prime) == (tau, tau_prime)
        assert 1 <= decimal(found.delta) / least <= 1 + Decimal("1e-9")


@pytest.mark.parametrize("epsilon", ["1e-2", "1e-4", "1e-6"])
@pytest.mark.parametrize("delta", ["0.001", "1e-80"])
def test_is_the_least_for_large_scales(epsilon: str, delta: str) -> None:
    goal = Indistinguishability(epsilon=epsilon, delta=delta)
    found = calibrate(goal, 2)
    t = found.tau_prime - 1
    with digits_200():
        scan = Scan(goal, 2)
        assert scan.holds(1, t)
        assert not scan.holds(1, t - 1)


# The pieces


SCALES = [Fraction(1, 20), Fraction(2, 5), Fraction(1), Fraction(7, 3), Fraction(50)]


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_tail_is_the_chance_of_exceeding(scale: Fraction) -> None:
    noise = dlaplace(1 / float(scale))
    for t in range(-30, 31):
        # P(eta > t) = P(eta < -t): scipy's own upper tail loses its digits.
        assert tail(scale, t) == pytest.approx(noise.cdf(-t - 1), rel=1e-9)


@examples(100)
@given(
    scale=st.fractions(Fraction(1, 3), 50, max_denominator=50),
    t=st.integers(-5, 200),
    items=st.integers(1, 10**8),
)
def test_union_bound_is_rounded_up_and_by_little(scale: Fraction, t: int, items: int) -> None:
    # T is as small as exp(-603), with 261 zeros.
    with localcontext(Context(prec=500)):
        alpha = (-decimal(1 / scale)).exp()
        above = alpha ** (t + 1) / (1 + alpha) if t >= 0 else 1 - alpha**-t / (1 + alpha)
        truth = 1 - (1 - above) ** items
        claim = decimal(any_published_probability(scale, t, items))
        assert truth <= claim <= truth * (1 + Decimal("1e-15"))


def test_a_chance_below_all_decimals_is_not_zero() -> None:
    assert any_published_probability(Fraction(1, 10**12), 5, 1) > 0


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_covers_absence_is_the_second_condition(scale: Fraction) -> None:
    with digits_200():
        alpha = (-decimal(1 / scale)).exp()
        for t in range(200):
            assert covers_absence(scale, t) == (alpha ** (t + 1) / (1 + alpha) <= 1 - alpha)
    for t in range(-200, 0):
        assert not covers_absence(scale, t)


def test_breachable_items() -> None:
    goal = ProbabilisticDP(epsilon=1, delta="0.1", users=7)
    assert [most_items_at_tau(goal, 3, tau) for tau in (1, 2, 5, 7, 21)] == [21, 10, 4, 3, 1]
    each = Indistinguishability(epsilon=1, delta="0.1", users=7)
    assert [most_items_at_tau(each, 3, tau) for tau in (1, 2)] == [3, 3]


@given(st.fractions(min_value=0, max_value=1))
def test_as_float_is_the_least_float_that_is_not_below(value: Fraction) -> None:
    near = float_rounded_up(value)
    assert Fraction(near) >= value
    assert near == 0 or Fraction(math.nextafter(near, -1)) < value


def test_as_float_of_what_no_float_can_hold() -> None:
    assert float_rounded_up(Fraction(1, 10**400)) > 0


# The other way round


@examples(60)
@given(goals())
def test_calibration_and_back(case: tuple[Guarantee, int]) -> None:
    goal, m = case
    found = calibrate(goal, m)
    told = satisfied_guarantees(
        scale=found.scale,
        tau=found.tau,
        tau_prime=found.tau_prime,
        items_per_user=m,
        users=goal.users,
    )
    same = [each for each in told if (type(each), each.neighbors) == (type(goal), goal.neighbors)]
    assert [(each.epsilon, each.delta, each.users) for each in same] == [
        (goal.epsilon, found.delta, goal.users)
    ]


def test_without_users_no_probabilistic_guarantee_is_told() -> None:
    told = satisfied_guarantees(scale=Fraction(5), tau=1, tau_prime=40, items_per_user=5)
    assert [(type(each), each.neighbors, each.epsilon) for each in told] == [
        (Indistinguishability, "replace", 2),
        (Indistinguishability, "add-remove", 1),
    ]


def test_where_absence_is_not_covered_the_probabilistic_epsilon_is_raised_to_cover_it() -> None:
    told = satisfied_guarantees(scale=Fraction(3), tau=3, tau_prime=4, items_per_user=1, users=7)
    absence = -math.log1p(-tail(Fraction(3), 1))
    assert absence > 1 / 3
    assert len(told) == 4
    for each in told:
        moved = 2 if each.neighbors == "replace" else 1
        loss = absence if isinstance(each, ProbabilisticDP) else 1 / 3
        assert float(each.epsilon) == pytest.approx(moved * loss, rel=1e-12)


def test_parameters_that_hide_nothing_promise_nothing() -> None:
    assert (
        satisfied_guarantees(scale=Fraction(1), tau=300, tau_prime=1, items_per_user=1, users=1000)
        == []
    )
    told = satisfied_guarantees(
        scale=Fraction(1), tau=1, tau_prime=2, items_per_user=2, users=10**6
    )
    assert not any(isinstance(each, ProbabilisticDP) for each in told)


@pytest.mark.parametrize(
    ("name", "value"),
    [("scale", Fraction(0)), ("scale", Fraction(-1)), ("tau", 0), ("items_per_user", 0)],
)
def test_the_other_way_round_checks_its_parameters(name: str, value: Any) -> None:
    given = {"scale": Fraction(1), "tau": 1, "tau_prime": 9, "items_per_user": 1}
    with pytest.raises(UsageError, match=name):
        satisfied_guarantees(**given | {name: value})


# Forecasts, against scipy


def calibrations() -> Iterator[Calibration]:
    for scale, tau, t in itertools.product(SCALES, (1, 4), (0, 7, 60)):
        yield Calibration(scale=scale, tau=tau, tau_prime=tau + t, delta=Fraction(1, 2))


@pytest.mark.parametrize("probability", [0.01, 0.05, 0.5, 0.95, 0.999])
def test_least_count_is_the_first_that_appears_often_enough(probability: float) -> None:
    for each in calibrations():
        noise = dlaplace(1 / float(each.scale))
        found = least_count(each, probability)
        often = [noise.sf(each.tau_prime - n) >= probability for n in range(each.tau, found + 1)]
        assert often == [False] * (found - each.tau) + [True]


def test_below_tau_nothing_is_published() -> None:
    for each in calibrations():
        noise = dlaplace(1 / float(each.scale))
        for count in range(80):
            expected = noise.cdf(count - each.tau_prime - 1) if count >= each.tau else 0
            assert publication_probability(each, count) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.9, 0.95, 0.999])
def test_noise_quantile_is_the_first_that_is_wide_enough(confidence: float) -> None:
    for scale in SCALES:
        noise, found = dlaplace(1 / float(scale)), noise_quantile(scale, confidence)
        wide = [noise.cdf(x) - noise.cdf(-x - 1) >= confidence for x in range(found + 1)]
        assert wide == [False] * found + [True]
