"""Losses composed, against sums over all outputs, known figures and another library."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from dp_accounting.pld import privacy_loss_distribution
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from zealous.errors import Refused, UsageError
from zealous.mechanisms.protocol import MECHANISMS
from zealous.privacy.accounting.gaussian import tail
from zealous.privacy.composition import (
    Filter,
    Loss,
    across_releases,
    delta_at,
    epsilon_at,
    normal,
    rules,
)
from zealous.privacy.composition.normal import gaussian_square, hockey_stick, response_square
from zealous.privacy.composition.rules import Rule
from zealous.privacy.guarantee import Indistinguishability, Neighbors

Law = npt.NDArray[np.float64]
Pair = tuple[Law, Law]


def gaussian(scale: Fraction, shown: Fraction, m: int = 1, shifts: int = 1) -> Loss:
    return Loss.thresholded(shown=shown, items=m, shifts=shifts, scale=scale)


def planned(name: str, neighbors: Neighbors, m: int = 5) -> Loss:
    goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors=neighbors)
    return MECHANISMS[name].calibrate(goal, m).loss(neighbors)


def exact(pairs: Sequence[Pair], epsilon: float) -> float:
    """The least delta of independent outputs, each with a law in the one log and in the other."""
    one, other = (reduce(np.multiply.outer, each) for each in zip(*pairs, strict=True))
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum())


def shifted_gaussian(scale: float, by: int = 1, reach: int = 40) -> Pair:
    z = np.arange(-reach, reach + 1)
    one, other = np.exp(-((z - by) ** 2) / (2 * scale**2)), np.exp(-(z**2) / (2 * scale**2))
    return one / one.sum(), other / other.sum()


def response(rate: float) -> Pair:
    truth = 1 / (1 + math.exp(-rate))
    return np.array([truth, 1 - truth]), np.array([1 - truth, truth])


def exposed(shown: float) -> Pair:
    """An item that the one log alone has at its threshold."""
    return np.array([shown, 1 - shown]), np.array([0.0, 1.0])


@pytest.mark.parametrize("shown", ["3e-8", "1.23456789e-19", "1/7", "0.999"])
def test_of_many_items_one_is_shown_with_the_chance_of_the_exact_power(shown: str) -> None:
    p, m = Fraction(shown), 1500
    exact = 1 - (1 - p) ** m
    assert exact <= normal.any_shown(p, m) <= exact * (1 + Fraction(1, 10**50))


def test_a_strangers_number_of_items_takes_no_time() -> None:
    """An exact power would have 10^15 times the digits: `verify` would not come to an end."""
    assert 0 < gaussian(Fraction(9), Fraction(1, 10**17), m=10**15, shifts=10**15).exposure < 0.01


def test_strangers_responses_take_no_time() -> None:
    """So many are not added up one by one: they enter in Gaussian terms, which is a little more."""
    few, many = (Loss(shifts=n, rate=Fraction(1, 100)) for n in (20_000, 20_001))
    assert delta_at([few], Fraction(5)) < delta_at([many], Fraction(5)) < Fraction(1, 10)
    for beside in ([], [Loss(shifts=1, mu_squared=Fraction(1, 10))]):
        stranger = Loss(shifts=10**15, rate=Fraction(1, 10**9))
        assert 0 < delta_at([stranger, *beside], Fraction(3)) < Fraction(1, 2)


# Noise


@pytest.mark.parametrize("scale", ["1", "1.1", "1.5", "2", "3", "605/64"])
def test_whole_numbers_tell_no_more_than_the_square_says(scale: str) -> None:
    # The steps of x with P(Z >= z) = P(N > x), out to thirty deviations, with 60 digits.
    sigma, mu = Fraction(scale), gaussian_square(Fraction(scale))
    with mpmath.workdps(60):
        reach = math.ceil(30 * sigma)
        spread = 2 * mpmath.mpf(sigma.numerator) ** 2 / mpmath.mpf(sigma.denominator) ** 2
        weights = [mpmath.exp(-(z * z) / spread) for z in range(reach + 60 * math.ceil(sigma))]
        whole, upper, deviations = 2 * sum(weights) - weights[0], mpmath.mpf(0), {}
        for z in reversed(range(1, len(weights))):
            upper += weights[z]
            if z <= reach:
                deviations[z] = upper_deviation(upper / whole)
        deviations[0] = -deviations[1]
        steps = [deviations[z] - deviations[z - 1] for z in range(1, reach + 1)]
        most = mpmath.sqrt(mpmath.mpf(mu.numerator) / mu.denominator)
        assert max(steps) <= most
        assert max(steps) == steps[0] > most * mpmath.mpf("0.996")  # and hardly less
        assert float(max(steps) * sigma.numerator / sigma.denominator) > 1  # not the continuous one


def upper_deviation(chance: mpmath.mpf) -> mpmath.mpf:
    """x with P(N > x) = chance."""
    x = mpmath.sqrt(-2 * mpmath.log(chance)) if chance < 0.1 else mpmath.mpf(0)
    for _ in range(100):
        found = mpmath.erfc(x / mpmath.sqrt(2)) / 2
        density = mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi)
        step = mpmath.log(found / chance) * found / density
        x += step
        if abs(step) < mpmath.mpf("1e-45"):
            break
    return x


@pytest.mark.parametrize("epsilon", [-3, -0.5, 0, 0.2, 1, 4])
@pytest.mark.parametrize("mu", [0.01, 0.3, 1, 5])
def test_the_hockey_stick_of_a_normal(mu: float, epsilon: float) -> None:
    truth = norm.sf(epsilon / mu - mu / 2) - math.exp(epsilon) * norm.sf(epsilon / mu + mu / 2)
    found = float(hockey_stick(Fraction(mu) ** 2, Fraction(epsilon)))
    assert found == pytest.approx(max(truth, 0), rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("rate", [0.01, 0.2, 1, 5, 40])
def test_a_response_is_a_function_of_its_gaussian(rate: float) -> None:
    mu = math.sqrt(response_square(Fraction(rate)))
    assert norm.logcdf(-mu / 2) == pytest.approx(-math.log1p(math.exp(rate)), rel=1e-9)
    assert response_square(Fraction(2000)) >= 4 * 2000


# Together


@examples(60)
@given(
    scales=st.lists(st.sampled_from([1, 1.5, 2, 4]), max_size=2),
    rates=st.lists(st.sampled_from([0.1, 0.25, 1, 3]), max_size=3),
    chances=st.lists(st.sampled_from([0.001, 0.05, 0.4]), max_size=2),
    epsilon=st.sampled_from([0, 0.1, 0.7, 2]),
)
def test_independent_parts_tell_no_more_than_is_claimed(
    scales: list[float], rates: list[float], chances: list[float], epsilon: float
) -> None:
    pairs = [shifted_gaussian(each) for each in scales] + [response(each) for each in rates]
    losses = [Loss(shifts=1, mu_squared=gaussian_square(Fraction(each))) for each in scales]
    losses += [Loss(shifts=1, rate=Fraction(each)) for each in rates]
    pairs += [exposed(each) for each in chances]
    losses += [Loss(exposure=Fraction(each)) for each in chances]
    if not pairs:
        return
    truth, claim = exact(pairs, epsilon), float(delta_at(losses, Fraction(epsilon)))
    assert claim >= truth - 1e-12
    assert claim <= min(1, truth + sum(chances)) * 1.02 + 0.02 * len(scales)
    if not chances:
        backwards = [(other, one) for one, other in pairs]
        assert claim >= exact(backwards, epsilon) - 1e-12


def test_responses_at_one_rate_are_told_exactly_and_at_several_nearly() -> None:
    rates, epsilon = [0.25] * 6 + [0.1] * 3, 0.6
    truth = exact([response(each) for each in rates], epsilon)
    commensurable = [Loss(shifts=6, rate=Fraction(1, 4)), Loss(shifts=3, rate=Fraction(1, 10))]
    assert float(delta_at(commensurable, Fraction("0.6"))) == pytest.approx(truth, rel=1e-7)
    odd = Loss(shifts=3, rate=Fraction(100_000_007, 10**9))  # no common unit: losses are rounded up
    assert truth < float(delta_at([commensurable[0], odd], Fraction("0.6"))) < truth * 1.01
    assert delta_at(commensurable, Fraction(9, 5)) == 0  # all that they can lose


@pytest.mark.parametrize(
    ("rates", "square", "epsilon"),
    [
        ({"1/7": 40, "1/20": 9}, "0.3", "1"),
        ({"1/13": 30, "1/212": 25}, "0.0004", "0.5"),
        ({"1/5": 2, "100000007/1000000000": 31}, "0.06", "2"),
        ({"1/10": 60}, "25", "10"),
        ({"9": 1, "1/50": 3}, "0.0001", "8.9"),
    ],
)
def test_laplace_beside_gaussian_noise_is_told_nearly_exactly(
    rates: dict[str, int], square: str, epsilon: str
) -> None:
    law = {mpmath.mpf(0): mpmath.mpf(1)}
    for rate, count in rates.items():
        r = mpmath.mpf(Fraction(rate).numerator) / Fraction(rate).denominator
        truth = 1 / (1 + mpmath.exp(-r))
        chances = [
            ((2 * n - count) * r, mpmath.binomial(count, n) * truth**n * (1 - truth) ** (count - n))
            for n in range(count + 1)
        ]
        law = {a + b: p * q for a, p in law.items() for b, q in chances}  # no two add up alike
    mu = mpmath.sqrt(mpmath.mpf(square))

    def h(e: mpmath.mpf) -> mpmath.mpf:
        return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)

    with mpmath.workdps(30):
        exact = float(sum(p * h(mpmath.mpf(epsilon) - loss) for loss, p in law.items()))
    losses = [Loss(shifts=count, rate=Fraction(rate)) for rate, count in rates.items()]
    claim = delta_at([*losses, Loss(shifts=1, mu_squared=Fraction(square))], Fraction(epsilon))
    assert exact * (1 - 1e-9) <= float(claim) <= exact * 1.006


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_two_kinds_of_one_release_against_every_output(neighbors: Neighbors) -> None:
    # Each kind has one item a user; in either log it stands at tau, is far above it or is not
    # there. Outputs are independent; laws by (in S, in S').
    sides = 2 if neighbors == "replace" else 1
    scales, shown = (1.5, 2.0), (0.02, 0.005)
    losses = [
        gaussian(Fraction(scale), Fraction(chance), shifts=sides)
        for scale, chance in zip(scales, shown, strict=True)
    ]
    ways: list[list[list[Pair]]] = []
    for scale, chance in zip(scales, shown, strict=True):
        falls, rises = [exposed(chance)], [exposed(chance)[::-1]]
        shift = [shifted_gaussian(scale, reach=14)]
        one_way = [falls, rises, shift]
        ways.append(
            one_way if sides == 1 else [f + r for f in (falls, shift) for r in (rises, shift)]
        )
    for epsilon in (0.1, 0.5, 1.5):
        worst = max(
            exact([pair for way in chosen for pair in way], epsilon)
            for chosen in itertools.product(*ways)
        )
        claim = float(delta_at(losses, Fraction(epsilon)))
        assert worst <= claim <= worst * 1.06


def test_where_an_output_steers_the_next_part_exposures_add() -> None:
    # Two releases: by the first output she makes her item of the second one stand at tau, or far
    # above it. The maximum rule would be false.
    q, epsilon, scale = 0.01, 0.7, 3.0
    moved, still = shifted_gaussian(scale)
    factor = math.exp(epsilon)

    def second(a: float, b: float) -> float:
        alone = q * a + max((1 - q) * a - factor * b, 0)
        return max(alone, float(np.maximum(a * moved - factor * b * still, 0).sum()))

    first: list[Pair] = [exposed(q), exposed(q)[::-1], (moved, still)]
    truth = max(sum(map(second, *pair)) for pair in first)
    fixed = max(
        exact([one, other], epsilon)
        for one in first
        for other in [exposed(q), exposed(q)[::-1], (moved, still)]
    )
    loss = gaussian(Fraction(3), Fraction(1, 100))
    at_once = float(delta_at([loss, loss], Fraction(7, 10)))
    apart = float(delta_at(across_releases([loss, loss]), Fraction(7, 10)))
    assert fixed == pytest.approx(0.01997, abs=1e-5)
    assert truth == pytest.approx(0.0247, abs=1e-4)
    assert fixed <= at_once < truth <= apart
    assert at_once == pytest.approx(0.0203, abs=2e-4)


def test_many_items_of_unlike_kinds_fall_under_one_maximum() -> None:
    kinds = [
        gaussian(Fraction(2), Fraction(1, 100), m=2, shifts=2),
        gaussian(Fraction(3), Fraction(1, 30), m=3, shifts=3),
    ]
    for epsilon in (0.2, 1.0):
        worst = max(
            1
            - 0.99**one
            * (1 - 1 / 30) ** other
            * (
                1
                - float(
                    hockey_stick(
                        (2 - one) * gaussian_square(Fraction(2))
                        + (3 - other) * gaussian_square(Fraction(3)),
                        Fraction(epsilon),
                    )
                )
            )
            for one in range(3)
            for other in range(4)
        )
        claim = float(delta_at(kinds, Fraction(epsilon)))
        assert worst <= claim <= worst * 1.03
        assert claim < float(delta_at(across_releases(kinds), Fraction(epsilon)))


# Known figures


@pytest.mark.parametrize(
    ("name", "neighbors", "twelve", "fifty_two"),
    [
        ("zealous", "add-remove", 7.56, 18.21),
        ("zealous", "replace", 5.62, 12.82),
        ("gaussian", "add-remove", 3.69, 8.08),
        ("pooled", "add-remove", 3.46, 7.56),
    ],
)
def test_what_a_year_of_releases_costs(
    name: str, neighbors: Neighbors, twelve: float, fifty_two: float
) -> None:
    loss = planned(name, neighbors)
    for n, most in ((12, twelve), (52, fifty_two)):
        found = epsilon_at(across_releases([loss] * n), Fraction(n, 10**6))
        assert found is not None
        assert most - 0.02 <= found <= most


def test_four_kinds_need_half_the_noise_of_added_epsilons() -> None:
    scale = Fraction("18.91")
    kinds = [gaussian(scale, tail(scale, 101), m=5, shifts=5)] * 4
    assert delta_at(kinds, Fraction(1)) <= Fraction(1, 10**6)


def test_noise_of_whole_numbers_costs_what_another_library_finds() -> None:
    # dp_accounting composes the same by its own means, as a lower and an upper estimate.
    scale, exposure, n = Fraction("9.762"), Fraction("5e-7"), 12
    loss = Loss.moved(exposure=exposure, mu_squared=5 * gaussian_square(scale))
    for n, bounds in ((12, (3.4, 3.5)), (52, (7.4, 7.7))):
        found = epsilon_at([loss] * n, n * Fraction(1, 10**6))
        assert found is not None
        deviation = float(scale) / math.sqrt(5 * n)
        by_them = [
            privacy_loss_distribution.from_gaussian_mechanism(
                deviation, value_discretization_interval=1e-4, pessimistic_estimate=pessimistic
            ).get_epsilon_for_delta(n * 5e-7)
            for pessimistic in (False, True)
        ]
        assert by_them[0] <= found <= by_them[1] * 1.02
        assert bounds[0] <= found <= bounds[1]


@pytest.mark.parametrize("rate", [0.1, 0.2])
def test_laplace_noise_costs_what_another_library_finds(rate: float) -> None:
    for shifts in (60, 120):
        theirs = privacy_loss_distribution.from_discrete_laplace_mechanism(
            rate, value_discretization_interval=rate / 4
        )
        found = epsilon_at([Loss(shifts=shifts, rate=Fraction(str(rate)))], Fraction(1, 10**6))
        assert found is not None
        assert float(found) == pytest.approx(
            theirs.self_compose(shifts).get_epsilon_for_delta(1e-6), rel=0.02
        )


# Caps


def test_a_cap_is_spent_to_the_last_and_what_is_shown_says_so() -> None:
    cap = Filter(epsilon=Fraction(2), delta=Fraction(1, 10**5))
    month = Loss.moved(exposure=Fraction("4e-7"), mu_squared=Fraction("0.015"))
    spent = [cap.spent([month] * n) for n in range(1, 20)]
    last = max(n for n, each in enumerate(spent, 1) if each.fits)
    for n, each in enumerate(spent, 1):
        assert each.fits == (n <= last) == (each.epsilon is not None and each.epsilon <= 2)
        if each.fits:  # and it is a promise that any order of the same keeps
            assert delta_at([month] * n, Fraction(2)) <= cap.delta
    assert not Filter(epsilon=Fraction(0), delta=Fraction(0)).spent([month]).fits
    assert Filter(epsilon=Fraction(0), delta=Fraction(0)).spent([]).fits


def test_a_cap_looks_at_what_is_hidden_where_nothing_shifts() -> None:
    kept = [Loss(exposure=Fraction(1, 20), hidden=Fraction(1, 20))]
    cap = Filter(epsilon=Fraction(0), delta=Fraction(1, 10))
    spent = cap.spent(kept)
    assert delta_at(kept, cap.epsilon) > cap.delta
    assert not spent.fits
    assert spent.epsilon is not None
    assert delta_at(kept, spent.epsilon) <= cap.delta
    assert cap.spent([Loss(exposure=Fraction(1, 20))]).epsilon == 0


# The value


@pytest.mark.parametrize("name", list(MECHANISMS))
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_every_mechanism_tells_no_less_than_its_own_delta(name: str, neighbors: Neighbors) -> None:
    goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors=neighbors)
    mechanism = MECHANISMS[name].calibrate(goal, 1)
    loss = mechanism.loss(neighbors)
    assert loss == Loss.from_json(json.loads(json.dumps(loss.as_json())))
    assert delta_at([loss], Fraction(1)) >= mechanism.delta(goal) * (1 - Fraction(1, 100))
    if neighbors == "replace":
        other = mechanism.loss("add-remove")
        # What is stated at one epsilon, for all that a look can choose, is stated for both.
        stated = name == "after-look"
        assert loss.total_mu_squared > other.total_mu_squared or stated
        assert loss.exposure >= other.exposure


@pytest.mark.parametrize(
    "make",
    [
        lambda: Loss(exposure=Fraction(2)),
        lambda: Loss(shifts=1, mu_squared=Fraction(1), rate=Fraction(1)),
        lambda: Loss(exposure=0.5),  # type: ignore[arg-type]
        lambda: Loss(items=2, shifts=1),
        lambda: Loss(shifts=-1),
        lambda: Loss.from_json({"mu": "1"}),
        lambda: Filter(epsilon=Fraction(1), delta=Fraction(1)),
    ],
)
def test_what_is_no_loss_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(UsageError):
        make()


@pytest.mark.parametrize("delta", [Fraction(-1, 10**9), -1, 0.5, math.nan])
def test_a_rule_of_another_package_proves_no_delta_below_0_and_no_float(
    delta: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Rule("another", lambda losses, epsilon: delta, "docs")
    monkeypatch.setattr(rules, "RULES", {**rules.RULES, other.name: other})
    with pytest.raises(Refused, match="the rule of composition another"):
        delta_at([Loss.stated(epsilon=Fraction(1), delta=Fraction(1, 2))], Fraction(1))
