"""One histogram, with other noise than that of ZEALOUS."""

from __future__ import annotations

import math
from collections.abc import Sequence

from zealous.audit import pairs
from zealous.audit.pairs import Builder
from zealous.audit.setting import Setting, build_pairs, popular_count_and_edges, register
from zealous.audit.small_releases import NOISE, SmallTest
from zealous.items import queries
from zealous.mechanisms import Gaussian
from zealous.planning.plan import plan
from zealous.privacy.guarantee import Guarantee, Indistinguishability


@register("thresholds")
def settings() -> list[Setting]:
    """Laplace, Gaussian and selection."""
    return [
        _setting(
            "laplace, m = 2",
            Indistinguishability(epsilon=2, delta="0.3"),
            2,
            [pairs.popular_items_replaced, pairs.m_items_of_one_user, pairs.more_than_m_items],
            mechanism="laplace",
        ),
        _gaussian_setting(
            "gaussian, m = 1",
            Indistinguishability(epsilon=1, delta="0.1"),
            1,
            [pairs.popular_items_replaced, pairs.m_items_of_one_user, pairs.popularity_tipped],
            small=(NOISE,),
        ),
        _gaussian_setting(
            "gaussian, m = 2, add-remove",
            Indistinguishability(epsilon=2, delta="0.1", neighbors="add-remove"),
            2,
            [pairs.user_joins, pairs.m_items_of_one_user],
        ),
        _setting(
            "selection",
            Indistinguishability(epsilon=2, delta="0.1"),
            1,
            [pairs.popular_items_replaced, pairs.unique_items_replaced, pairs.m_items_of_one_user],
            mechanism="selection",
            small=(NOISE,),
        ),
    ]


def _setting(
    name: str,
    goal: Guarantee,
    m: int,
    builders: Sequence[Builder],
    *,
    mechanism: str,
    small: tuple[SmallTest, ...] = (),
) -> Setting:
    planned = plan(goal, [queries(m)], mechanism=mechanism)
    popular, edges = popular_count_and_edges(planned.parts[-1].mechanism)
    return Setting(
        name=name,
        planned=planned,
        pairs=build_pairs(planned, builders, popular),
        popular=popular,
        edges=edges,
        small=small,
    )


def _gaussian_setting(
    name: str,
    goal: Guarantee,
    m: int,
    builders: Sequence[Builder],
    *,
    small: tuple[SmallTest, ...] = (),
) -> Setting:
    """Gaussian noise tells more the farther away it is: items must be seen on either side."""
    planned = plan(goal, [queries(m)], mechanism=Gaussian.name)
    made = Gaussian.calibrate(planned.parts[-1].goal, m)
    popular = made.tau_prime + math.ceil(2 * made.scale)
    return Setting(
        name=name,
        planned=planned,
        pairs=build_pairs(planned, builders, popular),
        popular=popular,
        edges=tuple(range(popular, popular + 3)),
        small=small,
    )
