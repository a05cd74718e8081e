"""The paper's claims on index caching and query substitution, judged by a study."""

from __future__ import annotations

from zealous.evaluate.claim import Asked, Case, Finding, ends, finding, nearest

_LITTLE = 0.10  # of the hit probability
_SIMILAR = 0.15  # difference of precision, recall and so on
_QUALITY = ("precision", "recall", "average-precision", "ndcg")
_TOP = (2, 5)


def caching_suffers_little(asked: Asked) -> Finding:
    """The hit probability from epsilon = 10 down to 1."""
    m, case = nearest(asked.results.axis("m", "zealous"), 6), None
    points = asked.over_epsilon("hit-probability", "keywords", m)
    points = [point for point in points if 1 <= point.x <= 10]
    if len(points) > 1 and points[-1].y.mean > 0:
        drop = 1 - points[0].y.mean / points[-1].y.mean
        told = f"m = {m:g}: {ends(points, 'epsilon')}; {drop:.1%} less at the smallest epsilon"
        if perfect := asked.results.value("hit-probability", "keywords", "original"):
            told += f"; by the original {perfect.mean:.3f}"
        case = Case(told, drop < _LITTLE, f"{drop:.1%} is not below {_LITTLE:.0%}.")
    return finding(
        "caching-suffers-little",
        "The hit probability of index caching falls only a little as privacy grows. (By less than "
        f"{_LITTLE:.0%} from epsilon = 10 to 1.)",
        [case],
        printed="only marginally, by the look of a figure",
    )


def caching_prefers_more(asked: Asked) -> Finding:
    """The hit probability at m = 6 beside that at m = 1."""
    points, case = asked.over_m("hit-probability", "keywords"), None
    at = {point.x: point.y.mean for point in points}
    m = nearest([each for each in at if each > 1], 6)
    if m is not None and 1 in at:
        best = max(at, key=lambda each: at[each])
        told = f"{at[m]:.3f} at m = {m:g}, {at[1]:.3f} at m = 1"
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
    theirs = asked.results.curve("hit-probability", "keywords", "k-query", over="k")
    if ours and theirs:
        told = f"ZEALOUS (m = {m:g}) {ends(ours, 'epsilon')}; k-query {ends(theirs, 'k')}"
        holds = max(p.y.mean for p in ours) > min(p.y.mean for p in theirs)
        case = Case(told, holds, "No epsilon of the study is better than any k of it.")
    return finding(
        "caching-beats-k-query",
        "For a range of epsilon and k ZEALOUS (m = 6) gives a higher hit probability than k-query.",
        [case],
    )


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
        printed="comparable, by the look of a figure",
    )


def substitution_covers_less(asked: Asked) -> Finding:
    """Coverage beside that of k-query."""

    def case(j: int) -> Case | None:
        ours = asked.zealous("coverage", "query-pairs", asked.least_m, at=j)
        theirs = asked.k_query("coverage", "query-pairs", at=j)
        if ours is None or theirs is None:
            return None
        told = f"top {j} {ours.mean:.2%}, k-query {theirs.mean:.2%}"
        return Case(told, ours.mean < theirs.mean, f"At top {j} ZEALOUS covers no less. ")

    return finding(
        "substitution-covers-less",
        "ZEALOUS gives substitutions for fewer queries than k-query does.",
        map(case, _TOP),
        printed="not good, by the look of a figure",
    )


def substitution_coverage_falls(asked: Asked) -> Finding:
    """Coverage at m = 1 and at m = 6."""

    def case(j: int) -> Case | None:
        points = asked.over_m("coverage", "query-pairs", at=j)
        if len(points) < 2 or points[0].y.mean == 0:
            return None
        one, more = points[0], points[-1]
        told = f"top {j} {one.y.mean:.2%} at m = {one.x:g}, {more.y.mean:.2%} at {more.x:g}"
        return Case(told, more.y.mean < one.y.mean, f"At top {j} it does not fall. ")

    return finding(
        "substitution-coverage-falls-with-m",
        "ZEALOUS gives substitutions for fewer queries at m = 6 than at m = 1.",
        map(case, _TOP),
    )


def phrases_regain(asked: Asked) -> Finding:
    """Coverage by phrase pairs beside that by query pairs."""

    def case(j: int) -> Case | None:
        pairs = asked.zealous("coverage", "query-pairs", asked.least_m, at=j)
        phrases = asked.zealous("coverage", "phrase-pairs", asked.least_m, at=j)
        if pairs is None or phrases is None:
            return None
        told = f"top {j} {phrases.mean:.2%} by phrase pairs, {pairs.mean:.2%} by query pairs"
        return Case(told, phrases.mean > pairs.mean, f"At top {j} nothing is regained. ")

    return finding(
        "phrase-pairs-regain-coverage",
        "Not the paper's claim but the cure for what it found: phrase pairs, published directly "
        "under the same guarantee, give substitutions for more queries.",
        map(case, _TOP),
    )
