"""Inaccuracy against a list of all outputs, against the mechanism itself, and against the paper."""

import itertools
import math
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inaccuracy import inaccuracy
from scipy.stats import laplace

from zealous.errors import UsageError
from zealous.mechanisms import Zealous
from zealous.noise import seeded_bytes
from zealous.privacy.calibrate import Calibration, calibrate, publication_probability
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.study.theory.accuracy_theorem import (
    AccuracyTarget,
    missing_probability,
    printed_miss_two_xi,
    printed_miss_xi,
    target_of,
)


def parameters(scale: Fraction | int, tau: int, tau_prime: int) -> Calibration:
    return Calibration(scale=Fraction(scale), tau=tau, tau_prime=tau_prime, delta=Fraction(1, 1000))


# Against a list of all outputs, in rationals


@cache
def chance_to_be_shown(scale: Fraction, tau: int, tau_prime: int, count: int) -> Fraction:
    """Summed over the noise, term by term, each to 40 digits."""
    if count < tau:
        return Fraction(0)
    digits, far = Context(prec=40), 60 * math.ceil(scale)
    terms = {
        z: Fraction(digits.exp(Decimal(-abs(z) * scale.denominator) / Decimal(scale.numerator)))
        for z in range(-far, far + 1)
    }
    shown = sum((p for z, p in terms.items() if count + z > tau_prime), Fraction(0))
    return shown / sum(terms.values())


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3, 2)])
@pytest.mark.parametrize(("tau", "tau_prime"), [(1, 3), (2, 4), (3, 3), (4, 2)])
@pytest.mark.parametrize(("tau_star", "xi"), [(3, 1), (3, 0), ("5/2", "1/2"), (4, 2), (1, 3)])
def test_inaccuracy_is_the_mean_over_all_outputs(
    scale: Fraction, tau: int, tau_prime: int, tau_star: str, xi: str
) -> None:
    counts = [1, 2, 3, 4, 5]
    low, high = Fraction(tau_star) - Fraction(xi), Fraction(tau_star) + Fraction(xi)
    chances = [chance_to_be_shown(scale, tau, tau_prime, count) for count in counts]
    missed, false = Fraction(0), Fraction(0)
    for output in itertools.product((False, True), repeat=len(counts)):
        p = math.prod(
            chance if shown else 1 - chance for shown, chance in zip(output, chances, strict=True)
        )
        verdicts = list(zip(output, counts, strict=True))
        missed += p * sum(not shown and count >= high for shown, count in verdicts)
        false += p * sum(shown and count < low for shown, count in verdicts)
    found = inaccuracy(parameters(scale, tau, tau_prime), counts, AccuracyTarget(tau_star, xi))
    assert found.retain == pytest.approx(float(missed), rel=1e-12, abs=0)
    assert found.filter == pytest.approx(float(false), rel=1e-12, abs=0)
    assert found.total == pytest.approx(float(missed + false), rel=1e-12)


# Against the mechanism


def released(mechanism: Zealous, counts: Sequence[int], seed: int) -> list[int]:
    """Which items a real release shows, by their place."""
    schema = pa.schema([("item", pa.int64()), ("count", pa.int64())])

    def count(*, bound: int, at_least: int, **_: object) -> Iterable[pa.RecordBatch]:
        kept = [(place, count) for place, count in enumerate(counts) if count >= at_least]
        yield pa.RecordBatch.from_arrays(
            [pa.array(column) for column in zip(*kept, strict=True)], schema=schema
        )

    batches = mechanism.release(count, seeded_bytes(seed))
    return [item for batch in batches for item in batch["item"].to_pylist()]


def deviations(claimed: float, seen: int, items: int) -> float:
    share = claimed / items
    return abs(seen - claimed) / math.sqrt(items * share * (1 - share))


def test_the_mechanism_is_as_inaccurate_as_computed() -> None:
    each, scale = 60_000, Fraction(3)
    counts = [2] * each + [5] * each + [9] * each + [13] * each
    wanted = AccuracyTarget(10, 3)  # 2 and 5 must not be shown, 9 may, 13 must
    mechanism = Zealous(items_per_user=1, scale=scale, tau=3, tau_prime=11)
    shown = set(released(mechanism, counts, 7))
    missed = sum(place not in shown for place in range(3 * each, 4 * each))
    false = sum(place < 2 * each for place in shown)
    found = inaccuracy(parameters(scale, 3, 11), counts, wanted)
    assert deviations(found.retain, missed, each) < 4
    assert deviations(found.filter, false, each) < 4
    wrong = inaccuracy(parameters(scale * Fraction(11, 10), 3, 11), counts, wanted)
    assert deviations(wrong.retain, missed, each) > 4
    assert deviations(wrong.filter, false, each) > 4
    off_by_one = inaccuracy(parameters(scale, 3, 10), counts, wanted)
    assert deviations(off_by_one.retain, missed, each) > 4


