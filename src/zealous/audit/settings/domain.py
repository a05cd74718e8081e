"""Counts over a public list."""

from __future__ import annotations

from zealous.audit import pairs
from zealous.audit import pairs_rounds as keys
from zealous.audit.setting import Setting, built, listing, near, public_file, register
from zealous.items import queries
from zealous.planning.plan import plan_with_files
from zealous.privacy.guarantee import Indistinguishability


@register("domain")
def settings() -> list[Setting]:
    """Everything of the list is published."""
    goal = Indistinguishability(epsilon=1, delta=0)
    files = {"queries": public_file("domain")}
    planned = plan_with_files(goal, [queries(1)], files, mechanism="domain")
    popular, edges = near(planned.parts[-1].mechanism)
    builders = [pairs.arrives, pairs.replaced, pairs.repeats, keys.several_listed]
    return [
        Setting(
            name="domain, m = 1",
            planned=planned,
            pairs=tuple(map(listing, built(planned, builders, popular))),
            popular=popular,
            edges=edges,
        )
    ]
