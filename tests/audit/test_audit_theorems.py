"""What the audit works out a second time: deltas, noise, and what one user alone betrays."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace
from scipy import stats

from zealous.audit import theorems
from zealous.audit.recompute import follows_from_theorems, whole_follows
from zealous.audit.setting import settings
from zealous.items import keywords, queries
from zealous.mechanisms import Selection
from zealous.mechanisms.protocol import MECHANISMS, public_input_name
from zealous.planning.declared import PublicFile
from zealous.planning.plan import plan, plan_with_files
from zealous.privacy.guarantee import Indistinguishability, Neighbors
from zealous.record.record import PartRecord
from zealous.release.provenance import plan_record

PLANS = settings()
THRESHOLDS = ("laplace", "gaussian", "selection")
IN_ROUNDS = ("pooled", "prior")


def planned(name: str, m: int, **numbers: Any) -> PartRecord:
    """What a release says of its table, planned so."""
    used = public_input_name(MECHANISMS[name])
    file = PublicFile(use=used, name="public.txt", sha256="0" * 64) if used else None
    public = {"queries": file} if file else {}
    goal = Indistinguishability(**numbers)
    (part,) = plan_record(plan_with_files(goal, [queries(m)], public, mechanism=name))
    return part


def rounds_of(part: PartRecord) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = to_builtins(part)["parameters"]["rounds"]
    return found


def with_rounds(part: PartRecord, rounds: list[dict[str, Any]]) -> PartRecord:
    """The same with other rounds."""
    others = {"kept_items_per_user": 1, **(part.parameters or {})}
    return replace(part, parameters={**others, "rounds": rounds})


def with_its_delta(part: PartRecord) -> PartRecord:
    """The same that states the delta of its parameters."""
    return replace(part, delta_achieved=theorems.deltas(part)[1])


@examples(25)
@given(
    name=st.sampled_from([*THRESHOLDS, *IN_ROUNDS, "domain"]),
    epsilon=st.fractions(Fraction(1, 2), 6, max_denominator=20),
    delta=st.fractions(Fraction(1, 10**6), Fraction(1, 2), max_denominator=10**6),
    m=st.integers(1, 6),
    neighbors=st.sampled_from(["replace", "add-remove"]),
)
def test_the_second_derivation_agrees(
    name: str, epsilon: Fraction, delta: Fraction, m: int, neighbors: Neighbors
) -> None:
    m = 1 if name == "selection" else m
    assert follows_from_theorems(
        planned(name, m, epsilon=epsilon, delta=delta, neighbors=neighbors), None
    )


@pytest.mark.parametrize("name", [*THRESHOLDS, *IN_ROUNDS])
def test_a_delta_that_is_not_that_of_the_parameters_is_noticed(name: str) -> None:
    part = planned(name, 1, epsilon=1, delta="0.1")
    assert follows_from_theorems(part, None)
    for wrong in (0.98, 1.02):
        other = replace(part, delta_achieved=part.delta_achieved * wrong)
        assert not follows_from_theorems(other, None)


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_a_threshold_that_is_too_low_or_too_high_is_noticed(name: str) -> None:
    part = planned(name, 2, epsilon=1, delta="0.01")
    assert part.tau_prime is not None
    for step in (-1, 1):
        other = with_its_delta(replace(part, tau_prime=part.tau_prime + step))
        assert not follows_from_theorems(other, None)


@pytest.mark.parametrize("name", IN_ROUNDS)
def test_rounds_with_less_noise_or_a_lower_threshold_are_noticed(name: str) -> None:
    part = planned(name, 2, epsilon=1, delta="0.01")
    drawn = rounds_of(part)
    for key, changed in (("scale", drawn), ("threshold", drawn[-1:])):  # all noise; one threshold
        lower = [{**each, key: each[key] * 8 // 10} for each in changed]
        other = with_its_delta(with_rounds(part, [*drawn[: -len(lower)], *lower]))
        assert other.delta_achieved > part.delta
        assert not follows_from_theorems(other, None)


@pytest.mark.parametrize("name", ["domain", "selection"])
def test_a_scale_that_is_not_that_of_epsilon_is_noticed(name: str) -> None:
    part = planned(name, 1, epsilon=1, delta="0.1")
    for scale in ("1", "3"):
        other = replace(part, scale=float(scale), exact=replace(part.exact, scale=scale))
        assert not follows_from_theorems(other, None)


@pytest.mark.parametrize("name", [*THRESHOLDS, *IN_ROUNDS, "domain"])
def test_noise_is_a_distribution_around_zero(name: str) -> None:
    part = planned(name, 1, epsilon=2, delta="0.01")
    law = theorems.noise(part)
    values = np.arange(law.first, law.first + len(law.chances))
    assert law.chances.sum() == pytest.approx(1)
    assert values[law.chances.argmax()] == 0
    if name != "selection":
        assert values @ law.chances == pytest.approx(0, abs=1e-9)
    if name in IN_ROUNDS:  # rounded to whole numbers
        spread = np.sqrt(values**2 @ law.chances)
        assert spread == pytest.approx(np.hypot(part.scale, np.sqrt(1 / 12)), rel=1e-3)


def test_capped_noise_is_mixed_as_it_is_drawn() -> None:
    goal = Indistinguishability(epsilon=1, delta="0.05")
    law = theorems.noise(planned("selection", 1, epsilon=1, delta="0.05"))
    mechanism = Selection.calibrate(goal, 1)
    top = law.first + len(law.chances) - 1
    assert top == mechanism.tau_prime + 1
    assert law.chances[-1] < law.chances[-2] * np.exp(-0.5)  # of those held longer alone


@pytest.mark.parametrize("name", THRESHOLDS)
def test_what_one_user_alone_has_appears_as_often_as_planned(name: str) -> None:
    part = planned(name, 1, epsilon=1, delta="0.1")
    made = MECHANISMS[name].calibrate(Indistinguishability(epsilon=1, delta="0.1"), 1)
    assert theorems.unique_item_probability(part, 1) == pytest.approx(
        made.publication_probability(1), rel=1e-12
    )
    assert theorems.unique_item_probability(part, 5) == theorems.unique_item_probability(part, 1)


@pytest.mark.parametrize("name", IN_ROUNDS)
def test_what_one_user_alone_gives_is_at_most_what_is_planned_for(name: str) -> None:
    goal = Indistinguishability(epsilon=1, delta="0.1")
    part, made = planned(name, 1, epsilon=1, delta="0.1"), MECHANISMS[name].calibrate(goal, 1)
    chances = [theorems.unique_item_probability(part, items) for items in range(1, 120)]
    assert max(chances) <= made.expected_unique_items(1)
    assert max(chances) > 0.5 * made.expected_unique_items(1)


def test_normals_and_discrete_gaussians_are_told_apart_as_known() -> None:
    part = planned("gaussian", 4, epsilon=1, delta="1e-4")
    mu, sigma = np.sqrt(8) / part.scale, part.scale
    known = stats.norm.sf(1 / mu - mu / 2) - np.e * stats.norm.sf(1 / mu + mu / 2)
    assert theorems.noise_delta(part) == pytest.approx(known, rel=0.2 / sigma)
    in_rounds = with_rounds(part, [])
    assert theorems.noise_delta(in_rounds) == pytest.approx(known)
    assert theorems.noise_delta(in_rounds, 0.5) > theorems.noise_delta(in_rounds)


def test_no_pair_claims_more_than_its_plan() -> None:
    for setting in PLANS:
        goal = setting.planned.goal if setting.tables > 1 else setting.part.goal
        for pair in setting.pairs:
            found = setting.claimed(setting.planned, pair)
            assert found.epsilon <= float(goal.epsilon)
            if pair.at == 1:
                assert found.delta <= float(goal.delta)


def test_every_mechanism_is_tried() -> None:
    tried = {part.mechanism.name for setting in PLANS for part in setting.planned.parts}
    sets = {"listed", "of-smaller", "of-smaller-gaussian"}
    assert tried >= {"zealous", "domain", *THRESHOLDS, *IN_ROUNDS, *sets}


@pytest.mark.parametrize("mechanism", ["zealous", "gaussian"])
def test_kinds_are_composed_a_second_time(mechanism: str) -> None:
    goal = Indistinguishability(epsilon=1, delta="1e-6")
    planned = plan(goal, [queries(5), keywords(3)], mechanism=mechanism)
    parts = plan_record(planned)
    least = theorems.least_delta_together(parts, 1.0)
    assert 0.98 * float(planned.delta_achieved) <= least <= float(planned.delta_achieved)
    assert whole_follows(parts, goal.epsilon, goal.delta)
    less = [replace(part, scale=0.95 * part.scale) for part in parts]
    assert not whole_follows(less, goal.epsilon, goal.delta)
    assert not whole_follows(parts[:1], goal.epsilon, goal.delta)


def test_keys_that_lower_thresholds_expose_are_in_the_whole() -> None:
    goal = Indistinguishability(epsilon=1, delta="1e-6")
    parts = plan_record(plan(goal, [queries(5), keywords(3)], mechanism="pooled"))
    assert whole_follows(parts, goal.epsilon, goal.delta)
    lower = [
        with_rounds(
            part, [{**each, "threshold": each["threshold"] * 7 // 10} for each in rounds_of(part)]
        )
        for part in parts
    ]
    assert not whole_follows(lower, goal.epsilon, goal.delta)
