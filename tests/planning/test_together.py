"""The kinds of one release solved together: less noise, and a whole that keeps its goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import pyarrow as pa
import pytest

from zealous.items import Clicks, Kind, Queries, QueryClicks, clicks, keywords, queries, query_pairs
from zealous.mechanisms.protocol import MECHANISMS
from zealous.planning.plan import Plan, plan
from zealous.planning.several_releases import plan_series
from zealous.planning.shares import PartShare
from zealous.planning.together import losses
from zealous.privacy.composition import Filter, across_releases, delta_at
from zealous.privacy.guarantee import Indistinguishability, Neighbors, ProbabilisticDP
from zealous.release.charging import losses_of

FOUR = [queries(5), keywords(5), clicks(5), query_pairs(5)]


def planned(neighbors: Neighbors, kinds: Any = FOUR, **given: Any) -> Plan:
    goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors=neighbors)
    return plan(goal, kinds, **given)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_four_kinds_need_half_the_noise_of_added_epsilons(neighbors: Neighbors) -> None:
    one = planned(neighbors, FOUR[:1], mechanism="gaussian").parts[0].mechanism
    whole = planned(neighbors, mechanism="gaussian")
    assert whole.composed
    for part in whole.parts:
        assert one.tau_prime is not None
        assert part.mechanism.tau_prime is not None
        assert part.mechanism.scale <= Fraction("2.05") * one.scale
        assert part.mechanism.tau_prime <= Fraction("2.2") * one.tau_prime


@pytest.mark.parametrize("mechanism", ["zealous", "laplace", "gaussian", "pooled"])
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_the_whole_keeps_its_goal_and_wastes_little(neighbors: Neighbors, mechanism: str) -> None:
    whole = planned(neighbors, FOUR[:3], mechanism=mechanism)
    told = [part.mechanism.loss(neighbors) for part in whole.parts]
    assert whole.composed
    assert whole.delta_achieved == delta_at(told, Fraction(1))
    assert whole.delta_achieved <= whole.goal.delta < delta_at(told, Fraction("0.97"))
    assert whole.plan_again().parts == whole.parts
    for part in whole.parts:
        assert part.delta <= part.goal.delta


def test_shares_are_shares_of_the_loss() -> None:
    whole = planned("replace", FOUR[:2], mechanism="gaussian", split={"queries": 3, "keywords": 1})
    first, second = (part.goal.epsilon for part in whole.parts)
    assert first == 3 * second
    assert Fraction(1) < first + second < 2
    assert whole.delta_achieved <= whole.goal.delta


def test_probabilistic_shares_add_up() -> None:
    goal = ProbabilisticDP(epsilon=1, delta="0.001", users=500_000)
    whole = plan(goal, FOUR)
    assert not whole.composed
    assert sum(part.goal.epsilon for part in whole.parts) == 1
    assert whole.delta_achieved == sum(part.delta for part in whole.parts)


@pytest.mark.parametrize("mechanism", ["gaussian", "zealous"])
def test_a_year_of_releases_costs_what_it_may(mechanism: str) -> None:
    goal = Indistinguishability(epsilon=2, delta="1e-5", neighbors="add-remove")
    each = plan_series(goal, 12, lambda share: plan(share, FOUR[:1], mechanism=mechanism))
    year = across_releases(losses(each.parts, "add-remove") * 12)
    assert delta_at(year, goal.epsilon) <= goal.delta
    # A ledger with this cap grants all twelve, and one with a little less does not.
    assert Filter(epsilon=goal.epsilon, delta=goal.delta).spent(year).fits
    assert not Filter(epsilon=Fraction("1.97"), delta=goal.delta).spent(year).fits
    assert each.goal.epsilon > goal.epsilon / 12 * Fraction("1.1")
    assert plan_series(goal, 1, lambda share: plan(share, FOUR[:1])).goal == goal


def test_a_year_of_probabilistic_releases_is_divided() -> None:
    goal = ProbabilisticDP(epsilon=12, delta="0.012", users=1000)
    each = plan_series(goal, 12, lambda share: plan(share, FOUR[:1]))
    assert (each.goal.epsilon, each.goal.delta) == (1, Fraction(1, 1000))


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("first", ["pooled"])
def test_click_rates_that_published_queries_steer_add_their_exposure(
    first: str, neighbors: Neighbors
) -> None:
    kinds = [Queries(items_per_user=1), QueryClicks(items_per_user=1, follow=True)]
    rates = planned(neighbors, kinds, mechanism={"queries": first, "query-clicks": "gaussian"})
    alone = [part.mechanism.loss(neighbors) for part in rates.parts]
    added = delta_at(across_releases(alone), Fraction(1))
    assert delta_at(alone, Fraction(1)) < added  # what the maximum rule would say
    assert rates.composed
    assert rates.delta_achieved == added <= rates.goal.delta
    assert not any(loss.items for loss in losses_of(rates).for_neighbors(neighbors))


def _items_after(first: str, kind: Kind) -> int:
    """Of how many items the maximum rule hears, where a kind is published after queries."""
    goal = Indistinguishability(epsilon=1, delta="1e-6")
    queries_first, then = (
        PartShare(each, goal, MECHANISMS[name].calibrate(goal, 1))
        for each, name in ((Queries(items_per_user=1), first), (kind, "gaussian"))
    )
    return losses([queries_first, then], goal.neighbors)[1].items


def test_which_mechanisms_steer_what_follows_them() -> None:
    rates, beside = QueryClicks(items_per_user=1, follow=True), QueryClicks(items_per_user=1)
    ours = [name for name in MECHANISMS if MECHANISMS[name].__module__.startswith("zealous.")]
    assert {name for name in ours if _items_after(name, rates)} == {
        *("zealous", "laplace", "gaussian", "selection"),  # the whole log was counted
        "domain",  # a public list was
    }
    assert _items_after("pooled", beside)


def test_a_kind_that_is_given_published_tables_is_steered() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Given(Clicks):
        def with_inputs(self, released: Mapping[str, pa.Table]) -> Self:
            del released
            return self

    @dataclass(frozen=True, kw_only=True)
    class Made(Clicks):
        def builds_on(self) -> tuple[str, ...]:
            return ("queries",)

    found = [_items_after("gaussian", kind(items_per_user=1)) for kind in (Clicks, Given, Made)]
    assert found == [1, 0, 0]
