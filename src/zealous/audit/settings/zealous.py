"""ZEALOUS, under both guarantees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zealous.audit import pairs
from zealous.audit.claims import NOTHING_TOLD, least_delta
from zealous.audit.layout import Layout
from zealous.audit.pairs import VICTIM, Builder, Lines, Pair, named
from zealous.audit.setting import Setting, built, near, register
from zealous.audit.small_releases import NOISE, SmallTest
from zealous.audit.statistics import Claim
from zealous.counting.bound import Select
from zealous.items import queries
from zealous.planning.plan import Plan, also, plan
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP


def by_the_paper(planned: Plan, pair: Pair) -> Claim:
    """Noise on counts keeps epsilon without a delta, whatever the guarantee."""
    part = planned.parts[-1]
    epsilon, delta = float(part.goal.epsilon), least_delta(part)
    if pair.same:
        return NOTHING_TOLD
    if pair.pure:
        return Claim(epsilon=epsilon, delta=0.0)
    if pair.right is not None and isinstance(part.goal, ProbabilisticDP):
        other = also(planned)  # between two logs the same parameters promise more
        delta = min(delta, float(other.delta)) if other else delta
    return Claim(epsilon=epsilon, delta=delta)


@register("zealous")
def settings() -> list[Setting]:
    """Each guarantee, for users and user-days, with one and two items a user."""
    user_day = Indistinguishability(epsilon=3, delta="0.05", unit="user-day")
    planned = plan(user_day, [queries(1)])
    popular, edges = near(planned.parts[-1].mechanism)
    return [
        _setting(
            "indistinguishable, m = 1",
            Indistinguishability(epsilon=3, delta="0.05"),
            1,
            [
                pairs.arrives,
                pairs.replaced,
                pairs.unique,
                pairs.alone,
                pairs.repeats,
                pairs.ids,
                pairs.quotes,
                pairs.permuted,
                pairs.many,
                pairs.swayed,
            ],
            small=(NOISE,),
        ),
        Setting(
            name="indistinguishable, m = 1, user-day",
            planned=planned,
            pairs=tuple(map(_dated, built(planned, [pairs.replaced, pairs.many], popular))),
            popular=popular,
            edges=edges,
            layout=Layout(header="user,query,time"),
            claimed=by_the_paper,
        ),
        _setting(
            "indistinguishable, m = 2",
            Indistinguishability(epsilon=4, delta="0.2"),
            2,
            [pairs.replaced, pairs.unique, pairs.alone, pairs.spellings, pairs.many],
        ),
        _setting(
            "indistinguishable, m = 2, add-remove",
            Indistinguishability(epsilon=2, delta="0.2", neighbors="add-remove"),
            2,
            [pairs.arrives, pairs.joins],
        ),
        _setting(
            "probabilistic, m = 1",
            ProbabilisticDP(epsilon=1, delta="0.3", users=14),
            1,
            [pairs.replaced, pairs.reaches_tau, pairs.every_at_tau, pairs.below_tau],
            small=(NOISE,),
        ),
        _setting(
            "probabilistic, m = 2",
            ProbabilisticDP(epsilon=2, delta="0.4", users=15),
            2,
            [pairs.replaced, pairs.reaches_tau, pairs.every_at_tau],
        ),
        _setting(
            "probabilistic, m = 1, add-remove",
            ProbabilisticDP(epsilon="0.5", delta="0.3", users=8, neighbors="add-remove"),
            1,
            [pairs.rare_beside_frequent, pairs.joins, pairs.every_at_tau],
            select="frequent",
        ),
    ]


def _setting(
    name: str,
    goal: Guarantee,
    m: int,
    builders: Sequence[Builder],
    *,
    select: Select = "random",
    small: tuple[SmallTest, ...] = (),
) -> Setting:
    planned = replace(plan(goal, [queries(m)]), select=select)
    popular, edges = near(planned.parts[-1].mechanism)
    return Setting(
        name=name,
        planned=planned,
        pairs=built(planned, builders, popular),
        popular=popular,
        edges=edges,
        claimed=by_the_paper,
        small=small,
    )


def _dated(pair: Pair) -> Pair:
    """The same on one day, minute by minute; what the victim does on another day stays."""

    def day(lines: Lines) -> Lines:
        minutes = (f"{i // 60:02d}:{i % 60:02d}" for i in range(len(lines)))
        dated = (f"{line},2026-03-01 {at}" for line, at in zip(lines, minutes, strict=True))
        return (f"{VICTIM},{named(99)},2026-03-02 00:00", *dated)

    right = None if pair.right is None else day(pair.right)
    return pair._replace(left=day(pair.left), right=right)
