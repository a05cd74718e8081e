"""Sets, made of published things."""

from __future__ import annotations

import math

from zealous.audit import pairs_sets as sets
from zealous.audit.layout import Layout
from zealous.audit.setting import Setting, build_pairs, register
from zealous.audit.small_releases import SETS
from zealous.items import itemsets
from zealous.mechanisms.of_smaller import FORECAST_CANDIDATES, OfSmaller, OfSmallerGaussian
from zealous.planning.plan import Plan, plan
from zealous.privacy.guarantee import Guarantee, Indistinguishability

_LAYOUT = Layout(
    header=",".join(["user", *sets.COLUMNS, sets.BASKET]), lists={}, shared=sets.SharedThings.of
)


@register("of-smaller")
def settings() -> list[Setting]:
    """With either noise."""
    return [_laplace_setting(), _gaussian_setting()]


def _laplace_setting() -> Setting:
    planned = _plan_sets(Indistinguishability(epsilon=15, delta="0.001"), 2, OfSmaller.name)
    last = planned.parts[-1]
    popular = OfSmaller.calibrate(last.goal, last.kind.items_per_user).threshold(
        FORECAST_CANDIDATES
    )
    return Setting(
        name="of-smaller, 2 things",
        planned=planned,
        pairs=build_pairs(
            planned,
            [sets.set_replaced, sets.set_in_many_baskets, sets.never_in_one_basket],
            popular,
        ),
        popular=popular,
        edges=tuple(range(popular, popular + 3)),
        layout=_LAYOUT,
        small=(SETS,),
    )


def _gaussian_setting() -> Setting:
    """Looked at by what all of somebody's sets have together."""
    goal = Indistinguishability(epsilon=5, delta="0.3", neighbors="add-remove")
    planned = _plan_sets(goal, 4, OfSmallerGaussian.name)
    last = planned.parts[-1]
    made = OfSmallerGaussian.calibrate(last.goal, last.kind.items_per_user)
    popular = made.threshold(FORECAST_CANDIDATES) + math.ceil(made.scale)
    return Setting(
        name="of-smaller-gaussian, 4 things, add-remove",
        planned=planned,
        pairs=build_pairs(planned, [sets.user_joins_all_sets], popular),
        popular=popular,
        edges=tuple(range(popular, popular + 7)),
        layout=_LAYOUT,
    )


def _plan_sets(goal: Guarantee, things: int, mechanism: str) -> Plan:
    """Things, single things and sets of two; a fifth of epsilon is for these."""
    _, *kinds = itemsets(*sets.COLUMNS, max_size=2, items_per_user=things, basket=sets.BASKET)
    names = [kind.name() for kind in kinds]
    split = dict(zip(names, (3, 1, 1), strict=True))
    return plan(goal, kinds, split=split, mechanism={names[-1]: mechanism})
