"""The figures of docs/study/probabilistic-only.md, computed anew."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from paths import DOCS
from scipy import stats

from zealous.privacy.accounting.exact import exact_delta
from zealous.privacy.calibrate import calibrate
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP

PAGE = " ".join((DOCS / "study" / "probabilistic-only.md").read_text().split())
USERS, EPSILON, DELTA = 500_000, 1, Fraction(1, 10**6)
Law = npt.NDArray[np.float64]


def says(text: str) -> bool:
    return text in PAGE


def somebody(chance: float, many: int) -> float:
    """The chance that something befalls one of many."""
    return -math.expm1(many * math.log1p(-chance))


def test_all_examples_are_of_one_population() -> None:
    assert says("U = 500,000 users, ε = 1 and δ′ = 10⁻⁶")


def test_laplace_noise_below_its_loss() -> None:
    m, scale, tau_prime = 20, Fraction("25.75"), 416
    goal = ProbabilisticDP(epsilon=EPSILON, delta="0.001", users=USERS)
    assert calibrate(goal, m).scale == 40
    kept: dict[str, Any] = {"tau": 1, "items_per_user": m, "epsilon": EPSILON}
    assert exact_delta(scale=scale, tau_prime=tau_prime, **kept) <= DELTA
    # Each high item that is left, and each low one that is taken instead, has odds of exp(1/scale).
    moved = math.floor(EPSILON * scale / 2) + 1
    assert moved == 13
    assert 2 * moved / scale > EPSILON >= 2 * (moved - 1) / scale
    high = 1 / (1 + math.exp(-1 / float(scale)))
    group = float(stats.binom.sf(moved - 1, m, high))
    assert says(f"13 high items with probability {group:.4f}")
    # At 500 users an item is above the threshold, so that also its absence counts as low.
    groups = USERS // 500
    assert tau_prime < 500
    none = groups * math.log10(1 - group)
    too_few_low = stats.binom.logcdf(moved - 1, (groups - 1) * m, high) / math.log(10)
    assert too_few_low < none - 100
    assert round(none) == -71
    assert says("1,000 groups of 500 users, 20 items each | 1 − 10⁻⁷¹")


def discrete_gaussian(sigma: float, reach: int = 300) -> tuple[npt.NDArray[np.int64], Law]:
    values = np.arange(-reach, reach + 1)
    law = np.exp(-(values**2) / (2 * sigma**2))
    return values, law / law.sum()


def range_at_most(law: Law, width: int, many: int) -> float:
    """The chance that the largest and the smallest of many draws are so near."""
    below = np.concatenate([[0.0], np.cumsum(law)])
    smallest = np.arange(law.size)
    largest = np.minimum(smallest + width, law.size - 1) + 1
    inside = (below[largest] - below[smallest]) ** many
    without = np.maximum(below[largest] - below[smallest + 1], 0) ** many
    return float((inside - without).sum())


def test_range_at_most() -> None:
    coins = np.array([0.25, 0.5, 0.25])
    assert range_at_most(coins, 0, 2) == 0.375
    assert range_at_most(coins, 1, 2) == 0.875
    assert range_at_most(coins, 2, 9) == 1


def test_gaussian_noise() -> None:
    sigma = 6.0
    values, law = discrete_gaussian(sigma)
    # For one person it is enough: two counts shift, and what tells is the sum of two draws.
    total, two = np.arange(2 * values[0], 2 * values[-1] + 1), np.convolve(law, law)
    near, far = (two[total > EPSILON * sigma**2 + side].sum() for side in (-1, 1))
    assert near - math.exp(EPSILON) * far <= DELTA
    # Leaving z and joining y costs (2z + 1 + 1 - 2y)/(2 sigma^2).
    width = 35
    assert (width + 1) / sigma**2 <= EPSILON < (width + 2) / sigma**2
    covered = range_at_most(law, width, USERS // 100)
    assert says(f"5,000 items of 100 users each | {1 - covered:.6f}")
    assert 1 / covered > 500_000
    assert says("more than 35 apart but for 1 run in 500,000")


def test_more_gaussian_noise_is_needed_than_laplace_has() -> None:
    few, more = (math.sqrt(2 * math.log(many)) for many in (54, 55))
    assert few < 2 * math.sqrt(2) < more
    assert says("As soon as N is above 54")


def test_weighted_set_union() -> None:
    exposed = 4e-7
    found = somebody(exposed, USERS)
    assert says(f"each user has items of her own | {found:.3f}")
    assert says(f"(1 − δ₂)^U = {found:.3f}")
    # The threshold is the largest that some number of items needs, so there it is exact.
    sigma = 4.0
    numbers = range(1, 200)
    needed = [
        1 / math.sqrt(t) - sigma * stats.norm.ppf(-math.expm1(math.log1p(-exposed) / t))
        for t in numbers
    ]
    threshold = max(needed)
    chances = [
        somebody(float(stats.norm.sf((threshold - 1 / math.sqrt(t)) / sigma)), t) for t in numbers
    ]
    assert max(chances) <= exposed * (1 + 1e-6)
    assert max(chances) >= exposed * (1 - 1e-6)


def test_counts_after_rounds() -> None:
    sigma, m, low = 17.67, 5, 62

    def chance(count: int) -> float:
        """Of Gaussian noise that is rounded to a whole number."""
        return float(np.diff(stats.norm.cdf([count - 0.5, count + 0.5], scale=sigma))[0])

    losses = [m * math.log(chance(-z) / chance(-z - 1)) for z in (low - 1, low)]
    assert losses[0] <= EPSILON < losses[1]
    each = stats.norm.sf(low - 0.5, scale=sigma)
    found = float(stats.binom.sf(m - 1, USERS * m // 100, each))
    assert says(f"25,000 keys of 100 users each | {found:.3f}")
    assert says(f"at least {low} too low with probability {found:.3f}")


def test_optimal_key_selection() -> None:
    found = somebody(float(DELTA), USERS)
    assert says(f"each user has an item of her own | {found:.3f}")
    assert says(f"(1 − δ′)^U = {found:.3f}")
    one = float(DELTA)
    two = min(
        math.exp(EPSILON) * one + float(DELTA),
        1 - math.exp(-EPSILON) * (1 - one - float(DELTA)),
    )
    assert math.isclose(two, (math.exp(EPSILON) + 1) * one)


def test_with_enough_users_exposure_is_certain() -> None:
    goal = Indistinguishability(epsilon=EPSILON, delta=DELTA)
    assert somebody(float(goal.delta), 10_000_000) > 0.9999
