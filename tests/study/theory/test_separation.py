"""Noise over an explicit domain, A-hat, and the separation that the two frame."""

import doctest
import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import get_args

import pytest
from inaccuracy import inaccuracy
from paths import DOCS
from scipy.stats import dlaplace

from zealous.errors import UsageError
from zealous.noise import seeded_bytes
from zealous.privacy.calibrate import calibrate, publication_probability, tail
from zealous.privacy.guarantee import Neighbors, ProbabilisticDP
from zealous.study.theory.a_hat import AHat
from zealous.study.theory.accuracy_theorem import AccuracyTarget, target_of
from zealous.study.theory.explicit_domain import DomainHistogram, scale_for, threshold_for
from zealous.study.theory.negative import DomainSetting, hopeless_count, log_hopeless_domain

NEIGHBORS: tuple[Neighbors, ...] = get_args(Neighbors)


# Noise over an explicit domain is differentially private


def law(count: int, histogram: DomainHistogram, highest: int) -> list[float]:
    """An element is absent, or shown at v; from the highest count on all v have the same odds."""
    rate, threshold = float(1 / histogram.scale), histogram.threshold
    shown = range(threshold + 1, highest)
    above = max(threshold, highest - 1)
    return [
        dlaplace.cdf(threshold - count, rate),
        *(dlaplace.pmf(value - count, rate) for value in shown),
        dlaplace.sf(above - count, rate),
    ]


def neighbours(items: int, m: int, kind: Neighbors) -> Iterator[tuple[list[int], list[int]]]:
    """The counts of every two neighbouring logs of up to two users."""
    histories = [h for h in itertools.product((0, 1), repeat=items) if sum(h) <= m]
    nobody = (0,) * items
    for other, one, two in itertools.product(histories, repeat=3):
        if kind == "replace" or nobody in (one, two):
            yield (
                [a + b for a, b in zip(other, one, strict=True)],
                [a + b for a, b in zip(other, two, strict=True)],
            )


def worst_loss(histogram: DomainHistogram, items: int, m: int, kind: Neighbors) -> float:
    """The largest log of the odds of any output: elements are independent, so losses add."""

    def loss(one: int, two: int) -> float:
        laws = law(one, histogram, 2), law(two, histogram, 2)
        return max(math.log(p / q) for p, q in zip(*laws, strict=True))

    table = {(a, b): loss(a, b) for a, b in itertools.product(range(3), repeat=2)}
    return max(
        sum(table[pair] for pair in zip(one, two, strict=True))
        for one, two in neighbours(items, m, kind)
    )


@pytest.mark.parametrize("kind", NEIGHBORS)
@pytest.mark.parametrize(("items", "m"), [(3, 1), (4, 2)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2)])
@pytest.mark.parametrize("threshold", [-1, 0, 1, 3])
def test_noise_on_everything_is_differentially_private(
    epsilon: Fraction, items: int, m: int, kind: Neighbors, threshold: int
) -> None:
    histogram = DomainHistogram(scale=scale_for(epsilon, m, kind), threshold=threshold)
    assert worst_loss(histogram, items, m, kind) <= float(epsilon) + 1e-9
    less = DomainHistogram(scale=histogram.scale * Fraction(9, 10), threshold=-1)
    assert worst_loss(less, items, m, kind) > float(epsilon) * 1.1


def test_a_forgotten_factor_of_two_is_caught() -> None:
    histogram = DomainHistogram(scale=scale_for(1, 2, "add-remove"), threshold=0)
    assert worst_loss(histogram, 4, 2, "add-remove") <= 1 + 1e-9
    assert worst_loss(histogram, 4, 2, "replace") > 1.5


# The algorithm


