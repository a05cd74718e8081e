import inspect
import os
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp
import pytest
from noise_statistics import (
    DRAWS,
    REJECT,
    UNSEEDED,
    Ints,
    p_value_alike,
    p_value_exact,
    p_value_independent,
)
from scipy import stats

from zealous.errors import Refused, UsageError
from zealous.noise import DiscreteGaussian, gaussian, seeded_bytes, uniform

SMALL, WHOLE, LARGE = Fraction(17, 4), Fraction(20), Fraction(5000)
SCALES = [Fraction(2, 5), Fraction(1), SMALL, WHOLE, Fraction(3199, 8), LARGE]


def draw(scale: Fraction, size: int = DRAWS, seed: int = 1) -> Ints:
    return DiscreteGaussian(scale=scale).sample(size, seeded_bytes(seed))


def support(scale: Fraction) -> tuple[Ints, npt.NDArray[np.float64]]:
    """The values within 12 sigma and their probabilities."""
    reach = int(12 * scale) + 2
    z = np.arange(-reach, reach + 1)
    weights = np.exp(-((z / float(scale)) ** 2) / 2)
    return z, weights / weights.sum()


def bins(values: Ints, scale: Fraction, draws: int) -> Ints:
    """Which bin each value is in: of equal width, but the two outermost, all of at least 20."""
    z, true = support(scale)
    width = 2 * int(scale / 8) + 1
    label = (z + width // 2) // width
    expected = np.bincount(label - label.min(), true * draws)
    last = int((np.flatnonzero(np.cumsum(expected) >= 20)[0] + label.min()) * -1)
    return np.clip((values + width // 2) // width, -last, last) + last


def chances(scale: Fraction, of: Fraction, draws: int) -> npt.NDArray[np.float64]:
    """The exact probability of each bin made for one scale under another."""
    z, true = support(of)
    return np.bincount(bins(z, scale, draws), true).astype(np.float64)


def p_value(sample: Ints, scale: Fraction) -> float:
    expected = chances(scale, scale, sample.size) * sample.size
    found = np.bincount(bins(sample, scale, sample.size), minlength=expected.size)
    return float(stats.chisquare(found, expected).pvalue)


# The distribution


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_follows_the_exact_distribution_and_no_other(scale: Fraction) -> None:
    assert p_value(draw(scale), scale) > REJECT
    for wrong in (scale * Fraction(9, 10), scale * Fraction(11, 10)):
        assert p_value(draw(wrong), scale) < REJECT


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_that_test_has_power(scale: Fraction) -> None:
    true = chances(scale, scale, DRAWS)
    critical = stats.chi2.isf(REJECT, true.size - 1)
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        wrong = chances(scale, scale * factor, DRAWS)
        noncentrality = DRAWS * ((wrong - true) ** 2 / true).sum()
        assert stats.ncx2.sf(critical, true.size - 1, noncentrality) > 0.999


@pytest.mark.parametrize("scale", [Fraction(2, 5), SMALL, WHOLE], ids=str)
def test_moments(scale: Fraction) -> None:
    sample = draw(scale)
    z, true = support(scale)

    def standard_errors(power: int, of: Ints) -> float:
        mean = (true * z**power).sum()
        spread = np.sqrt((true * z ** (2 * power)).sum() - mean**2)
        return abs(float(((of**power).mean() - mean) / spread * np.sqrt(of.size)))

    for power in (1, 2, 3, 4):
        assert standard_errors(power, sample) < 5
    biased = sample + (np.arange(sample.size) % 2 == 0)
    assert standard_errors(1, biased) > 5
    assert standard_errors(2, draw(scale * Fraction(9, 10))) > 5


def test_the_largest_scale_does_not_overflow() -> None:
    largest = 2**23
    relative = draw(Fraction(largest), 50_000) / largest
    assert stats.kstest(relative, stats.norm.cdf).pvalue > REJECT
    assert stats.kstest(relative * 1.1, stats.norm.cdf).pvalue < REJECT


def test_the_smallest_scale_is_almost_surely_zero() -> None:
    assert not draw(Fraction(1, 2**48), 10_000).any()


def test_agrees_with_opendp() -> None:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    size = 40_000
    theirs = np.array(dp.m.make_gaussian(*space, scale=float(SMALL))([0] * size))
    assert p_value(theirs, SMALL) > REJECT
    assert p_value_alike(draw(SMALL, size), theirs, 12) > REJECT
    for factor in (Fraction(85, 100), Fraction(115, 100)):
        assert p_value_alike(draw(SMALL * factor, size), theirs, 12) < REJECT


# Exactness of the acceptance


@pytest.mark.parametrize(
    "scale", [Fraction(1, 8), Fraction(2, 5), SMALL, WHOLE, Fraction(2**23), Fraction(2**23, 7)]
)
def test_acceptance_is_decided_by_the_exact_exponent(
    scale: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []
    successes = 0

    def coin(u: Ints, t: int, random_bytes: uniform.RandomBytes) -> npt.NDArray[np.bool_]:
        assert ((u >= 0) & (u <= t)).all()
        seen.extend((int(each), t) for each in u)
        return np.ones(u.size, np.bool_)

    def times(size: int, random_bytes: uniform.RandomBytes) -> Ints:
        return np.full(size, successes)

    monkeypatch.setattr(gaussian, "bernoulli_exp", coin)
    monkeypatch.setattr(gaussian, "geometric", times)
    multiples = [Fraction(k, 10) * scale for k in (0, 3, 9, 10, 11, 24, 25, 30, 77, 600, 900)]
    for y in {int(near) + step for near in multiples for step in (0, 1)}:
        exponent = (y - scale) ** 2 / (2 * scale**2)
        if exponent > uniform._MOST_ROUNDS:
            continue
        whole, rest = divmod(exponent, 1)
        for sign in (-1, 1):
            seen.clear()
            successes = whole
            assert gaussian._accept(np.array([sign * y]), scale, os.urandom).tolist() == [True]
            assert [Fraction(u, t) for u, t in seen] == [rest]
            successes = whole - 1
            kept = gaussian._accept(np.array([sign * y]), scale, os.urandom).tolist()
            assert kept == [whole == 0]


@pytest.mark.parametrize("scale", [Fraction(1, 8), SMALL, Fraction(2**23)], ids=str)
def test_the_farthest_proposal_is_turned_down_and_does_not_overflow(scale: Fraction) -> None:
    longest = uniform._MOST_ROUNDS
    far = [int(scale * multiple) for multiple in (200, 256, 257, 258, 1000, 3000, longest + 1)]
    proposals = np.array([y for each in far for y in (each, -each)])
    assert not gaussian._accept(proposals, scale, seeded_bytes(1)).any()
    # Even were the coins to fall as often as they ever do.
    distance = min(np.abs(proposals)) / scale - 1
    assert distance**2 / 2 > longest


@pytest.mark.parametrize("y", [0, 1, -4, 8, 11, -13, 17])
def test_acceptance_has_the_probability_of_its_exponent(y: int) -> None:
    trials = 100_000
    accepted = int(gaussian._accept(np.full(trials, y), SMALL, seeded_bytes(1)).sum())
    exponent = (abs(y) - SMALL) ** 2 / (2 * SMALL**2)
    assert stats.binomtest(accepted, trials, np.exp(-float(exponent))).pvalue > REJECT
    wrong = np.exp(-float(exponent) - 0.25)
    assert stats.binomtest(accepted, trials, wrong).pvalue < REJECT


# Independence


def test_rounds_leave_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uniform, "_CANDIDATES", 40)
    sample = draw(SMALL, 15_000)
    assert p_value(sample, SMALL) > REJECT
    assert p_value_independent(sample[::2], sample[1::2]) > REJECT


def test_every_slot_of_a_short_sample_is_alike() -> None:
    source = seeded_bytes(1)
    law = DiscreteGaussian(scale=Fraction(1))
    slots = np.stack([law.sample(3, source) for _ in range(2_000)])
    assert p_value(slots.ravel(), Fraction(1)) > REJECT
    assert p_value_independent(slots.ravel(), np.tile(np.arange(3), 2_000)) > REJECT
    assert p_value_independent(slots[:, 0], slots[:, 2]) > REJECT


def test_draws_are_independent_of_their_position_and_neighbour() -> None:
    sample = draw(Fraction(2))
    assert p_value_independent(sample, np.arange(sample.size) % 3) > REJECT
    assert p_value_independent(sample[::2], sample[1::2]) > REJECT
    pairs = np.sort(sample.reshape(-1, 2))
    assert p_value_independent(pairs[:, 0], pairs[:, 1]) < REJECT


# Where randomness comes from, and parameters


@pytest.mark.false_alarm(1e-30, "a hundred noises, of which two are equal with a chance below 0.5")
def test_unseeded_runs_differ_and_seeded_runs_repeat() -> None:
    default = inspect.signature(DiscreteGaussian.sample).parameters["random_bytes"].default
    assert default is os.urandom
    law = DiscreteGaussian(scale=WHOLE)
    assert (law.sample(100) != law.sample(100)).any()
    assert (draw(WHOLE, 100, seed=1) == draw(WHOLE, 100, seed=1)).all()
    assert (draw(WHOLE, 100, seed=1) != draw(WHOLE, 100, seed=2)).any()


def p_value_of_levels(sample: Ints) -> float:
    right = chances(SMALL, SMALL, sample.size)
    found = np.bincount(bins(sample, SMALL, sample.size), minlength=right.size)
    return p_value_exact(found, right)


@pytest.mark.false_alarm(UNSEEDED, "a binomial test of each level of noise, and of them all")
def test_unseeded_draws_follow_the_distribution() -> None:
    assert p_value_of_levels(DiscreteGaussian(scale=SMALL).sample(DRAWS)) > UNSEEDED


@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(11, 10)])
def test_another_scale_does_not_pass_for_unseeded_draws(factor: Fraction) -> None:
    assert p_value_of_levels(draw(SMALL * factor)) < UNSEEDED / 1e9


@pytest.mark.parametrize("stuck", [lambda size: bytes(size), lambda size: b"\xff" * size])
def test_a_stuck_source_is_refused(stuck: Callable[[int], bytes]) -> None:
    with pytest.raises(Refused, match="random_bytes"):
        DiscreteGaussian(scale=SMALL).sample(10, stuck)


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1, 2), 0.4, 2, "2", None, float("nan")])
def test_a_scale_that_is_no_positive_fraction_is_refused(scale: Fraction) -> None:
    with pytest.raises(UsageError, match="scale"):
        DiscreteGaussian(scale=scale)


@pytest.mark.parametrize("scale", [Fraction(2**23 + 1), Fraction(1, 2**48 + 1)], ids=str)
def test_too_many_digits_are_refused_with_what_to_change(scale: Fraction) -> None:
    with pytest.raises(UsageError, match="coarser fraction"):
        DiscreteGaussian(scale=scale)


def test_sizes() -> None:
    law = DiscreteGaussian(scale=SMALL)
    for size in (0, 1, 17):
        sample = law.sample(size)
        assert sample.shape == (size,)
        assert sample.dtype == np.int64
    with pytest.raises(UsageError, match="size"):
        law.sample(-1)
