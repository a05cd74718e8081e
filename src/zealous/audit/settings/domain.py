"""Counts over a public list."""

from __future__ import annotations

from zealous.audit import pairs
from zealous.audit import pairs_keys as keys
from zealous.audit.setting import (
    Setting,
    build_pairs,
    popular_count_and_edges,
    public_file,
    register,
    with_watched_items_listed,
)
from zealous.items import queries
from zealous.planning.plan import plan_with_files
from zealous.privacy.guarantee import Indistinguishability


@register("domain")
def settings() -> list[Setting]:
    """Everything of the list is published."""
    goal = Indistinguishability(epsilon=1, delta=0)
    files = {"queries": public_file("domain")}
    planned = plan_with_files(goal, [queries(1)], files, mechanism="domain")
    popular, edges = popular_count_and_edges(planned.parts[-1].mechanism)
    builders = [
        pairs.user_arrives,
        pairs.popular_items_replaced,
        pairs.repeated_rows,
        keys.several_listed_items,
    ]
    return [
        Setting(
            name="domain, m = 1",
            planned=planned,
            pairs=tuple(map(with_watched_items_listed, build_pairs(planned, builders, popular))),
            popular=popular,
            edges=edges,
        )
    ]
