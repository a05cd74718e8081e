"""The paper's claims on m: how many items are published, and how well the top items are kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from zealous.privacy.calibrate import calibrate
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.study.claims import paper
from zealous.study.claims.claim import (
    FIRST_M,
    JUDGED_M,
    JUDGED_TOP,
    M_NEEDED,
    Case,
    Finding,
    Needed,
    StudyCurves,
    at_settings,
    ends_text,
    format_number,
    is_above,
    judge,
    rises,
    settings_text,
    values_text,
)
from zealous.study.grid.result_table import Point, Spread

_LEAST_ITEMS = 10  # items: with fewer a share says nothing
_MOST_FACTOR_OFF_AVERAGE = 3.0  # times the average items a user
_MOST_FACTOR_OFF_PAPER = 2.0  # times the paper's numbers
_LEAST_SHARE_HELD = 0.10  # of the top j, for KL to say something about what is held


_ON_M = f"{settings_text(M_NEEDED)}, those of the paper's tables"
_TOP_NEEDED: Needed = [*M_NEEDED, ("j", JUDGED_TOP)]


def coverage_falls(curves: StudyCurves) -> Finding:
    """As m grows, fewer distinct items are published."""

    def case(kind: str) -> Case | None:
        points = _distinct_points(curves, kind)
        if not points:
            return None
        measured = f"{kind} {ends_text(points, 'm')}"
        steps = rises(points)
        fall = 1 - points[-1].y.mean / points[0].y.mean
        if not steps and (fallen := is_above(points[0].y, points[-1].y)) is not False:
            return Case(measured, fallen, margin=fall)
        why = [
            f"{kind} rise from {format_number(a.y.mean)} at m = {a.x:g} to "
            f"{format_number(b.y.mean)} at {b.x:g}. "
            for a, b in steps
        ]
        most = max((b.y.mean / a.y.mean - 1 for a, b in steps), default=-fall)
        return Case(measured, False, "".join(why) or f"{kind} do not fall. ", margin=-most)

    found = judge(
        "coverage-falls-with-m",
        "The more items a user may contribute, the fewer distinct items are published.",
        map(case, paper.KINDS),
        margin_of="the items at the smallest m",
        judged_on=_ON_M,
        untried=curves.untried(M_NEEDED),
        printed="; ".join(
            f"{kind} {row[1]:,} at m = 1, {row[40]:,} at 40"
            for kind, row in paper.DISTINCT.values.items()
        ),
    )
    return found if found.holds is not False else found.with_reason(_thresholds_text(curves))


def _distinct_points(curves: StudyCurves, kind: str) -> list[Point]:
    """Distinct items over m; nothing where too few are published at the smallest."""
    points = at_settings(curves.over_m("distinct", kind), JUDGED_M)
    return points if points and points[0].y.mean >= _LEAST_ITEMS else []


def _thresholds_text(curves: StudyCurves) -> str:
    """The smallest published count divided by m, for a few m: why coverage need not fall."""
    people = curves.results.value("people", "", "original")
    if people is None:
        return ""
    study = curves.study
    goal = ProbabilisticDP(
        epsilon=str(study.epsilon), delta=str(study.delta), users=int(people.mean)
    )
    needed = ", ".join(
        f"{(calibrate(goal, m).tau_prime + 1) / m:.2f} at m = {m}"
        for m in sorted(study.items_per_user)[:4]
    )
    return (
        "According to the paper tau' grows faster than m. It grows in proportion to m, in whole "
        "steps "
        f"that matter most at small m: the smallest published count, divided by m, is {needed}. So "
        "fewer distinct items are published only once users run out of items to contribute."
    )


def coverage_falls_most_for_pairs(curves: StudyCurves) -> Finding:
    """The loss of distinct items by kind, from the smallest to the largest m."""
    falls = {}
    for kind in paper.KINDS:
        if points := _distinct_points(curves, kind):
            falls[kind] = _loss(points)
    case = None
    if "query-pairs" in falls and len(falls) > 1:
        measured = ", ".join(f"{kind} {fall.mean:.1%}" for kind, fall in falls.items())
        most = max(falls.keys() - {"query-pairs"}, key=lambda kind: falls[kind].mean)
        case = Case(
            f"{measured}, from m = {JUDGED_M[0]} to {JUDGED_M[-1]}",
            is_above(falls["query-pairs"], falls[most]),
            f"{most} fall more.",
            falls["query-pairs"].mean - falls[most].mean,
        )
    return judge(
        "coverage-falls-most-for-query-pairs",
        "The loss of distinct items as m grows is greatest for query pairs.",
        [case],
        margin_of="points between the losses of query pairs and of the next kind",
        judged_on=_ON_M,
        untried=curves.untried(M_NEEDED),
        printed="keywords 55%, query pairs 96%, from m = 1 to 40",
    )


def _loss(points: Sequence[Point]) -> Spread:
    """The share that is lost from the first point to the last, at most and at least."""
    first, last = points[0].y, points[-1].y
    return Spread(
        mean=1 - last.mean / first.mean,
        low=1 - last.high / max(1.0, first.low),
        high=1 - last.low / max(1.0, first.high),
        draws=min(first.draws, last.draws),
    )


def total_rises_then_falls(curves: StudyCurves) -> Finding:
    """The m with the largest total of counts, compared with the average items per user."""

    def case(kind: str) -> Case | None:
        points = at_settings(curves.over_m("total", kind), JUDGED_M)
        average = curves.results.value("average-items", kind, "original")
        published = at_settings(curves.over_m("distinct", kind), JUDGED_M)
        most_items = max((point.y.mean for point in published), default=0)
        if not points or average is None or most_items < _LEAST_ITEMS:
            return None
        most = max(points, key=lambda point: point.y.mean)
        times = most.x / average.mean
        measured = f"{kind} most at m = {most.x:g}, {average.mean:.1f} items per user"
        margin = _MOST_FACTOR_OFF_AVERAGE / max(times, 1 / times) - 1
        if most is points[-1]:
            measured += " (still rising at the largest m)"
            if times < 1:  # below the average the claim asks for no more than a rise
                margin = most.y.mean / points[-2].y.mean - 1
        return Case(
            measured,
            margin >= 0,
            f"{kind} peak at {times:.2g} times the average items per user. ",
            margin,
        )

    return judge(
        "total-rises-then-falls",
        "The total of the published counts rises with m up to about the average number of items "
        f"per user, and then falls. (About: within a factor of {_MOST_FACTOR_OFF_AVERAGE:g}; where "
        "the average lies beyond the largest m, it need only rise.)",
        map(case, paper.KINDS),
        margin_of="the factor by which the peak may be off, or of the last step of a rise",
        judged_on=_ON_M,
        untried=curves.untried(M_NEEDED),
        printed="queries most at m = 20, 20 items per user; clicks 20 and 14; query pairs 8 and 7; "
        "keywords still rise at m = 40, 56 items per user",
    )


def epsilon_of_the_table(curves: StudyCurves) -> Finding:
    """Which epsilon of the study fits the paper's tables of released items best."""
    people, case = curves.results.value("people", "", "original"), None
    off = {
        epsilon: found
        for epsilon in curves.results.axis("epsilon", "zealous")
        if (found := misfit(curves, "distinct", epsilon)) is not None
    }
    if people and paper.USERS / 2 <= people.mean <= paper.USERS * 2 and len(off) > 1:
        best = min(off, key=lambda epsilon: off[epsilon].mean)
        fits = [f"{epsilon:g}" for epsilon in off if off[epsilon].mean <= _MOST_FACTOR_OFF_PAPER]
        measured = f"epsilon = {best:g} fits best, off by a factor of {off[best].mean:.2f} on "
        measured += f"average and {off[best].worst:.2f} at worst"
        if totals := misfit(curves, "total", best):
            measured += f" (totals {totals.mean:.2f} and {totals.worst:.2f})"
        measured += f"; within a factor of {_MOST_FACTOR_OFF_PAPER:g}: {', '.join(fits) or 'none'}"
        holds, margin = None, None
        if inferred := off.get(paper.INFERRED_EPSILON):
            holds = inferred.mean <= _MOST_FACTOR_OFF_PAPER
            margin = _MOST_FACTOR_OFF_PAPER / inferred.mean - 1
            measured += f"; epsilon = 5 is off by {inferred.mean:.2f}"
        case = Case(
            measured,
            holds,
            "Or the paper's log has more or fewer frequent items than this one.",
            margin,
        )
    return judge(
        "epsilon-of-the-table",
        "The paper's table of released items was probably made with epsilon = 5. (Inferred, not "
        "stated. Judged on logs of about the paper's size: distinct items are off by a factor of "
        "at "
        f"most {_MOST_FACTOR_OFF_PAPER:g}, on geometric average.)",
        [case],
        margin_of="the factor by which the table is off at epsilon = 5",
        judged_on=f"epsilon = 5 and {_ON_M}",
        untried=curves.untried([("epsilon", (paper.INFERRED_EPSILON,)), *M_NEEDED]),
        printed=f"not stated; by its own numbers above {paper.LEAST_EPSILON:g}",
    )


