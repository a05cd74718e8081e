"""Keys that rounds find together, and counts of them."""

from __future__ import annotations

import math
from fractions import Fraction

from zealous.audit import pairs
from zealous.audit import pairs_rounds as keys
from zealous.audit.setting import Setting, build_pairs, register
from zealous.items import queries
from zealous.mechanisms.pooled import Pooled
from zealous.planning.part import Part
from zealous.planning.plan import Plan
from zealous.privacy.accounting.pooled import PooledRound
from zealous.privacy.guarantee import Indistinguishability

_SURE = 4  # deviations of the evidence's noise: what is so far above a threshold is a key
_WEIGHT = 1000  # of a user who keeps one item
# Little noise that steers sharply: who keeps few items is steered by their luck, and few people
# tip what others give. No calibrated plan is like that.
_SCALE, _PARTS, _THRESHOLDS = 1000, (1, 1, 1), (3500, 5500, 7500)


@register("pooled")
def settings() -> list[Setting]:
    """Three rounds in which people give nearly all their weight to what did best so far."""
    goal = Indistinguishability(epsilon=3, delta="0.5", neighbors="add-remove")
    made = Pooled(
        items_per_user=1,
        scale=Fraction(152, 101),
        kept=4,
        rounds=tuple(
            PooledRound(
                scale=_SCALE,
                part=part,
                threshold=threshold,
                steepness=500 if number else 0,
                cap=300,
            )
            for number, (part, threshold) in enumerate(zip(_PARTS, _THRESHOLDS, strict=True))
        ),
    )
    part = Part(kind=queries(1), goal=goal, mechanism=made, delta=made.delta(goal))
    planned = Plan(goal=goal, parts=(part,))
    far = _THRESHOLDS[-1] + _SURE * _SCALE * math.hypot(*_PARTS)
    popular = math.ceil(far / (sum(_PARTS) * _WEIGHT))
    builders = [
        pairs.user_joins,
        pairs.m_items_of_one_user,
        keys.more_than_any_bound,
        keys.weight_tipped,
        keys.several_popular_items,
    ]
    return [
        Setting(
            name="three pooled rounds, add-remove",
            planned=planned,
            pairs=build_pairs(planned, builders, popular, (made.kept,)),
            popular=popular,
            edges=tuple(range(popular, popular + 3)),
        )
    ]
