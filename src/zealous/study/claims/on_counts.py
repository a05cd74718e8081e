"""The paper's claims on counts: their distribution and their distance from the original's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from zealous.study.claims import paper
from zealous.study.claims.claim import (
    BOTH_NEEDED,
    FIRST_M,
    JUDGED_EPSILONS,
    JUDGED_K,
    K_NEEDED,
    STATISTICS_NEEDED,
    USUAL_K,
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
    spans,
)
from zealous.study.grid.result_table import Point, Spread
from zealous.study.measures.statistics import bins

_LEAST_BINS = 3  # of counts: with fewer there is no slope
_MOST_SLOPE_GAP = 0.25  # by which slopes may differ, relative
_MOST_DIFFERENCE_GAP = 0.25  # of the range of average differences in the study
_SAME_K = paper.SAME_DIFFERENCE.values["k"]
_SAME_NEEDED: Needed = [*STATISTICS_NEEDED, ("k", (*JUDGED_K[:-1], _SAME_K, JUDGED_K[-1]))]
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

    epsilon = float(curves.study.epsilon)
    cases = [case(kind, "zealous", epsilon=epsilon, m=FIRST_M) for kind in paper.KINDS]
    cases += [case(kind, "k-query", k=USUAL_K) for kind in paper.KINDS]
    return judge(
        "power-law-kept",
        "Original and released counts follow a power law. (Slopes on log-log scale over the "
        f"release's range of counts agree within {_MOST_SLOPE_GAP:.0%}, for each kind and method.)",
        cases,
        margin_of="the original's slope",
        judged_on=f"epsilon = {epsilon:g}, m = {FIRST_M}, k = {USUAL_K}",
        untried=curves.untried([("m", (FIRST_M,)), ("k", (USUAL_K,))]),
        printed="well preserved (about a figure, without numbers)",
    )


def _slope_at_larger_counts(
    curves: StudyCurves, kind: str, original: Sequence[Point], shape: Sequence[Point]
) -> str:
    """The original's slope over the counts that bounding turns into the released ones."""
    average = curves.results.value("average-items", kind, "original")
    if average is None:
        return ""
    times = max(1.0, average.mean / FIRST_M)
    before = _original_slope(original, shape, times)
    if before is None:
        return ""
    return (
        f"A user contributes {FIRST_M} of {average.mean:.1f} items, which makes counts "
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
        if len(points) < 2 or points[-1].x != JUDGED_EPSILONS[-1]:
            return None
        reason = "the few items of a small release are scaled up to the original's total. "
        return _falling_case(kind, points, "epsilon", f": {reason}")

    return judge(
        "difference-falls-with-epsilon",
        "The average difference of counts falls as epsilon grows. (By more than the spread of the "
        "draws. Judged where every draw publishes something: an empty release cannot be scaled to "
        "the original's total.)",
        map(case, paper.KINDS),
        margin_of="the difference at the smallest epsilon",
        judged_on=settings_text(STATISTICS_NEEDED),
        untried=curves.untried(STATISTICS_NEEDED),
    )


def _falling_case(kind: str, points: Sequence[Point], axis: str, reason: str) -> Case:
    """Whether a curve falls from its first to its last point, and nowhere rises.

    Not judged where it does neither by more than the spread of the draws.
    """
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
        False if steps else is_above(points[0].y, points[-1].y),
        "".join(why) or f"{kind} do not fall. ",
        margin=-most,
    )


