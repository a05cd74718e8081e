"""How surprising a fall is: against sums over every pair of noises, and against simulated truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from zealous.mechanisms import Zealous
from zealous.mechanisms.gaussian import Gaussian
from zealous.mechanisms.protocol import CalibratedMechanism
from zealous.mechanisms.selection import Selection
from zealous.privacy.guarantee import Indistinguishability
from zealous.series.p_values import CountLaw, fall_p_values, significant

LAPLACE = Zealous(items_per_user=1, scale=Fraction(3, 2), tau=2, tau_prime=9)
HIGHER = Zealous(items_per_user=1, scale=Fraction(3, 2), tau=2, tau_prime=14)
GAUSSIAN = Gaussian(items_per_user=1, scale=Fraction(5, 2), tau=1, tau_prime=11)
SELECTION = Selection.calibrate(Indistinguishability(epsilon=2, delta="1e-3"), 1)
FAR = 32


def law(mechanism: CalibratedMechanism) -> CountLaw:
    return CountLaw(interval=mechanism.interval(0.95))


def shown_above(mechanism: CalibratedMechanism) -> Callable[[int, int], float]:
    """P(shown with a count above t), from what the mechanism says of itself."""
    interval = mechanism.interval(0.95)
    assert interval.threshold is not None
    least = interval.threshold

    @cache
    def above(users: int, t: int) -> float:
        return interval.chance(users, max(t, least)) if users >= interval.fewest else 0.0

    return above


ABOVE = {id(each): shown_above(each) for each in (LAPLACE, HIGHER, GAUSSIAN, SELECTION)}


def poisson(mean: float) -> dict[int, float]:
    chances = (math.exp(n * math.log(mean) - mean - math.lgamma(n + 1)) for n in range(FAR))
    return dict(enumerate(chances))


def summed(
    first: CalibratedMechanism, second: CalibratedMechanism, users: dict[int, float], fall: int
) -> float:
    """P(a fall of at least that much | shown), summed over all counts, users drawn twice."""
    before, after = ABOVE[id(first)], ABOVE[id(second)]
    low, other = first.tau_prime, second.tau_prime
    assert low is not None
    assert other is not None
    known, total = 0.0, 0.0
    for count in range(low + 1, 2 * FAR):
        here = sum(p * (before(c, count - 1) - before(c, count)) for c, p in users.items())
        total += here
        if count - fall >= other:
            known += here * (1 - sum(p * after(c, count - fall) for c, p in users.items()))
    return known / total if total > 1e-12 else 0.0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (LAPLACE, LAPLACE),
        (LAPLACE, HIGHER),
        (HIGHER, LAPLACE),
        (GAUSSIAN, LAPLACE),
        (SELECTION, SELECTION),
    ],
)
def test_same_as_the_sum_over_all_noises(
    first: CalibratedMechanism, second: CalibratedMechanism
) -> None:
    falls = np.array([3, 8])
    found = fall_p_values(law(first), law(second), np.array([20, 20]), falls, same_key=True)
    worst = [
        max(summed(first, second, {users: 1.0}, int(fall)) for users in range(1, FAR))
        for fall in falls
    ]
    assert found == pytest.approx(worst, rel=1e-4)


@pytest.mark.parametrize("same_key", [True, False])
def test_no_fall_is_impossible(same_key: bool) -> None:
    """Noise that is too unlikely to be summed is counted all the same."""
    far = np.array([10**6])
    (found,) = fall_p_values(law(LAPLACE), law(LAPLACE), far, far, same_key=same_key)
    assert 1e-9 <= found < 1e-6


def test_another_key_spreads_the_users_too() -> None:
    falls = np.array([4, 9])
    found = fall_p_values(law(LAPLACE), law(LAPLACE), np.array([12, 12]), falls, same_key=False)
    for mean in (3.0, 8.0, 12.0, 16.0):
        sums = [summed(LAPLACE, LAPLACE, poisson(mean), int(fall)) for fall in falls]
        assert (found >= sums).all()
    alike = fall_p_values(law(LAPLACE), law(LAPLACE), np.array([12, 12]), falls, same_key=True)
    assert (found > alike).all()


def test_near_the_plain_tail_for_equal_plans_and_far_from_it_for_others() -> None:
    """With the same noise, lower bars before than after explain large falls, and not otherwise."""
    known = law(GAUSSIAN)
    (found,) = fall_p_values(known, known, np.array([99]), np.array([8]), same_key=True)
    plain = float(np.convolve(known.noise, known.noise)[2 * known.reach + 8 :].sum())
    assert 0.999 * plain <= found <= 1.1 * plain
    (to_higher,), (to_lower,) = (
        fall_p_values(law(one), law(other), np.array([99]), np.array([5]), same_key=True)
        for one, other in ((LAPLACE, HIGHER), (HIGHER, LAPLACE))
    )
    assert to_lower > 3 * to_higher


def test_the_bound_on_an_absent_item() -> None:
    """Q is the least with P(noise < -Q) at most that."""
    known = law(LAPLACE)
    for chance in (0.3, 0.01, 1e-6):
        bound = known.least_bound(chance)
        below = [1 - known.interval.chance(100, 100 - each - 1) for each in (bound, bound - 1)]
        assert below[0] <= chance < below[1]


def test_few_of_the_told_changes_are_by_chance() -> None:
    """Over repeated releases of one log with other keys, and of logs of which a part changed."""
    chance = np.random.default_rng(11)
    repeats, items, moved, rate = 60, 300, 30, 0.1
    holders = np.tile((20 * chance.pareto(1.2, items) + 5).astype(int), (repeats, 1))
    after_holders = holders.copy()
    after_holders[:, :moved] = after_holders[:, :moved] // 6
    share = np.tile(chance.uniform(0.2, 1, items), (repeats, 1))  # of them, those who keep it
    noise = chance.geometric(1 - math.exp(-2 / 3), (4, *holders.shape))
    before = chance.binomial(holders, share)
    before = np.where(before >= 2, before + noise[0] - noise[1], 0)
    after = chance.binomial(after_holders, share)
    after = np.where(after >= 2, after + noise[2] - noise[3], 0)
    tested = before > 9
    then = np.maximum(after, 9)
    p_values = np.ones(before.shape)
    p_values[tested] = fall_p_values(
        law(LAPLACE),
        law(LAPLACE),
        np.maximum(before, then)[tested],
        (before - then)[tested],
        same_key=False,
    )
    false, found = [], 0
    for row in range(repeats):
        told = np.zeros(items, np.bool_)
        told[tested[row]] = significant(p_values[row][tested[row]], rate)
        found += int(told[:moved].sum())
        false.append(told[moved:].sum() / max(1, told.sum()))
    assert np.mean(false) <= rate
    assert found > 2 * repeats  # and some of what did change is found


def test_the_step_up_procedure() -> None:
    assert significant(np.array([0.01, 0.04, 0.03, 0.6]), 0.05).tolist() == [True] + 3 * [False]
    assert significant(np.array([0.01, 0.02, 0.03, 0.6]), 0.05).tolist() == 3 * [True] + [False]
    assert significant(np.zeros(0), 0.05).tolist() == []
