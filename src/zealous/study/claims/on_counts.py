"""The paper's claims on counts: their distribution, and how far they are from the original's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zealous.study.claims import paper
from zealous.study.claims.claim import Asked, Case, Finding, ends, finding, nearest, number, rises
from zealous.study.grid.results import Point
from zealous.study.measures.statistics import bins

_BINS = 3  # of counts: with fewer there is no slope
_SLOPE = 0.25  # by which slopes may differ, relative
_SAME = 0.25  # of the range of average differences in the study
_FAR = 2.0  # times the paper's setting: beyond, the study has none that is near


def power_law(asked: Asked) -> Finding:
    """The slopes on log-log scale, before and after."""

    def case(kind: str, method: str, **fixed: float) -> Case | None:
        shape = asked.results.curve("items-with-count", kind, method, over="at", **fixed)
        shape = shape[1:]  # the first bin is cut by the threshold
        original = asked.results.curve("items-with-count", kind, "original", over="at")
        before = _slope_beside(original, shape)
        if before is None:
            return None
        after = _slope(shape)
        told = f"{kind} by {method} {after:.2f}, original {before:.2f}"
        why = f"{kind} by {method}: the slope is {after / before:.2f} times the original's. "
        if method == "zealous":
            why += _moved(asked, kind, original, shape)
        return Case(told, abs(after - before) <= _SLOPE * abs(before), why)

    epsilon, k = float(asked.study.epsilon), nearest(asked.results.axis("k", "k-query"), 10)
    cases = [case(kind, "zealous", epsilon=epsilon, m=asked.least_m) for kind in paper.KINDS]
    cases += [case(kind, "k-query", k=k) for kind in paper.KINDS if k is not None]
    return finding(
        "power-law-kept",
        "The number of items falls as a power of their count, before and after. (Slopes on log-log "
        f"scale over the release's range of counts agree within {_SLOPE:.0%}, for each kind and "
        "method.)",
        cases,
        printed="well preserved (of a figure, without numbers)",
    )


def _moved(asked: Asked, kind: str, original: Sequence[Point], shape: Sequence[Point]) -> str:
    """The slope of that part of the original's curve of which a release with few items is made."""
    average = asked.results.value("average-items", kind, "original")
    if average is None:
        return ""
    times = max(1.0, average.mean / asked.least_m)
    before = _slope_beside(original, shape, times)
    if before is None:
        return ""
    return (
        f"A user gives {asked.least_m:g} of {average.mean:.1f} items, which makes counts smaller; "
        f"over counts {times:.1f} times as large the original's slope is {before:.2f}. "
    )


def _slope_beside(
    original: Sequence[Point], shape: Sequence[Point], times: float = 1
) -> float | None:
    """That of the original over the release's range of counts, or so many times these."""
    if len(shape) < _BINS:
        return None
    within = [p for p in original if shape[0].x * times <= p.x <= shape[-1].x * times]
    return _slope(within) if len(within) >= _BINS else None


def _slope(points: Sequence[Point]) -> float:
    """Of the straight line on log-log scale; a bin weighs as much as it holds items."""
    at = np.array([point.x for point in points])
    density = np.array([point.y.mean for point in points])
    edges = bins()
    place = np.searchsorted(edges, at, "right")
    weights = density * (edges[place] - edges[place - 1])
    x, y = np.log(at), np.log(density)
    x -= np.average(x, weights=weights)
    return float((weights * x * y).sum() / (weights * x * x).sum())


def difference_falls(asked: Asked) -> Finding:
    """The average difference over epsilon."""

    def case(kind: str) -> Case | None:
        points = _differences(asked, kind)
        if len(points) < 2:
            return None
        steps = rises(points)
        why = [
            f"{kind} rise from {number(a.y.mean)} at epsilon = {a.x:g} to {number(b.y.mean)} at "
            f"{b.x:g}: the few items of a small release are scaled up to the whole total. "
            for a, b in steps[:1]
        ]
        falls = not steps and points[-1].y.mean < points[0].y.mean
        return Case(
            f"{kind} {ends(points, 'epsilon')}", falls, "".join(why) or f"{kind} do not fall. "
        )

    return finding(
        "difference-falls-with-epsilon",
        "The average difference of counts falls as epsilon grows. (Judged where every draw "
        "publishes something: nothing cannot be scaled to the same total.)",
        map(case, paper.KINDS),
    )