class Misfit(NamedTuple):
    """The factors by which a table differs from the paper's."""

    mean: float  # geometric
    worst: float


def misfit(curves: StudyCurves, measure: str, epsilon: float) -> Misfit | None:
    """How far the released items, `distinct` or `total`, are from the paper's table."""
    printed_table = {"distinct": paper.DISTINCT, "total": paper.TOTAL}[measure]
    off = [
        abs(math.log(max(1.0, point.y.mean) / row[int(point.x)]))
        for kind, row in printed_table.values.items()
        for point in at_settings(curves.over_m(measure, kind, epsilon=epsilon), tuple(row))
    ]
    return Misfit(math.exp(math.fsum(off) / len(off)), math.exp(max(off))) if off else None


def small_j_prefers_larger_m(curves: StudyCurves) -> Finding:
    """The m with the smallest KL divergence, for each j."""

    def case(kind: str) -> Case | None:
        divergences = list(_divergences(curves, kind))
        if len(divergences) < 2:
            return None
        best = [(j, min(of_m, key=lambda m: of_m[m])) for j, of_m in divergences]
        measured = ", ".join(
            f"{m:g} (j = {' to '.join(f'{j:,.0f}' for j in dict.fromkeys((js[0], js[-1])))})"
            for m, js in _group_by_m(best)
        )
        # The ends of the curve over j, of which the greater is where enough is held.
        (least, first), (greatest, last) = best[0], best[-1]
        why = f"{kind}: m = {first:g} is best for j = {least:,.0f}, {last:g} for {greatest:,.0f}. "
        few, many = (_gain_of_larger_m(divergences[place][1]) for place in (0, -1))
        holds = first > JUDGED_M[0] == last
        return Case(f"{kind} m = {measured}", holds, why, min(few, -many))

    return judge(
        "few-top-items-prefer-larger-m",
        "For the few most frequent items an m above 1 keeps the frequencies best (the smallest KL "
        "divergence); for many items m = 1 does. (Judged where the release at m = 1 still holds "
        f"{_LEAST_SHARE_HELD:.0%} of the top j: beyond that, KL mostly reflects missing items.)",
        map(case, paper.KINDS),
        margin_of="the KL divergence at m = 1",
        judged_on=f"the smallest and the largest such j of {values_text(JUDGED_TOP)}, and {_ON_M}",
        untried=curves.untried(_TOP_NEEDED),
        printed="over all j together: keywords m = 8, queries m = 2",
    )


