"""The paper's claims on m: how many items are published, and how well the top ones are kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from zealous.privacy.calibrate import calibrate
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.study.claims import paper
from zealous.study.claims.claim import Asked, Case, Finding, ends, finding, number, rises
from zealous.study.grid.results import Point

_FEW = 10  # items: with fewer a share says nothing
_NEAR = 3.0  # times the average items a user
_PLAUSIBLE = 2.0  # times the paper's numbers
_HELD = 0.10  # of the top j, for KL to say something about what is held


def coverage_falls(asked: Asked) -> Finding:
    """Fewer distinct items as m grows."""

    def case(kind: str) -> Case | None:
        points = asked.over_m("distinct", kind)
        if len(points) < 2 or points[0].y.mean < _FEW:
            return None
        told = f"{kind} {ends(points, 'm')}"
        steps = rises(points)
        if not steps and points[-1].y.mean < points[0].y.mean:
            return Case(told, True)
        why = [
            f"{kind} rise from {number(a.y.mean)} at m = {a.x:g} to {number(b.y.mean)} at {b.x:g}. "
            for a, b in steps
        ]
        return Case(told, False, "".join(why) or f"{kind} do not fall. ")

    found = finding(
        "coverage-falls-with-m",
        "The more items a user may contribute, the fewer distinct items are published.",
        map(case, paper.KINDS),
        printed="; ".join(
            f"{kind} {row[1]:,} at m = 1, {row[40]:,} at 40"
            for kind, row in paper.DISTINCT.values.items()
        ),
    )
    return found if found.holds is not False else found.because(_thresholds(asked))


def _thresholds(asked: Asked) -> str:
    """What an item needs to be published, for each of the items that a user may contribute."""
    people = asked.results.value("people", "", "original")
    if people is None:
        return ""
    study = asked.study
    goal = ProbabilisticDP(
        epsilon=str(study.epsilon), delta=str(study.delta), users=int(people.mean)
    )
    needed = ", ".join(
        f"{(calibrate(goal, m).tau_prime + 1) / m:.2f} at m = {m}"
        for m in sorted(study.items_per_user)[:4]
    )
    return (
        "The paper has tau' grow faster than m; it grows in proportion to m, in whole steps that "
        f"weigh most at small m: the least published count, divided by m, is {needed}. So "
        "distinct items become fewer only as users run out of items to contribute."
    )


def coverage_falls_most_for_pairs(asked: Asked) -> Finding:
    """The decrease by kind, from the least to the greatest m."""
    falls = {}
    for kind in paper.KINDS:
        points = asked.over_m("distinct", kind)
        if len(points) > 1 and points[0].y.mean >= _FEW:
            falls[kind] = 1 - points[-1].y.mean / points[0].y.mean
    case = None
    if "query-pairs" in falls and len(falls) > 1:
        m = sorted(asked.study.items_per_user)
        told = ", ".join(f"{kind} {fall:.1%}" for kind, fall in falls.items())
        most = max(falls, key=lambda kind: falls[kind])
        holds = falls["query-pairs"] >= falls[most]
        case = Case(f"{told}, from m = {m[0]} to {m[-1]}", holds, f"{most} fall more.")
    return finding(
        "coverage-falls-most-for-query-pairs",
        "The loss of distinct items as m grows is greatest for query pairs.",
        [case],
        printed="keywords 55%, query pairs 96%, from m = 1 to 40",
    )


def total_tips(asked: Asked) -> Finding:
    """At which m the total of the counts is greatest, beside the average items a user."""

    def case(kind: str) -> Case | None:
        points = asked.over_m("total", kind)
        average = asked.results.value("average-items", kind, "original")
        published = max((point.y.mean for point in asked.over_m("distinct", kind)), default=0)
        if len(points) < 3 or average is None or published < _FEW:
            return None
        most = max(points, key=lambda point: point.y.mean)
        times = most.x / average.mean
        told = f"{kind} most at m = {most.x:g}, {average.mean:.1f} items a user"
        near = 1 / _NEAR <= times <= _NEAR
        if near and most in (points[0], points[-1]):
            return Case(f"{told} (the end of the grid: where it tips is not seen)", None)
        return Case(told, near, f"{kind} tip at {times:.2g} times the average items a user. ")

    return finding(
        "total-rises-then-falls",
        "The total of the published counts rises with m up to about the average number of items a "
        f"user has, and then falls. (About: within a factor of {_NEAR:g}.)",
        map(case, paper.KINDS),
        printed="queries most at m = 20, 20 items a user; clicks 20 and 14; query pairs 8 and 7; "
        "keywords still rise at m = 40, 56 items a user",
    )


def epsilon_of_the_table(asked: Asked) -> Finding:
    """Which epsilon of the study fits the paper's table of released items best."""
    people, case = asked.results.value("people", "", "original"), None
    off = {
        epsilon: found
        for epsilon in asked.results.axis("epsilon", "zealous")
        if (found := _misfit(asked, epsilon)) is not None
    }
    if people and paper.USERS / 2 <= people.mean <= paper.USERS * 2 and len(off) > 1:
        best = min(off, key=lambda epsilon: off[epsilon])
        fits = [f"{epsilon:g}" for epsilon in off if off[epsilon] <= _PLAUSIBLE]
        told = f"epsilon = {best:g} fits best, numbers being off by a factor of {off[best]:.2f}"
        told += f" on average; within a factor of {_PLAUSIBLE:g} are {', '.join(fits) or 'none'}"
        inferred = off.get(paper.INFERRED_EPSILON)
        holds = None if inferred is None else inferred <= _PLAUSIBLE
        told += "" if inferred is None else f"; epsilon = 5 is off by {inferred:.2f}"
        case = Case(told, holds, "Or its log has more or fewer frequent items than this one.")
    return finding(
        "epsilon-of-the-table",
        "The paper's table of released items may have been made with epsilon = 5. (Inferred; it is "
        "not stated. Judged on logs of about its size: distinct items are off by a factor of at "
        f"most {_PLAUSIBLE:g}, on geometric average.)",
        [case],
        printed=f"not stated; by its own numbers above {paper.LEAST_EPSILON:g}",
    )


