"""The paper's claims on index caching and query substitution, judged by a study."""

from __future__ import annotations

from collections.abc import Sequence

from zealous.study.claims.claim import Asked, Case, Finding, ends, falls, finding, nearest
from zealous.study.grid.results import Point, Spread

_LITTLE = 0.10  # of the hit probability
_RANGE = 0.5  # of the pairs of epsilon and k
_SIMILAR = 0.15  # difference of precision, recall and so on
_CUT = (
    "That it can fall as epsilon grows is likely the score's doing: it divides by all documents "
    "with a keyword, while memory is charged for at most 200,000 of them. Long, much-asked lists "
    "are worth more than their score: a release with few keywords has room for them, one with more "
    "keywords puts others first."
)
_QUALITY = ("precision", "recall", "average-precision", "ndcg")
_TOP = (2, 5)
_ANY = _TOP[0]  # a query has substitutions or none: coverage is the same for every j
_EVERY_J = "The same for the top 2 and the top 5: a query has some or none."
_PAIRS = ("phrase-pairs", "query-pairs")


def caching_suffers_little(asked: Asked) -> Finding:
    """The hit probability from epsilon = 10 down to 1."""
    m, case = nearest(asked.results.axis("m", "zealous"), 6), None
    every = asked.over_epsilon("hit-probability", "keywords", m)
    points = [point for point in every if 1 <= point.x <= 10]
    steps = falls(every)
    if len(points) > 1 and points[-1].y.mean > 0:
        drop = 1 - points[0].y.mean / points[-1].y.mean
        told = f"m = {m:g}: {ends(points, 'epsilon')}; {_change(drop)} at the smaller epsilon"
        if perfect := asked.results.value("hit-probability", "keywords", "original"):
            told += f"; by the original {perfect.mean:.3f}"
        told += _not_monotone(steps)
        whole = (points[0].x, points[-1].x) == (1, 10)
        holds = drop < _LITTLE if whole else None
        case = Case(told, holds, f"{drop:.1%} is not below {_LITTLE:.0%}.")
    found = finding(
        "caching-suffers-little",
        "The hit probability of index caching falls only a little as privacy grows. (By less than "
        f"{_LITTLE:.0%} from epsilon = 10 to 1.)",
        [case],
        printed="only marginally (of a figure, without numbers)",
    )
    return found.because(_CUT) if case and steps else found


def _change(drop: float) -> str:
    return f"{abs(drop):.1%} {'less' if drop >= 0 else 'more'}"


def _not_monotone(steps: Sequence[tuple[Point, Point]]) -> str:
    """Where less privacy makes the cache worse."""
    if not steps:
        return ""
    told = ", ".join(
        f"from {a.y.mean:.3f} at epsilon = {a.x:g} to {b.y.mean:.3f} at {b.x:g}" for a, b in steps
    )
    return f"; not monotone: it falls as epsilon grows {told}"


def caching_prefers_more(asked: Asked) -> Finding:
    """The hit probability at m = 6 beside that at m = 1."""
    points, case = asked.over_m("hit-probability", "keywords"), None
    at = {point.x: point.y.mean for point in points}
    m = nearest([each for each in at if each > 1], 6)
    if m is not None and 1 in at:
        best = max(at, key=lambda each: at[each])
        told = f"{at[m]:.3f} at m = {m:g}, {at[1]:.3f} at m = 1, epsilon = {asked.study.epsilon:g}"
        why = f"The best m of the study is {best:g}, with {at[best]:.3f}."
        case = Case(told, at[m] > at[1], why)
    return finding(
        "caching-prefers-larger-m",
        "Index caching has a higher hit probability at m = 6 than at m = 1.",
        [case],
        printed="above 0.36 at m = 6, less than 0.33 at m = 1",
    )


def caching_beats_k_query(asked: Asked) -> Finding:
    """The hit probability of ZEALOUS beside that of k-query."""
    m, case = nearest(asked.results.axis("m", "zealous"), 6), None
    ours = asked.over_epsilon("hit-probability", "keywords", m)
    theirs = asked.over_k("hit-probability", "keywords")
    if ours and theirs:
        better = {k: [p.x for p in ours if p.y.mean > other.mean] for k, other in theirs}
        higher, pairs = sum(map(len, better.values())), len(ours) * len(theirs)
        told = (
            f"higher in {higher} of {pairs} pairs of epsilon and k ({higher / pairs:.0%}); "
            f"ZEALOUS (m = {m:g}) {ends(ours, 'epsilon')}; k-query {ends(theirs, 'k')}"
        )
        where = "; ".join(f"k = {k:g} {_places(at, len(ours))}" for k, at in better.items())
        case = Case(told, higher >= _RANGE * pairs, f"It is higher than with {where}.")
    return finding(
        "caching-beats-k-query",
        "For a range of epsilon and k ZEALOUS (m = 6) gives a higher hit probability than k-query. "
        f"(In at least {_RANGE:.0%} of the study's pairs of epsilon and k.)",
        [case],
        printed="for a range of parameters (of a figure, without numbers)",
    )