def difference_falls_with_k(curves: StudyCurves) -> Finding:
    """The average difference of k-query over k, from the largest k down."""

    def case(kind: str) -> Case | None:
        points = at_settings(_k_query_points(curves, kind), JUDGED_K)
        return _falling_case(kind, points[::-1], "k", ". ") if points else None

    return judge(
        "difference-falls-with-k",
        "The average difference of counts of k-query falls as k falls.",
        map(case, paper.KINDS),
        margin_of="the difference at the largest k",
        judged_on=settings_text(K_NEEDED),
        untried=curves.untried(K_NEEDED),
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
    """The average difference at the epsilons that decide, where every draw publishes something."""
    tried = at_settings(curves.over_epsilon("distinct", kind), JUDGED_EPSILONS)
    some = {point.x for point in tried if point.y.low > 0}
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
    wanted = [epsilon for epsilon in JUDGED_EPSILONS if epsilon > above]
    ours = at_settings(_difference_points(curves, "keywords"), wanted)
    theirs = at_settings(_k_query_points(curves, "keywords"), JUDGED_K)
    case = None
    if ours and theirs:
        least, most = _extreme(min, theirs), _extreme(max, ours)
        holds, margin = is_above(least, most), least.mean / most.mean - 1
        case = Case(_both_ranges(ours, theirs), holds, _crossings_text(ours, theirs), margin)
    return judge(
        "keywords-differ-less-than-k-query",
        "For keywords, the average difference of ZEALOUS is smaller than that of k-query at every "
        f"epsilon above {above}. (At every k: the paper does not say which k.)",
        [case],
        margin_of="the largest difference of ZEALOUS",
        judged_on=settings_text([("epsilon", wanted), *BOTH_NEEDED[1:]]),
        untried=curves.untried(BOTH_NEEDED),
        printed=f"epsilon > {above}",
    )


def queries_equal_k_query(curves: StudyCurves) -> Finding:
    """For queries ZEALOUS at epsilon = 6 and k-query at k = 60 differ about equally."""
    ours = _difference_points(curves, "queries")
    theirs = at_settings(_k_query_points(curves, "queries"), (*JUDGED_K, _SAME_K))
    return judge(
        "queries-differ-like-k-query",
        "For queries, ZEALOUS at epsilon = 6 differs about as much as k-query at k = 60. (The two "
        f"differ by at most {_MOST_DIFFERENCE_GAP:.0%} of the range of all average differences, "
        "over epsilon and k.)",
        [_compare_at_paper_settings(ours, theirs)],
        margin_of="points of that range",
        judged_on="epsilon = 6 and k = 60; the range over " + settings_text(_SAME_NEEDED),
        untried=curves.untried(_SAME_NEEDED),
        printed="epsilon = 6, k = 60",
    )


def _compare_at_paper_settings(ours: Sequence[Point], theirs: Sequence[Point]) -> Case | None:
    """The gap at the paper's settings, relative to the range over all settings."""
    mine = next((p for p in ours if p.x == paper.SAME_DIFFERENCE.values["epsilon"]), None)
    other = next((p for p in theirs if p.x == _SAME_K), None)
    if mine is None or other is None:
        return None
    every = [point.y.mean for point in (*ours, *theirs)]
    low, high = min(every), max(every)
    measured = (
        f"ZEALOUS {format_number(mine.y.mean)} at epsilon = {mine.x:g}, "
        f"k-query {format_number(other.y.mean)} at k = {other.x:g}; "
        f"the study ranges from {format_number(low)} to {format_number(high)}"
    )
    if low == high:
        return Case(measured, None)
    apart = (mine.y.mean - other.y.mean) / (high - low)
    measured += f", and the gap is {abs(apart):.0%} of that range"
    more = "more" if apart > 0 else "less"
    why = f"ZEALOUS differs {more} at these settings. {_crossings_text(ours, theirs)}"
    margin = _MOST_DIFFERENCE_GAP - abs(apart)
    return Case(measured, margin >= 0, why, margin)


def pairs_lose_to_k_query(curves: StudyCurves) -> Finding:
    """For query pairs k-query differs less."""
    ours = _difference_points(curves, "query-pairs")
    tried = spans(curves.over_k("average-difference", "query-pairs"), JUDGED_K)
    theirs = [p for p in _k_query_points(curves, "query-pairs") if tried and p.x in JUDGED_K]
    case = None
    if ours and theirs and theirs[0].x == JUDGED_K[0] and ours[-1].x == JUDGED_EPSILONS[-1]:
        best, least = _extreme(min, theirs), _extreme(min, ours)
        holds, margin = is_above(least, best), 1 - best.mean / least.mean
        case = Case(_both_ranges(ours, theirs), holds, _crossings_text(ours, theirs), margin)
    return judge(
        "query-pairs-differ-more-than-k-query",
        "For query pairs, k-query differs less than ZEALOUS, each at its best setting.",
        [case],
        margin_of="the least difference of ZEALOUS",
        judged_on=settings_text(BOTH_NEEDED),
        untried=curves.untried(BOTH_NEEDED),
    )


def _extreme(pick: Callable[..., Point], points: Sequence[Point]) -> Spread:
    """The least or the greatest of a curve."""
    return pick(points, key=lambda point: point.y.mean).y


def _both_ranges(ours: Sequence[Point], theirs: Sequence[Point]) -> str:
    return f"ZEALOUS {ends_text(ours, 'epsilon')}; k-query {ends_text(theirs, 'k')}"


def _crossings_text(ours: Sequence[Point], theirs: Sequence[Point]) -> str:
    """For every k, from which epsilon on ZEALOUS differs less."""
    found = []
    for k, other in theirs:
        better = [point.x for point in ours if point.y.mean < other.mean]
        found.append(f"k = {k:g} {f'from epsilon = {min(better):g}' if better else 'never'}")
    return f"ZEALOUS differs less than k-query with {', '.join(found)}."
