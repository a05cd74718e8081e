"""What is published after a look at how many items people have."""

from __future__ import annotations

from zealous.audit import pairs
from zealous.audit.setting import Setting, build_pairs, popular_count_and_edges, register
from zealous.items import queries
from zealous.items.items_per_user import RANGES, ItemsPerUser
from zealous.libraries import pa
from zealous.planning.plan import plan
from zealous.privacy.guarantee import Indistinguishability

_ALL_HAVE_ONE = [1_000_000, *[0] * (len(RANGES) - 1)]


@register("look")
def settings() -> list[Setting]:
    """The logs of all copies are looked at together, and nearly everybody has one item."""
    kind = queries(1)
    goal = Indistinguishability(epsilon=2, delta="0.1")
    looked = plan(goal, [ItemsPerUser(of=kind), kind], mechanism="auto")
    table = pa.table({"items": pa.array(RANGES), "count": pa.array(_ALL_HAVE_ONE)})
    planned = looked.with_inputs({looked.parts[0].name(): table})
    popular, edges = popular_count_and_edges(planned.parts[-1].mechanism)
    builders = [pairs.popular_items_replaced, pairs.unique_items_replaced]
    return [
        Setting(
            name="after a look",
            planned=planned,
            pairs=build_pairs(planned, builders, popular),
            popular=popular,
            edges=edges,
        )
    ]
