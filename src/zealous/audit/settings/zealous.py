"""ZEALOUS, under both guarantees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from zealous.audit import pairs
from zealous.audit.confidence_bounds import Claim
from zealous.audit.layout import Layout
from zealous.audit.pairs import VICTIM, Builder, Lines, Pair, item_name, lines_of_user
from zealous.audit.recompute import RECOMPUTATIONS, Recomputation, parameters
from zealous.audit.setting import Setting, build_pairs, popular_count_and_edges, register
from zealous.audit.sharpest_bounds import NO_LEAKAGE, least_delta
from zealous.audit.small_releases import NOISE, SmallTest
from zealous.items import keywords, queries
from zealous.items.kind import Kind
from zealous.planning.plan import Plan, other_guarantee, plan
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP
from zealous.privacy.units import Select, Unit
from zealous.record.record import PartRecord

_SMALLER: tuple[tuple[Unit, Kind], ...] = (
    ("user-day", queries(1)),
    ("query", queries(1)),
    ("keyword", keywords(1)),
)


def claim_by_paper(planned: Plan, pair: Pair) -> Claim:
    """Noise on counts keeps epsilon without a delta, whatever the guarantee."""
    part = planned.parts[-1]
    epsilon, delta = float(part.goal.epsilon), least_delta(part)
    if pair.same:
        return NO_LEAKAGE
    if pair.pure:
        return Claim(epsilon=epsilon, delta=0.0)
    if pair.right is not None and isinstance(part.goal, ProbabilisticDP):
        other = other_guarantee(planned)  # between two logs the same parameters promise more
        delta = min(delta, float(other.delta)) if other else delta
    return Claim(epsilon=epsilon, delta=delta)


def _has_least_threshold(part: PartRecord, users: int | None) -> bool:
    """Whether scale, tau, tau' and delta are those of the theorem: the least tau', exactly."""
    right = parameters(
        epsilon=Fraction(part.exact.epsilon),
        delta=Fraction(part.exact.delta),
        items_per_user=part.items_per_user,
        users=users,
        probabilistic=part.guarantee == "probabilistic",
        replace=part.neighbors == "replace",
    )
    achieved = float(right.delta)
    return (
        Fraction(part.exact.scale) == right.scale
        and (part.tau, part.tau_prime) == (right.tau, right.tau_prime)
        and abs(part.delta_achieved - achieved) <= 1e-9 * achieved
    )


RECOMPUTATIONS.register(Recomputation("zealous", _has_least_threshold))


@register("zealous")
def settings() -> list[Setting]:
    """Each guarantee, for each unit of privacy but sessions, with one and two items a user."""
    by_day, by_query, by_keyword = (
        plan(Indistinguishability(epsilon=3, delta="0.05", unit=unit), [kind])
        for unit, kind in _SMALLER
    )
    popular, edges = popular_count_and_edges(by_day.parts[-1].mechanism)
    return [
        _setting(
            "indistinguishable, m = 1",
            Indistinguishability(epsilon=3, delta="0.05"),
            1,
            [
                pairs.user_arrives,
                pairs.popular_items_replaced,
                pairs.unique_items_replaced,
                pairs.m_items_of_one_user,
                pairs.repeated_rows,
                pairs.id_spellings,
                pairs.broken_quotes,
                pairs.permuted_rows,
                pairs.more_than_m_items,
                pairs.popularity_tipped,
            ],
            small=(NOISE,),
        ),
        Setting(
            name="indistinguishable, m = 1, user-day",
            planned=by_day,
            pairs=tuple(
                map(
                    _on_one_day,
                    build_pairs(
                        by_day, [pairs.popular_items_replaced, pairs.more_than_m_items], popular
                    ),
                )
            ),
            popular=popular,
            edges=edges,
            layout=Layout(header="user,query,time"),
            claimed=claim_by_paper,
        ),
        Setting(
            name="indistinguishable, m = 1, query",
            planned=by_query,
            pairs=tuple(
                map(
                    _among_other_queries,
                    build_pairs(
                        by_query,
                        [
                            pairs.popular_items_replaced,
                            pairs.unique_items_replaced,
                            pairs.repeated_rows,
                            pairs.item_spellings,
                        ],
                        popular,
                    ),
                )
            ),
            popular=popular,
            edges=edges,
            claimed=claim_by_paper,
        ),
        Setting(
            name="indistinguishable, m = 1, keyword",
            planned=by_keyword,
            pairs=tuple(
                map(
                    _in_longer_queries,
                    build_pairs(
                        by_keyword,
                        [
                            pairs.popular_items_replaced,
                            pairs.unique_items_replaced,
                            pairs.repeated_rows,
                        ],
                        popular,
                    ),
                )
            ),
            popular=popular,
            edges=edges,
            layout=Layout(column="keyword"),
            claimed=claim_by_paper,
        ),
        _setting(
            "indistinguishable, m = 2",
            Indistinguishability(epsilon=4, delta="0.2"),
            2,
            [
                pairs.popular_items_replaced,
                pairs.unique_items_replaced,
                pairs.m_items_of_one_user,
                pairs.item_spellings,
                pairs.more_than_m_items,
            ],
        ),
        _setting(
            "indistinguishable, m = 2, add-remove",
            Indistinguishability(epsilon=2, delta="0.2", neighbors="add-remove"),
            2,
            [pairs.user_arrives, pairs.user_joins],
        ),
        _setting(
            "probabilistic, m = 1",
            ProbabilisticDP(epsilon=1, delta="0.3", users=14),
            1,
            [
                pairs.popular_items_replaced,
                pairs.item_reaches_tau,
                pairs.all_items_at_tau,
                pairs.all_items_below_tau,
            ],
            small=(NOISE,),
        ),
        _setting(
            "probabilistic, m = 2",
            ProbabilisticDP(epsilon=2, delta="0.4", users=15),
            2,
            [pairs.popular_items_replaced, pairs.item_reaches_tau, pairs.all_items_at_tau],
        ),
        _setting(
            "probabilistic, m = 1, add-remove",
            ProbabilisticDP(epsilon="0.5", delta="0.3", users=8, neighbors="add-remove"),
            1,
            [pairs.rare_beside_frequent, pairs.user_joins, pairs.all_items_at_tau],
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
    popular, edges = popular_count_and_edges(planned.parts[-1].mechanism)
    return Setting(
        name=name,
        planned=planned,
        pairs=build_pairs(planned, builders, popular),
        popular=popular,
        edges=edges,
        claimed=claim_by_paper,
        small=small,
    )


def _among_other_queries(pair: Pair) -> Pair:
    """The same, where the victim asked other queries too, which stay."""
    others = lines_of_user(range(90, 95))
    right = None if pair.right is None else others + pair.right
    return pair._replace(left=others + pair.left, right=right)


def _in_longer_queries(pair: Pair) -> Pair:
    """The same, where each of the victim's queries has another word too, which stays."""

    def longer(lines: Lines) -> Lines:
        return tuple(
            f"{line} {item_name(90)}" if line.startswith(VICTIM) else line for line in lines
        )

    return pair._replace(
        left=longer(pair.left), right=None if pair.right is None else longer(pair.right)
    )


def _on_one_day(pair: Pair) -> Pair:
    """The same on one day, minute by minute; what the victim does on another day stays."""

    def day(lines: Lines) -> Lines:
        minutes = (f"{i // 60:02d}:{i % 60:02d}" for i in range(len(lines)))
        dated = (f"{line},2026-03-01 {at}" for line, at in zip(lines, minutes, strict=True))
        return (f"{VICTIM},{item_name(99)},2026-03-02 00:00", *dated)

    right = None if pair.right is None else day(pair.right)
    return pair._replace(left=day(pair.left), right=right)
