"""What is claimed for pooled rounds, against the truth of tiny logs and numbers computed otherwise.

The truth is exact: noise of the first of two rounds is summed over all that it can be, through the
mechanism's own steps, and that of the second is a tail.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from records import part_of
from scipy import stats

import zealous.mechanisms.pooled as pooling
import zealous.privacy.accounting.keys as keys_accounting
import zealous.privacy.accounting.pooled as accounting
from zealous.errors import UsageError
from zealous.mechanisms.pooled import Pooled
from zealous.mechanisms.prior import Prior
from zealous.privacy.accounting.pooled import PooledRound, pooled_delta, pooled_exposure
from zealous.privacy.composition import delta_at
from zealous.privacy.guarantee import Indistinguishability, Neighbors, ProbabilisticDP

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
LENGTH, SCALE = 40, 30  # small enough to sum over all noise, large enough for whole numbers
ITEMS = "ab"
HISTORIES = ["", "a", "b", "ab"]
NEAR: dict[Neighbors, list[tuple[str, str]]] = {
    "replace": list(itertools.permutations(HISTORIES, 2)),
    "add-remove": [pair for h in HISTORIES[1:] for pair in (("", h), (h, ""))],
}
LITTLE = 1e-9
NO_COUNTS = Fraction(1 << 23)  # noise beside which counts tell nothing


@pytest.fixture(autouse=True, scope="module")
def _short() -> Iterator[None]:
    with length(LENGTH):
        yield


@contextmanager
def length(weight: int) -> Iterator[None]:
    """Let a user's weights have another length, wherever it is used."""
    with ExitStack() as patched:
        for module in (keys_accounting, accounting, pooling):
            patched.enter_context(patch.object(module, "WEIGHT", weight))
        yield


def two_rounds(first: int, second: int, *, steepness: int = 300, cap: int = 300) -> Pooled:
    rounds = (
        PooledRound(scale=SCALE, multiplier=1, threshold=first, steepness=0, cap=0),
        PooledRound(scale=SCALE, multiplier=1, threshold=second, steepness=steepness, cap=cap),
    )
    return Pooled(items_per_user=1, scale=NO_COUNTS, kept_items_per_user=2, rounds=rounds)


def with_list(mechanism: Pooled, deviations: int) -> Prior:
    """The same where some items are listed."""
    own = {each.name: getattr(mechanism, each.name) for each in fields(mechanism)}
    return Prior(**own, head_start=deviations)


# The truth

Z = np.arange(-9 * SCALE, 9 * SCALE + 1)
CHANCES: Floats = np.exp(-(Z**2) / (2 * SCALE**2)) / np.exp(-(Z**2) / (2 * SCALE**2)).sum()
UP_TO = np.concatenate([[0.0], np.cumsum(CHANCES)])


def above(t: Any) -> Floats:
    """P(noise > t)."""
    return 1 - UP_TO[np.clip(np.asarray(t) + 9 * SCALE + 1, 0, len(CHANCES))]


class AllNoise:
    """In place of DiscreteGaussian: all that noise can be, one after the other."""

    def __init__(self, *, scale: Fraction) -> None:
        assert scale == SCALE

    def sample(self, size: int, _: Any) -> Ints:
        assert size == len(Z)
        return Z


