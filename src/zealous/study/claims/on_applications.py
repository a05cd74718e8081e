"""The paper's claims on index caching and query substitution, judged by a study."""

from __future__ import annotations

from collections.abc import Sequence

from zealous.study.claims.claim import (
    Case,
    Finding,
    StudyCurves,
    ends_text,
    falls,
    judge,
    nearest,
)
from zealous.study.grid.result_table import Point, Spread

_MOST_HIT_LOSS = 0.10  # of the hit probability
_LEAST_SHARE_OF_PAIRS = 0.5  # of the pairs of epsilon and k
_MOST_QUALITY_GAP = 0.15  # difference of precision, recall and so on
_CUT_LISTS_REASON = (
    "It can fall as epsilon grows probably because of the score that ranks the lists: the score "
    "divides by all documents with a keyword, while a list takes memory for at most 200,000 of "
    "them. Long lists in frequent use are worth more than their score. A release with few keywords "
    "has room for them; one with more keywords prefers others."
)
_QUALITY = ("precision", "recall", "average-precision", "ndcg")
_TOP = (2, 5)
_ANY_TOP = _TOP[0]  # a query has substitutions or none: coverage is the same for every j
_EVERY_J = "The same for the top 2 and the top 5: a query has substitutions or none."
_PAIRS = ("phrase-pairs", "query-pairs")


def caching_suffers_little(curves: StudyCurves) -> Finding:
    """The hit probability from epsilon = 10 down to 1."""
    m, case = nearest(curves.results.axis("m", "zealous"), 6), None
    every = curves.over_epsilon("hit-probability", "keywords", m)
    points = [point for point in every if 1 <= point.x <= 10]
    steps = falls(every)
    if len(points) > 1 and points[-1].y.mean > 0:
        drop = 1 - points[0].y.mean / points[-1].y.mean
        measured = f"m = {m:g}: {ends_text(points, 'epsilon')}, "
        measured += f"{_change_text(drop)} at the smaller epsilon"
        if perfect := curves.results.value("hit-probability", "keywords", "original"):
            measured += f"; {perfect.mean:.3f} with the original log"
        measured += _non_monotone_text(steps)
        whole = (points[0].x, points[-1].x) == (1, 10)
        holds = drop < _MOST_HIT_LOSS if whole else None
        case = Case(measured, holds, f"{drop:.1%} is not below {_MOST_HIT_LOSS:.0%}.")
    found = judge(
        "caching-suffers-little",
        "The hit probability of index caching falls only a little as epsilon becomes smaller. (By "
        f"less than {_MOST_HIT_LOSS:.0%} from epsilon = 10 to 1.)",
        [case],
        printed="only marginally (about a figure, without numbers)",
    )
    return found.with_reason(_CUT_LISTS_REASON) if case and steps else found


def _change_text(drop: float) -> str:
    return f"{abs(drop):.1%} {'less' if drop >= 0 else 'more'}"


def _non_monotone_text(steps: Sequence[tuple[Point, Point]]) -> str:
    """Where a larger epsilon makes the cache worse."""
    if not steps:
        return ""
    drops = ", ".join(
        f"from {a.y.mean:.3f} at epsilon = {a.x:g} to {b.y.mean:.3f} at {b.x:g}" for a, b in steps
    )
    return f"; not monotone: as epsilon grows it falls {drops}"


def caching_prefers_larger_m(curves: StudyCurves) -> Finding:
    """The hit probability at m = 6 and at m = 1."""
    points, case = curves.over_m("hit-probability", "keywords"), None
    at = {point.x: point.y.mean for point in points}
    m = nearest([each for each in at if each > 1], 6)
    if m is not None and 1 in at:
        best = max(at, key=lambda each: at[each])
        measured = (
            f"{at[m]:.3f} at m = {m:g}, {at[1]:.3f} at m = 1, epsilon = {curves.study.epsilon:g}"
        )
        why = f"The best m of the study is {best:g}, with {at[best]:.3f}."
        case = Case(measured, at[m] > at[1], why)
    return judge(
        "caching-prefers-larger-m",
        "Index caching has a higher hit probability at m = 6 than at m = 1.",
        [case],
        printed="above 0.36 at m = 6, less than 0.33 at m = 1",
    )


