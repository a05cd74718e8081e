"""What is claimed for the noise of keys and counts, against numbers computed another way."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from records import part_of
from sampling import sampled
from scipy import signal, stats

from zealous.errors import UsageError
from zealous.mechanisms.pooled import Pooled
from zealous.privacy.accounting.keys import (
    GRAIN,
    LARGEST_SCALE,
    WEIGHT,
    count_scale,
    mu_squared,
    told_by_noise,
)
from zealous.privacy.accounting.pooled import pooled_delta
from zealous.privacy.guarantee import Guarantee, Indistinguishability, Neighbors, ProbabilisticDP

Floats = npt.NDArray[np.float64]

SIDES: dict[Neighbors, int] = {"add-remove": 1, "replace": 2}
ROUNDING = 1e-13  # of the numbers computed here
TIE = 1e-9  # above the rounding of losses, below the step from one to the next


def goal(epsilon: Any = 1, delta: Any = "1e-6", neighbors: Neighbors = "add-remove") -> Guarantee:
    return Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)


# What noise tells


def noise_delta(
    scales: Sequence[int], scale: Fraction, m: int, goal: Guarantee, exposed: Any = 0
) -> Fraction:
    """What is claimed of rounds of such scales, and of counts."""
    moved = SIDES[goal.neighbors] * mu_squared(scales, scale, m)
    return told_by_noise(moved, goal, Fraction(exposed))


@cache
def chances(scale: int) -> Floats:
    """Of discrete Gaussian noise, from -12 deviations to 12."""
    z = np.arange(-12 * scale, 12 * scale + 1)
    found = np.exp(-((z / scale) ** 2) / 2)
    return found / found.sum()


def sums(scale: int, draws: int) -> tuple[Floats, Floats]:
    """The sum of some draws: its values, and its chances."""
    found = chances(scale)
    for _ in range(draws - 1):
        found = signal.fftconvolve(found, chances(scale))
    reach = len(found) // 2
    return np.arange(-reach, reach + 1.0), found


def true_told(blocks: Iterable[tuple[int, int, int]], epsilon: float) -> float:
    """The hockey stick of one or two blocks of (how many values, each moved by, scale).

    The loss of an output is a sum over the values' noises, times the move over the scale squared,
    around half of mu squared.
    """
    parts, half = [], 0.0
    for draws, move, scale in blocks:
        values, probabilities = sums(scale, draws)
        parts.append((values * move / scale**2, probabilities))
        half += draws * move**2 / scale**2 / 2
    (first, weighed), (second, other) = [*parts, (np.zeros(1), np.ones(1))][:2]
    above = np.concatenate([np.cumsum(other[::-1])[::-1], [0.0]])

    def tail(x: float) -> float:
        places = np.searchsorted(second, x - first, side="right")
        return float((weighed * above[places]).sum())

    beyond = epsilon + TIE  # so that an output of exactly this loss is left out of both
    return tail(beyond - half) - math.exp(epsilon) * tail(beyond + half)


def continuous(mu: float, epsilon: float) -> float:
    cut = epsilon / mu
    return float(stats.norm.sf(cut - mu / 2) - math.exp(epsilon) * stats.norm.sf(cut + mu / 2))


@pytest.mark.parametrize("m", [1, 2, 5])
@pytest.mark.parametrize("scale", [5, 12, 40, 150])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("neighbors", SIDES)
def test_counts_tell_no_more_than_is_claimed(
    m: int, scale: int, epsilon: str, neighbors: Neighbors
) -> None:
    claim = float(noise_delta([], Fraction(scale), m, goal(epsilon, neighbors=neighbors)))
    truth = true_told([(SIDES[neighbors] * m, 1, scale)], float(epsilon))
    assert truth <= claim + ROUNDING
    if scale == 150 and truth > 1e-7:
        assert claim < truth * 1.2


@pytest.mark.parametrize("scale", [1, 2, 5, 30])
def test_whole_numbers_are_nearly_a_rounded_normal(scale: int) -> None:
    z = np.arange(-7 * scale, 7 * scale + 1)
    least = np.abs(z) - 0.5
    rounded = stats.norm.sf(least / scale) - stats.norm.sf((least + 1) / scale)
    whole = np.exp(-((z / scale) ** 2) / 2)
    whole /= np.exp(-((np.arange(-40 * scale, 40 * scale + 1) / scale) ** 2) / 2).sum()
    raised = 1 / (24 * scale**2)
    assert (whole <= np.exp(raised) * rounded * (1 + 1e-12)).all()
    assert (whole > np.exp(raised / 2) * rounded).any()  # and not by much: half would not do


def test_the_claim_is_that_of_the_proof() -> None:
    m, scale = 7, Fraction(50)
    blocks = [(2e6, 200), (14, 50)]  # square length, scale
    mu = math.sqrt(sum(x * 6 * (1 - math.sqrt(1 - 1 / (3 * s**2))) for x, s in blocks))
    for epsilon in (20, 40):
        found = noise_delta([200], scale, m, goal(epsilon, neighbors="replace"))
        assert 1e-3 < float(found) < 1
        assert float(found) == pytest.approx(continuous(mu, epsilon), rel=1e-9)


def test_without_what_integers_cost_the_claim_would_be_false() -> None:
    for scale in (4, 5):
        truth = true_told([(1, 1, scale)], 1)
        assert truth > continuous(1 / scale, 1)
        assert truth <= noise_delta([], Fraction(scale), 1, goal())


@pytest.mark.parametrize("neighbors", SIDES)
@pytest.mark.parametrize(
    ("bound", "scale", "counts"),
    [(1, 2500, Fraction(1000, GRAIN)), (2, 1500, Fraction(700, GRAIN)), (2, 4000, Fraction(60))],
)
def test_rounds_and_counts_together_tell_no_more_than_is_claimed(
    bound: int, scale: int, counts: Fraction, neighbors: Neighbors
) -> None:
    sides = SIDES[neighbors]
    blocks = [
        (sides * bound, math.isqrt(WEIGHT**2 // bound), scale),
        (sides, counts.denominator, counts.numerator),
    ]
    for epsilon in ("0.2", "1", "2.5"):
        truth = true_told(blocks, float(epsilon))
        claim = float(noise_delta([scale], counts, 1, goal(epsilon, neighbors=neighbors)))
        assert truth <= claim + ROUNDING
        assert claim < truth * 1.2 + 1e-9


def test_under_replace_what_is_hidden_costs_little() -> None:
    each = [5000]
    scale, replaced = Fraction(2001, GRAIN), goal(neighbors="replace")
    free = noise_delta(each, scale, 1, replaced)
    for exposed in ("1e-9", "1e-4", "0.1", "0.5"):
        found = noise_delta(each, scale, 1, replaced, Fraction(exposed))
        assert free < found <= min(free + Fraction(exposed), Fraction(1))
    assert noise_delta(each, scale, 1, replaced, Fraction("1e-6")) < free * Fraction("1.001")


# Calibration


GOALS = [
    ("1", "1e-6", 1),
    ("1", "1e-6", 5),
    ("0.1", "1e-9", 1000),
    ("20", "0.1", 1),
    ("20", "1e-80", 7),
    ("0.5", "0.1", 3),
    ("0.05", "1e-80", 1000),
]


@pytest.mark.parametrize("neighbors", SIDES)
@pytest.mark.parametrize(
    ("epsilon", "delta", "m"), sampled(GOALS, lambda each: "-".join(map(str, each)), share=2)
)
def test_a_calibrated_mechanism_keeps_its_goal_and_wastes_little(
    neighbors: Neighbors, epsilon: str, delta: str, m: int
) -> None:
    asked = goal(epsilon, delta, neighbors)
    found = Pooled.calibrate(asked, m)
    claim = found.delta(asked)
    assert asked.delta * Fraction(1, 2) < claim <= asked.delta
    assert Pooled.from_record(part_of(found, asked)) == found
    assert found.expected_unique_items(1) <= float(asked.delta)


def test_the_largest_scales_are_still_drawn() -> None:
    found = Pooled.calibrate(goal("0.02", "1e-80", "replace"), 1000)
    assert found.scale.denominator == 1
    assert found.scale > LARGEST_SCALE // GRAIN
    with pytest.raises(UsageError, match="epsilon is too small"):
        Pooled.calibrate(goal("0.0001", "1e-80", "replace"), 1000)


def test_counts_have_fine_noise_whatever_their_scale() -> None:
    for deviation in np.linspace(3, 300, 400):
        assert count_scale(deviation).denominator == GRAIN


def test_less_noise_or_lower_thresholds_have_a_larger_delta() -> None:
    found = Pooled.calibrate(goal(), 5)
    *before, last = found.rounds
    kept = found.kept_items_per_user
    deviation = math.hypot(*(each.multiplier * each.scale for each in found.rounds))
    for worse in (
        replace(last, scale=last.scale * 8 // 10),
        replace(last, threshold=last.threshold - int(deviation)),
    ):
        assert pooled_delta([*before, worse], found.scale, kept, 5, goal()) > goal().delta
    for change in (
        {"scale": found.scale * Fraction(9, 11)},
        {"m": 7},
        {"kept": 3 * kept},
    ):
        how: dict[str, Any] = {
            "scale": found.scale,
            "m": 5,
            "kept": kept,
        } | change
        claim = pooled_delta(found.rounds, how["scale"], how["kept"], how["m"], goal())
        assert claim > goal().delta
    assert found.delta(goal(neighbors="replace")) > goal().delta


def test_what_cannot_be_promised_is_refused() -> None:
    probabilistic = ProbabilisticDP(epsilon=1, delta="1e-6", users=1000)
    with pytest.raises(UsageError, match="probabilistic"):
        Pooled.calibrate(probabilistic, 5)
    assert Pooled.calibrate(goal(), 5).delta(probabilistic) == 1
    with pytest.raises(UsageError, match="raise delta"):
        Pooled.calibrate(goal(delta="1e-101"), 5)


@pytest.mark.parametrize("scale", [Fraction(809, GRAIN), Fraction(90, GRAIN), Fraction(60)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_error_is_the_least_that_holds(scale: Fraction, confidence: float) -> None:
    found = replace(Pooled.calibrate(goal(), 1), scale=scale).noise_quantile(confidence)
    grains, unit = scale.as_integer_ratio()
    z = np.arange(-12 * grains, 12 * grains + 1)
    off = np.abs((z + unit // 2) // unit)
    assert chances(grains)[off <= found].sum() >= confidence
    assert chances(grains)[off <= found - 1].sum() < confidence
