import ast
import inspect
import itertools
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp
import pytest
from noise_statistics import (
    DRAWS,
    REJECT,
    UNSEEDED,
    Ints,
    counts,
    p_value_alike,
    p_value_exact,
    p_value_independent,
)
from scipy import stats

from zealous.errors import Refused, UsageError
from zealous.noise import DiscreteLaplace, seeded_bytes, uniform

# Numerators that need words of 8, 8, 8, 16, 32 and 64 bits.
SCALES = [
    Fraction(2, 5),
    Fraction(2),
    Fraction(5),
    Fraction(80),
    Fraction(1_000_003, 70_001),
    Fraction(20_000_000_000_007, 10_000_000_000_003),
]


def draw(scale: Fraction, size: int = DRAWS, seed: int = 1) -> Ints:
    return DiscreteLaplace(scale=scale).sample(size, seeded_bytes(seed))


def probabilities(scale: Fraction, reach: int) -> npt.NDArray[np.float64]:
    """The exact P(eta <= -reach), P(-reach + 1), ..., P(reach - 1), P(eta >= reach)."""
    a = np.exp(-1 / float(scale))
    inside = (1 - a) / (1 + a) * a ** np.abs(np.arange(-reach + 1, reach))
    tail = a**reach / (1 + a)
    return np.concatenate([[tail], inside, [tail]])


def reach_of(scale: Fraction, draws: int) -> int:
    """As far out as a bin still expects 20 draws."""
    reach = 1
    while probabilities(scale, reach + 1).min() * draws >= 20:
        reach += 1
    return reach


def p_value(sample: Ints, scale: Fraction) -> float:
    reach = reach_of(scale, sample.size)
    expected = probabilities(scale, reach) * sample.size
    return float(stats.chisquare(counts(sample, reach), expected).pvalue)


# The distribution


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_follows_the_exact_distribution_and_no_other(scale: Fraction) -> None:
    assert p_value(draw(scale), scale) > REJECT
    for wrong in (scale * Fraction(9, 10), scale * Fraction(11, 10)):
        assert p_value(draw(wrong), scale) < REJECT


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_that_test_has_power(scale: Fraction) -> None:
    reach = reach_of(scale, DRAWS)
    true = probabilities(scale, reach)
    critical = stats.chi2.isf(REJECT, true.size - 1)
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        wrong = probabilities(scale * factor, reach)
        noncentrality = DRAWS * ((wrong - true) ** 2 / true).sum()
        assert stats.ncx2.sf(critical, true.size - 1, noncentrality) > 0.999


def test_the_largest_scale_does_not_overflow() -> None:
    largest = 2**48
    relative = draw(Fraction(largest), 50_000) / largest
    assert stats.kstest(relative, stats.laplace.cdf).pvalue > REJECT
    assert stats.kstest(relative * 1.1, stats.laplace.cdf).pvalue < REJECT


def test_the_smallest_scale_is_almost_surely_zero() -> None:
    assert not draw(Fraction(1, 2**48), 10_000).any()


@pytest.mark.parametrize("scale", [Fraction(2, 5), Fraction(5)], ids=str)
def test_is_centred(scale: Fraction) -> None:
    def standard_errors(sample: Ints) -> float:
        return abs(float(sample.mean() / sample.std() * np.sqrt(sample.size)))

    sample = draw(scale)
    assert standard_errors(sample) < 5
    assert standard_errors(np.sign(sample)) < 5
    biased = sample + (np.arange(sample.size) % 4 == 0)
    assert standard_errors(biased) > 5


@pytest.mark.parametrize("scale", [Fraction(2), Fraction(5)], ids=str)
def test_agrees_with_opendp(scale: Fraction) -> None:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    size = 100_000
    theirs = np.array(dp.m.make_laplace(*space, scale=float(scale))([0] * size))
    reach = reach_of(scale, size)
    assert p_value_alike(draw(scale, size), theirs, reach) > REJECT
    for factor in (Fraction(85, 100), Fraction(115, 100)):
        assert p_value_alike(draw(scale * factor, size), theirs, reach) < REJECT


