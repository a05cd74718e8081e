import inspect
import os
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from test_noise import REJECT, Ints, p_value_independent

from zealous.errors import Refused, UsageError
from zealous.noise import DiscreteLaplace, TruncatedLaplace, seeded_bytes

DRAWS = 100_000

# The bound below the scale, at it, and above it.
LAWS = [
    (Fraction(5), 3),
    (Fraction(4), 4),
    (Fraction(2), 6),
    (Fraction(2, 5), 2),
    (Fraction(1_000_003, 70_001), 20),
]


def probabilities(scale: Fraction, most: int) -> npt.NDArray[np.float64]:
    weights = np.exp(-np.abs(np.arange(-most, most + 1)) / float(scale))
    return weights / weights.sum()


def p_value(sample: Ints, scale: Fraction, most: int) -> float:
    found = np.bincount(sample + most, minlength=2 * most + 1)
    return float(stats.chisquare(found, probabilities(scale, most) * sample.size).pvalue)


def draw(scale: Fraction, most: int, size: int = DRAWS, seed: int = 1) -> Ints:
    return TruncatedLaplace(scale=scale, most=most).sample(size, seeded_bytes(seed))


@pytest.mark.parametrize(("scale", "most"), LAWS, ids=str)
def test_follows_the_exact_distribution_and_no_other(scale: Fraction, most: int) -> None:
    sample = draw(scale, most)
    assert np.abs(sample).max() == most
    assert p_value(sample, scale, most) > REJECT
    for factor in (Fraction(8, 10), Fraction(12, 10)):
        assert p_value(draw(scale * factor, most), scale, most) < REJECT


@pytest.mark.parametrize(("scale", "most"), LAWS[:2], ids=str)
def test_both_ways_give_the_same_distribution(scale: Fraction, most: int) -> None:
    law = TruncatedLaplace(scale=scale, most=most)
    for way in (law._levelled, law._cut):
        assert p_value(way(DRAWS, seeded_bytes(2)), scale, most) > REJECT


def test_hardly_any_candidates_are_wasted() -> None:
    for scale, most in [*LAWS, (Fraction(2**48), 1), (Fraction(1, 2**48), 1), (Fraction(1), 2)]:
        law = TruncatedLaplace(scale=scale, most=most)
        way = law._levelled if most <= scale else law._cut
        assert way(10_000, seeded_bytes(1)).size > 2_000


def test_none_and_all_of_it() -> None:
    for scale in (Fraction(1, 2**48), Fraction(3), Fraction(2**48)):
        assert not draw(scale, 0, 1_000).any()
    everything = DiscreteLaplace(scale=Fraction(3)).sample(1_000, seeded_bytes(1))
    assert (draw(Fraction(3), 10**30, 1_000) == everything).all()


def test_the_largest_scale_does_not_overflow() -> None:
    largest = 2**48
    relative = draw(Fraction(largest), largest, 20_000) / largest
    shape = stats.truncexpon(b=1)
    assert stats.kstest(np.abs(relative), shape.cdf).pvalue > REJECT
    assert stats.kstest(np.abs(relative) * 0.9, shape.cdf).pvalue < REJECT


def test_draws_are_independent_and_repeat_with_a_seed() -> None:
    for scale, most in LAWS[:3]:
        sample = draw(scale, most)
        assert p_value_independent(sample[::2], sample[1::2]) > REJECT
        assert (sample == draw(scale, most)).all()
    default = inspect.signature(TruncatedLaplace.sample).parameters["random_bytes"].default
    assert default is os.urandom


@pytest.mark.parametrize("stuck", [lambda size: b"\xff" * size, lambda size: bytes([254]) * size])
def test_a_stuck_source_is_refused(stuck: Callable[[int], bytes]) -> None:
    for scale in (Fraction(2), Fraction(20)):
        with pytest.raises(Refused, match="random_bytes"):
            TruncatedLaplace(scale=scale, most=6).sample(10, stuck)


@pytest.mark.parametrize("most", [-1, 1.0, True, "1", None])
def test_a_bound_that_is_no_whole_number_is_refused(most: int) -> None:
    with pytest.raises(UsageError, match="most"):
        TruncatedLaplace(scale=Fraction(2), most=most)


@pytest.mark.parametrize("scale", [Fraction(0), 2.0, Fraction(2**48 + 1)])
def test_a_scale_that_cannot_be_sampled_is_refused(scale: Fraction) -> None:
    with pytest.raises(UsageError, match="scale"):
        TruncatedLaplace(scale=scale, most=1)
