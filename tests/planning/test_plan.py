import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import pytest
from scipy.stats import dlaplace

from zealous.errors import Refused, UsageError
from zealous.items import (
    Kind,
    UnknownKind,
    clicks,
    columns,
    itemsets,
    keywords,
    queries,
    query_clicks,
    query_pairs,
)
from zealous.logs.log import Columns, read_log
from zealous.planning.log_binding import LogBinding
from zealous.planning.part import Part, figures, forecast
from zealous.planning.plan import Plan, other_guarantee, plan
from zealous.planning.plan_text import claim_text
from zealous.planning.together import cost_of_releases
from zealous.privacy.guarantee import (
    Guarantee,
    Indistinguishability,
    Neighbors,
    ProbabilisticDP,
    format_number,
)
from zealous.privacy.promise import promise
from zealous.release.publish import publish

GOAL = ProbabilisticDP(epsilon=1, delta="0.001", users=500_000)
NEIGHBORS: tuple[Neighbors, ...] = get_args(Neighbors)


def only(planned: Plan) -> Part:
    (part,) = planned.parts
    return part


def per_person(delta: str, users: int | None) -> Indistinguishability:
    return Indistinguishability(epsilon=2, delta=delta, users=users)


# Splitting


def test_one_kind_gets_the_whole_budget() -> None:
    part = only(plan(GOAL, [queries(2)]))
    assert part.goal == GOAL
    assert (part.name(), part.mechanism.items_per_user) == ("queries", 2)
    assert (part.mechanism.scale, part.mechanism.tau_prime) == (4, 79)
    assert 0 < part.delta <= GOAL.delta


def test_kinds_share_evenly_unless_told() -> None:
    planned = plan(GOAL, [queries(2), keywords(20), columns("shop", items_per_user=1)])
    assert [part.goal for part in planned.parts] == [GOAL.share(Fraction(1, 3))] * 3
    assert [part.mechanism.scale for part in planned.parts] == [12, 120, 6]


@pytest.mark.parametrize(
    "split", [{"queries": 3, "keywords": 1}, {"queries": 0.3, "keywords": ".1"}]
)
def test_weights_split_the_budget(split: dict[str, Any]) -> None:
    planned = plan(GOAL, [queries(2), keywords(20)], split=split)
    assert [part.goal for part in planned.parts] == [
        GOAL.share(Fraction(3, 4)),
        GOAL.share(Fraction(1, 4)),
    ]


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("kind", [ProbabilisticDP, Indistinguishability])
def test_the_parts_compose_to_the_goal(kind: type[Guarantee], neighbors: Neighbors) -> None:
    goal = kind(epsilon="0.7", delta="1e-9", users=1000, neighbors=neighbors)
    planned = plan(goal, [queries(1), keywords(3)], split={"queries": "1/3", "keywords": 5})
    assert planned.goal == goal
    total = sum(part.goal.epsilon for part in planned.parts)
    assert total == goal.epsilon if kind is ProbabilisticDP else total >= goal.epsilon
    assert sum(part.goal.delta for part in planned.parts) == goal.delta
    assert planned.delta_achieved <= goal.delta
    for part in planned.parts:
        moved = part.goal.moved_counts(part.mechanism.items_per_user)
        assert part.mechanism.scale >= moved / part.goal.epsilon
        assert part.delta <= part.goal.delta


@pytest.mark.parametrize(
    "split",
    [
        {"queries": 1},
        {"queries": 1, "clicks": 1},
        {"queries": 1, "keywords": 1, "clicks": 1},
        {"queries": 1, "keywords": 0},
        {"queries": 1, "keywords": -1},
        {"queries": 1, "keywords": "much"},
        {"queries": 1, "keywords": float("nan")},
    ],
    ids=str,
)
def test_a_wrong_split_is_refused(split: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="split"):
        plan(GOAL, [queries(2), keywords(20)], split=split)


def test_nothing_or_the_same_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one kind"):
        plan(GOAL, [])
    with pytest.raises(UsageError, match="once"):
        plan(GOAL, [queries(2), queries(3)])


# A delta per person


