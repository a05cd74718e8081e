"""The negative result: its numbers, its proof on small worlds, and why the printed one fails."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zealous.errors import UsageError
from zealous.privacy.calibrate import tail
from zealous.privacy.guarantee import Neighbors
from zealous.study.theory.accuracy_theorem import AccuracyTarget
from zealous.study.theory.explicit_domain import scale_for
from zealous.study.theory.negative import (
    DomainSetting,
    hopeless_count,
    log_hopeless_domain,
    printed_log_domain,
)

PAIRS_OF_QUERIES = 900_000**6


def needed(log_size: float) -> float:
    return math.exp(log_size)


# The paper's example


def test_the_paper_s_example_survives() -> None:
    setting = DomainSetting(epsilon=1, users=1_000_000, items_per_user=10, accuracy="0.01")
    wanted = AccuracyTarget(40, 10)
    assert needed(log_hopeless_domain(setting, wanted)) == pytest.approx(2.1e29, rel=0.02)
    assert needed(printed_log_domain(setting, wanted)) == pytest.approx(8.8e11, rel=0.01)
    assert pytest.approx(5.3e35, rel=0.01) == PAIRS_OF_QUERIES
    assert log_hopeless_domain(setting, wanted) < math.log(PAIRS_OF_QUERIES)


@pytest.mark.parametrize(("tau", "xi"), [(4, 2), (5, 0), ("7/2", "1/2")])
@pytest.mark.parametrize(("neighbors", "k"), [("replace", 1), ("add-remove", 2)])
def test_the_formula(tau: str, xi: str, neighbors: Neighbors, k: int) -> None:
    setting = DomainSetting(
        epsilon="0.5", users=30, items_per_user=3, accuracy="0.25", neighbors=neighbors
    )
    most, least = math.ceil(Fraction(tau) + Fraction(xi)), math.ceil(Fraction(tau) - Fraction(xi))
    right = 30 * 3 * (2 * math.exp(0.5 * k * most) / (0.25 * most) + 1 / least)
    assert needed(log_hopeless_domain(setting, AccuracyTarget(tau, xi))) == pytest.approx(right)
    exponent = 2 * 0.5 * float(Fraction(tau) + Fraction(xi)) / 3
    whole = float(Fraction(tau) + Fraction(xi))
    printed = 90 * (2 * math.exp(exponent) / (0.25 * whole) + 1 / (2 * float(tau_less(tau, xi))))
    assert needed(printed_log_domain(setting, AccuracyTarget(tau, xi))) == pytest.approx(printed)


def tau_less(tau: str, xi: str) -> Fraction:
    """Half of tau - xi + 1."""
    return (Fraction(tau) - Fraction(xi) + 1) / 2


# The lemma's counterexample: one user, randomised response on one item


def test_the_printed_lemma_fails_for_one_user() -> None:
    m, odds = 10, Fraction(3)  # exp(epsilon)
    item, domain = 0, range(11)
    histories = [
        frozenset(held) for size in range(m + 1) for held in itertools.combinations(domain, size)
    ]
    assert len(histories) == 2**11 - 1

    def shown(history: frozenset[int]) -> Fraction:
        return odds / (1 + odds) if item in history else 1 / (1 + odds)

    laws = {(shown(history), 1 - shown(history)) for history in histories}
    for one, other in itertools.product(laws, repeat=2):
        for p, q in zip(one, other, strict=True):
            assert p <= odds * q  # epsilon-differentially private, every history being a neighbour
    retained, without = shown(frozenset({item})), shown(frozenset())
    # The lemma says without >= retained / exp(L1 epsilon/m), and L1 = 1. To the power of m:
    assert without**m < retained**m / odds
    # Counted in users, one of whom differs, it holds.
    assert without >= retained / odds


# The printed theorem's counterexample: the exponential mechanism with counts capped at F


def exponential(counts: tuple[int, ...], base: Fraction, cap: int) -> list[Fraction]:
    """Shows one item, with odds base^min(count, cap); private with exp(epsilon) = base^2."""
    weights = [base ** min(count, cap) for count in counts]
    return [weight / sum(weights) for weight in weights]


def test_the_exponential_mechanism_is_private() -> None:
    base, cap = Fraction(2), 2
    histories = [h for h in itertools.product((0, 1), repeat=4) if sum(h) <= 2]
    worst = Fraction(0)
    for others in itertools.combinations_with_replacement(histories, 2):
        laws = [
            exponential(tuple(map(sum, zip(mine, *others, strict=True))), base, cap)
            for mine in histories
        ]
        for one, other in itertools.product(laws, repeat=2):
            worst = max(worst, *(p / q for p, q in zip(one, other, strict=True)))
    assert 1 < worst <= base**2


def test_the_printed_theorem_fails_too() -> None:
    base, users, m, frequent, size = Fraction(2), 20, 10, 20, 2**20
    # Every user has the same ten items. This log has the largest sum of weights (the weight is
    # convex in the count), so the chance of a very frequent item is the least here: c.
    total = m * base**frequent + (size - m)
    c = base**frequent / total
    mechanism = m - m * c + (size - m) / total  # missing ones, and the chance of a wrong one
    nothing = m
    assert mechanism < nothing
    setting = DomainSetting(
        epsilon=2 * math.log(2), users=users, items_per_user=m, accuracy=Fraction(c)
    )
    wanted = AccuracyTarget(Fraction(21, 2), Fraction(19, 2))  # from 20 users on, and below 1
    assert printed_log_domain(setting, wanted) < math.log(size)  # so it should be hopeless
    assert log_hopeless_domain(setting, wanted) > math.log(size)


# The theorem on small worlds


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(2)])
@pytest.mark.parametrize("threshold", [0, 1, 2, 4, 8])
def test_noise_on_a_domain_of_that_size_is_worse_than_nothing(
    epsilon: Fraction, threshold: int, neighbors: Neighbors
) -> None:
    users, m, frequent = 2, 1, 2
    scale = scale_for(epsilon, m, neighbors)
    c = Fraction(tail(scale, threshold - frequent))
    setting = DomainSetting(
        epsilon=epsilon, users=users, items_per_user=m, accuracy=c, neighbors=neighbors
    )
    wanted = AccuracyTarget(Fraction(3, 2), Fraction(1, 2))
    size = math.ceil(needed(log_hopeless_domain(setting, wanted)))
    for counts in ((2,), (1, 1), (1,), ()):
        missing = sum(1 - tail(scale, threshold - count) for count in counts if count >= frequent)
        false = (size - len(counts)) * tail(scale, threshold)
        assert missing + false > sum(count >= frequent for count in counts)


def test_without_users_enough_nothing_is_hopeless() -> None:
    setting = DomainSetting(epsilon=1, users=9, items_per_user=1, accuracy=1)
    assert log_hopeless_domain(setting, AccuracyTarget(9, 0)) < math.inf
    assert log_hopeless_domain(setting, AccuracyTarget(10, 0)) == math.inf
    assert log_hopeless_domain(setting, AccuracyTarget(8, 2)) == math.inf


def test_where_no_item_is_very_infrequent_nothing_is_hopeless() -> None:
    setting = DomainSetting(epsilon=1, users=9, items_per_user=1, accuracy=1)
    assert log_hopeless_domain(setting, AccuracyTarget(4, 4)) == math.inf
    assert log_hopeless_domain(setting, AccuracyTarget(4, 3)) < math.inf


def test_no_overflow() -> None:
    setting = DomainSetting(epsilon=10**6, users=10**12, items_per_user=1, accuracy="1e-300")
    found = log_hopeless_domain(setting, AccuracyTarget(10**9, 1))
    assert 1e15 < found < 1.1e15
    assert math.isfinite(printed_log_domain(setting, AccuracyTarget(10**9, 1)))


# The other way round


@given(
    st.fractions("0.01", 3, max_denominator=100),
    st.integers(1, 60),
    st.integers(1, 3),
    st.floats(0, 80),
    st.integers(1, 5),
    st.sampled_from(["replace", "add-remove"]),
)
def test_the_largest_count_out_of_reach(
    epsilon: Fraction,
    users: int,
    m: int,
    log_domain: float,
    infrequent: int,
    neighbors: Neighbors,
) -> None:
    setting = DomainSetting(
        epsilon=epsilon, users=users, items_per_user=m, accuracy="0.5", neighbors=neighbors
    )
    by_scan = [
        frequent
        for frequent in range(infrequent, users + 1)
        if log_hopeless_domain(
            setting,
            AccuracyTarget(Fraction(frequent + infrequent, 2), Fraction(frequent - infrequent, 2)),
        )
        <= log_domain
    ]
    assert hopeless_count(setting, log_domain, infrequent) == max(by_scan, default=0)


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": 0}, {"accuracy": 0}, {"accuracy": "1.1"}, {"users": 0}, {"neighbors": "both"}],
)
def test_nonsense_is_refused(wrong: dict[str, object]) -> None:
    right: dict[str, object] = {"epsilon": 1, "users": 9, "items_per_user": 1, "accuracy": 1}
    with pytest.raises(UsageError, match=next(iter(wrong))):
        DomainSetting(**(right | wrong))  # type: ignore[arg-type]