def given(kept: str, strength: Mapping[str, Ints]) -> dict[str, Ints]:
    """What one user gives, for each way that noise can fall; strengths of 0 are those of keys."""
    square = np.asarray(sum(strength[item] ** 2 for item in kept))
    root = np.floor(np.sqrt(square.astype(float))).astype(np.int64) + 1
    return {item: LENGTH * strength[item] // root for item in kept}


@cache
def law_of(mechanism: Pooled, log: tuple[str, ...]) -> dict[str, float]:
    """The chance of every set of keys; with a prior, "a" is on its list."""
    listed = "a" if isinstance(mechanism, Prior) else ""
    flat = {item: np.full((1, 1), 1 << 20) for item in ITEMS}
    true = dict.fromkeys(ITEMS, 0)
    for kept in log:
        for item, weight in given(kept, flat).items() if kept else ():
            true[item] += int(weight[0, 0])
    after = {item: _drawn(mechanism, true[item], item in listed) for item in ITEMS}
    shape = {"a": (-1, 1), "b": (1, -1)}
    held = {item for kept in log for item in kept}
    evidence = {item: after[item][0].reshape(shape[item]) for item in ITEMS}
    strength = {item: after[item][1].reshape(shape[item]) for item in ITEMS}
    second: dict[str, Any] = dict.fromkeys(ITEMS, 0)
    for kept in log:
        for item, weight in given(kept, strength).items() if kept else ():
            second[item] = second[item] + weight
    both = CHANCES[:, None] * CHANCES[None, :]
    passed = {}
    for item in ITEMS:
        start = mechanism.head_start_evidence(math.isqrt(2 * SCALE**2) + 1)
        ahead = start if item in listed else 0
        late = above(mechanism.rounds[1].threshold - ahead - evidence[item] - second[item])
        passed[item] = np.where(strength[item] == 0, 1.0, late) * (item in held | set(listed))
    found = {}
    for keys in HISTORIES:
        chance = both
        for item in ITEMS:
            chance = chance * (passed[item] if item in keys else 1 - passed[item])
        found[keys] = float(np.sum(chance))
    assert sum(found.values()) == pytest.approx(1)
    return found


def _drawn(mechanism: Pooled, weight: int, listed: bool) -> tuple[Ints, Ints]:
    """Evidence and strength of an item after the first round, by the mechanism's own step."""
    values = {"item": 0, "listed": int(listed), "evidence": 0, "strength": 1, "weight": weight}
    columns = {name: np.full_like(Z, value) for name, value in values.items()}
    with patch.object(pooling, "DiscreteGaussian", AllNoise):
        batch = mechanism._draw_round(0, bytes)(pa.record_batch(columns))
    return batch["evidence"].to_numpy(), batch["strength"].to_numpy()


def true_delta(mechanism: Pooled, others: Sequence[str], pair: Sequence[str], e: float) -> float:
    one, other = (law_of(mechanism, (*others, kept)) for kept in pair)
    return sum(max(0.0, one[keys] - math.exp(e) * other[keys]) for keys in HISTORIES)


LOGS: list[tuple[str, ...]] = [(), ("a",), ("ab",), ("ab", "ab"), ("a", "b", "ab")]
PLANS = [(150, 190), (110, 150)]


@pytest.mark.parametrize("deviations", [None, 250])
@pytest.mark.parametrize("thresholds", PLANS)
@pytest.mark.parametrize("neighbors", NEAR)
def test_no_neighbours_need_more_than_is_claimed(
    neighbors: Neighbors, thresholds: tuple[int, int], deviations: int | None
) -> None:
    mechanism = two_rounds(*thresholds)
    if deviations is not None:
        mechanism = with_list(mechanism, deviations)
    for epsilon in (1, 3):
        goal = Indistinguishability(epsilon=epsilon, delta="0.5", neighbors=neighbors)
        claimed = float(mechanism.delta(goal))
        composed = float(delta_at([mechanism.loss(neighbors)], goal.epsilon))
        assert max(claimed, composed) < 1  # else nothing would be tested
        for others in LOGS:
            for pair in NEAR[neighbors]:
                true = true_delta(mechanism, others, pair, epsilon)
                assert true <= min(claimed, composed) + LITTLE


def test_noise_on_listed_items_that_somebody_has_alone_would_not_do() -> None:
    listed = with_list(two_rounds(150, 190), 250)
    goal = Indistinguishability(epsilon=3, delta="0.5", neighbors="add-remove")
    shown = sum(chance for keys, chance in law_of(listed, ("a",)).items() if "a" in keys)
    assert shown > float(listed.delta(goal))  # and without her "a" would never appear


def test_the_trap_is_as_large_as_the_proof_says() -> None:
    length, threshold = 1000, 5000
    z = np.arange(-9 * length, 9 * length + 1)
    chances = np.exp(-(z**2) / (2 * length**2))
    chances /= chances.sum()
    below = np.concatenate([[0.0], np.cumsum(chances)])
    luckier = chances * (below[:-1] + below[1:])  # the law of the larger of two
    left = threshold - math.isqrt(length**2 // 2) - length - z
    true = luckier @ (1 - below[np.clip(left + 9 * length + 1, 0, len(chances))])
    assert round(float(true), 4) == 0.0186  # the other item adds 0.0001
    assert round(2 * stats.norm.sf((5 - math.sqrt(2)) / math.sqrt(2)), 4) == 0.0112
    assert round(2 * stats.norm.sf(3 / math.sqrt(2)), 4) == 0.0339


def test_who_steers_by_the_noise_that_is_tested_needs_the_whole_weight_in_the_claim() -> None:
    mechanism = two_rounds(10**6, 200, steepness=1000)
    true = 1 - law_of(mechanism, ("ab",))[""]
    deviation = math.sqrt(2) * SCALE
    as_if_shared = 2 * stats.norm.sf((200 - 2 * LENGTH / math.sqrt(2)) / deviation)
    assert 1.3 * as_if_shared < true
    claimed = float(pooled_exposure(mechanism.rounds, 2))
    assert 0.3 * claimed < true <= claimed
    goal = Indistinguishability(epsilon=9, delta="0.5", neighbors="add-remove")
    assert true_delta(mechanism, (), ("ab", ""), 9) == pytest.approx(true)
    with patch.object(accounting, "WEIGHT", int(LENGTH / math.sqrt(2))):
        assert float(mechanism.delta(goal)) < true


def test_a_claim_for_higher_thresholds_is_caught() -> None:
    mechanism = two_rounds(80, 110)
    goal = Indistinguishability(epsilon=4, delta="0.5", neighbors="add-remove")
    rounds = [replace(each, threshold=each.threshold + 30) for each in mechanism.rounds]
    claimed = float(pooled_delta(rounds, mechanism.scale, mechanism.kept_items_per_user, 1, goal))
    assert true_delta(mechanism, (), ("ab", ""), 4) > claimed


# What is claimed


def test_the_exposure_is_that_of_the_proof() -> None:
    rounds = (
        PooledRound(scale=50, multiplier=3, threshold=400, steepness=0, cap=0),
        PooledRound(scale=70, multiplier=4, threshold=900, steepness=50, cap=100),
    )
    deviations = (math.hypot(150), math.hypot(150, 280))
    tops = (401 - 3 * (LENGTH + 0.5), 901 - 7 * (LENGTH + 0.5))
    raised = (1 / (24 * 50**2), 1 / (24 * 50**2) + 1 / (24 * 70**2))
    expected = 7 * sum(
        math.exp(e) * stats.norm.sf(top / deviation)
        for e, top, deviation in zip(raised, tops, deviations, strict=True)
    )
    assert float(pooled_exposure(rounds, 7)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize(("epsilon", "delta", "m"), [("1", "1e-6", 5), ("0.1", "1e-9", 40)])
def test_a_calibrated_mechanism_keeps_its_goal_and_wastes_little(
    neighbors: Neighbors, epsilon: str, delta: str, m: int
) -> None:
    goal = Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)
    with length(1000):
        accounting.calibrate_pooled.cache_clear()
        made = Pooled.calibrate(goal, m)
        assert float(goal.delta) * 0.97 < float(made.delta(goal)) <= float(goal.delta)
        assert Pooled.from_record(part_of(made, goal)) == made
        assert float(delta_at([made.loss(neighbors)], goal.epsilon)) <= 1.02 * float(goal.delta)


@pytest.mark.parametrize("threshold", [10**6, 10**9, 10**18])
def test_a_threshold_far_away_takes_no_time(threshold: int) -> None:
    far = PooledRound(scale=1, multiplier=1, threshold=threshold, steepness=0, cap=0)
    assert 0 < pooled_exposure([far], 2) < Fraction(1, 10**300)


def upper_tail(x: Decimal) -> Decimal:
    """P(N(0, 1) > x) for x from 5 on, with 150 digits, by its continued fraction."""
    fraction = x
    for n in range(4000, 0, -1):
        fraction = x + n / fraction
    pi = Decimal(
        "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862"
    )
    return (-x * x / 2).exp() / (2 * pi).sqrt() / fraction


@pytest.mark.parametrize("deviations", [5, 30, 997, 1003, 10**12, 10**40])
def test_the_exposure_is_rounded_up_however_far_the_threshold(deviations: int) -> None:
    scale, multiplier = 977, 7
    reach = multiplier * (LENGTH + Fraction(1, 2))
    threshold = math.floor(deviations * multiplier * scale + reach)
    each = PooledRound(scale=scale, multiplier=multiplier, threshold=threshold, steepness=0, cap=0)
    found = pooled_exposure([each], 1)
    assert found > 0
    if deviations < 1000:
        with localcontext(Context(prec=150, Emin=MIN_EMIN, Emax=MAX_EMAX)):
            reach_in_decimals = multiplier * (LENGTH + Decimal("0.5"))
            x = (threshold + 1 - reach_in_decimals) / (multiplier * scale)
            true = (1 / Decimal(24 * scale**2)).exp() * upper_tail(x)
            most = Decimal(found.numerator) / Decimal(found.denominator)
            assert true < most < true * (1 + Decimal("1e-50"))
    else:
        assert found >= Fraction(1, 10**305)


def test_what_a_plan_spends_is_what_its_rounds_and_counts_move() -> None:
    goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors="replace")
    with length(1000):
        accounting.calibrate_pooled.cache_clear()
        made = Pooled.calibrate(goal, 5)
        loss = made.loss("replace")
    squares = [2 * (1000 / each.scale) ** 2 for each in made.rounds] + [10 / made.scale**2]
    assert float(loss.mu_squared) == pytest.approx(float(sum(squares)), rel=1e-6)


def test_what_it_cannot_promise_or_draw_is_refused() -> None:
    made = two_rounds(150, 190)
    assert made.delta(ProbabilisticDP(epsilon=1, delta="0.1", users=9)) == 1
    with pytest.raises(UsageError, match="probabilistic"):
        Pooled.calibrate(ProbabilisticDP(epsilon=1, delta="0.1", users=9), 2)
    with pytest.raises(UsageError, match="epsilon is too small"):
        Pooled.calibrate(Indistinguishability(epsilon="1e-7", delta="1e-6"), 2)
    for change in (
        {"kept_items_per_user": 1001},
        {"rounds": ()},
        {"rounds": made.rounds * 51},
        {"scale": Fraction(1, 2)},
    ):
        with pytest.raises(UsageError):
            replace(made, **change)
    for change in ({"scale": 1 << 24}, {"multiplier": 1001}, {"threshold": 0}, {"steepness": -1}):
        with pytest.raises(UsageError):
            replace(made.rounds[0], **change)
