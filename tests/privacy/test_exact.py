"""The exact delta against every output of tiny logs, scipy, more digits, and known figures."""

from __future__ import annotations

import itertools
import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, dlaplace
from tiny_worlds import (
    Parameters,
    World,
    add,
    changes,
    histories,
    indistinguishable_delta,
    laws,
    probabilistic_delta,
    same,
)

from zealous.errors import UsageError
from zealous.mechanisms import Gaussian, Laplace, Selection, Zealous
from zealous.privacy.accounting import exact as module
from zealous.privacy.accounting.exact import delta_curve, exact_delta, hockey_stick
from zealous.privacy.calibrate import (
    any_published_probability,
    calibrate,
    covers_absence,
    satisfied_guarantees,
    tail,
)
from zealous.privacy.guarantee import Guarantee, Indistinguishability, Neighbors, ProbabilisticDP

NEIGHBORS: tuple[Neighbors, ...] = get_args(Neighbors)


def moved(m: int, neighbors: Neighbors) -> int:
    return 2 * m if neighbors == "replace" else m


def zealous(scale: Fraction | int, tau: int, tau_prime: int, m: int) -> Zealous:
    return Zealous(scale=Fraction(scale), tau=tau, tau_prime=tau_prime, items_per_user=m)


def delta_of(each: Zealous, epsilon: Any, neighbors: Neighbors) -> Fraction:
    return exact_delta(
        scale=each.scale,
        tau=each.tau,
        tau_prime=each.tau_prime,
        items_per_user=each.items_per_user,
        epsilon=epsilon,
        neighbors=neighbors,
    )


# Every tiny log


def roomy(m: int, neighbors: Neighbors, tau: int, tau_prime: int) -> World:
    """A world in which every item that one step moves can stand at either threshold."""
    high = max(tau, tau_prime)
    users = high + 1 if neighbors == "add-remove" else 2 * high + 1
    return World(users=users, items=moved(m, neighbors), most=m, neighbors=neighbors)


THRESHOLDS = [(1, 0), (1, 1), (2, 2), (2, 0), (1, 2), (3, 2), (1, 3), (2, 3), (1, 4)]


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("m", [1, 2])
def test_it_is_the_least_delta_of_all_logs(m: int, neighbors: Neighbors) -> None:
    covered = set()
    for tau, tau_prime in THRESHOLDS[: 3 if (m, neighbors) == (2, "replace") else None]:
        world = roomy(m, neighbors, tau, tau_prime)
        for scale in (Fraction(1, 2), Fraction(3)):
            release = Parameters(scale=scale, tau=tau, tau_prime=tau_prime)
            covered.add(covers_absence(scale, tau_prime - tau))
            for twentieths in (0, 7, 10, 19, 20):
                epsilon = moved(m, neighbors) / scale * twentieths / 20
                claim = delta_of(zealous(scale, tau, tau_prime, m), epsilon, neighbors)
                assert indistinguishable_delta(world, release, float(epsilon)) == same(float(claim))
    assert covered == {True, False}


def test_a_world_without_room_has_no_larger_delta() -> None:
    seen = 0
    for tau, tau_prime, users in itertools.product((1, 2), (1, 3), (2, 3, 4)):
        world = World(users=users, items=2, most=1, neighbors="replace")
        release = Parameters(scale=Fraction(2), tau=tau, tau_prime=tau_prime)
        for epsilon in (0.0, 0.3, 0.9):
            claim = float(delta_of(zealous(2, tau, tau_prime, 1), epsilon, "replace"))
            truth = indistinguishable_delta(world, release, epsilon)
            assert truth <= claim * (1 + 1e-9)
            seen += truth < 0.9 * claim
    assert seen >= 5


# Scipy


def scipy_hockey_stick(scale: float, k: int, epsilon: float) -> float:
    far, factor = np.arange(k + 1), math.exp(epsilon)
    p = 1 / (1 + math.exp(-1 / scale))
    return float(np.maximum(binom.pmf(far, k, p) - factor * binom.pmf(far, k, 1 - p), 0).sum())


