"""The paper's claims on index caching, judged by a study."""

from __future__ import annotations

from collections.abc import Sequence

from zealous.study.claims import paper
from zealous.study.claims.claim import (
    CACHING_M,
    EPSILONS_NEEDED,
    FIRST_M,
    JUDGED_EPSILONS,
    JUDGED_K,
    JUDGED_M,
    K_NEEDED,
    M_NEEDED,
    Case,
    Finding,
    Needed,
    StudyCurves,
    at_settings,
    ends_text,
    falls,
    is_above,
    judge,
    settings_text,
)
from zealous.study.grid.result_table import Point

_MOST_HIT_LOSS = 0.10  # of the hit probability
_LEAST_SHARE_OF_PAIRS = 0.5  # of the pairs of epsilon and k
_LEAST_KEYWORDS = 10  # published: with fewer there is no cache to speak of
_CACHING_M_NEEDED: Needed = [("m", (CACHING_M,))]
_OURS_NEEDED: Needed = [*EPSILONS_NEEDED, *_CACHING_M_NEEDED]
_BOTH_NEEDED: Needed = [*_OURS_NEEDED, *K_NEEDED]
_TWO_M_NEEDED: Needed = [("m", (FIRST_M, CACHING_M))]
_MOST_FACTOR_OFF_LISTS = 2.0  # times the paper's number of lists
_WITHIN_SPREAD = "; the draws of the noise disagree on which is higher"
_CUT_LISTS_REASON = (
    "It can fall as epsilon grows because of the score that ranks the lists: the score divides by "
    "all documents with a keyword, while a list takes memory for at most 200,000 of them. Long "
    "lists in frequent use are worth more than their score. A release with few keywords has room "
    "for them; one with more keywords prefers others."
)


def _enough_published(curves: StudyCurves) -> bool:
    """Whether there are keywords to fill a cache with; assumed where it was not measured."""
    found = curves.zealous("distinct", "keywords", CACHING_M)
    return found is None or found.mean >= _LEAST_KEYWORDS


def caching_suffers_little(curves: StudyCurves) -> Finding:
    """The hit probability from epsilon = 10 down to 1."""
    every, case = curves.over_epsilon("hit-probability", "keywords", CACHING_M), None
    points = at_settings(every, JUDGED_EPSILONS)
    steps = falls(every)
    if points and points[-1].y.mean > 0 and _enough_published(curves):
        drop = 1 - points[0].y.mean / points[-1].y.mean
        measured = f"m = {CACHING_M}: {ends_text(points, 'epsilon')}, "
        measured += f"{_change_text(drop)} at the smaller epsilon"
        if perfect := curves.results.value("hit-probability", "keywords", "original"):
            measured += f"; {perfect.mean:.3f} with the original log"
        measured += _non_monotone_text(steps)
        why = f"The hit probability falls by {drop:.1%}, which is not below {_MOST_HIT_LOSS:.0%}."
        case = Case(measured, drop < _MOST_HIT_LOSS, why, _MOST_HIT_LOSS - drop)
    found = judge(
        "caching-suffers-little",
        "The hit probability of index caching falls only a little as epsilon becomes smaller. (By "
        f"less than {_MOST_HIT_LOSS:.0%} from epsilon = 10 to 1.)",
        [case],
        margin_of="points of the loss",
        judged_on=settings_text(_OURS_NEEDED),
        untried=curves.untried(_OURS_NEEDED),
        printed="only marginally (about a figure, without numbers)",
    )
    if not (case and steps):
        return found
    return found.with_reason(f"{_CUT_LISTS_REASON} {_by_memory_text(curves)}")


def _by_memory_text(curves: StudyCurves) -> str:
    """Whether that is the reason: what scores by the postings in memory give."""
    points = curves.over_epsilon("hit-probability-by-memory", "keywords", CACHING_M)
    if not points:
        return "Whether it is the only reason was not measured."
    also = "falls as well" if falls(points) else "never falls"
    return (
        f"With scores by the postings that memory holds it {also}: {ends_text(points, 'epsilon')}."
    )


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
    points = at_settings(curves.over_m("hit-probability", "keywords"), (FIRST_M, CACHING_M))
    case = None
    if points and _enough_published(curves):
        one, six = points[0].y, points[-1].y
        measured = (
            f"{six.mean:.3f} at m = {CACHING_M}, {one.mean:.3f} at m = {FIRST_M}, "
            f"epsilon = {curves.study.epsilon:g}"
        )
        holds = is_above(six, one)
        if holds is None:
            measured += _WITHIN_SPREAD
        why = f"The hit probability at m = {CACHING_M} is not higher."
        case = Case(measured, holds, why, six.mean / one.mean - 1 if one.mean else 0.0)
    return judge(
        "caching-prefers-larger-m",
        "Index caching has a higher hit probability at m = 6 than at m = 1. (By more than the "
        "spread of the draws.)",
        [case],
        margin_of="the hit probability at m = 1",
        judged_on=f"epsilon = {curves.study.epsilon:g}, {settings_text(_TWO_M_NEEDED)}",
        untried=curves.untried(_TWO_M_NEEDED),
        printed="above 0.36 at m = 6, less than 0.33 at m = 1",
    )