def _places(at: Sequence[float], every: int) -> str:
    if len(at) in (0, every):
        return "at every epsilon" if at else "never"
    return f"at epsilon = {', '.join(f'{each:g}' for each in at)}"


def substitution_similar(asked: Asked) -> Finding:
    """Precision and so on beside those of k-query."""

    def case(measure: str, j: int) -> Case | None:
        ours = asked.zealous(measure, "query-pairs", asked.least_m, at=j)
        theirs = asked.k_query(measure, "query-pairs", at=j)
        if ours is None or theirs is None:
            return None
        apart = ours.mean - theirs.mean
        told = f"{measure} of top {j} {ours.mean:.2f}, k-query {theirs.mean:.2f}"
        why = f"{measure} of top {j} is {abs(apart):.2f} {'higher' if apart > 0 else 'lower'}. "
        return Case(told, abs(apart) <= _SIMILAR, why)

    return finding(
        "substitution-quality-similar",
        "Substitutions by ZEALOUS (m = 1) are about as good as those by k-query, for the queries "
        f"that have some. (Within {_SIMILAR:g}.)",
        [case(measure, j) for j in _TOP for measure in _QUALITY],
        printed="comparable (of a figure, without numbers)",
    )


def substitution_covers_less(asked: Asked) -> Finding:
    """Coverage beside that of k-query."""
    ours = asked.zealous("coverage", "query-pairs", asked.least_m, at=_ANY)
    theirs, case = asked.k_query("coverage", "query-pairs", at=_ANY), None
    if ours is not None and theirs is not None:
        told = f"{ours.mean:.2%} at epsilon = {asked.study.epsilon:g}, k-query {theirs.mean:.2%}"
        some = ours.mean > 0 or theirs.mean > 0
        case = Case(told, ours.mean < theirs.mean if some else None, "ZEALOUS covers no less.")
    return finding(
        "substitution-covers-less",
        "The coverage of ZEALOUS is not good: it gives substitutions for fewer of the queries than "
        f"k-query does. ({_EVERY_J})",
        [case],
        printed="not good (of a figure, without numbers)",
    )


def substitution_coverage_falls(asked: Asked) -> Finding:
    """Coverage at m = 1 and at m = 6."""
    points, case = asked.over_m("coverage", "query-pairs", at=_ANY), None
    if len(points) > 1 and points[0].y.mean > 0:
        one, more = points[0], points[-1]
        told = (
            f"{one.y.mean:.2%} at m = {one.x:g}, {more.y.mean:.2%} at {more.x:g}, "
            f"epsilon = {asked.study.epsilon:g}"
        )
        case = Case(told, more.y.mean < one.y.mean, "It does not fall.")
    return finding(
        "substitution-coverage-falls-with-m",
        "ZEALOUS gives substitutions for fewer queries at m = 6 than at m = 1.",
        [case],
        printed="smaller across the board (of a figure, without numbers)",
    )


def phrases_regain(asked: Asked) -> Finding:
    """Coverage by phrase pairs beside that by query pairs, and what it costs in precision."""

    def of(measure: str, kind: str, j: int) -> Spread | None:
        return asked.zealous(measure, kind, asked.least_m, at=j)

    phrases, pairs = (of("coverage", kind, _ANY) for kind in _PAIRS)
    case = None
    if pairs is not None and phrases is not None:
        told = f"coverage {phrases.mean:.2%} by phrase pairs, {pairs.mean:.2%} by query pairs"
        top = _TOP[-1]
        by_phrases, by_pairs = (of("precision", kind, top) for kind in _PAIRS)
        if by_phrases is not None and by_pairs is not None:
            told += f"; precision of top {top} {by_phrases.mean:.2f} and {by_pairs.mean:.2f}"
        some = phrases.mean > 0 or pairs.mean > 0
        case = Case(told, phrases.mean > pairs.mean if some else None, "Nothing is regained.")
    return finding(
        "phrase-pairs-regain-coverage",
        "Not the paper's claim but the cure for what it found: phrase pairs, published directly "
        "under the same guarantee, give substitutions for more queries. (Precision is told beside "
        "it, and not judged.)",
        [case],
    )