def scipy_delta(each: Zealous, epsilon: float, neighbors: Neighbors) -> float:
    """Section 7 of the mathematics word by word."""
    m, scale = each.items_per_user, float(each.scale)
    q = tail(each.scale, each.tau_prime - each.tau)
    g, log = 1 - q, math.log1p(-q)
    if neighbors == "add-remove":
        return max(
            max(
                1 - g**a + g**a * scipy_hockey_stick(scale, m - a, epsilon - a * log),
                scipy_hockey_stick(scale, m - a, epsilon + a * log),
            )
            for a in range(m + 1)
        )
    return max(
        1 - g**a + g**a * scipy_hockey_stick(scale, 2 * m - a - b, epsilon + (b - a) * log)
        for a in range(m + 1)
        for b in range(m + 1)
    )


mechanisms = st.builds(
    zealous,
    scale=st.fractions(Fraction(1, 4), 20, max_denominator=20),
    tau=st.just(3),
    tau_prime=st.integers(0, 40),
    m=st.integers(1, 7),
)
fractions_of_the_loss = st.fractions(0, Fraction(11, 10), max_denominator=40)


@examples(80)
@given(mechanisms, fractions_of_the_loss, st.sampled_from(NEIGHBORS))
def test_scipy_finds_the_same(each: Zealous, part: Fraction, neighbors: Neighbors) -> None:
    epsilon = part * moved(each.items_per_user, neighbors) / each.scale
    found = float(delta_of(each, epsilon, neighbors))
    assert found == pytest.approx(scipy_delta(each, float(epsilon), neighbors), rel=1e-9, abs=1e-13)


@examples(80)
@given(
    scale=st.fractions(Fraction(1, 4), 20, max_denominator=20),
    k=st.integers(0, 30),
    epsilon=st.fractions(-3, 6, max_denominator=30),
)
def test_the_hockey_stick_is_scipys(scale: Fraction, k: int, epsilon: Fraction) -> None:
    found = float(hockey_stick(scale, k, epsilon))
    expected = scipy_hockey_stick(float(scale), k, float(epsilon))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-13)


def test_the_hockey_stick_is_that_of_the_noise_itself() -> None:
    # Two counts, each moved by one, seen through noise; nothing cut off that a float could hold.
    noise, z = dlaplace(1 / 1.5), np.arange(-60, 61)
    one, other = noise.pmf(z), noise.pmf(z - 1)
    for epsilon in (-0.5, 0.0, 0.2, 0.7, 1.0, 1.3):
        excess = np.outer(one, one) - math.exp(epsilon) * np.outer(other, other)
        found = float(hockey_stick(Fraction(3, 2), 2, Fraction(str(epsilon))))
        assert found == pytest.approx(np.maximum(excess, 0).sum(), rel=1e-9, abs=1e-13)


def test_the_hockey_stick_without_shifts() -> None:
    assert hockey_stick(Fraction(2), 0, Fraction(1, 3)) == 0
    found = float(hockey_stick(Fraction(2), 0, Fraction(-1, 3)))
    assert found == pytest.approx(1 - math.exp(-1 / 3), rel=1e-12)


def test_a_hair_below_the_whole_loss_the_hockey_stick_keeps_its_digits() -> None:
    hair = Fraction(1, 10**80)
    found = hockey_stick(Fraction(2), 4, 2 - hair)
    assert float(found / hair) == pytest.approx((1 + math.exp(-0.5)) ** -4, rel=1e-12)
    assert hockey_stick(Fraction(2), 4, Fraction(2)) == 0


# More digits


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def digits_delta(each: Zealous, epsilon: Fraction, neighbors: Neighbors) -> Decimal:
    """The definition, sums over single outputs, in the decimals of the caller."""
    m = each.items_per_user
    alpha = (-decimal(1 / each.scale)).exp()
    t, p = each.tau_prime - each.tau, 1 / (1 + alpha)
    g = 1 - alpha ** (t + 1) / (1 + alpha) if t >= 0 else alpha**-t / (1 + alpha)
    found = []
    for a, b in itertools.product(range(m + 1), repeat=2):
        if neighbors == "replace" or not (a and b):
            k = moved(m, neighbors) - a - b
            terms = (
                math.comb(k, i)
                * (
                    g**a * p**i * (1 - p) ** (k - i)
                    - decimal(epsilon).exp() * g**b * p ** (k - i) * (1 - p) ** i
                )
                for i in range(k + 1)
            )
            found.append(1 - g**a + sum(max(term, Decimal(0)) for term in terms))
    return max(found)


