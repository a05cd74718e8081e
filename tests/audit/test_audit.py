"""The audit's own parts: its bounds, its choices, its logs and its second derivation."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from scipy import stats

from zealous.audit import small_releases as small
from zealous.audit.audit import (
    FALSE_ALARMS,
    Audit,
    Measurement,
    alpha_per_test,
    audit,
    measure_pair,
)
from zealous.audit.confidence_bounds import (
    Claim,
    EventCounts,
    choose_events,
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from zealous.audit.measurement import BY_ACCIDENT
from zealous.audit.pairs_sets import SharedThings
from zealous.audit.recompute import follows_from_theorems, parameters
from zealous.audit.runs import start_run
from zealous.audit.setting import Setting, settings
from zealous.audit.theorems import noise
from zealous.audit.trials import Tally, outcomes, run_trials, tally_outcomes
from zealous.cli.audit import audit as command
from zealous.errors import UsageError
from zealous.mechanisms.after_look import AfterLook
from zealous.mechanisms.choose import MECHANISMS
from zealous.privacy.calibrate import calibrate
from zealous.privacy.guarantee import Indistinguishability, Neighbors, ProbabilisticDP
from zealous.release.provenance import plan_record

PLANS = settings()


def test_each_mechanism_is_tried() -> None:
    tried = {part.mechanism.name for plan in PLANS for part in plan.planned.parts}
    assert tried == set(MECHANISMS)


@examples(100)
@given(
    trials=st.integers(1, 200_000),
    share=st.floats(0, 1),
    alpha=st.sampled_from([1e-7, 1e-4, 0.05, 0.4]),
)
def test_bounds_are_those_of_clopper_and_pearson(trials: int, share: float, alpha: float) -> None:
    k = round(share * trials)
    low, high = clopper_pearson_lower(k, trials, alpha), clopper_pearson_upper(k, trials, alpha)
    expected_low = stats.beta.ppf(alpha, k, trials - k + 1) if k else 0.0
    expected_high = stats.beta.ppf(1 - alpha, k + 1, trials - k) if k < trials else 1.0
    assert low == pytest.approx(expected_low, rel=1e-7, abs=1e-11)
    assert high == pytest.approx(expected_high, rel=1e-7, abs=1e-9)


def test_bounds_fail_no_more_often_than_they_say() -> None:
    trials, alpha = 40, 0.1
    for p in np.linspace(0.01, 0.99, 50):
        k = np.arange(trials + 1)
        wrong = [clopper_pearson_lower(int(each), trials, alpha) > p for each in k]
        assert stats.binom.pmf(k, trials, p)[wrong].sum() <= alpha


def test_a_violation_is_seen_and_its_absence_is_not() -> None:
    claim = Claim(epsilon=1.0, delta=0.1)
    beyond = EventCounts(here=9_000, there=1_000, trials=10_000, alpha=1e-6)
    assert beyond.violates(claim)
    assert beyond.epsilon(0.1) > 1.0
    assert beyond.delta(1.0) > 0.1
    within = EventCounts(here=3_500, there=1_000, trials=10_000, alpha=1e-6)
    assert not within.violates(claim)
    assert within.epsilon(0.1) < 1.0
    assert within.delta(1.0) < 0.1


def test_an_event_that_is_impossible_elsewhere_proves_delta() -> None:
    seen = EventCounts(here=300, there=None, trials=1_000, alpha=1e-3)
    assert seen.delta(5.0) == clopper_pearson_lower(300, 1_000, 1e-3)
    assert seen.violates(Claim(epsilon=9.0, delta=0.2))


def test_the_event_is_made_of_the_outcomes_with_the_largest_ratio() -> None:
    here, there = np.array([800, 150, 50, 0]), np.array([300, 160, 440, 100])
    by_epsilon, by_delta = choose_events(here, there, Claim(epsilon=0.5, delta=0.0), 0.01)
    assert by_epsilon.tolist() == [0]
    assert by_delta.tolist() == [0]


def laplace(z: int, scale: float) -> float:
    alpha = math.exp(-1 / scale)
    return (1 - alpha) / (1 + alpha) * alpha ** abs(z)


def levels(count: int, tau_prime: int, scale: float) -> np.ndarray:
    """How an item of this count comes out: absent, at tau' + 1, at tau' + 2, or above."""
    absent = sum(laplace(z - count, scale) for z in range(count - 300, tau_prime + 1))
    low, high = laplace(tau_prime + 1 - count, scale), laplace(tau_prime + 2 - count, scale)
    return np.array([absent, low, high, 1 - absent - low - high])


def popular(trials: int, scale: float, chance: np.random.Generator) -> Tally:
    """The first plan's pair of popular items, from the known distribution of its output."""
    one, other = levels(3, 2, scale), levels(2, 2, scale)
    left, right = np.outer(one, other).ravel(), np.outer(other, one).ravel()
    halves = [
        np.stack([chance.multinomial(trials // 2, p) for p in (left, right)]) for _ in range(2)
    ]
    return Tally(choosing=halves[0], testing=halves[1])


def measured(trials: int, scale: float, chance: np.random.Generator) -> Measurement:
    setting = PLANS[0]
    pair = next(pair for pair in setting.pairs if pair.name == "m popular items for m others")
    return measure_pair(setting, pair, popular(trials, scale, chance), alpha_per_test(PLANS))


@pytest.mark.parametrize(("trials", "excess"), [(20_000, 0.17), (1_000_000, 0.021)])
def test_the_power_is_what_it_says(trials: int, excess: float) -> None:
    """An epsilon this much too large is seen, the right one is not, and the audit knows it."""
    chance = np.random.default_rng(5)
    runs = 60
    right = [measured(trials, 2 / 3, chance) for _ in range(runs)]
    wrong = [measured(trials, 2 / 3 / (1 + excess), chance) for _ in range(runs)]
    assert all(each.passed for each in right)
    assert sum(not each.passed for each in wrong) >= 0.9 * runs
    stated = right[0].detectable_epsilon
    assert stated is not None
    assert 0.75 * excess < stated / 3 - 1 < 1.1 * excess


def test_noise_of_the_right_size_gives_no_false_alarm_where_the_claim_is_attained() -> None:
    chance = np.random.default_rng(6)
    assert all(measured(2_000, 2 / 3, chance).passed for _ in range(400))


POPULAR = ("m popular items for m others", "m popular items more")


@pytest.mark.parametrize(
    "setting",
    [each for each in PLANS if any(pair.name in POPULAR for pair in each.pairs)],
    ids=lambda setting: setting.name,
)
def test_the_published_counts_follow_the_known_distribution(setting: Setting) -> None:
    """The pipeline gives each copy what one run on the tiny log would give."""
    part = setting.part
    if part.mechanism.noise_law == "capped-discrete-laplace":
        pytest.skip("its noise depends on what an item is held to: see test_selection.py")
    (pair,) = (pair for pair in setting.pairs if pair.name in POPULAR)
    (outcome,) = outcomes(replace(setting, pairs=(pair,)), 4_000)
    count = setting.popular + 1  # the last watched item stands there in the right log
    law, least = noise(plan_record(setting.planned)[-1]), part.mechanism.tau_prime
    if small.QUERIES in setting.small:  # of a thousand keywords there are so many queries
        least = math.ceil(part.mechanism.scale * math.log(1000 + 1000**2 + 1000**3))
    appears = 1.0 if least is None else law.tail_above(least - count)
    steps = [law.tail_above(edge - 1 - count) for edge in setting.edges]
    right = -np.diff([1.0, appears, *steps, 0.0])  # absent, below the first edge, ...
    found = np.bincount(outcome[1] % setting.levels, minlength=setting.levels)
    assert not found[right <= 0].any()
    expected = right[right > 0] * found.sum()
    assert stats.chisquare(found[right > 0], expected).pvalue > 1e-6


@pytest.mark.parametrize(
    "setting",
    [setting for setting in PLANS if setting.planned.goal.users],
    ids=lambda setting: setting.name,
)
def test_the_logs_keep_within_what_the_plan_declares(setting: Setting) -> None:
    users = setting.planned.goal.users
    assert users is not None
    for pair in setting.pairs:
        for log in (pair.left, pair.right or ()):
            assert len({line.partition(",")[0].strip(' "') for line in log}) <= users, pair.name


@pytest.mark.parametrize(
    "setting",
    [each for each in PLANS if each.part.mechanism.name == AfterLook.name],
    ids=lambda setting: setting.name,
)
def test_a_look_at_all_copies_chooses_what_the_setting_expects(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = []
    release = AfterLook.release

    def watched(self: AfterLook, *arguments: Any) -> Any:
        chosen.append(self.chosen)
        return release(self, *arguments)

    monkeypatch.setattr(AfterLook, "release", watched)
    outcomes(setting, 600)
    expected = setting.part.mechanism
    assert isinstance(expected, AfterLook)
    assert expected.chosen is not None
    assert chosen == [expected.chosen]


def test_both_mechanisms_that_a_look_can_choose_are_tried() -> None:
    looked = [each.part.mechanism for each in PLANS]
    chosen = {each.chosen.name for each in looked if isinstance(each, AfterLook) and each.chosen}
    assert chosen == {"selection", "pooled"}


def test_neighbouring_logs_differ_in_one_user_alone() -> None:
    for setting in PLANS:
        for pair in setting.pairs:
            if pair.right is None or pair.name == "permuted rows":
                continue
            changed = (
                Counter(pair.left)
                - Counter(pair.right)
                + (Counter(pair.right) - Counter(pair.left))
            )
            ids = {line.partition(",")[0].strip(' "\u00a0') for line in changed}
            assert ids <= {"v@", ""}, pair.name


def test_every_item_at_tau_stands_at_tau() -> None:
    for setting in PLANS:
        part = setting.part
        for pair in setting.pairs:
            if pair.name == "every item at exactly tau":
                users = part.goal.users
                assert users is not None
                counts = Counter(line.partition(",")[2] for line in set(pair.left))
                assert set(counts.values()) == {part.mechanism.tau}
                assert len(counts) == users * part.kind.items_per_user // part.mechanism.tau
                held = Counter(line.partition(",")[0] for line in pair.left)
                assert max(held.values()) <= part.kind.items_per_user


def test_no_set_of_things_belongs_to_two_copies() -> None:
    sides = [30, 30, 7, 7]
    shared = SharedThings.of(sides)
    names = [shared.item_names(*divmod(place, 2)) for place in range(len(sides))]
    copies = [each for side in names for each in zip(*map(pa.Array.to_pylist, side), strict=True)]
    assert len(copies) == sum(sides)
    held = [pair for things in copies for pair in combinations(sorted(things), 2)]
    assert len(set(held)) == len(held) == 6 * len(copies)
    every = list(combinations(sorted({thing for things in copies for thing in things}), 2))
    one, two = (pa.array(each) for each in zip(*every, strict=True))
    table = pa.table({"item_1": one, "item_2": two, "count": pa.array(range(len(every)))})
    found = shared.published_copies(table)
    assert len(found.item) == len(held)
    for item, pair, side, copy, place in zip(*found, strict=True):
        things = copies[sum(sides[: 2 * pair + side]) + copy]
        assert every[place] == (things[item // 10], things[item % 10])


def test_halves_share_no_run() -> None:
    setting = PLANS[0]
    pair = setting.pairs[0]
    outcome = np.array([[0, 1, 0, 1], [2, 3, 2, 3]])
    found = tally_outcomes(setting, pair, outcome)
    assert found.choosing[:, :4].tolist() == [[2, 0, 0, 0], [0, 0, 2, 0]]
    assert found.testing[:, :4].tolist() == [[0, 2, 0, 0], [0, 0, 0, 2]]


def test_trials_are_all_there_however_they_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zealous.audit.trials._MOST_LINES", 2_000)
    setting = [each for each in PLANS if each.planned.goal.unit == "user"][1]
    pairs = setting.pairs
    rarer = replace(setting, pairs=(*pairs[:-1], pairs[-1]._replace(every=10)))
    for pair, found in zip(pairs, run_trials(rarer, 700), strict=True):
        half = 350 if pair is not pairs[-1] else found.choosing[0].sum()
        assert 30 <= half <= 350
        assert found.choosing.sum(axis=1).tolist() == [half, half]
        assert found.testing.sum(axis=1).tolist() == [half, half]


@examples(60)
@given(
    epsilon=st.fractions(Fraction(1, 2), 12, max_denominator=20),
    delta=st.fractions(Fraction(1, 10**4), Fraction(3, 5), max_denominator=10**4),
    m=st.integers(1, 5),
    users=st.integers(1, 300),
    neighbors=st.sampled_from(["replace", "add-remove"]),
    probabilistic=st.booleans(),
)
def test_the_second_derivation_agrees(
    epsilon: Fraction,
    delta: Fraction,
    m: int,
    users: int,
    neighbors: Neighbors,
    probabilistic: bool,
) -> None:
    kind = ProbabilisticDP if probabilistic else Indistinguishability
    best = calibrate(kind(epsilon=epsilon, delta=delta, users=users, neighbors=neighbors), m)
    again = parameters(
        epsilon=epsilon,
        delta=delta,
        items_per_user=m,
        users=users,
        probabilistic=probabilistic,
        replace=neighbors == "replace",
    )
    assert (best.scale, best.tau_prime) == (again.scale, again.tau_prime)
    assert float(best.delta) == pytest.approx(float(again.delta), rel=1e-12)


def test_a_plan_whose_numbers_do_not_follow_is_noticed() -> None:
    planned = next(plan for plan in PLANS if plan.planned.goal.users).planned
    (stated,), users = plan_record(planned), planned.goal.users
    assert stated.tau_prime is not None
    assert follows_from_theorems(stated, users)
    for name, wrong in (
        ("tau", 1),
        ("tau_prime", stated.tau_prime - 1),
        ("delta_achieved", 0.2),
    ):
        assert not follows_from_theorems(structs.replace(stated, **{name: wrong}), users)
    assert not follows_from_theorems(stated, 13)


# The whole audit


def test_too_few_trials_are_refused() -> None:
    with pytest.raises(UsageError, match="trials"):
        audit(10)


@pytest.fixture(scope="module")
def of_pairs() -> Audit:
    """All pairs of all plans; one for all tests that look at the whole of it."""
    return audit(2_000, parts=["pairs"])


def test_all_tests_together_stay_below_the_stated_chance_of_a_false_alarm(of_pairs: Audit) -> None:
    found = of_pairs
    tests = [seen for each in found.measurements for seen in [*each.by_epsilon, *each.by_delta]]
    noises = sum(test.bounds for plan in PLANS for test in plan.small) * alpha_per_test(PLANS)
    assert sum(seen.alpha for seen in tests) + noises + BY_ACCIDENT == pytest.approx(FALSE_ALARMS)
    assert FALSE_ALARMS <= 1e-7


def test_the_power_names_the_best_and_the_worst_pair_of_each_guarantee() -> None:
    chance = np.random.default_rng(5)
    few, many = (measured(trials, 2 / 3, chance) for trials in (4_000, 400_000))
    no_test = replace(few, by_epsilon=[])
    found = Audit(trials=1, measurements=[few, no_test, many], checks=[]).power()
    assert found == {"indistinguishable": (many, few)}
    assert Audit(trials=1, measurements=[no_test], checks=[]).power() == {}


def test_both_guarantees_test_epsilon_at_m_1_and_2() -> None:
    found = {
        (each.definition, part.kind.items_per_user)
        for setting in PLANS
        for each, part in [(setting.planned.goal, setting.part)]
        if any(pair.pure and pair.right is not None for pair in setting.pairs)
    }
    assert found >= {(kind, m) for kind in ("indistinguishable", "probabilistic") for m in (1, 2)}


@pytest.mark.soak
@pytest.mark.false_alarm(FALSE_ALARMS, "a whole audit, by the real command")
def test_the_command_prints_claims_beside_what_was_seen(tmp_path: Path) -> None:
    program = tmp_path / "command.py"
    program.write_text("from zealous.cli.audit import audit\n\naudit()\n")
    done = subprocess.run(
        [sys.executable, program, "--trials", "2000"],
        capture_output=True,
        text=True,
        timeout=900,
        env=os.environ | {"COLUMNS": "300"},  # no name goes on in the next line
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed: no violation found" in done.stdout
    assert "seen from" in done.stdout
    assert "whole releases" in done.stderr
    assert "indistinguishable, best pair: an epsilon" in done.stdout
    assert "probabilistic, worst pair: an epsilon" in done.stdout
    for setting in PLANS:
        for pair in setting.pairs:
            assert pair.name in done.stdout


@pytest.mark.soak
@pytest.mark.false_alarm(
    4 * max(len(plan.pairs) for plan in PLANS) * alpha_per_test(PLANS),
    "four bounds for each pair of logs of a plan",
)
@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_a_million_trials_find_nothing(plan: Setting) -> None:
    assert audit(1_000_000, parts=["pairs"], plans=[plan]).failures() == []


def test_the_command_prints_one_object(of_pairs: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zealous.cli.audit.run", lambda trials, say: {2_000: of_pairs}[trials])
    done = CliRunner().invoke(command, ["--trials", "2000", "--json"])
    found = json.loads(done.stdout)
    assert found["passed"] is True
    assert found["trials"] == 2000
    assert [each["pair"] for each in found["pairs"]] == [
        pair.name for setting in PLANS for pair in setting.pairs
    ]
    assert all(each["epsilon"]["claimed"] >= 0 for each in found["pairs"])
    for guarantee in ("indistinguishable", "probabilistic"):
        best, worst = (found["power"][guarantee][how] for how in ("best", "worst"))
        assert 0 < best["excess"] <= worst["excess"]
        named = {(each["setting"], each["pair"]): each["epsilon"] for each in found["pairs"]}
        shown = named[best["setting"], best["pair"]]
        assert shown["seen_from"] / shown["claimed"] - 1 == pytest.approx(best["excess"])


def test_runs_of_the_audit_are_not_remembered_beside_the_owners_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "owner"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    (tmp_path / "files/one").mkdir(parents=True)
    log = tmp_path / "files/one/log.csv"
    log.write_text("user,query\n" + "".join(f"u{n},tea\n" for n in range(60)))
    options = ["--items", "queries", "--items-per-user", "1", "--users", "60", "--epsilon", "9",
               "--delta", "0.01"]  # fmt: skip
    run = start_run(log, options)()
    assert (run.code, run.directory.exists()) == (0, True)
    assert not state.exists()
