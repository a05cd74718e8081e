"""Key selection with counts, against the whole output distribution and the optimal chances."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest
from msgspec import structs
from noise_statistics import REJECT
from records import part_of
from scipy import stats

from zealous.errors import UsageError
from zealous.mechanisms import Laplace, Selection, Zealous
from zealous.noise import CappedLaplace, seeded_bytes
from zealous.privacy.accounting.selection import (
    PARTS,
    CappedThreshold,
    capped_tail,
    probability_at_cap,
)
from zealous.privacy.guarantee import Indistinguishability, Neighbors, ProbabilisticDP

NEIGHBORS: tuple[Neighbors, ...] = get_args(Neighbors)
Law = dict[int | None, Decimal]  # the chance of each noisy count; None where nothing is published

SMALL = [
    (epsilon, delta, neighbors)
    for epsilon in ("0.5", 1, 4)
    for delta in ("0.001", "0.05", "0.4")
    for neighbors in NEIGHBORS
]


@pytest.fixture(autouse=True)
def _many_digits() -> Iterator[None]:
    with localcontext(Context(prec=60)):
        yield


def goal_of(epsilon: Any, delta: Any, neighbors: Neighbors) -> Indistinguishability:
    return Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)


def calibrated(epsilon: Any, delta: Any, neighbors: Neighbors) -> Selection:
    return Selection.calibrate(goal_of(epsilon, delta, neighbors), 1)


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


@cache
def weights(scale: Fraction, most: int) -> tuple[Decimal, Decimal]:
    """Alpha, and the sum of alpha^|z| over all z up to a bound."""
    alpha = (-decimal(1 / scale)).exp()
    return alpha, sum(alpha**each for each in range(1, most + 1)) + 1 / (1 - alpha)


def chance(scale: Fraction, most: int, z: int) -> Decimal:
    """P(X = z) from its definition."""
    alpha, mass = weights(scale, most)
    return alpha ** abs(z) / mass if z <= most else Decimal(0)


def law(each: Selection, count: int) -> Law:
    """All that one item of so many users can come out as."""
    found: Law = {}
    for more, part in ((0, 1 - each.raised_probability), (1, each.raised_probability)):
        most = each.tau_prime + more
        for noisy in range(most + 1, count + most + 1):
            chances = decimal(part) * chance(each.scale, most, noisy - count)
            found[noisy] = found.get(noisy, Decimal(0)) + chances
    found[None] = 1 - sum(found.values(), Decimal(0))
    return found


def excess(one: Law, other: Law, epsilon: Decimal) -> Decimal:
    """The hockey-stick divergence."""
    factor = epsilon.exp()
    terms = (value - factor * other.get(output, Decimal(0)) for output, value in one.items())
    return sum((term for term in terms if term > 0), Decimal(0))


def both(first: Law, second: Law) -> Any:
    pairs = itertools.product(first.items(), second.items())
    return {(a, b): p * q for (a, p), (b, q) in pairs}


def optimal(epsilon: Fraction, delta: Fraction, last: int) -> list[Decimal]:
    """pi(0), pi(1), ...: how often a key of n users can be published at most."""
    factor, more = decimal(epsilon).exp(), decimal(delta)
    found = [Decimal(0)]
    for _ in range(last):
        before = found[-1]
        found.append(min(factor * before + more, 1 - (1 - before - more) / factor, Decimal(1)))
    return found


# The guarantee, over the whole output


@pytest.mark.parametrize(("epsilon", "delta"), sorted({(e, d) for e, d, _ in SMALL}, key=str))
def test_adding_or_removing_a_user_keeps_delta_and_needs_it(epsilon: Any, delta: str) -> None:
    goal = goal_of(epsilon, delta, "add-remove")
    each = Selection.calibrate(goal, 1)
    claim, worst = decimal(each.delta(goal)), Decimal(0)
    laws = [law(each, count) for count in range(2 * each.tau_prime + 8)]
    for fewer, more in itertools.pairwise(laws):
        for pair in ((fewer, more), (more, fewer)):
            worst = max(worst, excess(*pair, decimal(goal.epsilon)))
    assert worst <= claim * (1 + Decimal("1e-50"))
    assert worst == pytest.approx(claim, rel=Decimal("1e-25"))
    assert worst == pytest.approx(laws[1][None] * -1 + 1)
    assert claim <= decimal(goal.delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, "0.05"), (4, "0.001"), (2, "0.4")])
def test_replacing_a_users_item_keeps_delta_and_needs_it(epsilon: Any, delta: str) -> None:
    goal = goal_of(epsilon, delta, "replace")
    each = Selection.calibrate(goal, 1)
    claim, worst = decimal(each.delta(goal)), Decimal(0)
    counts = sorted({0, 1, 2, each.tau_prime, each.tau_prime + 1, 2 * each.tau_prime + 3})
    laws = {count: law(each, count) for n in counts for count in (n, n + 1)}
    for falls, rises in itertools.product(counts, repeat=2):
        one, other = both(laws[falls + 1], laws[rises]), both(laws[falls], laws[rises + 1])
        worst = max(worst, excess(one, other, decimal(goal.epsilon)))
    assert worst <= claim * (1 + Decimal("1e-50"))
    assert worst == pytest.approx(claim, rel=Decimal("1e-25"))
    assert claim <= decimal(goal.delta)


def test_what_holds_for_one_more_user_does_not_hold_for_another_item() -> None:
    # Of one key more or less delta is 1e-6; of two different keys, without their counts, 0.31.
    pi = optimal(Fraction(1), Fraction(1, 10**6), 40)
    keys: list[Law] = [{1: p, None: 1 - p} for p in pi]
    steps = list(itertools.pairwise(keys))
    worst = max(
        excess(both(more, rest), both(fewer, another), Decimal(1))
        for fewer, more in steps
        for rest, another in steps
    )
    assert float(worst) == pytest.approx(0.31, abs=0.005)
    each = calibrated(1, "1e-6", "add-remove")
    assert each.delta(goal_of(1, "1e-6", "replace")) == 1
    assert each.delta(goal_of(2, "1e-6", "replace")) <= Fraction(1, 10**6)


# The optimum


@pytest.mark.parametrize(
    ("epsilon", "delta", "neighbors"),
    [*SMALL, (1, "1e-6", "add-remove"), ("0.1", "1e-9", "replace")],
)
def test_it_publishes_as_often_as_can_be(epsilon: Any, delta: str, neighbors: Neighbors) -> None:
    goal = goal_of(epsilon, delta, neighbors)
    each = Selection.calibrate(goal, 1)
    alone = goal.epsilon / goal.moved_counts(1)  # what one of two items gets
    claim, last = each.delta(goal), 2 * each.tau_prime + 9
    pi = optimal(alone, claim, last)
    gap = decimal(claim) / (decimal(alone).exp() - 1)
    for count in range(last):
        found = Decimal(each.publication_probability(count))
        if count <= each.tau_prime + 1:
            assert found == pytest.approx(pi[count], rel=Decimal("1e-12"), abs=Decimal("1e-15"))
        assert -Decimal("1e-15") <= pi[count] - found <= gap + Decimal("1e-15")
    # Of delta no more is left than one part in 2^28, unless the least bound leaves more.
    least = each.tau_prime == each.raised_probability == 0
    assert least or goal.delta - claim <= probability_at_cap(each.scale, each.tau_prime) / PARTS


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_it_publishes_more_than_thresholds_with_laplace_noise(neighbors: Neighbors) -> None:
    for epsilon, delta in itertools.product(("0.1", 1, 3), ("1e-9", "1e-6", "0.001")):
        goal = goal_of(epsilon, delta, neighbors)
        each = Selection.calibrate(goal, 1)
        for other in (Laplace.calibrate(goal, 1), Zealous.calibrate(goal, 1)):
            for count in range(2 * other.tau_prime):
                slack = float(goal.delta * goal.moved_counts(1) / goal.epsilon)
                assert (
                    each.publication_probability(count)
                    >= other.publication_probability(count) * (1 - 1e-6) - slack
                )


def test_appears_is_what_the_output_says() -> None:
    for epsilon, delta, neighbors in SMALL:
        each = calibrated(epsilon, delta, neighbors)
        for count in range(2 * each.tau_prime + 5):
            assert each.publication_probability(count) == pytest.approx(
                float(1 - law(each, count)[None]), abs=1e-14
            )


@pytest.mark.parametrize(
    ("epsilon", "delta", "neighbors", "tau_prime", "longer"),
    [
        (1, "1e-6", "add-remove", 13, 0.067),
        (1, "1e-6", "replace", 24, 0.853),
        ("0.1", "1e-9", "replace", 340, 0.689),
        (1, "1e-80", "add-remove", 183, 0.558),
        (8, "0.9", "replace", 0, 0.085),
        (2, "0.999", "add-remove", 0, 0),
    ],
)
def test_golden_numbers(
    epsilon: Any, delta: str, neighbors: Neighbors, tau_prime: int, longer: float
) -> None:
    each = calibrated(epsilon, delta, neighbors)
    assert each.scale == Fraction(2 if neighbors == "replace" else 1) / Fraction(epsilon)
    assert (each.tau, each.tau_prime) == (1, tau_prime)
    assert float(each.raised_probability) == pytest.approx(longer, abs=6e-4)
    assert each.delta(goal_of(epsilon, delta, neighbors)) <= Fraction(delta)


# The pieces


@pytest.mark.parametrize("scale", [Fraction(1, 4), Fraction(1), Fraction(20)], ids=str)
def test_the_edge_is_rounded_up_and_the_tail_is_right(scale: Fraction) -> None:
    for most in (0, 1, 2, 9, 60):
        truth = chance(scale, most, most)
        assert truth <= decimal(probability_at_cap(scale, most)) <= truth * (1 + Decimal("1e-25"))
        for t in range(-40, most + 3):
            expected = sum(chance(scale, most, z) for z in range(t + 1, most + 1))
            assert capped_tail(scale, most, t) == pytest.approx(float(expected), rel=1e-12)
    for hidden in (10**9, 10**300):
        assert probability_at_cap(Fraction(1, 10**6), hidden) == Fraction(1, 10**305)
    assert probability_at_cap(Fraction(2**28), 0) > 0


@pytest.mark.parametrize(("scale", "most"), [(Fraction(2), 3), (Fraction(5), 0), (Fraction(1), 14)])
def test_noise_follows_its_law_and_no_other(scale: Fraction, most: int) -> None:
    sample = CappedLaplace(scale=scale, most=most).sample(60_000, seeded_bytes(1))
    assert sample.max() <= most
    last = -max(1, int(6 * scale))

    def p_value(of: Fraction) -> float:
        chances = [float(chance(of, most, z)) for z in range(last + 1, most + 1)]
        expected = np.array([1 - sum(chances), *chances]) * sample.size
        found = np.bincount(np.maximum(sample, last) - last, minlength=expected.size)
        rare = expected < 20
        return float(
            stats.chisquare(
                [*found[~rare], found[rare].sum() + 1], [*expected[~rare], expected[rare].sum() + 1]
            ).pvalue
        )

    assert p_value(scale) > REJECT
    assert p_value(scale * Fraction(8, 10)) < REJECT
    assert p_value(scale * Fraction(12, 10)) < REJECT


def test_the_release_is_what_the_law_says() -> None:
    each = Selection(
        items_per_user=1, scale=Fraction(2), tau=1, tau_prime=2, raised_probability=Fraction(1, 4)
    )
    size = 20_000

    def counts(*, bound: int, at_least: int, **_: object) -> list[pa.RecordBatch]:
        assert (bound, at_least) == (1, 1)
        held = [n for n in (0, 1, 3, 8) if n >= at_least]
        rows = pa.table({"item": [f"{n}" for n in held] * size, "count": held * size})
        return rows.to_batches()

    found: dict[str, list[int]] = {}
    for batch in each.release(counts, seeded_bytes(3)):
        for row in batch.to_pylist():
            found.setdefault(row["item"], []).append(row["count"])
    assert "0" not in found
    for item in ("1", "3", "8"):
        expected = law(each, int(item))
        shown = {noisy: float(p) * size for noisy, p in expected.items() if noisy is not None}
        assert set(found[item]) <= set(shown)
        tally = [found[item].count(noisy) for noisy in shown]
        frequencies = [*tally, size - sum(tally)]
        predicted = [*shown.values(), float(expected[None]) * size]
        if predicted[-1] < 5:
            frequencies, predicted = frequencies[:-1], predicted[:-1]
            predicted = [p * sum(frequencies) / sum(predicted) for p in predicted]
        assert stats.chisquare(frequencies, predicted).pvalue > REJECT


# The mechanism


def test_one_item_of_each_user_and_no_other_guarantee() -> None:
    goal = goal_of(1, "1e-6", "replace")
    with pytest.raises(UsageError, match="set items_per_user to 1"):
        Selection.calibrate(goal, 2)
    with pytest.raises(UsageError, match="items_per_user"):
        Selection.calibrate(goal, 0)
    other = ProbabilisticDP(epsilon=1, delta="1e-6", users=9)
    with pytest.raises(UsageError, match="zealous mechanism"):
        Selection.calibrate(other, 1)
    with pytest.raises(UsageError, match="delta above 0"):
        Selection.calibrate(goal_of(1, 0, "replace"), 1)
    assert Selection.calibrate(goal, 1).delta(other) == 1


def test_below_the_epsilon_of_its_noise_nothing_is_claimed() -> None:
    each = calibrated(1, "1e-6", "replace")
    assert each.delta(goal_of("0.999", "1e-6", "replace")) == 1
    assert each.delta(goal_of(5, "1e-6", "replace")) == each.delta(goal_of(1, "1e-6", "replace"))


def test_an_epsilon_of_many_digits_is_kept() -> None:
    goal = goal_of("0.3333333333333333333", "1e-6", "replace")
    assert Selection.calibrate(goal, 1).delta(goal) <= goal.delta


def test_it_is_made_again_and_says_what_to_expect() -> None:
    found = calibrated(1, "1e-6", "replace")
    goal = Indistinguishability(epsilon=1, delta="1e-6")
    part = part_of(found, goal)
    assert Selection.from_record(part) == found
    for wrong in (
        {"tau_prime": -1},
        {"tau_prime": None},
        {"tau": 2},
        {"items_per_user": 2},
        {"longer": "1"},
        {"longer": "1/3"},
        {"longer": None},
        {"exact": part_of(found, goal, scale="0").exact},
    ):
        with pytest.raises(UsageError):
            Selection.from_record(structs.replace(part, **wrong))
    assert found.publication_probability(0) == 0
    assert found.expected_unique_items(1) <= 1e-6
    inside = capped_tail(found.scale, found.tau_prime, -found.noise_quantile(0.95) - 1)
    assert inside - capped_tail(found.scale, found.tau_prime, found.noise_quantile(0.95)) >= 0.95
    assert math.isclose(found.publication_probability(10**6), 1)


def test_a_large_epsilon_needs_no_threshold_but_a_part_held_longer() -> None:
    goal = Indistinguishability(epsilon=20, delta="0.001")
    found = Selection.calibrate(goal, 1)
    assert (found.tau_prime, found.publication_probability(0)) == (0, 0)
    assert math.isclose(found.publication_probability(1), found.delta(goal))
    assert found.delta(goal) <= goal.delta
    assert Selection.from_record(part_of(found, goal)) == found


def test_bounds_hold_a_part_longer() -> None:
    short, long = (
        CappedThreshold(scale=Fraction(2), tau_prime=k, raised_probability=Fraction(0))
        for k in (5, 6)
    )
    half = CappedThreshold(scale=Fraction(2), tau_prime=5, raised_probability=Fraction(1, 2))
    goal = goal_of(1, "0.5", "replace")
    assert half.delta(goal) == (short.delta(goal) + long.delta(goal)) / 2
    assert half.probability_above(4, 5) == pytest.approx(
        (short.probability_above(4, 5) + long.probability_above(4, 6)) / 2
    )