@examples(40)
@given(
    st.builds(
        zealous,
        scale=st.fractions(Fraction(1, 4), 20, max_denominator=20),
        tau=st.just(30),
        tau_prime=st.integers(0, 150),
        m=st.integers(1, 3),
    ),
    fractions_of_the_loss,
    st.sampled_from(NEIGHBORS),
)
def test_it_is_rounded_up_and_by_little(
    each: Zealous, part: Fraction, neighbors: Neighbors
) -> None:
    # The chance at tau is as small as exp(-484) and as near to 1 as 1 - exp(-120).
    epsilon = part * moved(each.items_per_user, neighbors) / each.scale
    with localcontext(Context(prec=500)):
        truth = digits_delta(each, epsilon, neighbors)
        claim = decimal(delta_of(each, epsilon, neighbors))
        assert truth <= claim <= truth * (1 + Decimal("1e-15"))


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_a_chance_below_all_decimals_is_not_zero(neighbors: Neighbors) -> None:
    each = zealous(Fraction(1, 10**6), 1, 5, 2)
    assert 0 < delta_of(each, 10**7, neighbors) < Fraction(1, 10**300)
    assert delta_of(each, 1, neighbors) > 1 - Fraction(1, 10**20)


# What it must agree with


@examples(60)
@given(mechanisms, st.sampled_from(NEIGHBORS))
def test_at_the_loss_and_beyond_it_is_the_union_bound(each: Zealous, neighbors: Neighbors) -> None:
    m, loss = each.items_per_user, moved(each.items_per_user, neighbors) / each.scale
    expected = any_published_probability(each.scale, each.tau_prime - each.tau, m)
    assert delta_of(each, loss, neighbors) == delta_of(each, loss * 2, neighbors) == expected
    # The maximum goes there by itself, whether absence is covered or not.
    near = delta_of(each, loss - Fraction(1, 10**60), neighbors)
    step = Fraction(1, 10**59)  # what a step of 1e-60 in epsilon can cost
    assert expected <= near <= expected * (1 + Fraction(1, 10**15)) + step


@examples(40)
@given(mechanisms, st.lists(fractions_of_the_loss, min_size=2, max_size=8))
def test_delta_falls_as_epsilon_rises(each: Zealous, parts: list[Fraction]) -> None:
    for neighbors in NEIGHBORS:
        loss = moved(each.items_per_user, neighbors) / each.scale
        found = [delta_of(each, part * loss, neighbors) for part in sorted(parts)]
        assert found == sorted(found, reverse=True)


def test_more_shifts_tell_more() -> None:
    for epsilon in (Fraction(-1), Fraction(0), Fraction(1, 2), Fraction(3)):
        found = [hockey_stick(Fraction(5, 2), k, epsilon) for k in range(40)]
        pairs = itertools.pairwise(found)
        assert all(fewer <= more * (1 + Fraction(1, 10**40)) for fewer, more in pairs)
        assert found[0] < found[10] < found[30]


def least_published(m: int, neighbors: Neighbors, scale: Fraction) -> float:
    """The least tau' + 1 at tau = 1 for epsilon = 1 and delta = 1e-6, at this scale."""

    def holds(tau_prime: int) -> bool:
        return delta_of(zealous(scale, 1, tau_prime, m), 1, neighbors) <= Fraction(1, 10**6)

    low, high = 0, 2000
    if not holds(high):
        return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high + 1


