"""Keys that are found in rounds, and counts of them; with a public prior too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from zealous.audit import pairs
from zealous.audit import pairs_rounds as keys
from zealous.audit.pairs import Builder, Pair
from zealous.audit.setting import Setting, build_pairs, register
from zealous.audit.small_releases import NOISE, SmallTest
from zealous.counting.bound import Select
from zealous.items import queries
from zealous.mechanisms.prior import Prior
from zealous.mechanisms.rounds import Rounds, SetUnion, Sips
from zealous.planning.part import Part
from zealous.planning.plan import Plan, plan
from zealous.privacy.accounting.rounds import Round
from zealous.privacy.guarantee import Guarantee, Indistinguishability

_SURE = 4  # deviations of the noise on weights: what is so far above a threshold is a key
_WEIGHT = 1000  # of a user who gives one item
# Where nobody may give much, few people are enough to be steered; where noise hides a user well,
# she must have much that is listed to be seen. No calibrated plan is like that.
_TWO_ROUNDS = Rounds(
    items_per_user=1,
    scale=Fraction(152, 101),
    rounds=(Round(bound=2, scale=1000, threshold=2500), Round(bound=1, scale=1000, threshold=3500)),
)
_ONE_ROUND = Prior(
    items_per_user=1,
    scale=Fraction(1011, 101),
    rounds=(Round(bound=64, scale=2000, threshold=10_000),),
)


@register("rounds")
def settings() -> list[Setting]:
    """Rounds by chance, rounds that are steered, and one that is steered by a public list."""
    joining = partial(Indistinguishability, neighbors="add-remove")
    return [
        _setting(
            "set-union, m = 1",
            _plan_rounds(Indistinguishability(epsilon=1, delta="0.3"), 1, SetUnion.name),
            [
                pairs.popular_items_replaced,
                pairs.m_items_of_one_user,
                keys.item_in_many_rows,
                keys.more_than_any_bound,
            ],
        ),
        _setting(
            "sips, m = 2, add-remove",
            _plan_rounds(joining(epsilon=1, delta="0.3"), 2, Sips.name),
            [pairs.user_joins, pairs.m_items_of_one_user],
        ),
        _setting(
            "rounds, m = 1, add-remove",
            _plan_rounds(joining(epsilon=1, delta="0.3"), 1, Rounds.name),
            [pairs.user_joins, pairs.m_items_of_one_user, keys.key_found_last],
            small=(NOISE,),
        ),
        _setting(
            "two short rounds, add-remove",
            _plan_with(joining(epsilon=2, delta="0.3"), _TWO_ROUNDS),
            [keys.weight_tipped, keys.several_popular_items, keys.more_than_any_bound],
            select="frequent",
        ),
        _setting(
            "one round with a prior, add-remove",
            _plan_with(joining(epsilon=1, delta="0.02"), _ONE_ROUND),
            [pairs.m_items_of_one_user, keys.all_listed_items, keys.item_listed_many_times],
        ),
    ]


def _plan_rounds(goal: Guarantee, m: int, mechanism: str) -> Plan:
    return plan(goal, [queries(m)], mechanism=mechanism)


def _plan_with(goal: Guarantee, mechanism: Rounds) -> Plan:
    """A plan with these parameters, whatever would have been chosen."""
    kind, delta = queries(mechanism.items_per_user), mechanism.delta(goal)
    return Plan(goal=goal, parts=(Part(kind=kind, goal=goal, mechanism=mechanism, delta=delta),))


def _setting(
    name: str,
    planned: Plan,
    builders: Sequence[Builder],
    *,
    select: Select = "random",
    small: tuple[SmallTest, ...] = (),
) -> Setting:
    planned = replace(planned, select=select)
    made = planned.parts[-1].mechanism
    rounds = made.parameters()["rounds"]
    last, given = rounds[-1], math.isqrt(_WEIGHT**2 // made.items_per_user)
    popular = math.ceil((last["threshold"] + _SURE * last["scale"]) / given)
    bounds = tuple(each["items_per_user"] for each in rounds)
    return Setting(
        name=name,
        planned=planned,
        pairs=tuple(map(_with_fewer_runs, build_pairs(planned, builders, popular, bounds))),
        popular=popular,
        edges=tuple(range(popular, popular + 3)),
        small=small,
    )


def _with_fewer_runs(pair: Pair) -> Pair:
    """Logs in which something is sure to be a key are large."""
    return pair._replace(every=2) if pair.pure and pair.every == 1 else pair