def _differences(asked: Asked, kind: str) -> list[Point]:
    """Over epsilon, where every draw publishes something."""
    some = {point.x for point in asked.over_epsilon("distinct", kind) if point.y.low > 0}
    points = asked.over_epsilon("average-difference", kind)
    return [point for point in points if point.x in some]


def keywords_beat_k_query(asked: Asked) -> Finding:
    """ZEALOUS is nearer for keywords at every epsilon above 2 and every k."""
    above = paper.BETTER_ABOVE.values["epsilon"]
    ours = [point for point in _differences(asked, "keywords") if point.x > above]
    theirs = asked.over_k("average-difference", "keywords")
    case = None
    if ours and theirs:
        holds = max(p.y.mean for p in ours) < min(p.y.mean for p in theirs)
        case = Case(_both(ours, theirs), holds, _crossings(ours, theirs))
    return finding(
        "keywords-differ-less-than-k-query",
        "For keywords the average difference of ZEALOUS is less than that of k-query at all "
        f"epsilon above {above}. (At every k of the study: the paper does not say which it means.)",
        [case],
        printed=f"epsilon > {above}",
    )


def queries_equal_k_query(asked: Asked) -> Finding:
    """For queries epsilon = 6 is like k = 60."""
    ours, theirs = _differences(asked, "queries"), asked.over_k("average-difference", "queries")
    return finding(
        "queries-differ-like-k-query",
        "For queries ZEALOUS at epsilon = 6 differs about as much as k-query at k = 60. (At the "
        f"nearest settings of the study they are apart by at most {_SAME:.0%} of the range of all "
        "its average differences, over epsilon and k.)",
        [_apart(ours, theirs) if ours and theirs else None],
        printed="epsilon = 6, k = 60",
    )


def _apart(ours: Sequence[Point], theirs: Sequence[Point]) -> Case:
    """The difference at the paper's settings, relative to what settings matter at all."""
    same = paper.SAME_DIFFERENCE.values
    mine = min(ours, key=lambda point: abs(point.x - same["epsilon"]))
    other = min(theirs, key=lambda point: abs(point.x - same["k"]))
    every = [point.y.mean for point in (*ours, *theirs)]
    low, high = min(every), max(every)
    told = (
        f"ZEALOUS {number(mine.y.mean)} at epsilon = {mine.x:g}, "
        f"k-query {number(other.y.mean)} at k = {other.x:g}; "
        f"all are from {number(low)} to {number(high)}"
    )
    far = max(_factor(mine.x, same["epsilon"]), _factor(other.x, same["k"])) > _FAR
    if far or low == high:
        return Case(told, None)
    apart = (mine.y.mean - other.y.mean) / (high - low)
    told += f", and {abs(apart):.0%} of that range lies between"
    more = "more" if apart > 0 else "less"
    why = f"ZEALOUS differs {more} at these settings. {_crossings(ours, theirs)}"
    return Case(told, abs(apart) <= _SAME, why)


def _factor(one: float, other: float) -> float:
    return max(one / other, other / one)


def pairs_lose_to_k_query(asked: Asked) -> Finding:
    """For query pairs k-query is nearer."""
    ours = _differences(asked, "query-pairs")
    theirs = asked.over_k("average-difference", "query-pairs")
    case = None
    if ours and theirs:
        holds = min(p.y.mean for p in theirs) < min(p.y.mean for p in ours)
        case = Case(_both(ours, theirs), holds, _crossings(ours, theirs))
    return finding(
        "query-pairs-differ-more-than-k-query",
        "For query pairs k-query differs less than ZEALOUS, each at its best.",
        [case],
    )


def _both(ours: Sequence[Point], theirs: Sequence[Point]) -> str:
    return f"ZEALOUS {ends(ours, 'epsilon')}; k-query {ends(theirs, 'k')}"


def _crossings(ours: Sequence[Point], theirs: Sequence[Point]) -> str:
    """From which epsilon on ZEALOUS differs less, for every k."""
    found = []
    for k, other in theirs:
        better = [point.x for point in ours if point.y.mean < other.mean]
        found.append(f"k = {k:g} {f'from epsilon = {min(better):g}' if better else 'never'}")
    return f"ZEALOUS differs less than k-query with {', '.join(found)}."