def test_a_delta_that_a_population_would_notice_needs_confirmation() -> None:
    goal = per_person("0.001", 400_000)
    with pytest.raises(Refused, match=r"per person.*400,000 users.*accept_delta=True"):
        plan(goal, [queries(5)])
    assert only(plan(goal, [queries(5)], accept_delta=True)).mechanism.tau_prime == 40


def test_up_to_a_tenth_of_a_person_needs_none() -> None:
    assert plan(per_person("0.0001", 1000), [queries(5)])
    with pytest.raises(Refused):
        plan(per_person("0.000100000000000000000001", 1000), [queries(5)])


@pytest.mark.parametrize("users", [1, 3, 6, 7, 600, 650_000, 1_500_000])
def test_the_delta_that_the_refusal_advises_is_accepted(users: int) -> None:
    with pytest.raises(Refused) as refused:
        plan(per_person("0.5", users), [queries(5)])
    advised = str(refused.value).partition("Lower it to ")[2].split()[0]
    assert plan(per_person(advised, users), [queries(5)])


def test_neither_an_unknown_population_nor_the_probabilistic_guarantee_asks() -> None:
    assert plan(per_person("0.1", None), [queries(5)])
    assert plan(ProbabilisticDP(epsilon=1, delta="0.1", users=10**6), [queries(5)])


# Forecasts


def test_the_single_persons_whom_a_delta_per_person_lets_through() -> None:
    # Five queries of each of 400,000 people, two million, all asked by one person only.
    part = only(
        plan(per_person("0.001", 400_000), [UnknownKind(items_per_user=5)], accept_delta=True)
    )
    single = forecast(part).single_person_items
    assert single == pytest.approx(2_000_000 * dlaplace(1 / 5).cdf(-40))
    assert single == pytest.approx(369, abs=0.5)
    assert "up to 369 items held by one person" in str(plan_of(part))


def plan_of(part: Part) -> Plan:
    return Plan(goal=part.goal, parts=(part,))


def test_single_persons_are_never_shown_from_tau_two_on() -> None:
    part = only(plan(GOAL, [queries(2)]))
    assert part.mechanism.tau == 4
    assert forecast(part).single_person_items == 0
    assert "single persons" not in str(plan_of(part))
    without = only(plan(per_person("0.001", None), [queries(2)]))
    assert forecast(without).single_person_items is None


@pytest.mark.parametrize("m", [1, 5, 40])
def test_the_forecast_is_what_scipy_says(m: int) -> None:
    part = only(plan(GOAL, [queries(m)]))
    mechanism, expected = part.mechanism, forecast(part)
    noise = dlaplace(1 / float(mechanism.scale))
    assert mechanism.tau_prime is not None
    appear = expected.users_to_appear
    for percent, users in ((5, appear.low), (50, appear.half), (95, appear.high)):
        assert users >= mechanism.tau
        assert noise.sf(mechanism.tau_prime - users) >= percent / 100
        assert noise.sf(mechanism.tau_prime - users + 1) < percent / 100 or users == mechanism.tau
    x = expected.error_95
    assert noise.cdf(x) - noise.cdf(-x - 1) >= 0.95
    assert noise.cdf(x - 1) - noise.cdf(-x) < 0.95


def test_a_plan_under_which_nothing_can_appear_says_so() -> None:
    hopeless = plan(ProbabilisticDP(epsilon="0.01", delta="1e-6", users=100), [queries(2)])
    assert "nothing will appear" in str(hopeless)
    assert "nothing will appear" not in str(plan(GOAL, [queries(2)]))


# Printing


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("kind", [ProbabilisticDP, Indistinguishability])
def test_figures_are_the_stable_contract(kind: type[Guarantee], neighbors: Neighbors) -> None:
    goal = kind(epsilon="1", delta="1e-8", users=500_000, neighbors=neighbors)
    part = only(plan(goal, [queries(2)]))
    told = json.loads(json.dumps(figures(part)))
    assert told["guarantee"] == goal.definition
    assert told["neighbors"] == neighbors
    assert (told["epsilon"], told["delta"], told["users"]) == (1.0, 1e-8, 500_000)
    assert told["items_per_user"] == 2
    assert told["noise"] == "discrete-laplace"
    assert told["scale"] == float(part.mechanism.scale)
    assert (told["tau"], told["tau_prime"]) == (part.mechanism.tau, part.mechanism.tau_prime)
    assert told["exact"] == {
        "epsilon": "1",
        "delta": "1/100000000",
        "scale": str(told["scale"])[:1],
    }
    assert Fraction(told["delta_achieved"]) >= part.delta
    assert math.nextafter(told["delta_achieved"], 0) < part.delta