def _misfit(asked: Asked, epsilon: float) -> float | None:
    """The factor by which numbers of distinct items are off the paper's, on geometric average."""
    off = [
        abs(math.log(max(1.0, found.mean) / printed))
        for kind, row in paper.DISTINCT.values.items()
        for m, printed in row.items()
        if (found := asked.zealous("distinct", kind, m, epsilon=epsilon)) is not None
    ]
    return math.exp(math.fsum(off) / len(off)) if off else None


def small_j_prefers_more(asked: Asked) -> Finding:
    """The m of the least KL divergence, by j."""

    def case(kind: str) -> Case | None:
        best = list(_best_m(asked, kind))
        if len(best) < 2:
            return None
        told = ", ".join(
            f"{m:g} (j = {' to '.join(f'{j:,.0f}' for j in dict.fromkeys((js[0], js[-1])))})"
            for m, js in _alike(best)
        )
        (least, first), (greatest, last) = best[0], best[-1]
        why = f"{kind}: m = {first:g} is best for j = {least:,.0f}, {last:g} for {greatest:,.0f}. "
        return Case(f"{kind} m = {told}", first > asked.least_m == last, why)

    return finding(
        "few-top-items-prefer-larger-m",
        "For the few most frequent items an m above 1 keeps the frequencies best (the least KL "
        "divergence), for many of them m = 1. (Judged where the release at the least m still holds "
        f"{_HELD:.0%} of the top j: beyond, KL tells how absent items are counted.)",
        map(case, paper.KINDS),
        printed="over all j together: keywords m = 8, queries m = 2",
    )


def _alike(best: Iterable[tuple[float, float]]) -> Iterator[tuple[float, list[float]]]:
    """Neighbouring j with the same m, together."""
    for m, group in groupby(best, key=itemgetter(1)):
        yield m, [j for j, _ in group]


def _best_m(asked: Asked, kind: str) -> Iterator[tuple[float, float]]:
    lost = asked.results.curve(
        "missing-share",
        kind,
        "zealous",
        over="at",
        epsilon=float(asked.study.epsilon),
        m=asked.least_m,
    )
    for j in (point.x for point in lost if point.y.mean <= 1 - _HELD):
        points: Sequence[Point] = asked.over_m("kl", kind, at=j)
        if len(points) > 1:
            yield j, min(points, key=lambda point: point.y.mean).x
