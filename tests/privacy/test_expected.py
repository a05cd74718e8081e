"""What a plan will publish: against exact sums, and against the mechanism itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from zealous.errors import UsageError
from zealous.mechanisms import Zealous
from zealous.privacy.accounting.expected import (
    Published,
    expected_coverage,
    expected_error,
    expected_published,
    tau_prime_curve,
)
from zealous.privacy.calibrate import Calibration, calibrate, publication_probability
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP

GOALS: list[tuple[Guarantee, int]] = [
    (ProbabilisticDP(epsilon=1, delta="0.001", users=500_000), 2),
    (ProbabilisticDP(epsilon=5, delta="0.001", users=500_000, neighbors="add-remove"), 1),
    (Indistinguishability(epsilon=1, delta="1e-6"), 5),
    (Indistinguishability(epsilon=1, delta="0.4"), 2),
    (ProbabilisticDP(epsilon="0.01", delta="0.9", users=30), 1),  # what an absence tells binds
]
# Items at, below and above the thresholds 2 and 6, many that are uncertain.
SMALL = Calibration(scale=Fraction(3, 2), tau=2, tau_prime=6, delta=Fraction(1, 2))
COUNTS = {1: 900, 2: 300, 3: 80, 5: 40, 6: 30, 7: 25, 9: 20, 40: 3}


def chances(scale: Fraction) -> list[tuple[int, float]]:
    """Every noise worth summing, with its probability."""
    alpha = math.exp(-1 / scale)
    reach = int(60 * scale) + 60
    return [(z, (1 - alpha) / (1 + alpha) * alpha ** abs(z)) for z in range(-reach, reach + 1)]


def summed(calibration: Calibration, count: int, of: Callable[[int], float]) -> float:
    """E of a function of the published count, 0 standing for an absent item."""
    if count < calibration.tau:
        return of(0)
    noisy = ((count + z, p) for z, p in chances(calibration.scale))
    return math.fsum(p * of(n if n > calibration.tau_prime else 0) for n, p in noisy)


@pytest.mark.parametrize(("goal", "m"), GOALS)
def test_the_curve_touches_the_calibration_and_never_goes_below(goal: Guarantee, m: int) -> None:
    best = calibrate(goal, m)
    curve = tau_prime_curve(goal, m, range(1, 30))
    assert min(each.tau_prime for each in curve) == best.tau_prime
    assert curve[best.tau - 1] == (best.tau, best.tau_prime, best.delta)
    assert all(each.delta <= goal.delta for each in curve)


@pytest.mark.parametrize(("goal", "m"), GOALS)
def test_one_less_than_the_curve_would_break_the_promise(goal: Guarantee, m: int) -> None:
    from zealous.privacy.calibrate import most_items_at_tau, theorem_allows

    scale = calibrate(goal, m).scale
    for tau, tau_prime, _ in tau_prime_curve(goal, m, (1, 2, 4, 9, 25)):
        t = tau_prime - tau - 1
        assert t < 0 or not theorem_allows(goal, scale, t, most_items_at_tau(goal, m, tau))


def test_a_tau_that_could_never_publish_is_refused() -> None:
    goal = ProbabilisticDP(epsilon=1, delta="0.1", users=10)
    assert tau_prime_curve(goal, 1, [10])
    with pytest.raises(UsageError, match="tau"):
        tau_prime_curve(goal, 1, [11])
    with pytest.raises(UsageError, match="tau"):
        tau_prime_curve(goal, 1, [0])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 6, 7, 40])
def test_an_items_expectations_are_the_exact_sums(count: int) -> None:
    one = {count: 1}
    assert expected_published(SMALL, one).mean == pytest.approx(
        summed(SMALL, count, lambda n: float(n > 0))
    )


@pytest.mark.parametrize(
    "top", [[(30, 9), (20, 6), (4, 1)], [(9, 9)], [(50, 40), (50, 2)], [(1, 7), (90, 8)]]
)
def test_the_error_is_the_exact_sum(top: list[tuple[int, int]]) -> None:
    truth = sum(true for true, _ in top)
    empty = math.prod(summed(SMALL, count, lambda n: float(n == 0)) for _, count in top)
    total = math.fsum(summed(SMALL, count, float) for _, count in top) / (1 - empty)
    exact = 0.0
    for true, count in top:
        wanted = true / truth
        exact += summed(SMALL, count, lambda n, f=wanted: abs(n / total - f))  # type: ignore[misc]
    assert expected_error(SMALL, top) == pytest.approx(exact)


def test_the_error_of_plain_truth_vanishes_and_of_nothing_is_one() -> None:
    exact = Calibration(scale=Fraction(1, 50), tau=1, tau_prime=5, delta=Fraction(1, 2))
    assert expected_error(exact, [(300, 100), (60, 20)]) == pytest.approx(0, abs=1e-12)
    assert expected_error(exact, [(300, 0), (60, 0)]) == 1
    hardly = Calibration(scale=Fraction(2), tau=1, tau_prime=60, delta=Fraction(1, 2))
    assert expected_error(hardly, [(300, 30), (60, 20)]) == pytest.approx(1, abs=0.01)
    with pytest.raises(UsageError, match="no users"):
        expected_error(exact, [(0, 0)])


@pytest.mark.parametrize("runs", [1000, pytest.param(3000, marks=pytest.mark.soak)])
def test_simulated_through_the_mechanism(runs: int) -> None:
    """So many releases: the mean number, its deviation, the total and the coverage of the top."""
    counts = [count for count, items in COUNTS.items() for _ in range(items)]
    batch = pa.record_batch({"item": list(range(len(counts))), "count": counts})
    mechanism = Zealous(
        items_per_user=1, scale=SMALL.scale, tau=SMALL.tau, tau_prime=SMALL.tau_prime
    )

    def count(*, bound: int, at_least: int, **_: object) -> list[pa.RecordBatch]:
        assert bound == 1
        return [batch.filter(pc.greater_equal(batch["count"], at_least))]

    top = range(len(counts) - 60, len(counts))
    numbers, covered = [], 0
    for _ in range(runs):
        (published,) = mechanism.release(count)
        numbers.append(published.num_rows)
        covered += sum(item in top for item in published["item"].to_pylist())
    expected = expected_published(SMALL, COUNTS)
    mean = sum(numbers) / runs
    deviation = math.sqrt(sum((each - mean) ** 2 for each in numbers) / runs)
    assert mean == pytest.approx(expected.mean, abs=5 * expected.deviation / math.sqrt(runs))
    # Five of its own deviations.
    assert deviation == pytest.approx(expected.deviation, rel=3.56 / math.sqrt(runs))
    share = covered / runs / len(top)
    assert share == pytest.approx(
        expected_coverage(SMALL, counts[-60:]), abs=0.274 / math.sqrt(runs)
    )
    within = sum(expected.low <= each <= expected.high for each in numbers) / runs
    assert within == pytest.approx(0.965, abs=1.37 / math.sqrt(runs))  # of 95 % at least


def distribution(calibration: Calibration, counts: dict[int, int]) -> dict[int, float]:
    """The exact distribution of the number of published items, item by item."""
    known = {0: 1.0}
    for count, items in counts.items():
        p = publication_probability(calibration, count)
        for _ in range(items):
            after: Counter[int] = Counter()
            for number, chance in known.items():
                after[number] += chance * (1 - p)  # type: ignore[assignment]
                after[number + 1] += chance * p  # type: ignore[assignment]
            known = dict(after)
    return known


@pytest.mark.parametrize(
    "counts", [{2: 1}, {2: 40}, {6: 1}, {6: 4, 2: 9}, {7: 30}, {40: 5}, {2: 90, 5: 20, 9: 30}]
)
def test_the_range_holds_95_of_100_releases(counts: dict[int, int]) -> None:
    expected = expected_published(SMALL, counts)
    exact = distribution(SMALL, counts)
    inside = sum(p for number, p in exact.items() if expected.low <= number <= expected.high)
    assert inside >= 0.945
    assert expected.high <= expected.most


def test_a_range_stays_within_what_is_possible() -> None:
    assert Published(mean=0.3, deviation=0.5, most=1).low == 0
    assert Published(mean=0.9, deviation=0.5, most=1).high == 1


def test_the_coverage_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="coverage"):
        expected_coverage(SMALL, [])