def test_kinds_of_both_guarantees_are_two_releases() -> None:
    goal = ProbabilisticDP(epsilon=2, delta="1e-3", users=1000)
    with pytest.raises(UsageError, match="publish this one as a release of its own"):
        plan(goal, [queries(5), keywords(5)], mechanism={"keywords": "gaussian"})


def test_the_claim_says_what_twelve_releases_cost() -> None:
    planned = plan(GOAL, [queries(2)])
    assert cost_of_releases(GOAL, planned.parts, 12) == (12, Fraction(12, 1000))
    large = per_person("0.5", None)
    assert cost_of_releases(large, plan(large, [queries(2)]).parts, 12) == (24, 1)
    words = claim_text(planned, other_guarantee(planned))
    assert promise(GOAL) in words
    assert "epsilon = 12, delta = 0.012" in words
    private = Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
    by_noise = plan(private, [queries(5)], mechanism="gaussian")
    composed = claim_text(by_noise, other_guarantee(by_noise))
    assert "epsilon = 3.68296, delta = 1.2e-5 if planned in advance; added" in composed


@pytest.mark.parametrize(
    "kind",
    [
        columns("uid", items_per_user=1),
        columns("shop", "uid", items_per_user=1),
        columns("shop", items_per_user=1, by="uid"),
        itemsets("shop", "uid", items_per_user=1, max_size=1),
    ],
    ids=str,
)
def test_who_a_person_is_is_not_published(kind: Kind, tmp_path: Path) -> None:
    made = plan(ProbabilisticDP(epsilon=1, delta="0.01", users=100), kind)
    with pytest.raises(UsageError, match="would publish 'uid'"):
        made.for_log(Columns(user="uid"))
    assert made.for_log(Columns(user="person")).log is not None
    (tmp_path / "log.csv").write_text("uid,shop\nann,tea\n")
    by_hand = replace(made, log=LogBinding(columns=Columns(user="uid")))
    with pytest.raises(UsageError, match="would publish 'uid'"):
        by_hand.bind(read_log(tmp_path / "log.csv", columns=Columns(user="uid")))


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        (queries(1), "query"),
        (keywords(1), "keywords"),
        (keywords(1), "query"),
        (clicks(1), "url"),
        (query_clicks(1), "url"),
        (query_pairs(1), "query"),
    ],
    ids=str,
)
def test_who_a_person_is_makes_no_item(kind: Kind, role: str, tmp_path: Path) -> None:
    made = plan(ProbabilisticDP(epsilon=1, delta="0.01", users=100), kind)
    others = {"query": "q", "url": "u", "time": "t", "session": "uid"}
    bad = Columns(**{"user": "uid", **others, role: "uid"})
    with pytest.raises(UsageError, match=rf"made of 'uid', .* by .*{role}="):
        made.for_log(bad)
    assert made.for_log(Columns(user="uid", **others)).log is not None
    (tmp_path / "log.csv").write_text("uid,q,u,t\nann,tea,a.com,2026-01-01\n")
    with pytest.raises(UsageError, match="made of 'uid'"):
        publish(read_log(tmp_path / "log.csv", columns=bad), made.goal, [kind], account=None)


def test_a_plan_prints_each_part() -> None:
    planned = plan(GOAL, [queries(2), keywords(20)])
    text, other = str(planned), other_guarantee(planned)
    assert claim_text(planned, other_guarantee(planned)) in text
    assert other is not None
    assert f"delta is {format_number(other.delta)} per person, and 0.001 for anybody at all" in text
    for part in plan(GOAL, [queries(2), keywords(20)]).parts:
        assert f"{part.name()}: at most {part.mechanism.items_per_user} a user" in text
        assert f"tau {part.mechanism.tau}, tau' {part.mechanism.tau_prime}" in text
