"""Discrete Gaussian noise between thresholds, against sums over all outputs and known figures."""

from __future__ import annotations

import itertools
import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import reduce
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest
from msgspec import structs
from records import part_of
from scipy.stats import norm

from zealous.errors import UsageError
from zealous.mechanisms import Gaussian
from zealous.noise import DiscreteGaussian
from zealous.privacy.accounting import gaussian as module
from zealous.privacy.accounting.gaussian import (
    delta,
    hockey_stick,
    quantile,
    scale_and_threshold,
    tail,
)
from zealous.privacy.guarantee import Indistinguishability, Neighbors, ProbabilisticDP

NEIGHBORS: tuple[Neighbors, ...] = get_args(Neighbors)
SMALL = [Fraction(1), Fraction(5, 4), Fraction(2)]


def goal_of(epsilon: Any, delta: Any, neighbors: Neighbors = "replace") -> Indistinguishability:
    return Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)


def law(scale: Fraction, reach: int) -> npt.NDArray[np.float64]:
    weights = np.exp(-((np.arange(-reach, reach + 1) / float(scale)) ** 2) / 2)
    return weights / weights.sum()


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


# How far moved counts can be told apart


@pytest.mark.parametrize("scale", SMALL, ids=str)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_hockey_stick_is_that_of_all_outputs(scale: Fraction, k: int) -> None:
    one = law(scale, 24)
    moved, still = one[:-1], one[1:]  # of a count and of one less, at the same outputs
    logs = [reduce(np.multiply.outer, [each] * k) for each in (moved, still)]
    for epsilon in ("0", "0.3", "1", "2.5"):
        truth = float(np.maximum(logs[0] - math.exp(float(epsilon)) * logs[1], 0).sum())
        found = float(hockey_stick(scale, k, Fraction(epsilon)))
        assert found >= truth * (1 - 1e-9) - 1e-15
        assert found == pytest.approx(truth, rel=1e-3 if k > 1 else 1e-9, abs=1e-13)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize(
    ("scale", "excess"), [("1", "1e-3"), ("1.5", "1e-8"), ("2", "1e-15"), ("3", "1e-24")]
)
def test_it_is_rounded_up_and_by_little(scale: str, k: int, excess: str) -> None:
    sigma, reach = Fraction(scale), 24 * int(Fraction(scale)) + 24
    with localcontext(Context(prec=80)):
        one = [(-decimal(z * z / (2 * sigma**2))).exp() for z in range(-reach, reach + 1)]
        total = [Decimal(1)]
        for _ in range(k):  # the law of the sum of k draws, up to a constant
            wider = [Decimal(0)] * (len(total) + len(one) - 1)
            for (i, a), (j, b) in itertools.product(enumerate(total), enumerate(one)):
                if abs(i - (len(total) - 1) // 2) < 2 * reach:
                    wider[i + j] += a * b
            total = wider
        whole, middle = sum(total), (len(total) - 1) // 2

        def above(x: Fraction) -> Decimal:
            return sum(total[max(0, math.floor(x) + 1 + middle) :], Decimal(0)) / whole

        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(7, 2)):
            near = above(epsilon * sigma**2 - Fraction(k, 2))
            truth = near - decimal(epsilon).exp() * above(epsilon * sigma**2 + Fraction(k, 2))
            found = decimal(hockey_stick(sigma, k, epsilon))
            assert truth <= found <= truth + near * (Decimal(excess) if k > 1 else Decimal("1e-23"))


def test_it_is_not_the_continuous_one() -> None:
    mu = 1 / 4.225
    continuous = norm.cdf(mu / 2 - 1 / mu) - math.e * norm.cdf(-mu / 2 - 1 / mu)
    assert f"{continuous:.3g}" == "9.98e-07"
    assert f"{float(hockey_stick(Fraction('4.225'), 1, Fraction(1))):.5g}" == "1.0187e-06"


@pytest.mark.parametrize(("scale", "k"), [("30", 10), ("200", 1), ("190", 2000), ("50000", 3)])
def test_wide_noise_is_nearly_continuous(scale: str, k: int) -> None:
    mu = math.sqrt(k) / float(scale)
    for deviations in (0.1, 1.0, 3.0, 6.0):
        epsilon = Fraction(str(round(deviations * mu, 9)))
        e = float(epsilon)
        truth = norm.sf(e / mu - mu / 2) - math.exp(e) * norm.sf(e / mu + mu / 2)
        found = float(hockey_stick(Fraction(scale), k, epsilon))
        assert found == pytest.approx(truth, rel=0.01)


