"""The paper's claims on counts: their distribution and their distance from the original's."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from zealous.study.claims import paper
from zealous.study.claims.claim import (
    JUDGED_EPSILONS,
    JUDGED_K,
    Case,
    Finding,
    StudyCurves,
    at_settings,
    ends_text,
    format_number,
    judge,
    nearest,
    rises,
    spans,
)
from zealous.study.grid.result_table import Point
from zealous.study.measures.statistics import bins

_LEAST_BINS = 3  # of counts: with fewer there is no slope
_MOST_SLOPE_GAP = 0.25  # by which slopes may differ, relative
_MOST_DIFFERENCE_GAP = 0.25  # of the range of average differences in the study
_FARTHEST_SETTING = 2.0  # times the paper's setting: beyond, the study has none that is near
_FEWEST_TIMES = math.sqrt(10)  # rounds to one order of magnitude


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
        margin = _MOST_SLOPE_GAP - abs(after / before - 1)
        return Case(measured, margin >= 0, why, margin)

    epsilon, k = float(curves.study.epsilon), nearest(curves.results.axis("k", "k-query"), 10)
    cases = [case(kind, "zealous", epsilon=epsilon, m=curves.least_m) for kind in paper.KINDS]
    cases += [case(kind, "k-query", k=k) for kind in paper.KINDS if k is not None]
    return judge(
        "power-law-kept",
        "Original and released counts follow a power law. (Slopes on log-log scale over the "
        f"release's range of counts agree within {_MOST_SLOPE_GAP:.0%}, for each kind and method.)",
        cases,
        margin_of="the original's slope",
        judged_on=f"epsilon = {epsilon:g}, m = {curves.least_m:g}"
        + ("" if k is None else f", k = {k:g}"),
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
        points = at_settings(_difference_points(curves, kind), JUDGED_EPSILONS)
        if len(points) < 2 or points[-1].x != JUDGED_EPSILONS[-1]:
            return None
        reason = "the few items of a small release are scaled up to the original's total. "
        return _falling_case(kind, points, "epsilon", f": {reason}")

    return judge(
        "difference-falls-with-epsilon",
        "The average difference of counts falls as epsilon grows. (Judged where every draw "
        "publishes something: an empty release cannot be scaled to the original's total.)",
        map(case, paper.KINDS),
        margin_of="the difference at the smallest epsilon",
        judged_on=curves.on_epsilon,
    )


def _falling_case(kind: str, points: Sequence[Point], axis: str, reason: str) -> Case:
    """Whether a curve falls from its first to its last point, and nowhere rises."""
    steps = rises(points)
    why = [
        f"{kind} rise from {format_number(a.y.mean)} at {axis} = {a.x:g} to "
        f"{format_number(b.y.mean)} at {b.x:g}{reason}"
        for a, b in steps[:1]
    ]
    fall = 1 - points[-1].y.mean / points[0].y.mean if points[0].y.mean else 0.0
    most = max((b.y.mean / a.y.mean - 1 for a, b in steps if a.y.mean), default=-fall)
    return Case(
        f"{kind} {ends_text(points, axis)}",
        not steps and fall > 0,
        "".join(why) or f"{kind} do not fall. ",
        margin=-most,
    )


def difference_falls_with_k(curves: StudyCurves) -> Finding:
    """The average difference of k-query over k, from the largest k down."""

    def case(kind: str) -> Case | None:
        points = at_settings(_k_query_points(curves, kind), JUDGED_K)
        if not spans(points, JUDGED_K):
            return None
        return _falling_case(kind, points[::-1], "k", ". ")

    return judge(
        "difference-falls-with-k",
        "The average difference of counts of k-query falls as k falls.",
        map(case, paper.KINDS),
        margin_of="the difference at the largest k",
        judged_on=curves.on_k,
        printed="accuracy increases (about a figure, without numbers)",
    )


def more_single_clicks_than_keywords(curves: StudyCurves) -> Finding:
    """How many clicks and how many keywords have a single user."""
    clicks, keywords = (
        curves.results.value("items-with-count", kind, "original", at=1.0)
        for kind in ("clicks", "keywords")
    )
    case = None
    if clicks is not None and keywords is not None and keywords.mean > 0:
        times = clicks.mean / keywords.mean
        measured = f"{format_number(clicks.mean)} clicks with one user, "
        measured += f"{format_number(keywords.mean)} keywords: {times:.1f} times as many"
        margin = times / _FEWEST_TIMES - 1
        case = Case(measured, margin >= 0, f"Only {times:.1f} times as many.", margin)
    return judge(
        "more-single-clicks-than-keywords",
        "The log has an order of magnitude more clicks with a single user than keywords. (At least "
        f"{_FEWEST_TIMES:.1f} times as many, which rounds to a power of ten.)",
        [case],
        margin_of="the times that are needed",
        judged_on="the original log",
        printed="an order of magnitude",
    )


def _difference_points(curves: StudyCurves, kind: str) -> list[Point]:
    """The average difference over epsilon, where every draw publishes something."""
    some = {point.x for point in curves.over_epsilon("distinct", kind) if point.y.low > 0}
    points = curves.over_epsilon("average-difference", kind)
    return [point for point in points if point.x in some]


def _k_query_points(curves: StudyCurves, kind: str) -> list[Point]:
    """The average difference of k-query over k, where it publishes something."""
    nothing = {point.x for point in curves.over_k("distinct", kind) if point.y.mean == 0}
    points = curves.over_k("average-difference", kind)
    return [point for point in points if point.x not in nothing]


def keywords_beat_k_query(curves: StudyCurves) -> Finding:
    """For keywords ZEALOUS differs less at every epsilon above 2 and every k."""
    above = paper.BETTER_ABOVE.values["epsilon"]
    points = at_settings(_difference_points(curves, "keywords"), JUDGED_EPSILONS)
    ours = [point for point in points if point.x > above]
    theirs = at_settings(_k_query_points(curves, "keywords"), JUDGED_K)
    case = None
    if ours and spans(theirs, JUDGED_K):
        margin = min(p.y.mean for p in theirs) / max(p.y.mean for p in ours) - 1
        case = Case(_both_ranges(ours, theirs), margin > 0, _crossings_text(ours, theirs), margin)
    return judge(
        "keywords-differ-less-than-k-query",
        "For keywords, the average difference of ZEALOUS is smaller than that of k-query at every "
        f"epsilon above {above}. (At every k: the paper does not say which k.)",
        [case],
        margin_of="the largest difference of ZEALOUS",
        judged_on=f"{curves.on_epsilon}, those above {above}; {curves.on_k}",
        printed=f"epsilon > {above}",
    )


def queries_equal_k_query(curves: StudyCurves) -> Finding:
    """For queries ZEALOUS at epsilon = 6 and k-query at k = 60 differ about equally."""
    ours = at_settings(_difference_points(curves, "queries"), JUDGED_EPSILONS)
    same = (*JUDGED_K, paper.SAME_DIFFERENCE.values["k"])
    theirs = at_settings(_k_query_points(curves, "queries"), same)
    return judge(
        "queries-differ-like-k-query",
        "For queries, ZEALOUS at epsilon = 6 differs about as much as k-query at k = 60. (At the "
        f"nearest settings of the study, the two differ by at most {_MOST_DIFFERENCE_GAP:.0%} of "
        "the range of all its average differences, over epsilon and k.)",
        [_compare_at_paper_settings(ours, theirs) if ours and theirs else None],
        margin_of="points of that range",
        judged_on="the settings nearest to epsilon = 6 and k = 60; the range over "
        f"{curves.on_epsilon}, {curves.on_k}",
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
    margin = _MOST_DIFFERENCE_GAP - abs(apart)
    return Case(measured, margin >= 0, why, margin)


def _factor(one: float, other: float) -> float:
    return max(one / other, other / one)


def pairs_lose_to_k_query(curves: StudyCurves) -> Finding:
    """For query pairs k-query differs less."""
    ours = at_settings(_difference_points(curves, "query-pairs"), JUDGED_EPSILONS)
    theirs = at_settings(_k_query_points(curves, "query-pairs"), JUDGED_K)
    case = None
    if ours and theirs and theirs[0].x == JUDGED_K[0] and ours[-1].x == JUDGED_EPSILONS[-1]:
        best = min(p.y.mean for p in theirs)
        margin = 1 - best / min(p.y.mean for p in ours)
        case = Case(_both_ranges(ours, theirs), margin > 0, _crossings_text(ours, theirs), margin)
    return judge(
        "query-pairs-differ-more-than-k-query",
        "For query pairs, k-query differs less than ZEALOUS, each at its best setting.",
        [case],
        margin_of="the least difference of ZEALOUS",
        judged_on=f"{curves.on_epsilon}; {curves.on_k}",
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