def caching_beats_k_query(curves: StudyCurves) -> Finding:
    """The hit probability of ZEALOUS and of k-query."""
    m, case = nearest(curves.results.axis("m", "zealous"), 6), None
    ours = curves.over_epsilon("hit-probability", "keywords", m)
    theirs = curves.over_k("hit-probability", "keywords")
    if ours and theirs:
        better = {k: [p.x for p in ours if p.y.mean > other.mean] for k, other in theirs}
        higher, pairs = sum(map(len, better.values())), len(ours) * len(theirs)
        measured = (
            f"higher in {higher} of {pairs} pairs of epsilon and k ({higher / pairs:.0%}); "
            f"ZEALOUS (m = {m:g}) {ends_text(ours, 'epsilon')}; "
            f"k-query {ends_text(theirs, 'k')}"
        )
        where = "; ".join(f"k = {k:g} {_epsilons_text(at, len(ours))}" for k, at in better.items())
        case = Case(
            measured,
            higher >= _LEAST_SHARE_OF_PAIRS * pairs,
            f"ZEALOUS is higher than k-query with {where}.",
        )
    return judge(
        "caching-beats-k-query",
        "For a range of epsilon and k, ZEALOUS (m = 6) gives a higher hit probability than "
        f"k-query. (In at least {_LEAST_SHARE_OF_PAIRS:.0%} of the study's pairs of epsilon and "
        "k.)",
        [case],
        printed="for a range of parameters (about a figure, without numbers)",
    )


def _epsilons_text(at: Sequence[float], every: int) -> str:
    if len(at) in (0, every):
        return "at every epsilon" if at else "never"
    return f"at epsilon = {', '.join(f'{each:g}' for each in at)}"


def substitution_quality_similar(curves: StudyCurves) -> Finding:
    """Precision, recall and so on of ZEALOUS and of k-query."""

    def case(measure: str, j: int) -> Case | None:
        ours = curves.zealous(measure, "query-pairs", curves.least_m, at=j)
        theirs = curves.k_query(measure, "query-pairs", at=j)
        if ours is None or theirs is None:
            return None
        apart = ours.mean - theirs.mean
        measured = f"{measure} of top {j} {ours.mean:.2f}, k-query {theirs.mean:.2f}"
        why = f"{measure} of top {j} is {abs(apart):.2f} {'higher' if apart > 0 else 'lower'}. "
        return Case(measured, abs(apart) <= _MOST_QUALITY_GAP, why)

    return judge(
        "substitution-quality-similar",
        "For the queries that have substitutions, those by ZEALOUS (m = 1) are about as good as "
        f"those by k-query. (Within {_MOST_QUALITY_GAP:g}.)",
        [case(measure, j) for j in _TOP for measure in _QUALITY],
        printed="comparable (about a figure, without numbers)",
    )


def substitution_covers_less(curves: StudyCurves) -> Finding:
    """Coverage of ZEALOUS and of k-query."""
    ours = curves.zealous("coverage", "query-pairs", curves.least_m, at=_ANY_TOP)
    theirs, case = curves.k_query("coverage", "query-pairs", at=_ANY_TOP), None
    if ours is not None and theirs is not None:
        measured = (
            f"{ours.mean:.2%} at epsilon = {curves.study.epsilon:g}, k-query {theirs.mean:.2%}"
        )
        some = ours.mean > 0 or theirs.mean > 0
        case = Case(
            measured,
            ours.mean < theirs.mean if some else None,
            "ZEALOUS does not cover fewer queries.",
        )
    return judge(
        "substitution-covers-less",
        "The coverage of ZEALOUS is not good: it gives substitutions for fewer queries than "
        f"k-query. ({_EVERY_J})",
        [case],
        printed="not good (about a figure, without numbers)",
    )


def substitution_coverage_falls(curves: StudyCurves) -> Finding:
    """Coverage at m = 1 and at m = 6."""
    points, case = curves.over_m("coverage", "query-pairs", at=_ANY_TOP), None
    if len(points) > 1 and points[0].y.mean > 0:
        one, more = points[0], points[-1]
        measured = (
            f"{one.y.mean:.2%} at m = {one.x:g}, {more.y.mean:.2%} at {more.x:g}, "
            f"epsilon = {curves.study.epsilon:g}"
        )
        case = Case(measured, more.y.mean < one.y.mean, "It does not fall.")
    return judge(
        "substitution-coverage-falls-with-m",
        "ZEALOUS gives substitutions for fewer queries at m = 6 than at m = 1.",
        [case],
        printed="smaller across the board (about a figure, without numbers)",
    )


def phrase_pairs_regain_coverage(curves: StudyCurves) -> Finding:
    """Coverage by phrase pairs and by query pairs, and what it costs in precision."""

    def figure(measure: str, kind: str, j: int) -> Spread | None:
        return curves.zealous(measure, kind, curves.least_m, at=j)

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
            measured, phrases.mean > pairs.mean if some else None, "Phrase pairs cover no more."
        )
    return judge(
        "phrase-pairs-regain-coverage",
        "Not a claim of the paper but a remedy for what it found: phrase pairs, published directly "
        "under the same guarantee, give substitutions for more queries. (Precision is reported but "
        "not judged.)",
        [case],
    )
