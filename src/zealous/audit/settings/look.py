"""What is published after a look at how many items people have."""

from __future__ import annotations

from zealous.audit import pairs
from zealous.audit.pairs import Pair, Shape
from zealous.audit.setting import Setting, build_pairs, popular_count_and_edges, register
from zealous.audit.settings.pooled import pooled_setting
from zealous.items import queries
from zealous.items.items_per_user import RANGES, ItemsPerUser
from zealous.libraries import pa
from zealous.planning.plan import Plan, plan
from zealous.privacy.guarantee import Guarantee, Indistinguishability

_RANGE_OF_EIGHT = 3  # from five to eight items
_MANY = 1_000_000  # users: what a look chooses is sure


@register("look")
def settings() -> list[Setting]:
    """The logs of all copies are looked at together: nearly everybody has one item, or eight."""
    one = _after_look(Indistinguishability(epsilon=2, delta="0.1"), 0)
    popular, edges = popular_count_and_edges(one.parts[-1].mechanism)
    builders = [pairs.popular_items_replaced, pairs.unique_items_replaced]
    goal = Indistinguishability(epsilon=4, delta="0.4", neighbors="add-remove")
    return [
        Setting(
            name="after a look",
            planned=one,
            pairs=build_pairs(one, builders, popular),
            popular=popular,
            edges=edges,
        ),
        pooled_setting(
            "after a look, pooled",
            _after_look(goal, _RANGE_OF_EIGHT),
            [_popular_items_together, pairs.m_items_of_one_user],
        ),
    ]


def _after_look(goal: Guarantee, where: int) -> Plan:
    """With what is chosen where everybody's number of items is in one range."""
    kind = queries(1)
    looked = plan(goal, [ItemsPerUser(of=kind), kind], mechanism="auto")
    counts = [_MANY * (number == where) for number in range(len(RANGES))]
    table = pa.table({"items": pa.array(RANGES), "count": pa.array(counts)})
    return looked.with_inputs({looked.parts[0].name(): table})


def _popular_items_together(shape: Shape) -> Pair:
    """One user more for what many have, by the sum of its counts."""
    pair = pairs.user_joins(shape)
    together = sum(pair.watch, ())
    name = "m popular items more, together"
    return pair._replace(name=name, watch=(together,), every=8, at=0.25)