def caching_falls_at_large_m(curves: StudyCurves) -> Finding:
    """The hit probability at the largest m of the paper, beside that at the best."""
    points = at_settings(curves.over_m("hit-probability", "keywords"), JUDGED_M)
    case = None
    if points and _enough_published(curves):
        best, last = max(points, key=lambda point: point.y.mean), points[-1]
        measured = f"most at m = {best.x:g} with {best.y.mean:.3f}, {last.y.mean:.3f} at {last.x:g}"
        fall = 1 - last.y.mean / best.y.mean if best.y.mean else 0.0
        why = f"The hit probability does not fall up to m = {last.x:g}."
        case = Case(measured, is_above(best.y, last.y), why, fall)
    return judge(
        "caching-falls-at-large-m",
        f"The hit probability falls again at large m. (By m = {JUDGED_M[-1]}, the largest of the "
        "paper's tables, by more than the spread of the draws.)",
        [case],
        margin_of="the best hit probability",
        judged_on=f"epsilon = {curves.study.epsilon:g}, {settings_text(M_NEEDED)}",
        untried=curves.untried(M_NEEDED),
        printed="decreases at some point",
    )


def few_lists_suffice(curves: StudyCurves) -> Finding:
    """How many lists give most of the hits of a cache that a release at m = 6 filled."""
    case, printed = None, paper.CACHED.values
    needed = curves.zealous("lists-for-most-hits", "keywords", CACHING_M)
    held = curves.zealous("lists", "keywords", CACHING_M)
    if needed is not None and held is not None and _enough_published(curves) and needed.mean > 0:
        measured = f"{needed.mean:,.0f} of {held.mean:,.0f} lists give 90% of the hits"
        times = needed.mean / printed
        margin = _MOST_FACTOR_OFF_LISTS / max(times, 1 / times) - 1
        case = Case(measured, margin >= 0, f"{times:.2g} times the paper's {printed}.", margin)
    return judge(
        "few-lists-suffice",
        f"Some {printed} posting lists suffice. (As many of the cached lists, the most used first, "
        "as give 90% of its hits, within a factor of "
        f"{_MOST_FACTOR_OFF_LISTS:g}. The paper does not say what it takes for enough.)",
        [case],
        margin_of="the factor by which the number may be off",
        judged_on=f"epsilon = {curves.study.epsilon:g}, m = {CACHING_M}",
        untried=curves.untried(_CACHING_M_NEEDED),
        printed=f"roughly the top {printed}",
    )


def caching_beats_k_query(curves: StudyCurves) -> Finding:
    """The hit probability of ZEALOUS and of k-query."""
    case = None
    every = curves.over_epsilon("hit-probability", "keywords", CACHING_M)
    ours = at_settings(every, JUDGED_EPSILONS)
    theirs = at_settings(curves.over_k("hit-probability", "keywords"), JUDGED_K)
    if ours and theirs and _enough_published(curves):
        better = {k: [p.x for p in ours if p.y.mean > other.mean] for k, other in theirs}
        higher, pairs = sum(map(len, better.values())), len(ours) * len(theirs)
        measured = (
            f"higher in {higher} of {pairs} pairs of epsilon and k ({higher / pairs:.0%}); "
            f"ZEALOUS (m = {CACHING_M}) {ends_text(ours, 'epsilon')}; "
            f"k-query {ends_text(theirs, 'k')}"
        )
        where = "; ".join(f"k = {k:g} {_epsilons_text(at, len(ours))}" for k, at in better.items())
        case = Case(
            measured,
            higher >= _LEAST_SHARE_OF_PAIRS * pairs,
            f"ZEALOUS is higher than k-query with {where}.",
            higher / pairs - _LEAST_SHARE_OF_PAIRS,
        )
    return judge(
        "caching-beats-k-query",
        "For a range of epsilon and k, ZEALOUS (m = 6) gives a higher hit probability than "
        f"k-query. (In at least {_LEAST_SHARE_OF_PAIRS:.0%} of the pairs of epsilon and k.)",
        [case],
        margin_of="points of the share of pairs",
        judged_on=settings_text(_BOTH_NEEDED),
        untried=curves.untried(_BOTH_NEEDED),
        printed="for a range of parameters (about a figure, without numbers)",
    )


def _epsilons_text(at: Sequence[float], every: int) -> str:
    if len(at) in (0, every):
        return "at every epsilon" if at else "never"
    return f"at epsilon = {', '.join(f'{each:g}' for each in at)}"