def _group_by_m(best: Iterable[tuple[float, float]]) -> Iterator[tuple[float, list[float]]]:
    """Group neighbouring j that have the same best m."""
    for m, group in groupby(best, key=itemgetter(1)):
        yield m, [j for j, _ in group]


def _divergences(curves: StudyCurves, kind: str) -> Iterator[tuple[float, Mapping[float, float]]]:
    """For each j of which enough is held, the KL divergence by m; none if a j was not tried."""
    lost = curves.results.curve(
        "missing-share",
        kind,
        "zealous",
        over="at",
        epsilon=float(curves.study.epsilon),
        m=FIRST_M,
    )
    items = curves.results.value("distinct", kind, "original")
    possible = [j for j in JUDGED_TOP if items is None or j <= items.mean]
    for j, missing in at_settings(lost, possible):
        points = at_settings(curves.over_m("kl", kind, at=j), JUDGED_M)
        if points and missing.mean <= 1 - _LEAST_SHARE_HELD:
            yield j, {point.x: point.y.mean for point in points}


def _gain_of_larger_m(by_m: Mapping[float, float]) -> float:
    """By how much an m above 1 lowers the divergence; negative where m = 1 has the lowest."""
    one = by_m[JUDGED_M[0]]
    others = min(value for m, value in by_m.items() if m != JUDGED_M[0])
    return (one - others) / one if one else 0.0
