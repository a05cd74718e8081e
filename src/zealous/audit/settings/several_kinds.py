"""Several kinds in one release, looked at together: what their composed losses promise."""

from __future__ import annotations

import math

from zealous.audit import pairs
from zealous.audit.confidence_bounds import Claim
from zealous.audit.pairs import Pair
from zealous.audit.setting import Setting, build_pairs, register
from zealous.audit.theorems import unique_item_probability
from zealous.items import keywords, queries
from zealous.mechanisms import Gaussian
from zealous.planning.plan import Plan, plan
from zealous.privacy.guarantee import Indistinguishability
from zealous.release.provenance import plan_record


@register("several-kinds")
def settings() -> list[Setting]:
    """Queries of one word, and the same words as keywords."""
    goal = Indistinguishability(epsilon=1, delta="0.1")
    planned = plan(goal, [queries(1), keywords(1)], mechanism=Gaussian.name)
    made = planned.parts[-1].mechanism
    assert made.tau_prime is not None  # noqa: S101
    popular = made.tau_prime + math.ceil(2 * made.scale)
    builders = [pairs.popular_items_replaced, pairs.m_items_of_one_user]
    return [
        Setting(
            name="gaussian, queries and keywords together",
            planned=planned,
            pairs=tuple(map(pairs.in_two_tables, build_pairs(planned, builders, popular))),
            popular=popular,
            edges=(popular + 1,),
            tables=2,
            claimed=_claim_of_whole,
        )
    ]


def _claim_of_whole(planned: Plan, pair: Pair) -> Claim:
    """The release's; how often anything appears that one user alone has, table by table."""
    delta = float(min(planned.delta_achieved, planned.goal.delta))
    if pair.right is None:
        items = len(pair.watch[0])
        chances = (unique_item_probability(part, items) for part in plan_record(planned))
        delta = min(delta, 1 - math.prod(1 - each for each in chances))
    return Claim(epsilon=float(planned.goal.epsilon), delta=delta)