@pytest.mark.parametrize("deviation", [300, 700, 5000])
def test_strides_bound_the_sum_over_all_integers(
    deviation: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    variance = Fraction(deviation**2 + deviation // 3)
    for parts in (0, 3, 10, 20, 23, 24, 30, 60, 150):
        first = deviation * parts // 10
        with localcontext(module._CONTEXT):
            monkeypatch.setattr(module, "_WIDTH", 1 << 40)
            low, high = module._sum(variance, first)
            assert low == high
            for width in (4, 16, 128):
                monkeypatch.setattr(module, "_WIDTH", width)
                below, above = module._sum(variance, first)
                assert below < low < above
                assert (
                    above - below <= low * decimal(Fraction(max(parts, 20), 10 * width) ** 4) / 30
                )


def test_no_shift_tells_nothing_and_more_shifts_tell_more() -> None:
    assert hockey_stick(Fraction(3), 0, Fraction(1)) == 0
    found = [hockey_stick(Fraction(5), k, Fraction(1, 2)) for k in range(12)]
    assert found == sorted(found)
    found = [hockey_stick(Fraction(5), 3, Fraction(e, 10)) for e in range(30)]
    assert found == sorted(found, reverse=True)
    found = [hockey_stick(Fraction(s, 64), 4, Fraction(1)) for s in range(64, 700)]
    assert found == sorted(found, reverse=True)


def test_extremes_stay_chances() -> None:
    for scale, k, epsilon in itertools.product(
        (Fraction(1), Fraction(1 << 23)), (1, 2, 10**6), (Fraction(1, 10**9), Fraction(10) ** 300)
    ):
        assert 0 < hockey_stick(scale, k, epsilon) <= 1
    assert tail(Fraction(1), 10**6) == Fraction(1, 10**305)
    assert tail(Fraction(1), -(10**6)) == 1


@pytest.mark.parametrize("scale", [*SMALL, Fraction(17, 4), Fraction(60)], ids=str)
def test_the_tail_is_the_chance_of_exceeding(scale: Fraction) -> None:
    reach = int(12 * scale) + 2
    chances = law(scale, reach)
    for t in range(-reach // 2, reach // 2):
        assert float(tail(scale, t)) == pytest.approx(chances[t + reach + 1 :].sum(), rel=1e-9)
    for confidence in (0.01, 0.5, 0.95, 0.9999):
        x = quantile(scale, confidence)
        inside = [chances[reach - y : reach + y + 1].sum() >= confidence for y in range(x + 1)]
        assert inside == [False] * x + [True]


# Scale and threshold together


@pytest.mark.parametrize(
    ("m", "neighbors", "published", "sigma"),
    [
        (1, "replace", 29.40, 5.975),
        (1, "add-remove", 21.09, 4.225),
        (5, "replace", 68.72, 13.36),
        (5, "add-remove", 48.89, 9.447),
        (20, "replace", 143.33, 26.72),
        (20, "add-remove", 101.64, 18.90),
    ],
)
def test_the_reference_table(m: int, neighbors: Neighbors, published: float, sigma: float) -> None:
    found = scale_and_threshold(goal_of(1, "1e-6", neighbors), m)
    # Of whole numbers those count that are half a step beyond the continuous threshold.
    assert found.tau_prime == math.ceil(published - 0.5)
    assert float(found.scale) == pytest.approx(sigma, rel=0.004)


@pytest.mark.parametrize(
    ("m", "epsilon", "delta", "neighbors", "scale", "tau_prime"),
    [
        (20, 1, "1e-80", "replace", "118.375", 2268),
        (1000, 1, "1e-6", "replace", "189", 1135),
        (1000, 5, "1e-80", "replace", "169.25", 3276),
        (20, "0.01", "1e-6", "replace", "1938", 10325),
        (1, 1, "1e-300", "add-remove", "36.875", 1367),
        (5, 1, "0.3", "replace", "2.1875", 5),
        (1, 20, "1e-6", "replace", "1", 6),
        (3, "1e100", "1e-6", "add-remove", "1", 6),
    ],
)
def test_golden_numbers(
    m: int, epsilon: Any, delta: str, neighbors: Neighbors, scale: str, tau_prime: int
) -> None:
    goal = goal_of(epsilon, delta, neighbors)
    found = Gaussian.calibrate(goal, m)
    assert (found.tau, found.scale, found.tau_prime) == (1, Fraction(scale), tau_prime)
    assert found.delta(goal) <= goal.delta


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize(
    ("m", "epsilon", "most"), [(1, 1, "1e-6"), (1, "0.2", "0.05"), (4, 2, "1e-9"), (12, 1, "0.001")]
)
def test_neither_a_lower_threshold_nor_less_noise_would_do(
    m: int, epsilon: Any, most: str, neighbors: Neighbors
) -> None:
    goal = goal_of(epsilon, most, neighbors)
    found = scale_and_threshold(goal, m)

    def holds(scale: Fraction, tau_prime: int) -> bool:
        needed = delta(scale=scale, tau=1, tau_prime=tau_prime, items_per_user=m, goal=goal)
        return needed <= goal.delta

    assert holds(found.scale, found.tau_prime)
    assert not holds(found.scale - Fraction(1, 64), found.tau_prime)
    tried = [1 + n * (found.scale - 1) / 40 for n in range(121)]
    assert not any(holds(scale, found.tau_prime - 1) for scale in tried if scale >= 1)


def test_a_larger_goal_never_raises_the_threshold() -> None:
    for neighbors in NEIGHBORS:
        by_delta = [
            scale_and_threshold(goal_of(1, d, neighbors), 3).tau_prime
            for d in ("1e-99", "1e-9", "1e-6", "0.01", "0.5")
        ]
        assert by_delta == sorted(by_delta, reverse=True)
        by_epsilon = [
            scale_and_threshold(goal_of(e, "1e-6", neighbors), 3).tau_prime
            for e in ("0.1", 1, 5, 50)
        ]
        assert by_epsilon == sorted(by_epsilon, reverse=True)
        by_items = [
            scale_and_threshold(goal_of(1, "1e-6", neighbors), m).tau_prime
            for m in (1, 2, 5, 30, 200)
        ]
        assert by_items == sorted(by_items)
    assert scale_and_threshold(goal_of(1, "1e-6", "add-remove"), 4) == scale_and_threshold(
        goal_of(1, "1e-6", "add-remove"), 4
    )


def test_replacing_moves_twice_as_many_counts() -> None:
    parameters: dict[str, Any] = {"scale": Fraction(12), "tau": 1, "tau_prime": 70}
    one = delta(**parameters, items_per_user=5, goal=goal_of(1, "0.5", "replace"))
    two = delta(**parameters, items_per_user=10, goal=goal_of(1, "0.5", "add-remove"))
    assert one <= two  # as many can shift, and fewer can be shown
    assert one == pytest.approx(float(hockey_stick(Fraction(12), 10, Fraction(1))), rel=1e-3)


# The mechanism


def test_too_small_an_epsilon_and_other_guarantees_are_refused() -> None:
    with pytest.raises(UsageError, match="epsilon is too small"):
        Gaussian.calibrate(goal_of("1e-9", "1e-6"), 2)
    with pytest.raises(UsageError, match="zealous mechanism"):
        Gaussian.calibrate(ProbabilisticDP(epsilon=1, delta="1e-6", users=9), 2)
    with pytest.raises(UsageError, match="delta above 0"):
        Gaussian.calibrate(goal_of(1, 0), 2)
    with pytest.raises(UsageError, match="items_per_user"):
        Gaussian.calibrate(goal_of(1, "1e-6"), 0)
    found = Gaussian.calibrate(goal_of(1, "1e-6"), 2)
    assert found.delta(ProbabilisticDP(epsilon=1, delta="1e-6", users=9)) == 1


def test_it_is_made_again_and_says_what_to_expect() -> None:
    goal = goal_of(1, "1e-6")
    found = Gaussian.calibrate(goal, 20)
    part = part_of(found, goal)
    assert Gaussian.from_record(part) == found
    for wrong in ({"tau_prime": None}, {"tau": 0}, {"items_per_user": 0}):
        with pytest.raises(UsageError):
            Gaussian.from_record(structs.replace(part, **wrong))
    for scale in ("1/2", "0", "99999999"):
        with pytest.raises(UsageError, match="scale"):
            Gaussian.from_record(part_of(found, goal, scale=scale)).delta(goal)
    assert found.publication_probability(0) == 0
    for count in (1, 100, found.tau_prime, 200):
        near = norm.sf((found.tau_prime + 0.5 - count) / float(found.scale))
        assert found.publication_probability(count) == pytest.approx(near, rel=0.01)
    assert found.noise_quantile(0.95) == pytest.approx(1.96 * float(found.scale), abs=1)
    assert found.expected_unique_items(1) <= 20 * 1e-6
    assert found.noise_sampler() == DiscreteGaussian(scale=found.scale)