@pytest.mark.parametrize(
    ("m", "neighbors", "scale", "published"),
    [
        (1, "replace", "2", 28),
        (1, "add-remove", "1", 15),
        (5, "replace", "10", 149),
        (5, "add-remove", "5", 76),
        (20, "replace", "25.75", 417),
        (20, "add-remove", "17.57", 285),
    ],
)
def test_the_reference_table(m: int, neighbors: Neighbors, scale: str, published: int) -> None:
    best = Fraction(scale)
    assert least_published(m, neighbors, best) == published
    around = [best * Fraction(n, 200) for n in range(160, 261, 5)]
    assert min(least_published(m, neighbors, each) for each in around) >= published


def test_twenty_items_need_less_noise_than_the_whole_loss_would() -> None:
    # 2m/epsilon would be a scale of 40; the noises of forty counts hardly ever all tell the same.
    whole = calibrate(Indistinguishability(epsilon=1, delta="1e-6"), 20)
    assert whole.scale == 40
    assert whole.tau_prime + 1 > 1.5 * least_published(20, "replace", Fraction("25.75"))


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("m", [3, 12])
def test_the_bound_for_many_items_is_above_the_maximum_and_not_far(
    m: int, neighbors: Neighbors, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tau_prime, twentieths in itertools.product((0, 2, 9, 40, 200), (0, 4, 11, 19, 20)):
        each = zealous(Fraction(5), 1, tau_prime, m)
        epsilon = moved(m, neighbors) / each.scale * twentieths / 20
        monkeypatch.setattr(module, "_MOST_EXACT", 200)
        least = delta_of(each, epsilon, neighbors)
        monkeypatch.setattr(module, "_MOST_EXACT", 0)
        assert least <= delta_of(each, epsilon, neighbors) <= 2 * least


def test_many_items_per_user_end_in_reasonable_time() -> None:
    assert 0 < delta_of(zealous(200, 1, 3600, 100), "0.5", "replace") < Fraction(1, 1000)
    assert 0 < delta_of(zealous(20_000, 1, 700_000, 10_000), "0.9", "replace") < Fraction(1, 1000)


# Curves


GOALS: list[Guarantee] = [
    kind(epsilon=1, delta="0.1", users=500_000, neighbors=neighbors)
    for kind in (ProbabilisticDP, Indistinguishability)
    for neighbors in NEIGHBORS
]


@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_the_curve_passes_through_the_calibrated_point(goal: Guarantee) -> None:
    found = calibrate(goal, 3)
    each = zealous(found.scale, found.tau, found.tau_prime, 3)
    (at,) = delta_curve(goal, [each], [goal.epsilon])
    assert at == (goal.epsilon, found.delta)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_probabilistic_curve_is_a_step(neighbors: Neighbors) -> None:
    goal = ProbabilisticDP(epsilon=1, delta="0.1", users=1000, neighbors=neighbors)
    each = zealous(4, 3, 60, 2)
    loss = Fraction(moved(2, neighbors), 4)
    curve = delta_curve(goal, [each], [0, loss - Fraction(1, 10**9), loss, 9])
    proven = any_published_probability(Fraction(4), 57, 2000 // 3)
    assert [delta for _, delta in curve] == [1, 1, proven, proven]


def test_where_absence_tells_more_the_step_is_later() -> None:
    goal = ProbabilisticDP(epsilon=1, delta="0.1", users=7)
    each = zealous(3, 3, 4, 1)
    (raised, *_) = satisfied_guarantees(
        scale=Fraction(3), tau=3, tau_prime=4, items_per_user=1, users=7
    )
    assert raised.epsilon > Fraction(2, 3)
    curve = delta_curve(goal, [each], [Fraction(2, 3), raised.epsilon])
    assert [delta for _, delta in curve] == [1, raised.delta]


def test_a_curve_of_parameters_that_hide_nothing_is_one() -> None:
    goal = ProbabilisticDP(epsilon=1, delta="0.1", users=10**6)
    assert delta_curve(goal, [zealous(1, 1, 2, 2)], [100]) == [(100, 1)]


def realised(users: int, m: int, scale: Fraction, count: int) -> float:
    """At least the chance that some neighbour of one log realises the whole loss (`replace`).

    Groups of `count` users hold the same m items, above both thresholds. A user leaves m items that
    all came out at their counts or higher for m others that did not come out higher; of any 2m such
    items at least m are not hers.
    """
    groups, p = users // count, 1 / (1 + math.exp(-1 / scale))
    somebody = -math.expm1(groups * math.log1p(-(p**m)))
    return somebody - float(binom.cdf(2 * m - 1, groups * m, p))


def test_below_the_step_somebody_realises_the_whole_loss() -> None:
    assert realised(500_000, 2, Fraction(4), 80) > 1 - 1e-12
    # and of a tiny log this is no more than the truth
    world = World(users=6, items=3, most=1, neighbors="replace")
    for scale in (Fraction(1, 2), Fraction(3)):
        release = Parameters(scale=scale, tau=1, tau_prime=1)
        below = float(2 / scale) - 0.01
        assert 0.3 < realised(6, 1, scale, 2) <= probabilistic_delta(world, release, below)


# Several histograms


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_several_histograms_stay_below_the_sum(neighbors: Neighbors) -> None:
    goal = Indistinguishability(epsilon=1, delta="0.1", neighbors=neighbors)
    parts = [zealous(1, 1, 2, 1), zealous(2, 2, 2, 1)]
    users, single = 3, histories(2, 1)
    every = list(itertools.product(range(users + 1), repeat=2))
    law_of = [
        laws(every, users, Parameters(scale=p.scale, tau=p.tau, tau_prime=p.tau_prime))
        for p in parts
    ]
    joint = {
        one + two: np.outer(law_of[0][one], law_of[1][two]).ravel()
        for one in every
        for two in every
    }
    possible = [one + two for one in single for two in single]
    pairs = {
        (add([*others, held]), add([*others, to]))
        for others in itertools.combinations_with_replacement(possible, users - 1)
        for held in possible
        for to in possible
        if changes(held, to, neighbors)
    }
    loss = moved(1, neighbors) * Fraction(3, 2)
    for epsilon, claim in delta_curve(goal, parts, [loss * n / 6 for n in (0, 2, 3, 5, 6, 7)]):
        factor = math.exp(epsilon)
        truth = max(np.maximum(joint[one] - factor * joint[two], 0).sum() for one, two in pairs)
        assert truth <= float(claim) * (1 + 1e-9)
        assert float(claim) <= 2 * truth


def test_shares_of_the_sum_are_each_histograms_own() -> None:
    goal = Indistinguishability(epsilon=1, delta="0.1")
    parts = [zealous(5, 1, 60, 5), zealous(20, 1, 300, 20)]  # each loses 2
    ((_, both),) = delta_curve(goal, parts, [3])
    assert both == sum(delta_of(each, Fraction(3, 2), "replace") for each in parts)


# Parameters


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scale", Fraction(0)),
        ("tau", 0),
        ("items_per_user", 0),
        ("epsilon", -1),
        ("epsilon", "much"),
        ("neighbors", "near"),
    ],
)
def test_parameters_are_checked(name: str, value: Any) -> None:
    given: dict[str, Any] = {
        "scale": Fraction(1),
        "tau": 1,
        "tau_prime": 9,
        "items_per_user": 1,
        "epsilon": 1,
    }
    with pytest.raises(UsageError, match=name):
        exact_delta(**given | {name: value})


@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_a_release_has_at_least_one_histogram(goal: Guarantee) -> None:
    with pytest.raises(UsageError, match="histogram"):
        delta_curve(goal, [], [1])


def test_a_sum_of_very_many_terms_is_not_begun() -> None:
    assert hockey_stick(Fraction(5), 10**15, Fraction(1)) == 1


def test_the_curve_is_that_of_every_laplace_noise_between_two_thresholds() -> None:
    goal = Indistinguishability(epsilon=1, delta="1e-6")
    laplace, gaussian = Laplace.calibrate(goal, 5), Gaussian.calibrate(goal, 5)
    assert gaussian.exact_parameters() is None
    assert Selection.calibrate(goal, 1).exact_parameters() is None
    parameters = laplace.exact_parameters()
    assert parameters is not None
    ((_, delta),) = delta_curve(goal, [parameters], [goal.epsilon])
    assert 0.99 * laplace.delta(goal) <= delta <= laplace.delta(goal)