# Exactness, by giving every random word equally often


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 16, 31])
def test_uniform_gives_each_integer_equally_many_words(n: int) -> None:
    width, asked = 255 // n, []

    def every_byte_then_zeros(size: int) -> bytes:
        asked.append(size)
        return bytes(range(256)) if len(asked) == 1 else bytes(size)

    got = np.bincount(uniform.uniform(n, 256, every_byte_then_zeros), minlength=n)
    beyond = 256 - n * width
    assert asked == [256, beyond]
    assert got.tolist() == [width + beyond] + [width] * (n - 1)


@pytest.mark.parametrize("u", [0, 1, 2, 3])
def test_bernoulli_exp_is_the_series_of_exp(u: int) -> None:
    t, asked = 3, []

    def every_cell_equally_often(size: int) -> bytes:
        asked.append(size)
        n = t * len(asked)
        if len(asked) == 5:
            return bytes([n * (255 // n) - 1]) * size  # the last cell: everybody left fails
        return bytes(i % n * (255 // n) for i in range(size))

    slots = 3 * 6 * 9 * 12
    result = uniform.bernoulli_exp(np.full(slots, u, np.uint8), t, every_cell_equally_often)
    x = Fraction(u, t)
    assert Fraction(int(result.sum()), slots) == 1 - x + x**2 / 2 - x**3 / 6 + x**4 / 24


def test_the_tail_is_not_cut() -> None:
    # Three words make Bernoulli(exp(-1)) true: success, success, failure. The last two make it
    # false: success, failure.
    script = iter([0, 0, 200] * 100 + [0, 200])
    assert uniform.geometric(1, lambda size: bytes([next(script)])).tolist() == [100]
    assert next(script, None) is None


# Independence


def test_draws_are_independent_of_their_position_and_neighbour() -> None:
    sample = draw(Fraction(2))
    sorted_in_threes = np.sort(sample[: sample.size // 3 * 3].reshape(-1, 3)).ravel()
    for period in (2, 3):
        position = np.arange(sample.size) % period
        assert p_value_independent(sample, position) > REJECT
    assert p_value_independent(sorted_in_threes, position[: sorted_in_threes.size]) < REJECT
    assert p_value_independent(sample[::2], sample[1::2]) > REJECT
    assert p_value_independent(sorted_in_threes[:-1:2], sorted_in_threes[1::2]) < REJECT


def test_first_and_last_half_of_a_sample_are_alike() -> None:
    sample = draw(Fraction(2, 5))  # several rounds
    assert p_value_alike(sample[: DRAWS // 2], sample[DRAWS // 2 :], 3) > REJECT


def test_rounds_leave_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uniform, "_CANDIDATES", 6)
    sample = draw(Fraction(2), 20_000)
    assert p_value(sample, Fraction(2)) > REJECT
    assert p_value_independent(sample[::2], sample[1::2]) > REJECT


def test_every_slot_of_a_short_sample_is_alike() -> None:
    source = seeded_bytes(1)
    law = DiscreteLaplace(scale=Fraction(2))
    slots = np.stack([law.sample(3, source) for _ in range(4_000)])
    assert p_value(slots.ravel(), Fraction(2)) > REJECT
    assert p_value_independent(slots.ravel(), np.tile(np.arange(3), 4_000)) > REJECT
    assert p_value_independent(slots[:, 0], slots[:, 2]) > REJECT


# Where randomness comes from


def test_the_operating_system_is_asked_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert inspect.signature(DiscreteLaplace.sample).parameters["random_bytes"].default is (
        os.urandom
    )
    asked = []

    def counting(size: int) -> bytes:
        asked.append(size)
        return os.urandom(size)

    monkeypatch.setattr(DiscreteLaplace.sample, "__defaults__", (counting,))
    DiscreteLaplace(scale=Fraction(5)).sample(1_000)
    assert sum(asked) > 1_000


@pytest.mark.false_alarm(1e-99, "a hundred noises, of which two are equal with a chance of 0.05")
def test_unseeded_runs_differ_and_seeded_runs_repeat() -> None:
    law = DiscreteLaplace(scale=Fraction(5))
    assert (law.sample(100) != law.sample(100)).any()
    assert (draw(Fraction(5), 100, seed=1) == draw(Fraction(5), 100, seed=1)).all()
    assert (draw(Fraction(5), 100, seed=1) != draw(Fraction(5), 100, seed=2)).any()
    source = seeded_bytes(1)
    assert (law.sample(100, source) != law.sample(100, source)).any()


def p_value_of_levels(sample: Ints) -> float:
    reach = reach_of(Fraction(5), sample.size)
    return p_value_exact(counts(sample, reach), probabilities(Fraction(5), reach))


@pytest.mark.false_alarm(UNSEEDED, "a binomial test of each level of noise, and of them all")
def test_unseeded_draws_follow_the_distribution() -> None:
    assert p_value_of_levels(DiscreteLaplace(scale=Fraction(5)).sample(DRAWS)) > UNSEEDED


@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(11, 10)])
def test_another_scale_does_not_pass_for_unseeded_draws(factor: Fraction) -> None:
    assert p_value_of_levels(draw(5 * factor)) < UNSEEDED / 1e9


@pytest.mark.parametrize("stuck", [lambda size: bytes(size), lambda size: b"\xff" * size])
def test_a_stuck_source_is_refused(stuck: Callable[[int], bytes]) -> None:
    with pytest.raises(Refused, match="random_bytes"):
        DiscreteLaplace(scale=Fraction(5)).sample(10, stuck)


def test_a_source_whose_candidates_all_fail_is_refused() -> None:
    with pytest.raises(Refused, match="random_bytes"):
        DiscreteLaplace(scale=Fraction(2, 5)).sample(10, lambda size: bytes([200]) * size)


def test_the_longest_loop_fits_64_bits() -> None:
    with pytest.raises(Refused, match="random_bytes"):
        uniform.bernoulli_exp(np.full(3, 2**48, np.uint64), 2**48, bytes)


def test_a_short_read_is_an_error() -> None:
    with pytest.raises(ValueError, match="buffer"):
        DiscreteLaplace(scale=Fraction(5)).sample(10, lambda size: os.urandom(size - 1))


def test_the_source_has_no_float_and_no_other_randomness() -> None:
    # rare.py compares decimals, with as many digits as it takes to tell.
    files = {
        path for path in Path(uniform.__file__).parent.glob("*.py") if path.stem != "rare_events"
    }
    assert {path.stem for path in files} >= {"capped", "gaussian", "laplace", "uniform"}
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    for node in itertools.chain.from_iterable(map(ast.walk, trees)):
        assert not isinstance(node, ast.Div)
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float | complex))
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
            assert not names & {"random", "secrets", "math", "numpy.random"}
        name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
        assert name not in {"random", "float", "true_divide", "divide", "exp", "log"}
        assert not name.startswith(("float", "double"))


# Parameters


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1, 2), 0.4, 2, "2", None, float("nan")])
def test_a_scale_that_is_no_positive_fraction_is_refused(scale: Fraction) -> None:
    with pytest.raises(UsageError, match="scale"):
        DiscreteLaplace(scale=scale)


@pytest.mark.parametrize("scale", [Fraction(2**48 + 1), Fraction(1, 2**48 + 1)], ids=str)
def test_too_many_digits_are_refused_with_what_to_change(scale: Fraction) -> None:
    with pytest.raises(UsageError, match="epsilon with fewer digits"):
        DiscreteLaplace(scale=scale)


def test_sizes() -> None:
    law = DiscreteLaplace(scale=Fraction(5))
    for size in (0, 1, 17):
        sample = law.sample(size)
        assert sample.shape == (size,)
        assert sample.dtype == np.int64
    with pytest.raises(UsageError, match="size"):
        law.sample(-1)
