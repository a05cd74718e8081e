"""Keys that rounds find together, and counts of them; with a public prior too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from zealous.audit import pairs
from zealous.audit import pairs_keys as keys
from zealous.audit.pairs import Builder, Pair
from zealous.audit.setting import Setting, build_pairs, register
from zealous.items import queries
from zealous.mechanisms.pooled import Pooled
from zealous.mechanisms.prior import Prior
from zealous.planning.part import Part
from zealous.planning.plan import Plan, plan
from zealous.privacy.accounting.pooled import PooledRound
from zealous.privacy.guarantee import Guarantee, Indistinguishability

_SURE = 4  # deviations of the evidence's noise: what is so far above a threshold is a key
_WEIGHT = 1000  # of a user who keeps one item
# Little noise that steers sharply: who keeps few items is steered by their luck, and few people
# tip what others give. Where noise hides a user well, she must have much that is listed to be seen.
# No calibrated plan is like either.
_THREE_ROUNDS = Pooled(
    items_per_user=1,
    scale=Fraction(152, 101),
    kept_items_per_user=4,
    rounds=tuple(
        PooledRound(
            scale=1000, multiplier=1, threshold=threshold, steepness=500 if number else 0, cap=300
        )
        for number, threshold in enumerate((3500, 5500, 7500))
    ),
)
_ONE_ROUND = Prior(
    items_per_user=1,
    scale=Fraction(1011, 101),
    kept_items_per_user=64,
    rounds=(PooledRound(scale=2000, multiplier=1, threshold=10_000, steepness=0, cap=0),),
    head_start=200,
)


@register("pooled")
def settings() -> list[Setting]:
    """What a plan gives; rounds in which people give nearly all to what did best so far; a list."""
    joining = partial(Indistinguishability, neighbors="add-remove")
    return [
        pooled_setting(
            "pooled, m = 2",
            plan(Indistinguishability(epsilon=1, delta="0.3"), [queries(2)], mechanism="pooled"),
            [pairs.popular_items_replaced, pairs.m_items_of_one_user, keys.item_in_many_rows],
        ),
        pooled_setting(
            "three pooled rounds, add-remove",
            _plan_with(joining(epsilon=3, delta="0.5"), _THREE_ROUNDS),
            [
                pairs.user_joins,
                pairs.m_items_of_one_user,
                keys.more_than_any_bound,
                keys.key_found_last,
                keys.weight_tipped,
                keys.several_popular_items,
            ],
        ),
        pooled_setting(
            "three pooled rounds, replace",
            _plan_with(Indistinguishability(epsilon=3, delta="0.9"), _THREE_ROUNDS),
            [pairs.unique_items_replaced, keys.weights_tipped_both_ways],
        ),
        pooled_setting(
            "one round with a prior, add-remove",
            _plan_with(joining(epsilon=1, delta="0.02"), _ONE_ROUND),
            [pairs.m_items_of_one_user, keys.all_listed_items, keys.item_listed_many_times],
        ),
    ]


def _plan_with(goal: Guarantee, mechanism: Pooled) -> Plan:
    """A plan with these parameters, whatever would have been chosen."""
    kind, delta = queries(mechanism.items_per_user), mechanism.delta(goal)
    return Plan(goal=goal, parts=(Part(kind=kind, goal=goal, mechanism=mechanism, delta=delta),))


def pooled_setting(name: str, planned: Plan, builders: Sequence[Builder]) -> Setting:
    """A plan that ends with pooled rounds, and pairs where what is popular is sure to be a key."""
    figures = planned.parts[-1].mechanism.parameters()["parameters"]
    rounds = figures["rounds"]
    deviation = math.hypot(*(each["part"] * each["scale"] for each in rounds))
    parts = sum(each["part"] for each in rounds)
    each = _WEIGHT / math.sqrt(planned.parts[-1].kind.items_per_user)  # others keep as many
    popular = math.ceil((rounds[-1]["threshold"] + _SURE * deviation) / (parts * each))
    tried = build_pairs(planned, builders, popular, (figures["kept_items_per_user"],))
    return Setting(
        name=name,
        planned=planned,
        pairs=tuple(map(_with_fewer_runs, tried)),
        popular=popular,
        edges=tuple(range(popular, popular + 3)),
    )


def _with_fewer_runs(pair: Pair) -> Pair:
    """Logs in which something is sure to be a key are large."""
    return pair._replace(every=2) if pair.pure and pair.every == 1 else pair