def test_elements_that_nobody_has_are_shown_as_expected() -> None:
    size, histogram = 200_000, DomainHistogram(scale=Fraction(3), threshold=8)
    counts = dict.fromkeys(range(0, size, 10), 9)
    shown = histogram.release(counts, range(size), seeded_bytes(3))
    seen = Counter(element in counts for element in shown)
    expected = histogram.expected({9: size // 10}, size)
    for found, claimed, items in (
        (seen[True], expected.held, size // 10),
        (seen[False], expected.empty, size - size // 10),
    ):
        share = claimed / items
        assert abs(found - claimed) < 4 * math.sqrt(claimed * (1 - share))
        assert abs(found - 0.9 * claimed) > 4 * math.sqrt(claimed * (1 - share))
    assert min(shown.values()) == 9
    assert list(shown) == sorted(shown)


def test_noisy_counts_have_the_noise_of_the_scale() -> None:
    histogram = DomainHistogram(scale=Fraction(2), threshold=-(10**9))
    values = histogram.release({}, range(100_000), seeded_bytes(1)).values()
    spread = sum(abs(value) for value in values) / len(values)
    alpha = math.exp(-1 / 2)
    assert spread == pytest.approx(2 * alpha / (1 - alpha**2), rel=0.02)


def test_what_is_not_in_the_domain_is_never_shown() -> None:
    histogram = DomainHistogram(scale=Fraction(1), threshold=5)
    assert histogram.release({"private": 1000, "public": 1000}, ["public"]).keys() == {"public"}
    assert histogram.release({"private": 1000}, []) == {}


def test_an_element_listed_twice_gets_one_noise() -> None:
    calls: list[int] = []

    def watched(size: int) -> bytes:
        calls.append(size)
        return source(size)

    histogram = DomainHistogram(scale=Fraction(5), threshold=-100)
    results = []
    for domain in (["a", "b"], ["a", "b", "a", "a", "b"]):
        source = seeded_bytes(11)
        results.append(histogram.release({"a": 3}, domain, watched))
    assert calls
    assert results[0] == results[1]


def test_a_small_domain_holds_the_most_frequent() -> None:
    histogram = DomainHistogram(scale=Fraction(2), threshold=4)
    found = histogram.expected({3: 10, 7: 2}, 5)
    by_hand = 2 * tail(Fraction(2), 4 - 7) + 3 * tail(Fraction(2), 4 - 3)
    assert found.held == pytest.approx(by_hand)
    assert found.empty == 0


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(20)])
@pytest.mark.parametrize("size", [1, 2, 1000, 10**12, 10**36])
@pytest.mark.parametrize("empty", ["0.001", 1, 50])
def test_the_threshold_is_the_least(scale: Fraction, size: int, empty: str) -> None:
    found, most = threshold_for(scale, size, empty), float(Fraction(empty))
    assert size * tail(scale, found) <= most
    assert found == 0 or size * tail(scale, found - 1) > most


def test_the_effect_of_a_growing_domain() -> None:
    scale = scale_for(1, 10)
    fixed = DomainHistogram(scale=scale, threshold=407)
    one, two = (fixed.expected({500: 100}, 10**digits) for digits in (12, 36))
    assert one.held == two.held
    assert two.empty == pytest.approx(1e24 * one.empty)
    assert two.empty > 1e26
    raised = threshold_for(scale, 10**36)
    assert raised > 4 * 407 > 3 * threshold_for(scale, 10**12)
    assert threshold_for(scale, 10**3600) == pytest.approx(100 * raised, rel=0.01)


def test_refusals() -> None:
    with pytest.raises(UsageError, match="scale"):
        DomainHistogram(scale=Fraction(0), threshold=1)
    with pytest.raises(UsageError, match="epsilon"):
        scale_for(0, 1)
    with pytest.raises(UsageError, match="neighbors"):
        scale_for(1, 1, "both")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="domain_size"):
        DomainHistogram(scale=Fraction(1), threshold=1).expected({}, 10**301)
    with pytest.raises(UsageError, match="empty"):
        threshold_for(Fraction(1), 10, 0)


# A-hat, by enumeration


def changed(log: tuple[int, ...], domain: range) -> Iterator[tuple[int, ...]]:
    """Every log in which one user has another history."""
    for user, history in itertools.product(range(len(log)), domain):
        if history != log[user]:
            yield (*log[:user], history, *log[user + 1 :])


def a_hat(log: tuple[int, ...], domain: range) -> dict[int, Fraction]:
    """The chance of each output of A-hat: any history but the first user's, all alike."""
    algorithm = AHat(histories=len(domain))
    return {history: algorithm.chance(history, log[0]) for history in domain}


WORLDS = [(2, 1), (2, 3), (3, 1), (3, 2), (4, 3), (6, 2)]


@pytest.mark.parametrize(("size", "users"), WORLDS)
def test_a_hat_is_indistinguishable_even_at_epsilon_zero(size: int, users: int) -> None:
    domain = range(size)
    worst = Fraction(0)
    for log in itertools.product(domain, repeat=users):
        one = a_hat(log, domain)
        assert sum(one.values()) == 1
        for neighbour in changed(log, domain):
            two = a_hat(neighbour, domain)
            for members in itertools.product((0, 1), repeat=size):
                event = [history for history in domain if members[history]]
                excess = sum(one[h] for h in event) - sum(two[h] for h in event)
                worst = max(worst, Fraction(excess))
    assert worst == Fraction(1, size - 1) == AHat(histories=size).delta_prime()


@pytest.mark.parametrize(("size", "users"), WORLDS)
def test_every_output_of_a_hat_is_a_breach(size: int, users: int) -> None:
    domain = range(size)
    for log in itertools.product(domain, repeat=users):
        one = a_hat(log, domain)
        breached = Fraction(0)
        for output, p in one.items():
            # No factor exp(epsilon) is enough where a neighbour cannot give the output at all.
            if p > 0 and any(a_hat(other, domain)[output] == 0 for other in changed(log, domain)):
                breached += p
        assert breached == 1 == AHat(histories=size).breach_probability()


# The separation


def test_zealous_keeps_what_differential_privacy_cannot() -> None:
    users, pairs = 1_000_000, math.log(900_000**6)
    plan = calibrate(ProbabilisticDP(epsilon=1, delta="0.001", users=users), 1)
    served = plan.tau_prime + 1
    wanted = AccuracyTarget(Fraction(served + 1, 2), Fraction(served - 1, 2))
    assert publication_probability(plan, wanted.frequent) > 0.5
    setting = DomainSetting(epsilon=1, users=users, items_per_user=1, accuracy="0.5")
    assert log_hopeless_domain(setting, wanted) < pairs
    assert served == 42 < hopeless_count(setting, pairs) == 71


def test_with_many_items_per_user_a_larger_domain_is_needed() -> None:
    users, pairs = 1_000_000, math.log(900_000**6)
    plan = calibrate(ProbabilisticDP(epsilon=1, delta="0.001", users=users), 10)
    setting = DomainSetting(epsilon=1, users=users, items_per_user=10, accuracy="0.5")
    assert plan.tau_prime == 407 > hopeless_count(setting, pairs) == 68
    assert hopeless_count(setting, 255 * math.log(100)) > plan.tau_prime + 1  # texts of 255 letters


@pytest.mark.parametrize("counts", [{3: 1}, {79: 1}, {80: 5, 1: 1000}, {500: 3, 79: 2, 40: 9}])
def test_zealous_is_never_worse_than_nothing_at_its_own_thresholds(counts: dict[int, int]) -> None:
    plan = calibrate(ProbabilisticDP(epsilon=1, delta="0.001", users=500_000), 2)
    wanted = target_of(plan)
    ours = inaccuracy(plan, counts, wanted)
    nothing = sum(items for count, items in counts.items() if count >= wanted.frequent)
    assert ours.filter == 0
    assert ours.total < nothing or nothing == 0


def test_the_figures_of_the_page_are_what_its_calls_give() -> None:
    page = DOCS / "study" / "theory.md"
    done = doctest.testfile(str(page), module_relative=False)
    assert done.attempted > 10
    assert done.failed == 0


# Strong indistinguishability, with a small enough delta, gives probabilistic differential privacy

World = dict[tuple[int, ...], list[float]]  # from a log, a history a user, to the law of outputs


def a_hat_world(histories: int) -> World:
    """A-hat on one user."""
    domain = range(histories)
    laws = {(own,): a_hat((own,), domain) for own in domain}
    return {log: [float(law.get(output, 0)) for output in domain] for log, law in laws.items()}


def random_world(seed: int, users: int = 2, histories: int = 3, outputs: int = 4) -> World:
    chance = random.Random(seed)
    found = {}
    for log in itertools.product(range(histories), repeat=users):
        weights = [chance.choice((0.0, 0.01, 1, 1, 2)) + 1e-3 for _ in range(outputs)]
        found[log] = [weight / sum(weights) for weight in weights]
    return found


def strong_delta(world: World, epsilon: float) -> float:
    """The least delta' of strong indistinguishability: the likeliest event that moves too much."""
    most = 0.0
    for one, two in neighbouring(world):
        for size in range(1, len(world[one]) + 1):
            for event in itertools.combinations(range(len(world[one])), size):
                p, q = (sum(world[log][each] for each in event) for log in (one, two))
                if moves_too_much(p, q, epsilon):
                    most = max(most, p)
    return most


def neighbouring(world: World) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for one, two in itertools.permutations(world, 2):
        if sum(a != b for a, b in zip(one, two, strict=True)) == 1:
            yield one, two


def moves_too_much(p: float, q: float, epsilon: float) -> bool:
    return p > math.exp(epsilon) * q or p < math.exp(-epsilon) * q


def bad_share(world: World, epsilon: float) -> float:
    """The chance of an output that breaches somebody, for the worst log."""
    bad: dict[tuple[int, ...], set[int]] = {log: set() for log in world}
    for one, two in neighbouring(world):
        bad[one] |= {
            output
            for output, (p, q) in enumerate(zip(world[one], world[two], strict=True))
            if moves_too_much(p, q, epsilon)
        }
    return max(sum(world[log][each] for each in found) for log, found in bad.items())


@pytest.mark.parametrize("world", [a_hat_world(5), *map(random_world, range(6))])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_strong_indistinguishability_gives_the_probabilistic_guarantee(
    world: World, epsilon: float
) -> None:
    users = len(next(iter(world)))
    histories = 1 + max(max(log) for log in world)
    allowed = 2 * users * (histories - 1) * strong_delta(world, epsilon)
    assert bad_share(world, epsilon) <= allowed + 1e-12


def test_the_number_of_histories_cannot_be_spared() -> None:
    """Every output of A-hat is bad, though delta' is as small as histories are many."""
    world = a_hat_world(5)
    assert strong_delta(world, 1.0) == pytest.approx(1 / 4)
    assert bad_share(world, 1.0) == pytest.approx(1)
