"""The paper's claims on query substitution, judged by a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from zealous.study.claims.claim import (
    BOTH_NEEDED,
    CACHING_M,
    FIRST_M,
    JUDGED_EPSILONS,
    JUDGED_K,
    USUAL_K,
    Case,
    Finding,
    Needed,
    StudyCurves,
    at_settings,
    is_above,
    judge,
    settings_text,
)
from zealous.study.grid.result_table import Point, Spread

_MOST_QUALITY_GAP = 0.15  # difference of precision, recall and so on
# A measure that is never above the gap could not vary by more than it: the claim would hold
# whatever was published.
_LEAST_QUALITY = _MOST_QUALITY_GAP
_AT_SETTINGS: Needed = [("m", (FIRST_M,)), ("k", (USUAL_K,))]
_TWO_M_NEEDED: Needed = [("m", (FIRST_M, CACHING_M))]
_QUALITY = ("precision", "recall", "average-precision", "ndcg")
_TOP = (2, 5)
_ANY_TOP = _TOP[0]  # a query has substitutions or none: coverage is the same for every j
_EVERY_J = "The same for the top 2 and the top 5: a query has substitutions or none."
_PAIRS = ("phrase-pairs", "query-pairs")


def substitution_hardly_varies(curves: StudyCurves) -> Finding:
    """Precision, recall and so on over epsilon, and over k."""

    def span(points: Sequence[Point], axis: str, settings: Sequence[float]) -> _Range | None:
        points = at_settings(points, settings)
        if not points:
            return None
        low, high = (pick(points, key=lambda point: point.y.mean) for pick in (min, max))
        return _Range(axis, low, high)

    def cases(measure: str, j: int) -> list[Case]:
        ranges = [
            span(
                curves.results.curve(measure, "query-pairs", method, over=axis, at=j, **fixed),
                axis,
                settings,
            )
            for method, axis, settings, fixed in (
                ("zealous", "epsilon", JUDGED_EPSILONS, {"m": FIRST_M}),
                ("k-query", "k", JUDGED_K, {}),
            )
        ]
        if None in ranges:  # the claim is about both
            return []
        found = [each.case(f"{measure} of top {j}") for each in ranges if each is not None]
        if None in [each.holds for each in found] and False not in [each.holds for each in found]:
            return [each._replace(holds=None) for each in found]
        return found

    judged = [each for j in _TOP for measure in _QUALITY for each in cases(measure, j)]
    return judge(
        "substitution-hardly-varies",
        "Varying epsilon and k has hardly any influence on the quality of substitutions. (Each "
        f"measure varies by at most {_MOST_QUALITY_GAP:g}, over epsilon for ZEALOUS (m = 1) and "
        "over k for k-query. Judged where both have substitutions at every setting, and the "
        f"measure is above {_LEAST_QUALITY:g} at one.)",
        judged,
        margin_of="points of the measure that varies most",
        judged_on=settings_text(BOTH_NEEDED),
        untried=curves.untried(BOTH_NEEDED),
        printed="hardly any influence (about a figure, without numbers)",
    )


def _at_settings(curves: StudyCurves) -> str:
    """The settings at which ZEALOUS and k-query are compared."""
    return f"epsilon = {curves.study.epsilon:g}, m = {FIRST_M}, k = {USUAL_K}"


class _Range(NamedTuple):
    """The lowest and the highest point of a curve."""

    axis: str
    low: Point
    high: Point

    def case(self, name: str) -> Case:
        """Whether the two are near each other."""
        apart = self.high.y.mean - self.low.y.mean
        measured = (
            f"{name} from {self.low.y.mean:.2f} at {self.axis} = {self.low.x:g} to "
            f"{self.high.y.mean:.2f} at {self.high.x:g}"
        )
        margin = _MOST_QUALITY_GAP - apart
        holds = margin >= 0 if self.high.y.mean > _LEAST_QUALITY else None
        return Case(measured, holds, f"{name} varies by {apart:.2f} over {self.axis}. ", margin)


def substitution_quality_similar(curves: StudyCurves) -> Finding:
    """Precision, recall and so on of ZEALOUS and of k-query."""

    def case(measure: str, j: int) -> Case | None:
        ours = curves.zealous(measure, "query-pairs", FIRST_M, at=j)
        theirs = curves.k_query(measure, "query-pairs", at=j)
        if ours is None or theirs is None:
            return None
        apart = ours.mean - theirs.mean
        measured = f"{measure} of top {j} {ours.mean:.2f}, k-query {theirs.mean:.2f}"
        why = f"{measure} of top {j} is {abs(apart):.2f} {'higher' if apart > 0 else 'lower'}. "
        margin = _MOST_QUALITY_GAP - abs(apart)
        enough = max(ours.mean, theirs.mean) > _LEAST_QUALITY
        return Case(measured, margin >= 0 if enough else None, why, margin)

    return judge(
        "substitution-quality-similar",
        "For the queries that have substitutions, those by ZEALOUS (m = 1) are about as good as "
        f"those by k-query. (Within {_MOST_QUALITY_GAP:g}. Judged where the measure is above "
        f"{_LEAST_QUALITY:g} for one of them.)",
        [case(measure, j) for j in _TOP for measure in _QUALITY],
        margin_of="points of the measure that differs most",
        judged_on=_at_settings(curves),
        untried=curves.untried(_AT_SETTINGS),
        printed="comparable (about a figure, without numbers)",
    )


def substitution_covers_less(curves: StudyCurves) -> Finding:
    """Coverage of ZEALOUS and of k-query."""
    ours = curves.zealous("coverage", "query-pairs", FIRST_M, at=_ANY_TOP)
    theirs, case = curves.k_query("coverage", "query-pairs", at=_ANY_TOP), None
    if ours is not None and theirs is not None:
        measured = (
            f"{ours.mean:.2%} at epsilon = {curves.study.epsilon:g}, k-query {theirs.mean:.2%}"
        )
        some = ours.mean > 0 or theirs.mean > 0
        case = Case(
            measured,
            is_above(theirs, ours) if some else None,
            "ZEALOUS does not cover fewer queries.",
            theirs.mean - ours.mean,
        )
    return judge(
        "substitution-covers-less",
        "The coverage of ZEALOUS is not good: it gives substitutions for fewer queries than "
        f"k-query. ({_EVERY_J})",
        [case],
        margin_of="points of coverage",
        judged_on=_at_settings(curves),
        untried=curves.untried(_AT_SETTINGS),
        printed="not good (about a figure, without numbers)",
    )


def substitution_coverage_falls(curves: StudyCurves) -> Finding:
    """Coverage at m = 1 and at m = 6."""
    every = curves.over_m("coverage", "query-pairs", at=_ANY_TOP)
    points, case = at_settings(every, (FIRST_M, CACHING_M)), None
    if points and points[0].y.mean > 0:
        one, more = points[0], points[-1]
        measured = (
            f"{one.y.mean:.2%} at m = {one.x:g}, {more.y.mean:.2%} at {more.x:g}, "
            f"epsilon = {curves.study.epsilon:g}"
        )
        fall = 1 - more.y.mean / one.y.mean
        case = Case(measured, is_above(one.y, more.y), "The coverage does not fall.", fall)
    return judge(
        "substitution-coverage-falls-with-m",
        "ZEALOUS gives substitutions for fewer queries at m = 6 than at m = 1.",
        [case],
        margin_of="the coverage at m = 1",
        judged_on=f"epsilon = {curves.study.epsilon:g}, {settings_text(_TWO_M_NEEDED)}",
        untried=curves.untried(_TWO_M_NEEDED),
        printed="smaller across the board (about a figure, without numbers)",
    )


def phrase_pairs_regain_coverage(curves: StudyCurves) -> Finding:
    """Coverage by phrase pairs and by query pairs, and what it costs in precision."""

    def figure(measure: str, kind: str, j: int) -> Spread | None:
        return curves.zealous(measure, kind, FIRST_M, at=j)

    phrases, pairs = (figure("coverage", kind, _ANY_TOP) for kind in _PAIRS)
    case = None
    if pairs is not None and phrases is not None:
        measured = f"coverage {phrases.mean:.2%} by phrase pairs, {pairs.mean:.2%} by query pairs"
        top = _TOP[-1]
        by_phrases, by_pairs = (figure("precision", kind, top) for kind in _PAIRS)
        if by_phrases is not None and by_pairs is not None:
            measured += f"; precision of top {top} {by_phrases.mean:.2f} and {by_pairs.mean:.2f}"
        some = phrases.mean > 0 or pairs.mean > 0
        case = Case(
            measured,
            is_above(phrases, pairs) if some else None,
            "Phrase pairs cover no more.",
            phrases.mean - pairs.mean,
        )
    return judge(
        "phrase-pairs-regain-coverage",
        "Not a claim of the paper but a remedy for what it found: phrase pairs, published directly "
        "under the same guarantee, give substitutions for more queries. (Precision is reported but "
        "not judged.)",
        [case],
        margin_of="points of coverage",
        judged_on=f"epsilon = {curves.study.epsilon:g}, m = {FIRST_M}",
        untried=curves.untried([("m", (FIRST_M,))]),
    )
