"""The paper's claims on counts: their distribution and their distance from the original's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zealous.study.claims import paper
from zealous.study.claims.claim import (
    Case,
    Finding,
    StudyCurves,
    ends_text,
    format_number,
    judge,
    nearest,
    rises,
)
from zealous.study.grid.result_table import Point
from zealous.study.measures.statistics import bins

_LEAST_BINS = 3  # of counts: with fewer there is no slope
_MOST_SLOPE_GAP = 0.25  # by which slopes may differ, relative
_MOST_DIFFERENCE_GAP = 0.25  # of the range of average differences in the study
_FARTHEST_SETTING = 2.0  # times the paper's setting: beyond, the study has none that is near


def power_law(curves: StudyCurves) -> Finding:
    """The slope of the distribution of counts on log-log scale, original and released."""

    def case(kind: str, method: str, **fixed: float) -> Case | None:
        shape = curves.results.curve("items-with-count", kind, method, over="at", **fixed)
        shape = shape[1:]  # the first bin is cut by the threshold
        original = curves.results.curve("items-with-count", kind, "original", over="at")
        before = _original_slope(original, shape)
        if before is None:
            return None
        after = _log_log_slope(shape)
        measured = f"{kind} by {method} {after:.2f}, original {before:.2f}"
        why = f"{kind} by {method}: the slope is {after / before:.2f} times the original's. "
        if method == "zealous":
            why += _slope_at_larger_counts(curves, kind, original, shape)
        return Case(measured, abs(after - before) <= _MOST_SLOPE_GAP * abs(before), why)

    epsilon, k = float(curves.study.epsilon), nearest(curves.results.axis("k", "k-query"), 10)
    cases = [case(kind, "zealous", epsilon=epsilon, m=curves.least_m) for kind in paper.KINDS]
    cases += [case(kind, "k-query", k=k) for kind in paper.KINDS if k is not None]
    return judge(
        "power-law-kept",
        "Original and released counts follow a power law. (Slopes on log-log scale over the "
        f"release's range of counts agree within {_MOST_SLOPE_GAP:.0%}, for each kind and method.)",
        cases,
        printed="well preserved (about a figure, without numbers)",
    )


def _slope_at_larger_counts(
    curves: StudyCurves, kind: str, original: Sequence[Point], shape: Sequence[Point]
) -> str:
    """The original's slope over the counts that bounding turns into the released ones."""
    average = curves.results.value("average-items", kind, "original")
    if average is None:
        return ""
    times = max(1.0, average.mean / curves.least_m)
    before = _original_slope(original, shape, times)
    if before is None:
        return ""
    return (
        f"A user contributes {curves.least_m:g} of {average.mean:.1f} items, which makes counts "
        f"smaller; over counts {times:.1f} times as large the original's slope is {before:.2f}. "
    )


def _original_slope(
    original: Sequence[Point], shape: Sequence[Point], times: float = 1
) -> float | None:
    """The original's slope over the release's range of counts, scaled by `times`."""
    if len(shape) < _LEAST_BINS:
        return None
    within = [p for p in original if shape[0].x * times <= p.x <= shape[-1].x * times]
    return _log_log_slope(within) if len(within) >= _LEAST_BINS else None


def _log_log_slope(points: Sequence[Point]) -> float:
    """The slope of a line fitted on log-log scale; a bin weighs as many items as it holds."""
    at = np.array([point.x for point in points])
    density = np.array([point.y.mean for point in points])
    edges = bins()
    place = np.searchsorted(edges, at, "right")
    weights = density * (edges[place] - edges[place - 1])
    x, y = np.log(at), np.log(density)
    x -= np.average(x, weights=weights)
    return float((weights * x * y).sum() / (weights * x * x).sum())


def difference_falls(curves: StudyCurves) -> Finding:
    """The average difference over epsilon."""

    def case(kind: str) -> Case | None:
        points = _difference_points(curves, kind)
        if len(points) < 2:
            return None
        steps = rises(points)
        why = [
            f"{kind} rise from {format_number(a.y.mean)} at epsilon = {a.x:g} to "
            f"{format_number(b.y.mean)} at {b.x:g}: the few items of a small release are scaled up "
            "to the original's total. "
            for a, b in steps[:1]
        ]
        falls = not steps and points[-1].y.mean < points[0].y.mean
        return Case(
            f"{kind} {ends_text(points, 'epsilon')}",
            falls,
            "".join(why) or f"{kind} do not fall. ",
        )

    return judge(
        "difference-falls-with-epsilon",
        "The average difference of counts falls as epsilon grows. (Judged where every draw "
        "publishes something: an empty release cannot be scaled to the original's total.)",
        map(case, paper.KINDS),
    )


