"""What is seen in small releases, many at a time: noise, sets and queries that appear by it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from zealous.audit import small_releases as small
from zealous.audit.audit import alpha_per_test
from zealous.audit.setting import Setting, settings
from zealous.audit.theorems import Law

PLANS = settings()


def drawn(test: small.SmallTest) -> list[Setting]:
    """The plans of which small releases are drawn for a test."""
    return [plan for plan in PLANS if test in plan.small]


def laplace(z: int, scale: float) -> float:
    return float(stats.dlaplace.pmf(z, 1 / scale))


def test_the_chances_of_noise_add_up() -> None:
    for scale in (2 / 3, 2.0):
        law = Law(-400, np.array([laplace(z, scale) for z in range(-400, 401)]))
        assert sum(small.level_probabilities(law)) == pytest.approx(1)
        exact = sum(laplace(z, scale) ** 2 for z in range(-400, 401))
        assert small.collision_probability(law) == pytest.approx(exact)
        assert small.level_probabilities(law)[1:4] == pytest.approx(
            [laplace(z, scale) for z in (-1, 0, 1)]
        )


def sampled(monkeypatch: pytest.MonkeyPatch, change: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Whether noise passes that has the right distribution but for a change to each release."""
    chance = np.random.default_rng(8)
    stay = 1 - math.exp(-1.5)

    def drawn(_: object, items: int) -> np.ndarray:
        return change(chance.geometric(stay, items) - chance.geometric(stay, items))

    monkeypatch.setattr("zealous.audit.small_releases.draw_noise", drawn)
    return small.noise_is_exact(PLANS[0].planned, alpha_per_test(PLANS))


def test_right_noise_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sampled(monkeypatch, lambda drawn: drawn)


@pytest.mark.parametrize(
    "change",
    [
        lambda drawn: np.concatenate([[0], drawn[1:]]),
        lambda drawn: np.concatenate([drawn[:-1], np.abs(drawn[-1:])]),
        lambda drawn: np.repeat(drawn[:1], drawn.size),
        lambda drawn: drawn + 1,
    ],
    ids=["first is zero", "last is positive", "one for all", "shifted"],
)
def test_wrong_noise_does_not(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    assert not sampled(monkeypatch, change)


def test_noise_that_repeats_from_release_to_release_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each noise is drawn for two releases: its distribution is right, each by itself."""
    kept: list[np.ndarray] = []

    def twice(drawn: np.ndarray) -> np.ndarray:
        if kept and kept[0].size == drawn.size:
            return kept.pop()
        kept[:] = [drawn]
        return drawn

    assert not sampled(monkeypatch, twice)


@pytest.mark.parametrize(
    ("held", "passes"),
    [((0, 1, 0), True), ((0, 0, 0), False), ((-9, 1, 0), False)],
)
def test_sets_that_appear_otherwise_than_by_noise_are_seen(
    monkeypatch: pytest.MonkeyPatch, held: tuple[int, ...], passes: bool
) -> None:
    """Their counts are others than was said: one is lost, or too many are there, or one never."""
    (plan,) = drawn(small.SETS)
    alpha, right = alpha_per_test(PLANS), small.draw_sets
    monkeypatch.setattr("zealous.audit.small_releases.draw_sets", lambda made, _: right(made, held))
    assert small.sets_appear_as_expected(plan.planned, alpha) is passes


@pytest.fixture(scope="module")
def queries_drawn() -> list[list[str]]:
    """What releases of queries publish: as many as are looked at, drawn once."""
    (plan,) = drawn(small.QUERIES)
    return [small.draw_queries(plan.planned, {small._ASKED: 1}) for _ in range(small._SETS_RUNS)]


@pytest.mark.parametrize(
    ("published", "passes"),
    [
        (lambda queries, _: queries, True),
        (lambda queries, _: queries[:0], False),
        (lambda queries, _: [query for query in queries if query == "a b"], False),
        (lambda queries, run: [*queries, *(["a"] if run % 4 == 0 else [])], False),
        (lambda queries, run: [*queries, *(["a b"] if run % 4 == 0 else [])], False),
    ],
)
def test_queries_that_appear_otherwise_than_by_noise_are_seen(
    monkeypatch: pytest.MonkeyPatch, queries_drawn: list[list[str]], published: Any, passes: bool
) -> None:
    """Nothing appears, or only what somebody asked; or one query, asked or not, too often."""
    (plan,) = drawn(small.QUERIES)
    again = (published(queries, run) for run, queries in enumerate(queries_drawn))
    monkeypatch.setattr("zealous.audit.small_releases.draw_queries", lambda *_: next(again))
    assert small.queries_appear_as_expected(plan.planned, alpha_per_test(PLANS)) is passes
    assert next(again, None) is None


def test_noise_that_follows_from_the_key_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert small.noise_ignores_the_key(PLANS[0].planned)
    monkeypatch.setattr("zealous.audit.small_releases.draw_noise", lambda *_: np.arange(100))
    assert not small.noise_ignores_the_key(PLANS[0].planned)


def test_as_many_bounds_are_looked_at_in_small_releases_as_are_paid_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = []

    def fits(seen: int, trials: int, chance: float, alpha: float) -> bool:
        looked.append((seen, trials, chance, alpha))
        return True

    monkeypatch.setattr("zealous.audit.small_releases._is_consistent", fits)
    small.noise_is_exact(PLANS[0].planned, 0.01)
    assert len(looked) == small.TESTS
    monkeypatch.setattr("zealous.audit.small_releases._SETS_RUNS", 2)
    (plan,) = drawn(small.SETS)
    small.sets_appear_as_expected(plan.planned, 0.01)
    assert len(looked) == small.TESTS + small.SETS_TESTS
    (plan,) = drawn(small.QUERIES)
    small.queries_appear_as_expected(plan.planned, 0.01)
    assert len(looked) == small.TESTS + small.SETS_TESTS + small.QUERIES_TESTS