# What follows


@given(
    st.lists(st.integers(0, 60), max_size=30),
    st.integers(1, 20),
    st.integers(0, 20),
    st.fractions(1, 50, max_denominator=4),
    st.fractions(0, 30, max_denominator=4),
)
def test_counts_may_be_listed_or_tallied(
    counts: list[int], tau: int, t: int, tau_star: Fraction, xi: Fraction
) -> None:
    plan, wanted = parameters(4, tau, tau + t), AccuracyTarget(tau_star, xi)
    tallied = {count: counts.count(count) for count in counts}
    one, two = inaccuracy(plan, counts, wanted), inaccuracy(plan, tallied, wanted)
    assert one == two
    nothing = sum(count >= tau_star + xi for count in counts)  # what an empty release lacks
    if tau >= wanted.infrequent:
        assert one.filter == 0  # below tau nothing is ever shown
        assert one.total < nothing or not any(
            count >= max(tau, wanted.frequent) for count in counts
        )


@pytest.mark.parametrize(
    "wanted", [AccuracyTarget(50, 10), AccuracyTarget("41.5", "37.5"), AccuracyTarget(3, 0)]
)
def test_accuracy_is_the_least_chance_of_a_very_frequent_item(wanted: AccuracyTarget) -> None:
    plan = parameters(4, 4, 79)
    very_frequent = [count for count in range(200) if count >= wanted.tau_star + wanted.xi]
    chances = [publication_probability(plan, count) for count in very_frequent]
    assert publication_probability(plan, wanted.frequent) == min(chances)


@pytest.mark.parametrize("count", [1, 3, 4, 60, 78, 79, 80, 100])
def test_shown_or_missing(count: int) -> None:
    plan = parameters(4, 4, 79)
    both = missing_probability(plan, count) + publication_probability(plan, count)
    assert both == pytest.approx(1, rel=1e-12)


def test_a_tiny_chance_to_be_missing_is_not_rounded_to_none() -> None:
    assert missing_probability(parameters(1, 1, 10), 110) == pytest.approx(
        math.exp(-100) / (1 + math.exp(-1))
    )


# The paper's theorem


def test_the_thresholds_of_a_plan_as_the_paper_reads_them() -> None:
    wanted = target_of(calibrate(ProbabilisticDP(epsilon=1, delta="0.001", users=500_000), 2))
    assert (wanted.tau_star - wanted.xi, wanted.tau_star + wanted.xi) == (4, 79)
    assert (wanted.infrequent, wanted.frequent) == (4, 79)


def test_at_the_paper_s_thresholds_both_printed_forms_promise_too_much() -> None:
    plan = parameters(4, 4, 79)
    wanted = target_of(plan)
    missing = 1 - publication_probability(plan, wanted.frequent)
    assert missing > 0.5 > printed_miss_xi(plan.scale, wanted) > 4e-5
    assert printed_miss_two_xi(plan.scale, wanted) < 4e-9
    one_user_more = missing_probability(plan, wanted.frequent + 1)
    assert one_user_more < 0.5


def test_where_the_printed_forms_are_right() -> None:
    scale, wanted = Fraction(4), AccuracyTarget(50, 6)
    for printed, tau_prime in ((printed_miss_xi, 50), (printed_miss_two_xi, 50 - 6)):
        missing = laplace.cdf(tau_prime - (50 + 6), scale=4)
        assert printed(scale, wanted) == pytest.approx(missing)
    stated = laplace.cdf((50 + 6) - (50 + 6), scale=4)
    assert stated == 0.5


def test_very_infrequent_items_never_appear_at_the_paper_s_thresholds() -> None:
    plan = parameters(4, 4, 6)
    assert inaccuracy(plan, [1, 2, 3] * 100, target_of(plan)).total == 0
    lower = parameters(4, 3, 6)
    assert inaccuracy(lower, [1, 2, 3] * 100, target_of(plan)).filter > 10


# Refusals


@pytest.mark.parametrize(("tau_star", "xi"), [(0, 0), (-1, 0), (5, -1), ("x", 1)])
def test_nonsense_is_refused(tau_star: str, xi: str) -> None:
    with pytest.raises(UsageError):
        AccuracyTarget(tau_star, xi)


def test_thresholds_in_the_wrong_order_have_no_middle() -> None:
    with pytest.raises(UsageError, match="tau_prime"):
        target_of(parameters(4, 5, 4))
