"""The audit of somebody's own mechanism: planted bugs are caught, honest ones pass."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sampling import sampled

import zealous as z
from zealous.audit.audit import MechanismAudit, audit_mechanism
from zealous.audit.confidence_bounds import Claim
from zealous.audit.custom_counts import Case, WatchedMechanism, plain_histogram, run_cases
from zealous.audit.custom_mechanism import (
    _cases,
    _half_published_count,
    _run_checks,
    releases_needed_to_differ,
)
from zealous.audit.distinguishing_events import _levels, evidence_against, impossible_without_user
from zealous.errors import UsageError
from zealous.mechanisms import (
    CalibratedMechanism,
    Count,
    Gaussian,
    Laplace,
    Mechanism,
    Selection,
    Zealous,
)
from zealous.privacy.calibrate import calibrate
from zealous.privacy.guarantee import Guarantee

TRIALS = 4_000
FEW = 2_000  # show what is badly wrong
GOAL = z.Indistinguishability(epsilon=2, delta="0.01")
ALPHA = np.exp(-2 / 2)  # of geometric noise for epsilon 2: one item of a user, replaced


def geometric(size: int, alpha: float = ALPHA) -> np.ndarray:
    chance = np.random.default_rng(secrets.randbits(64))
    return chance.geometric(1 - alpha, size) - chance.geometric(1 - alpha, size)


@dataclass(frozen=True, kw_only=True)
class Geometric:
    """Honest: an item of one user passes the threshold with a chance of 0.0049."""

    goal: Guarantee = GOAL
    items_per_user: int = 1
    threshold: int = 6
    name: str = "geometric"

    def noise(self, size: int) -> Any:
        return geometric(size)

    def keep(self, users: np.ndarray, noisy: np.ndarray) -> np.ndarray:
        del users
        return noisy > self.threshold

    def release(self, count: Count, random_bytes: object) -> Iterator[pa.RecordBatch]:
        del random_bytes
        for batch in count(bound=self.items_per_user, at_least=1):
            yield self.published(batch)

    def published(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        users = batch["count"].to_numpy()
        noisy = users + self.noise(len(users))
        kept = pa.array(self.keep(users, noisy))
        return batch.set_column(1, "count", pa.array(noisy)).filter(kept)


class HalfTheScale(Geometric):
    def noise(self, size: int) -> Any:
        return geometric(size, ALPHA**2)


class ThresholdOnTheTruth(Geometric):
    def keep(self, users: np.ndarray, noisy: np.ndarray) -> np.ndarray:
        del noisy
        return users >= 37


class TrueInTheMiddle(Geometric):
    """Noised rightly where items are rare, and where they are very frequent."""

    def published(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        users = batch["count"].to_numpy()
        noise = np.where((users > 150) & (users < 900), 0, self.noise(len(users)))
        kept = pa.array(users + noise > self.threshold)
        return batch.set_column(1, "count", pa.array(users + noise)).filter(kept)


class NoThreshold(Geometric):
    def keep(self, users: np.ndarray, noisy: np.ndarray) -> np.ndarray:
        return noisy > -100


class OneNoiseForAll(Geometric):
    def noise(self, size: int) -> Any:
        return geometric(1)[0]


class OneNoiseForTwo(Geometric):
    def noise(self, size: int) -> Any:
        return np.repeat(geometric(size), 2)[:size]


class Seeded(Geometric):
    def noise(self, size: int) -> Any:
        chance = np.random.default_rng(7)
        return chance.geometric(1 - ALPHA, size) - chance.geometric(1 - ALPHA, size)


class NoiselessWhenSmall(Geometric):
    """Rows of a large release are noised rightly, those of a small one are not at all."""

    def noise(self, size: int) -> Any:
        return geometric(size) if size > 100 else np.zeros(size, np.int64)


class ByTheRest(Geometric):
    """An item that nobody of the victim's holds is published as its share of all."""

    def published(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        users = batch["count"].to_numpy()
        moved = users * 1_000 // max(1, users.sum())
        noisy = users + geometric(len(users)) + 50 * (moved - moved.mean()).round().astype(int)
        return batch.set_column(1, "count", pa.array(noisy)).filter(pa.array(noisy > 6))


class SameNoiseInEachBatch(Geometric):
    def release(self, count: Count, random_bytes: object) -> Iterator[pa.RecordBatch]:
        batches = list(count(bound=1, at_least=1))
        noise = geometric(max(len(batch) for batch in batches))
        for batch in batches:
            noisy = batch["count"].to_numpy() + noise[: len(batch)]
            yield batch.set_column(1, "count", pa.array(noisy)).filter(pa.array(noisy > 6))


class NoiselessWhenLarge(Geometric):
    def noise(self, size: int) -> Any:
        return geometric(size) if size < 100 else np.zeros(size, np.int64)


@dataclass(frozen=True, kw_only=True)
class SharedThreshold(Geometric):
    """Honest: two neighbours differ under at most one of five thresholds, which all items share."""

    goal: Guarantee = field(default=z.Indistinguishability(epsilon="0.1", delta="0.2"))
    independent: bool = False

    def published(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        kept = batch["count"].to_numpy() > 20 + secrets.randbelow(5)
        return batch.set_column(1, "count", pa.array(np.ones(len(kept)))).filter(pa.array(kept))


class Invents(Geometric):
    """Publishes an item that nobody holds: whoever makes it appear is betrayed."""

    def release(self, count: Count, random_bytes: object) -> Iterator[pa.RecordBatch]:
        yield from super().release(count, random_bytes)
        yield pa.record_batch({"item": [2**40], "count": [7]})


class Twice(Geometric):
    def release(self, count: Count, random_bytes: object) -> Iterator[pa.RecordBatch]:
        yield from super().release(count, random_bytes)
        yield from super().release(count, random_bytes)


class AsksForMore(Geometric):
    def release(self, count: Count, random_bytes: object) -> Iterator[pa.RecordBatch]:
        for batch in count(bound=2, at_least=1):
            yield self.published(batch)


@cache
def audited(mechanism: Geometric, trials: int = TRIALS) -> MechanismAudit:
    return audit_mechanism(mechanism, trials=trials)


BUGS: list[type[Geometric]] = [
    HalfTheScale,
    ThresholdOnTheTruth,
    TrueInTheMiddle,
    NoThreshold,
    OneNoiseForAll,
    OneNoiseForTwo,
    Seeded,
    NoiselessWhenSmall,
    NoiselessWhenLarge,
    ByTheRest,
    SameNoiseInEachBatch,
]


@pytest.mark.parametrize("bug", sampled(BUGS, lambda bug: bug.__name__, share=3))
def test_a_planted_bug_is_caught(bug: type[Geometric]) -> None:
    found = audited(bug(), FEW)
    assert not found.passed
    assert found.epsilon > 2 or found.delta > 0.01


@pytest.mark.parametrize(
    ("bug", "noticed"),
    [
        (Invents, "only what was counted is published"),
        (Twice, "no item is published twice"),
        (AsksForMore, "no more than items_per_user items of a user are counted"),
        (Seeded, "noise is drawn anew for each release"),
    ],
)
def test_what_no_mechanism_may_do_is_noticed(bug: type[Geometric], noticed: str) -> None:
    failed = [
        check.name for check in _run_checks(WatchedMechanism(bug()), GOAL, 7) if not check.passed
    ]
    assert failed == [noticed]


def test_what_is_noticed_fails_the_audit() -> None:
    found = audited(Seeded(), FEW)
    assert [check.name for check in found.checks if not check.passed] == [
        "noise is drawn anew for each release"
    ]
    assert "noise is drawn anew for each release" in found.failures()
    assert all(check.passed for check in audited(Geometric()).checks)


def test_an_honest_mechanism_passes() -> None:
    found = audited(Geometric())
    assert found.passed, found.failures()
    assert (found.name, found.goal, found.trials) == ("geometric", GOAL, TRIALS)
    assert 1.2 < found.epsilon <= 2
    assert found.detectable_epsilon is not None
    assert 2 < found.detectable_epsilon < 3.2


def test_randomness_that_items_share_is_honest_where_it_is_said() -> None:
    found = audited(SharedThreshold())
    assert found.passed, found.failures()
    assert found.delta <= 0.2


def calibrated(goal: Guarantee, m: int) -> Zealous:
    best = calibrate(goal, m)
    return Zealous(items_per_user=m, scale=best.scale, tau=best.tau, tau_prime=best.tau_prime)


@pytest.mark.parametrize(
    ("goal", "m"),
    [
        (z.Indistinguishability(epsilon=2, delta="0.1", neighbors="add-remove"), 3),
        (z.ProbabilisticDP(epsilon=1, delta="0.3", users=14), 1),
    ],
)
def test_zealous_passes(goal: Guarantee, m: int) -> None:
    found = audit_mechanism(calibrated(goal, m), goal, FEW)
    assert found.passed, found.failures()


OTHER_NOISE: list[tuple[type[CalibratedMechanism], Guarantee, int]] = [
    (Laplace, z.Indistinguishability(epsilon=2, delta="0.1"), 3),
    (Gaussian, z.Indistinguishability(epsilon=2, delta="0.1", neighbors="add-remove"), 4),
    (Selection, z.Indistinguishability(epsilon=2, delta="0.1"), 1),
]


@pytest.mark.parametrize(
    ("kind", "goal", "m"), sampled(OTHER_NOISE, lambda case: case[0].__name__, share=3)
)
def test_other_noise_between_thresholds_passes(
    kind: type[CalibratedMechanism], goal: Guarantee, m: int
) -> None:
    found = audit_mechanism(kind.calibrate(goal, m), goal, FEW)
    assert found.passed, found.failures()


def test_the_factor_of_two_of_replacing_is_missed() -> None:
    claimed = z.Indistinguishability(epsilon=1, delta="0.001")
    really = z.Indistinguishability(epsilon=1, delta="0.001", neighbors="add-remove")
    assert not audit_mechanism(calibrated(really, 1), claimed, FEW).passed


def test_a_delta_for_each_person_is_not_one_for_all() -> None:
    """Between two logs nothing is wrong; among 1,000 users somebody is breached often."""
    each = z.Indistinguishability(epsilon=5, delta="0.001")
    everybody = z.ProbabilisticDP(epsilon=5, delta="0.001", users=1_000)
    found = audit_mechanism(calibrated(each, 1), everybody, FEW)
    assert found.failures() == ["probabilistic, replace: everybody with items of her own"]


def test_delta_is_shared_by_the_items_of_a_user() -> None:
    """Calibrated for one item, used for four: with some chance one of the four appears."""
    goal = z.Indistinguishability(epsilon=4, delta="0.1")
    one = z.Indistinguishability(epsilon=1, delta="0.1")
    careless = Zealous(
        items_per_user=4, scale=Fraction(2), tau=1, tau_prime=calibrate(one, 1).tau_prime
    )
    found = audit_mechanism(careless, goal, FEW)
    assert any("4 items held by 1, for" in failure for failure in found.failures())


# What it is made of.


@dataclass(frozen=True, kw_only=True)
class AsItIs:
    """Publishes the truth."""

    items_per_user: int = 2
    bound: int = 2
    at_least: int = 1
    name: str = "truth"

    def release(self, count: Count, random_bytes: object) -> Iterator[pa.RecordBatch]:
        yield from count(bound=self.bound, at_least=self.at_least)


def test_the_two_logs_of_a_case() -> None:
    replaced, added = Case(name="a", users=5, moves=True), Case(name="b", users=1, moves=False)
    values = run_cases(WatchedMechanism(AsItIs(at_least=0)), [replaced, added], 50, 7)
    assert values.shape == (2, 50, 2, 2, 2)  # log, trial, case, group, place
    none = np.nan
    for trial in range(50):
        with_her, without = values[:, trial]
        np.testing.assert_array_equal(with_her[0], [[5, 5], [4, 4]])
        np.testing.assert_array_equal(without[0], [[4, 4], [5, 5]])
        np.testing.assert_array_equal(with_her[1], [[1, 1], [none, none]])
        np.testing.assert_array_equal(without[1], [[none, none], [none, none]])


def test_a_lower_bound_keeps_fewer_of_her_items() -> None:
    values = run_cases(
        WatchedMechanism(AsItIs(bound=1)), [Case(name="a", users=5, moves=True)], 4, 1
    )
    np.testing.assert_array_equal(values[0, 0, 0], [[5, 4], [4, 4]])
    values = run_cases(
        WatchedMechanism(AsItIs(at_least=5)), [Case(name="a", users=5, moves=True)], 4, 1
    )
    np.testing.assert_array_equal(values[0, 0, 0], [[5, 5], [np.nan, np.nan]])


def test_two_batches_hold_her_items_and_the_others_at_the_same_places() -> None:
    seen = []

    class Looks(AsItIs):
        def release(self, count: Count, random_bytes: object) -> Iterator[pa.RecordBatch]:
            seen.append([batch["count"].to_pylist() for batch in count(bound=2, at_least=1)])
            yield from super().release(count, random_bytes)

    values = run_cases(
        WatchedMechanism(Looks()), [Case(name="a", users=5, moves=True, apart=True)], 3, 1
    )
    np.testing.assert_array_equal(values[0, :, 0], [[[5, 5], [4, 4]]] * 3)
    ((one, other),) = seen
    assert [a + b for a, b in zip(one, other, strict=True)] == [9] * 12


def test_which_log_a_copy_is_follows_a_coin() -> None:
    """Else what else is in a release would tell, and honest mechanisms could fail."""
    order = []

    class Looks(AsItIs):
        def release(self, count: Count, random_bytes: object) -> Iterator[pa.RecordBatch]:
            (batch,) = count(bound=1, at_least=1)
            order.append(batch["count"].to_pylist()[0])
            yield batch

    run_cases(
        WatchedMechanism(Looks(items_per_user=1)), [Case(name="a", users=5, moves=True)], 400, 800
    )
    first = np.array(order[::2]) == 5
    assert 120 < first.sum() < 280
    assert (np.array(order[1::2]) == 5).sum() == 400 - first.sum()


@pytest.mark.parametrize("threshold", [1, 2, 17, 64, 1_000, 123_457])
def test_where_items_begin_to_be_published_is_found(threshold: int) -> None:
    assert _half_published_count(WatchedMechanism(AsItIs(at_least=threshold))) == threshold


def test_what_never_publishes_has_no_such_place_and_passes() -> None:
    silent = AsItIs(at_least=2**40)
    assert _half_published_count(WatchedMechanism(silent)) is None
    found = audit_mechanism(silent, GOAL, FEW)
    assert found.passed
    assert (found.epsilon, found.delta, found.detectable_epsilon) == (0.0, 0.0, None)


def test_cases_need_no_more_users_than_are_declared() -> None:
    goal = z.ProbabilisticDP(epsilon=1, delta="0.1", users=30)
    counts = [case.users for case in _cases(goal, 1, 8)]
    assert counts == [1, 2, 3, 8, 8]
    assert sum(2 * count - 1 for count in counts[:-1]) <= 30
    counts = [case.users for case in _cases(GOAL, 1, 400)]
    assert counts == [1, 2, 3, 5, 10, 20, 50, 100, 200, 400, 401, 500, 1_600, 1_600]


def test_levels_are_learned_from_the_even_runs_alone() -> None:
    values = np.array([[1.0, 9.0, 2.0, np.nan], [2.0, 9.0, 1.0, 1.0]])
    np.testing.assert_array_equal(_levels(values), [[2, 3, 3, 0], [3, 3, 2, 2]])
    many = np.arange(20_000.0).reshape(2, -1)
    assert len(np.unique(_levels(many))) == 64


def test_a_correct_claim_is_not_contradicted_and_a_smaller_one_is() -> None:
    """Randomised response: one of two values, the true one with a chance of 3/4."""
    chance = np.random.default_rng(3)
    truth = np.array([[1.0], [0.0]])
    said = np.where(chance.random((2, 20_000)) < 0.75, truth, 1 - truth)
    values = np.stack([said, np.zeros_like(said)], axis=2)[..., None]
    for claim, holds in [(np.log(3), True), (np.log(3) - 0.15, False)]:
        by_epsilon, by_delta = evidence_against(values, Claim(epsilon=claim, delta=0.0), 1e-6)
        seen = [*by_epsilon, *by_delta]
        assert len(seen) == 4
        assert holds == (not any(each.violates(Claim(epsilon=claim, delta=0.0)) for each in seen))
    assert 0.9 < max(each.epsilon(0.0) for each in by_epsilon) <= np.log(3)


def test_noise_that_two_items_share_is_taken_off() -> None:
    noise = np.random.default_rng(4).integers(0, 1_000, (2, 4_000))
    moved = np.array([[[1, 0]], [[0, 1]]])
    values = (moved + noise[..., None])[..., None].astype(np.float64)
    by_epsilon, _ = evidence_against(values, Claim(epsilon=1.0, delta=0.0), 1e-6)
    assert all(each.epsilon(0.0) > 4 for each in by_epsilon)


def test_where_items_share_randomness_each_run_is_a_release() -> None:
    calls = {True: 0, False: 0}

    @dataclass(frozen=True, kw_only=True)
    class Counts(AsItIs):
        independent: bool

        def release(self, count: Count, random_bytes: object) -> Iterator[pa.RecordBatch]:
            calls[self.independent] += 1
            yield from super().release(count, random_bytes)

    for independent in calls:
        audit_mechanism(Counts(independent=independent), GOAL, FEW)
    packed = 2 * 10
    again = (releases_needed_to_differ(GOAL, draws) or 0 for draws in (1, 500))
    more = next(again) - next(again)
    assert calls[False] - calls[True] == 2 * (2 * FEW // 4) - packed + more


def test_what_only_one_log_can_show_needs_no_other() -> None:
    none = np.nan
    here = [[[1.0, none], [none, none]], [[none, none], [none, none]], [[3.0, 2.0], [none, none]]]
    one, other = impossible_without_user(np.array([here, np.full_like(here, none)]), 0.01)
    assert (one.here, one.there, one.trials) == (2, None, 3)
    assert (other.here, other.there, other.trials) == (0, None, 3)


def test_what_is_refused() -> None:
    with pytest.raises(UsageError, match="claims nothing"):
        audit_mechanism(AsItIs())
    with pytest.raises(UsageError, match="trials must be at least 1,000"):
        audit_mechanism(AsItIs(), GOAL, 10)
    with pytest.raises(UsageError, match="items_per_user"):
        audit_mechanism(AsItIs(items_per_user=0), GOAL)


@pytest.mark.parametrize(
    "columns",
    [
        {"item": [1]},
        {"count": [1]},
        {"item": ["1"], "count": [1]},
        {"item": [1], "count": [None]},
        {"item": [1], "count": ["many"]},
    ],
)
def test_other_columns_are_refused(columns: dict[str, Any]) -> None:
    class Other(AsItIs):
        def release(self, count: Count, random_bytes: object) -> Iterator[pa.RecordBatch]:
            yield pa.record_batch(columns)

    with pytest.raises(UsageError, match="release of truth must yield batches with all columns"):
        WatchedMechanism(Other()).release(plain_histogram(np.array([3, 4])))


def test_zealous_is_a_mechanism() -> None:
    mechanism: Mechanism = Zealous(items_per_user=1, scale=Fraction(1), tau=1, tau_prime=3)
    assert mechanism.name == "zealous"