def _difference_points(curves: StudyCurves, kind: str) -> list[Point]:
    """The average difference over epsilon, where every draw publishes something."""
    some = {point.x for point in curves.over_epsilon("distinct", kind) if point.y.low > 0}
    points = curves.over_epsilon("average-difference", kind)
    return [point for point in points if point.x in some]


def keywords_beat_k_query(curves: StudyCurves) -> Finding:
    """For keywords ZEALOUS differs less at every epsilon above 2 and every k."""
    above = paper.BETTER_ABOVE.values["epsilon"]
    ours = [point for point in _difference_points(curves, "keywords") if point.x > above]
    theirs = curves.over_k("average-difference", "keywords")
    case = None
    if ours and theirs:
        holds = max(p.y.mean for p in ours) < min(p.y.mean for p in theirs)
        case = Case(_both_ranges(ours, theirs), holds, _crossings_text(ours, theirs))
    return judge(
        "keywords-differ-less-than-k-query",
        "For keywords, the average difference of ZEALOUS is smaller than that of k-query at every "
        f"epsilon above {above}. (At every k of the study: the paper does not say which k.)",
        [case],
        printed=f"epsilon > {above}",
    )


def queries_equal_k_query(curves: StudyCurves) -> Finding:
    """For queries ZEALOUS at epsilon = 6 and k-query at k = 60 differ about equally."""
    ours = _difference_points(curves, "queries")
    theirs = curves.over_k("average-difference", "queries")
    return judge(
        "queries-differ-like-k-query",
        "For queries, ZEALOUS at epsilon = 6 differs about as much as k-query at k = 60. (At the "
        f"nearest settings of the study, the two differ by at most {_MOST_DIFFERENCE_GAP:.0%} of "
        "the range of all its average differences, over epsilon and k.)",
        [_compare_at_paper_settings(ours, theirs) if ours and theirs else None],
        printed="epsilon = 6, k = 60",
    )


def _compare_at_paper_settings(ours: Sequence[Point], theirs: Sequence[Point]) -> Case:
    """The gap at the paper's settings, relative to the range over all settings."""
    same = paper.SAME_DIFFERENCE.values
    mine = min(ours, key=lambda point: abs(point.x - same["epsilon"]))
    other = min(theirs, key=lambda point: abs(point.x - same["k"]))
    every = [point.y.mean for point in (*ours, *theirs)]
    low, high = min(every), max(every)
    measured = (
        f"ZEALOUS {format_number(mine.y.mean)} at epsilon = {mine.x:g}, "
        f"k-query {format_number(other.y.mean)} at k = {other.x:g}; "
        f"the study ranges from {format_number(low)} to {format_number(high)}"
    )
    far = max(_factor(mine.x, same["epsilon"]), _factor(other.x, same["k"])) > _FARTHEST_SETTING
    if far or low == high:
        return Case(measured, None)
    apart = (mine.y.mean - other.y.mean) / (high - low)
    measured += f", and the gap is {abs(apart):.0%} of that range"
    more = "more" if apart > 0 else "less"
    why = f"ZEALOUS differs {more} at these settings. {_crossings_text(ours, theirs)}"
    return Case(measured, abs(apart) <= _MOST_DIFFERENCE_GAP, why)


def _factor(one: float, other: float) -> float:
    return max(one / other, other / one)


def pairs_lose_to_k_query(curves: StudyCurves) -> Finding:
    """For query pairs k-query differs less."""
    ours = _difference_points(curves, "query-pairs")
    theirs = curves.over_k("average-difference", "query-pairs")
    case = None
    if ours and theirs:
        holds = min(p.y.mean for p in theirs) < min(p.y.mean for p in ours)
        case = Case(_both_ranges(ours, theirs), holds, _crossings_text(ours, theirs))
    return judge(
        "query-pairs-differ-more-than-k-query",
        "For query pairs, k-query differs less than ZEALOUS, each at its best setting.",
        [case],
    )


def _both_ranges(ours: Sequence[Point], theirs: Sequence[Point]) -> str:
    return f"ZEALOUS {ends_text(ours, 'epsilon')}; k-query {ends_text(theirs, 'k')}"


def _crossings_text(ours: Sequence[Point], theirs: Sequence[Point]) -> str:
    """For every k, from which epsilon on ZEALOUS differs less."""
    found = []
    for k, other in theirs:
        better = [point.x for point in ours if point.y.mean < other.mean]
        found.append(f"k = {k:g} {f'from epsilon = {min(better):g}' if better else 'never'}")
    return f"ZEALOUS differs less than k-query with {', '.join(found)}."
