"""The paper's claims, each on figures where it holds and where it does not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from zealous.privacy.calibrate import calibrate
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.study.claims import paper
from zealous.study.claims.claim import (
    JUDGED_EPSILONS,
    JUDGED_K,
    JUDGED_M,
    JUDGED_TOP,
    NOT_MEASURED,
)
from zealous.study.claims.findings import Finding, findings
from zealous.study.grid.result_table import Results, as_table
from zealous.study.grid.study import Study, study_from

Row = tuple[Any, ...]


def row(method: str, kind: str, measure: str, value: float, **place: Any) -> Row:
    where = (place.get("epsilon"), place.get("k"), place.get("m"), place.get("draw", 0))
    return (method, *where, kind, measure, place.get("at"), value)


def over(
    axis: str,
    values: Mapping[float, float],
    measure: str,
    *,
    kind: str = "keywords",
    method: str = "zealous",
    **fixed: Any,
) -> Iterator[Row]:
    for x, value in values.items():
        yield row(method, kind, measure, value, **fixed, **{axis: x})


def original(kind: str, measure: str, value: float) -> Row:
    return row("original", kind, measure, value)


def judged(name: str, *rows: Iterable[Row], study: Study = Study()) -> Finding:  # noqa: B008
    """One finding of a study that has these rows."""
    table = as_table([each for some in rows for each in some])
    found = {finding.name: finding for finding in findings(Results(table=table), study)}
    return found[name]


def both(name: str, holds: list[Iterable[Row]], fails: list[Iterable[Row]]) -> tuple[str, str]:
    """The finding must hold on the one and fail, saying why, on the other."""
    good, bad = judged(name, *holds), judged(name, *fails)
    assert good.holds is True, good
    assert good.why == ""
    assert bad.holds is False, bad
    assert bad.why
    return good.measured, bad.why


def filled(values: Mapping[float, float], *settings: float) -> dict[float, float]:
    """With the settings that decide between those given: values along straight lines."""
    places = sorted(values)
    heights = [values[place] for place in places]
    between = [x for x in settings if places[0] < x < places[-1]]
    more = {x: float(np.interp(x, places, heights)) for x in between}
    return dict(sorted((more | dict(values)).items()))


def by_m(measure: str, values: Mapping[float, float], kind: str = "keywords") -> list[Row]:
    """At all m that decide, from the first to the last that is given."""
    return list(over("m", filled(values, *JUDGED_M), measure, kind=kind, epsilon=5.0))


def test_coverage_falls() -> None:
    measured, why = both(
        "coverage-falls-with-m",
        [by_m("distinct", {1: 6667, 4: 6043, 40: 2964})],
        [
            by_m("distinct", {1: 6000, 4: 6043, 40: 2964}),
            [original("", "people", 500_000)],
        ],
    )
    assert measured == "keywords 6,667 at m = 1, 2,964 at 40"
    assert why.startswith(
        "keywords rise from 6,000 at m = 1 to 6,043 at 4. According to the paper tau'"
    )
    assert "9.00 at m = 1" in why  # tau' is 8, and a count must be above it


def test_coverage_may_rise_within_the_spread() -> None:
    """Two draws that overlap show no rise."""
    name = "coverage-falls-with-m"
    noise = [row("zealous", "keywords", "distinct", 6050, epsilon=5.0, m=1, draw=1)]
    points = by_m("distinct", {1: 6000, 4: 6043, 40: 2964})
    assert judged(name, points, noise).holds is True
    assert judged(name, by_m("distinct", {1: 20, 40: 20})).holds is False
    assert judged(name, by_m("distinct", {1: 9, 40: 5})).holds is None
    wide = [row("zealous", "keywords", "distinct", 17, epsilon=5.0, m=1, draw=1)]
    assert judged(name, by_m("distinct", {1: 20, 40: 18}), wide).holds is None, "nor may it fall"


def test_without_an_m_that_decides_there_is_no_verdict() -> None:
    """At m = 1 and 4 alone nothing is known of 40, nor at 1, 6 and 40 of what is between."""
    for tried in ((1, 4), (1, 6, 40)):
        rows = [*over("m", dict.fromkeys(tried, 60.0), "distinct", epsilon=5.0)]
        found = judged("coverage-falls-with-m", rows, study=Study(items_per_user=tried))
        assert found.holds is None
        lacking = "8, 20 and 40" if tried == (1, 4) else "4, 8 and 20"
        assert found.why == f"This study did not try m = {lacking}."


def test_coverage_falls_most_for_pairs() -> None:
    keywords = by_m("distinct", {1: 6667, 40: 2964})
    measured, why = both(
        "coverage-falls-most-for-query-pairs",
        [keywords, by_m("distinct", {1: 331, 40: 13}, "query-pairs")],
        [keywords, by_m("distinct", {1: 331, 40: 300}, "query-pairs")],
    )
    assert measured == "keywords 55.5%, query-pairs 96.1%, from m = 1 to 40"
    assert why == "keywords fall more."
    assert judged("coverage-falls-most-for-query-pairs", keywords).holds is None


def test_total_tips() -> None:
    name, many = "total-rises-then-falls", by_m("distinct", {1: 500, 40: 400}, "queries")
    average = [original("queries", "average-items", 20)]
    measured, why = both(
        name,
        [by_m("total", {1: 147, 8: 402, 20: 464, 40: 439}, "queries"), average, many],
        [by_m("total", {1: 147, 4: 402, 20: 364, 40: 339}, "queries"), average, many],
    )
    assert measured == "queries most at m = 20, 20.0 items per user"
    assert why == "queries peak at 0.2 times the average items per user."
    rising = by_m("total", {1: 1, 8: 2, 20: 2, 40: 3}, "queries")
    at_the_end = judged(name, rising, average, many)
    assert at_the_end.holds is True
    assert "still rising" in at_the_end.measured
    assert at_the_end.margin == pytest.approx(0.5)  # 40 is twice the average, thrice is allowed
    beyond = [original("queries", "average-items", 56)]
    assert judged(name, rising, beyond, many).margin == pytest.approx(0.5)  # 3 after 2
    far = [original("queries", "average-items", 5)]
    assert judged(name, rising, far, many).holds is False
    few = by_m("distinct", {1: 5, 40: 4}, "queries")
    assert judged(name, rising, average, few).measured == NOT_MEASURED


def test_few_top_items() -> None:
    name = "few-top-items-prefer-larger-m"

    def kl(values: Mapping[int, Mapping[float, float]]) -> Iterator[Row]:
        for j, curve in values.items():
            yield from over("m", filled(curve, *JUDGED_M), "kl", epsilon=5.0, at=j)

    missing: dict[float, float] = {10: 0, 50: 0.4, 100: 0.5, 500: 0.95, 1000: 0.95}
    lost = [
        *over("at", missing, "missing-share", epsilon=5.0, m=1, kind="keywords"),
        original("keywords", "distinct", 1200),  # so that there is no top 5,000
    ]
    near: dict[float, float] = {1: 0.2, 8: 0.1, 40: 0.5}
    far: dict[float, float] = {1: 0.3, 8: 0.9, 40: 0.9}
    absent = {500: near, 1000: near}
    measured, why = both(
        name,
        [lost, kl({10: near, 50: far, 100: far, **absent})],  # from 500 on nearly all is absent
        [lost, kl({10: near, 50: far, 100: near, 500: far, 1000: far})],
    )
    assert measured == "keywords m = 8 (j = 10), 1 (j = 50 to 100)"
    assert why == "keywords: m = 8 is best for j = 10, 8 for 100."
    flat = judged(name, lost, kl({10: far, 50: far, 100: far}))
    assert flat.holds is False
    assert flat.measured == "keywords m = 1 (j = 10 to 100)"
    assert judged(name, lost, kl({10: near})).holds is None


@pytest.mark.parametrize("left_out", JUDGED_TOP)
def test_without_a_j_that_decides_there_is_no_verdict(left_out: int) -> None:
    """Nor may a j more change it."""
    name = "few-top-items-prefer-larger-m"

    def rows(tops: Iterable[int]) -> list[Row]:
        found = list(over("at", dict.fromkeys(tops, 0.2), "missing-share", epsilon=5.0, m=1))
        for j in tops:
            best = 8 if j < 100 else 1
            curve: dict[float, float] = {m: abs(m - best) / 100 for m in JUDGED_M}
            found += over("m", curve, "kl", epsilon=5.0, at=j)
        return found

    whole = judged(name, rows(JUDGED_TOP))
    assert whole.holds is True
    more = (*JUDGED_TOP, 3, 70, 100_000)
    assert judged(name, rows(more), study=Study(top=more)) == whole
    fewer = tuple(j for j in JUDGED_TOP if j != left_out)
    cut = judged(name, rows(fewer), study=Study(top=fewer))
    assert cut.holds is None
    assert cut.why == f"This study did not try j = {left_out}."


def power(slope: float, start: int = 1) -> dict[float, float]:
    return {at: 1e6 * at**slope for at in range(start, 10)}


def test_power_law() -> None:
    truth = list(over("at", power(-2), "items-with-count", method="original"))

    def zealous(slope: float) -> list[Row]:
        shape = power(slope, 4) | {4: 1.0}  # the first bin is cut and does not count
        return list(over("at", shape, "items-with-count", epsilon=5.0, m=1))

    measured, why = both("power-law-kept", [truth, zealous(-2.4)], [truth, zealous(-2.6)])
    assert measured == "keywords by zealous -2.40, original -2.00"
    assert why == "keywords by zealous: the slope is 1.30 times the original's."
    k_query = list(over("at", power(-3, 4), "items-with-count", method="k-query", k=10))
    mixed = judged("power-law-kept", truth, zealous(-2), k_query)
    assert mixed.holds is False
    assert mixed.measured == (
        "Holds: keywords by zealous -2.00, original -2.00. "
        "Fails: keywords by k-query -3.00, original -2.00."
    )
    short = list(over("at", power(-2, 7), "items-with-count", epsilon=5.0, m=1))
    assert judged("power-law-kept", truth, short).holds is None


def test_a_law_that_bends_is_seen_elsewhere() -> None:
    """Counts of a release with one of three items are a third: so steep is the original there."""
    steep = {3 * at: value for at, value in power(-3, 4).items()}
    truth = list(over("at", power(-2) | steep, "items-with-count", method="original"))
    shape = list(over("at", power(-3, 3), "items-with-count", epsilon=5.0, m=1))
    found = judged("power-law-kept", truth, shape, [original("keywords", "average-items", 3)])
    assert found.why.endswith(
        "A user contributes 1 of 3.0 items, which makes counts smaller; "
        "over counts 3.0 times as large the original's slope is -3.00."
    )


def difference(values: Mapping[float, float], kind: str = "keywords") -> list[Row]:
    values = filled(values, *JUDGED_EPSILONS)
    published = over("epsilon", dict.fromkeys(values, 7), "distinct", kind=kind, m=1)
    return [*over("epsilon", values, "average-difference", kind=kind, m=1), *published]


def k_query(values: Mapping[float, float], kind: str = "keywords") -> list[Row]:
    values = filled(values, *JUDGED_K)
    return list(over("k", values, "average-difference", kind=kind, method="k-query"))


def test_difference_falls() -> None:
    name = "difference-falls-with-epsilon"
    measured, _ = both(
        name,
        [difference({1: 10.5, 5: 7.1, 10: 6.4})],
        [difference({1: 10.5, 5: 11, 10: 6.4})],
    )
    assert measured == "keywords 10.5 at epsilon = 1, 6.4 at 10"
    nothing = [
        row("zealous", "keywords", "average-difference", 5, epsilon=1, m=1),
        row("zealous", "keywords", "distinct", 0, epsilon=1, m=1),
    ]
    assert judged(name, difference({2: 10.5, 10: 7.1}), nothing).holds is True
    assert judged(name, difference({1: 10.5, 5: 7.1})).holds is None
    flat = judged(name, difference({1: 7, 10: 7}))
    assert flat.holds is False
    assert flat.why
    hardly = judged(name, difference({1: 7, 10: 6.9999}))
    assert hardly.holds is None, "+0.0 % is no fall"
    noise = [row("zealous", "keywords", "average-difference", 6, epsilon=1, m=1, draw=1)]
    within = judged(name, difference({1: 7, 10: 6.2}), noise)
    assert within.holds is None, "one draw at epsilon = 1 is below that at 10"


def test_beside_k_query() -> None:
    measured, why = both(
        "keywords-differ-less-than-k-query",
        [difference({1: 9, 2: 9, 3: 5, 10: 4}), k_query({5: 6, 100: 8})],
        [difference({1: 9, 2: 9, 3: 7, 10: 4}), k_query({5: 6, 50: 6, 100: 8})],
    )
    assert measured == "ZEALOUS 5 at epsilon = 3, 4 at 10; k-query 6 at k = 5, 8 at 100"
    assert why == (
        "ZEALOUS differs less than k-query with k = 5 from epsilon = 6, k = 10 from epsilon = 6, "
        "k = 50 from epsilon = 6, k = 100 from epsilon = 3."
    )
    both(
        "query-pairs-differ-more-than-k-query",
        [difference({1: 4, 10: 3}, "query-pairs"), k_query({5: 1, 100: 9}, "query-pairs")],
        [difference({1: 4, 10: 3}, "query-pairs"), k_query({5: 4, 100: 9}, "query-pairs")],
    )


def test_difference_falls_with_k() -> None:
    measured, why = both(
        "difference-falls-with-k",
        [k_query({5: 6, 10: 6.5, 100: 8})],
        [k_query({5: 6, 10: 9, 50: 8, 100: 8})],
    )
    assert measured == "keywords 8 at k = 100, 6 at 5"
    assert why == "keywords rise from 8 at k = 50 to 9 at 10."
    assert judged("difference-falls-with-k", k_query({5: 6, 10: 6.5})).holds is None
    nothing = [row("k-query", "keywords", "distinct", 0, k=100)]
    missing = judged("difference-falls-with-k", list(over("k", {5: 6, 100: 8}, "x")))
    assert missing.holds is None
    empty = judged("difference-falls-with-k", k_query({5: 6, 10: 6.5, 100: 1}), nothing)
    assert empty.holds is None, "an empty release cannot be scaled"


def test_single_clicks() -> None:
    name = "more-single-clicks-than-keywords"

    def singles(kind: str, many: float) -> list[Row]:
        return [row("original", kind, "items-with-count", many, at=1.0)]

    measured, _ = both(
        name,
        [singles("clicks", 4_000), singles("keywords", 1_000)],
        [singles("clicks", 3_000), singles("keywords", 1_000)],
    )
    assert measured.endswith("4.0 times as many")
    assert judged(name, singles("clicks", 4_000)).holds is None


def test_beside_k_query_for_queries() -> None:
    """Apart by a quarter of the range, and by more."""
    name, theirs = "queries-differ-like-k-query", k_query({5: 1, 60: 2, 100: 2}, "queries")

    def ours(at_6: float, most: float = 9) -> list[Row]:
        return difference({1: most, 5: most, 6: at_6, 10: at_6}, "queries")

    measured, why = both(name, [ours(4), theirs], [ours(4.01), theirs])
    assert measured == (
        "ZEALOUS 4 at epsilon = 6, k-query 2 at k = 60; the study ranges from 1 to 9, "
        "and the gap is 25% of that range"
    )
    assert why.startswith("ZEALOUS differs more at these settings. ZEALOUS differs less than")

    def flat(value: float) -> list[Row]:
        return k_query({5: value, 60: value, 100: value}, "queries")

    less = judged(name, ours(1), flat(4))
    assert less.why.startswith("ZEALOUS differs less at these settings.")
    assert judged(name, ours(3, 3), flat(3.01)).holds is False  # near, but so are all
    assert judged(name, ours(3, 3), flat(3)).holds is None
    other_k = judged(name, ours(4), k_query({5: 1, 100: 2}, "queries"))
    assert other_k.holds is None, "k = 50 is not the paper's 60"
    far = judged(name, difference({1: 9, 2: 4}, "queries"), theirs)
    assert far.holds is None


def hits(values: Mapping[float, float]) -> list[Row]:
    values = filled(values, *JUDGED_EPSILONS)
    return list(over("epsilon", values, "hit-probability", m=6))


def test_caching_suffers_little() -> None:
    name = "caching-suffers-little"
    measured, why = both(
        name,
        [hits({0.5: 0.1, 1: 0.33, 10: 0.36, 20: 0.5})],  # the ends are outside of the range
        [hits({1: 0.32, 10: 0.36})],
    )
    assert measured == "m = 6: 0.33 at epsilon = 1, 0.36 at 10, 8.3% less at the smaller epsilon"
    assert why == "The hit probability falls by 11.1%, which is not below 10%."
    assert judged(name, hits({1: 0.33, 9: 0.36})).holds is None
    assert judged(name, hits({2: 0.33, 10: 0.36})).holds is None
    rising = judged(name, hits({1: 0.36, 10: 0.33}))
    assert rising.holds is True
    assert "9.1% more at the smaller epsilon" in rising.measured


def test_that_caching_gains_by_privacy_is_told() -> None:
    """Even where the finding holds, and even if outside of its range."""
    name, points = "caching-suffers-little", hits({0.5: 0.476, 1: 0.433, 10: 0.459})
    odd = judged(name, points)
    assert odd.holds is True
    assert odd.measured.endswith(
        "; not monotone: as epsilon grows it falls from 0.476 at epsilon = 0.5 to 0.433 at 1"
    )
    assert "200,000" in odd.why
    assert "was not measured" in odd.why
    for last, told in ((0.5, "it never falls: 0.4 at"), (0.3, "it falls as well: 0.4 at")):
        others = over("epsilon", {0.5: 0.4, 10: last}, "hit-probability-by-memory", m=6)
        assert told in judged(name, points, list(others)).why
    noise = [row("zealous", "keywords", "hit-probability", 0.48, epsilon=1.0, m=6, draw=1)]
    assert "monotone" not in judged(name, points, noise).measured


def test_caching_beside_others() -> None:
    measured, why = both(
        "caching-prefers-larger-m",
        [by_m("hit-probability", {1: 0.33, 6: 0.36, 40: 0.2})],
        [by_m("hit-probability", {1: 0.33, 6: 0.33, 40: 0.4})],
    )
    assert measured == "0.360 at m = 6, 0.330 at m = 1, epsilon = 5"
    assert why == "The hit probability at m = 6 is not higher."
    noise = [row("zealous", "keywords", "hit-probability", 0.32, epsilon=5.0, m=6, draw=1)]
    apart = by_m("hit-probability", {1: 0.33, 6: 0.36, 40: 0.2})
    disagreeing = judged("caching-prefers-larger-m", apart, noise)
    assert disagreeing.holds is None
    assert disagreeing.measured.endswith("the draws of the noise disagree on which is higher")
    thousandth = by_m("hit-probability", {1: 0.33, 6: 0.3301, 40: 0.2})
    assert judged("caching-prefers-larger-m", thousandth).holds is None
    at_5 = by_m("hit-probability", {1: 0.33, 5: 0.36, 40: 0.2})
    assert judged("caching-prefers-larger-m", at_5).holds is None, "5 is not 6"
    shares = filled({5: 0.35, 10: 0.32, 50: 0.32, 100: 0.3}, *JUDGED_K)
    anonymous = list(over("k", shares, "hit-probability", method="k-query"))
    measured, why = both(
        "caching-beats-k-query",
        [hits({1: 0.31, 4: 0.31, 5: 0.33, 10: 0.33}), anonymous],
        [hits({1: 0.3, 4: 0.3, 5: 0.31, 8: 0.31, 10: 0.33}), anonymous],
    )
    assert measured == (
        "higher in 16 of 32 pairs of epsilon and k (50%); ZEALOUS (m = 6) 0.31 at epsilon = 1, "
        "0.33 at 10; k-query 0.35 at k = 5, 0.3 at 100"
    )
    assert why == (
        "ZEALOUS is higher than k-query with k = 5 never; k = 10 at epsilon = 10; k = 50 at "
        "epsilon = 10; k = 100 at epsilon = 5, 6, 8, 10."
    )
    falling = judged(
        "caching-falls-at-large-m", by_m("hit-probability", {1: 0.33, 8: 0.36, 40: 0.2})
    )
    assert (falling.holds, falling.measured) == (True, "most at m = 8 with 0.360, 0.200 at 40")
    rising = judged("caching-falls-at-large-m", by_m("hit-probability", {1: 0.33, 40: 0.4}))
    assert (rising.holds, rising.margin) == (False, 0)


@pytest.mark.parametrize(("published", "holds"), [(10, True), (9, None)])
def test_a_cache_of_next_to_nothing_is_not_judged(published: int, holds: bool | None) -> None:
    rows = [by_m("hit-probability", {1: 0.33, 6: 0.36}), by_m("distinct", {6: published})]
    assert judged("caching-prefers-larger-m", *rows).holds is holds


def test_few_lists() -> None:
    def lists(needed: float) -> list[Row]:
        return [*by_m("lists-for-most-hits", {6: needed}), *by_m("lists", {6: 600})]

    measured, why = both("few-lists-suffice", [lists(160)], [lists(200)])
    assert measured == "160 of 600 lists give 90% of the hits"
    assert why == "2.4 times the paper's 85."


def quality(
    measure: str, value: float, m: float = 1, kind: str = "query-pairs", at: float = 2
) -> list[Row]:
    return [row("zealous", kind, measure, value, epsilon=5.0, m=m, at=at)]


def anonymous(measure: str, value: float) -> list[Row]:
    return [row("k-query", "query-pairs", measure, value, k=10, at=2.0)]


def test_substitution() -> None:
    measured, why = both(
        "substitution-quality-similar",
        [quality("precision", 0.8), anonymous("precision", 0.9)],
        [quality("precision", 0.8), anonymous("precision", 0.6)],
    )
    assert measured == "precision of top 2 0.80, k-query 0.90"
    assert why == "precision of top 2 is 0.20 higher."
    twice = quality("coverage", 0.1, at=5)  # the same for every j, and told once
    measured, _ = both(
        "substitution-covers-less",
        [quality("coverage", 0.1), twice, anonymous("coverage", 0.2)],
        [quality("coverage", 0.2), anonymous("coverage", 0.2)],
    )
    assert measured == "10.00% at epsilon = 5, k-query 20.00%"
    nothing = judged("substitution-covers-less", quality("coverage", 0), anonymous("coverage", 0))
    assert nothing.holds is None
    measured, _ = both(
        "substitution-coverage-falls-with-m",
        [quality("coverage", 0.1), quality("coverage", 0.02, m=6)],
        [quality("coverage", 0.1), quality("coverage", 0.1, m=6)],
    )
    assert measured == "10.00% at m = 1, 2.00% at 6, epsilon = 5"


def test_substitution_varies() -> None:
    def recall(values: Mapping[float, float]) -> list[Row]:
        ours = filled(values, *JUDGED_EPSILONS)
        return list(over("epsilon", ours, "recall", kind="query-pairs", m=1, at=5))

    def theirs(least: float, most: float) -> list[Row]:
        values = filled({5: most, 100: least}, *JUDGED_K)
        kind, method = "query-pairs", "k-query"
        return list(over("k", values, "recall", kind=kind, method=method, at=5))

    name, steady = "substitution-hardly-varies", theirs(0.3, 0.31)
    measured, why = both(
        name, [recall({1: 0.3, 10: 0.4}), steady], [recall({1: 0.18, 10: 0.39}), steady]
    )
    assert measured == (
        "recall of top 5 from 0.30 at epsilon = 1 to 0.40 at 10; "
        "recall of top 5 from 0.30 at k = 100 to 0.31 at 5"
    )
    assert why == "recall of top 5 varies by 0.21 over epsilon."
    assert judged(name, recall({1: 0.3, 5: 0.4}), steady).holds is None
    assert judged(name, steady).holds is None, "k-query alone shows nothing of epsilon"
    assert judged(name, recall({1: 0.3, 10: 0.4})).holds is None, "nor the other way round"
    poor = judged(name, recall({1: 0.01, 10: 0.12}), theirs(0.02, 0.1))
    assert poor.holds is None, "what is below 0.15 everywhere cannot vary by more"
    one_is_poor = judged(name, recall({1: 0.01, 10: 0.12}), steady)
    assert one_is_poor.holds is None, "both axes need a quality that could fall"


@pytest.mark.parametrize("more", [{0.5: 99.0}, {7: 99.0}, {20: 99.0}])
def test_other_settings_have_no_say(more: dict[float, float]) -> None:
    """Whatever else a study tries, the verdict and its margin are the same."""
    known = filled({1: 10.5, 5: 7.1, 10: 6.4}, *JUDGED_EPSILONS)
    name = "difference-falls-with-epsilon"
    plain, further = (judged(name, difference(known | each)) for each in ({}, more))
    assert plain == further
    assert plain.margin == pytest.approx(1 - 6.4 / 10.5)
    assert plain.judged_on == "epsilon = 1, 2, 3, 4, 5, 6, 8 and 10; m = 1"
    some = [each for each in difference(known) if each[1] != 6]
    fewer = judged(name, some, study=Study(epsilons=(1, 2, 3, 4, 5, 8, 10, 12)))
    assert (fewer.holds, fewer.why) == (None, "This study did not try epsilon = 6.")


WIDE = Study(
    epsilons=(0.5, 1, 2, 3, 4, 5, 6, 7, 8, 10, 20),
    k=(5, 7, 10, 50, 60, 70, 100, 200),
    items_per_user=(1, 2, 4, 6, 8, 10, 20, 40, 80),
    top=(5, 10, 20, 50, 100, 500, 1_000, 5_000, 10_000, 50_000, 100_000),
)


def rows_of(study: Study, seed: int) -> list[Row]:
    """A figure of each measure at every setting, by chance but with trends that are often clear."""
    chance = np.random.default_rng(seed)
    found = [original("", "people", 500_000)]
    slopes = {name: chance.uniform(-0.3, 0.3, 3) for name in ("distinct", "total", "rest")}

    def value(measure: str, most: float, x: float, m: float) -> float:
        tilt, by_m_, noise = slopes.get(measure, slopes["rest"])
        trend = x**tilt * (m / 6) ** by_m_
        return most * trend * (1 + 0.1 * abs(noise) * chance.normal())

    def measures(kind: str) -> Iterator[tuple[str, float, float | None]]:
        yield from (("distinct", 900, None), ("total", 9000, None), ("lists", 300, None))
        yield from (("average-difference", 5, None), ("hit-probability", 0.3, None))
        yield from (("lists-for-most-hits", 100, None), ("hit-probability-by-memory", 0.3, None))
        for j in (2, 5):
            yield from (
                (name, 0.3, j)
                for name in ("coverage", "precision", "recall", "average-precision", "ndcg")
            )
        yield from (("items-with-count", 1e6 / at**2, at) for at in (4, 5, 6, 7, 8, 9))

    for kind in ("keywords", "queries", "clicks", "query-pairs", "phrase-pairs"):
        found += [original(kind, "average-items", 10), original(kind, "distinct", 200_000)]
        found += over("at", power(-2), "items-with-count", kind=kind, method="original")
        for measure, most, at in measures(kind):
            for k in study.k:
                figure = value(measure, most, k / 10, 6)
                found.append(row("k-query", kind, measure, figure, k=k, at=at))
            for epsilon in study.epsilons:
                for m in study.items_per_user:
                    figure = value(measure, most, epsilon / 5, m)
                    place = {"epsilon": float(epsilon), "m": m, "at": at}
                    found.append(row("zealous", kind, measure, figure, **place))
        for m in study.items_per_user:
            for j in study.top:
                where = {"epsilon": 5.0, "m": m, "at": float(j)}
                lost = 0.02 * j**0.35
                found.append(row("zealous", kind, "missing-share", lost, **where))
                best = 8 if j < 200 else 1
                figure = 1 + abs(math.log(m / best)) * chance.uniform(0.5, 2)
                found.append(row("zealous", kind, "kl", figure, **where))
    return found


def within(rows: Iterable[Row], study: Study) -> list[Row]:
    """The rows that a smaller study would have."""
    axes = ((1, study.epsilons), (2, study.k), (3, study.items_per_user))
    found = [
        each for each in rows if all(each[at] is None or each[at] in tried for at, tried in axes)
    ]
    tops = ("kl", "missing-share")
    return [each for each in found if each[6] not in tops or each[7] in study.top]


@pytest.mark.parametrize("seed", range(6))
def test_no_verdict_turns_with_the_grid(seed: int) -> None:
    """Settings left out may cost the verdict, but never turn it; further ones change nothing."""
    chance, everything = np.random.default_rng(seed), rows_of(WIDE, seed)
    whole = {each.name: each for each in of(everything, WIDE)}
    default = {each.name: each for each in of(within(everything, Study()), Study())}
    assert [(each.holds, each.margin) for each in whole.values()] == [
        (each.holds, each.margin) for each in default.values()
    ]
    assert {True, False} <= {each.holds for each in whole.values()}
    for _ in range(12):
        cut = study_from(
            {
                name: tuple(x for x in getattr(WIDE, name) if x == 5 or chance.random() < 0.7)
                for name in ("epsilons", "k", "items_per_user", "top")
            }
        )
        for each in of(within(everything, cut), cut):
            assert each.holds in (None, whole[each.name].holds), (each.name, cut)
            if each.holds is None and whole[each.name].holds is not None:
                assert each.why.startswith("This study did not try "), each.name


def of(rows: list[Row], study: Study) -> list[Finding]:
    return findings(Results(table=as_table(rows)), study)


def test_phrases() -> None:
    name, kind = "phrase-pairs-regain-coverage", "phrase-pairs"
    pairs = quality("coverage", 0.1)
    measured, _ = both(
        name,
        [pairs, quality("coverage", 0.2, kind=kind)],
        [pairs, quality("coverage", 0.1, kind=kind)],
    )
    assert measured == "coverage 20.00% by phrase pairs, 10.00% by query pairs"
    precision = [quality("precision", 0.6, at=5), quality("precision", 0.3, kind=kind, at=5)]
    found = judged(name, pairs, quality("coverage", 0.2, kind=kind), *precision)
    assert found.measured == f"{measured}; precision of top 5 0.30 and 0.60"
    nothing = judged(name, quality("coverage", 0), quality("coverage", 0, kind=kind))
    assert nothing.holds is None
    assert nothing.measured == "coverage 0.00% by phrase pairs, 0.00% by query pairs"
    assert judged(name, quality("coverage", 0), quality("coverage", 0.1, kind=kind)).holds is True


def test_epsilon_of_the_table() -> None:
    name = "epsilon-of-the-table"

    def table(factors: Mapping[float, float]) -> Iterator[Row]:
        for epsilon, factor in factors.items():
            for kind, line in paper.DISTINCT.values.items():
                found = {m: value * factor for m, value in line.items()}
                yield from over("m", found, "distinct", kind=kind, epsilon=epsilon)

    people = [original("", "people", 480_000)]
    measured, _ = both(
        name,
        [table({2: 0.4, 5: 1.1, 10: 3}), people],
        [table({2: 0.3, 5: 0.4, 10: 1.1}), people],
    )
    assert measured == (
        "epsilon = 5 fits best, off by a factor of 1.10 on average and 1.10 at worst; "
        "within a factor of 2: 5; epsilon = 5 is off by 1.10"
    )
    assert judged(name, table({2: 0.5, 10: 1.1}), people).holds is None
    small = [original("", "people", 20_000)]
    assert judged(name, table({2: 0.5, 5: 1.1}), small).holds is None


def test_nothing_measured() -> None:
    """No figures, no verdicts, and no crash."""
    found = findings(Results(table=as_table([])), Study())
    assert {finding.holds for finding in found} == {None}
    assert {finding.measured for finding in found} == {NOT_MEASURED}
    assert {finding.why for finding in found} == {""}
    assert len({finding.name for finding in found}) == len(found) == 22


WHOLE = [
    *by_m("distinct", {1: 100, 40: 20}),
    *by_m("total", {1: 100, 6: 300, 40: 20}),
    *by_m("hit-probability", {1: 0.3, 6: 0.4}),
    *difference({1: 3, 5: 2}),
    *hits({1: 0.3, 10: 0.4}),
    *k_query({10: 3}),
    *quality("coverage", 0.1),
    *anonymous("coverage", 0.2),
    *over("at", {10: 0, 100: 0.5}, "missing-share", epsilon=5.0, m=1),
    *over("m", {1: 1, 6: 2}, "kl", epsilon=5.0, at=10),
    *over("at", power(-2), "items-with-count", epsilon=5.0, m=1),
    original("keywords", "average-items", 5),
    original("", "people", 500_000),
]


@pytest.mark.parametrize("left_out", range(len(WHOLE)))
def test_any_row_may_be_missing(left_out: int) -> None:
    rows = [each for place, each in enumerate(WHOLE) if place != left_out]
    assert len(findings(Results(table=as_table(rows)), Study())) == 22


def test_the_paper_agrees_with_itself() -> None:
    """The decreases in its text are those of its table, and every published count is above tau'."""
    for kind, fall in (("keywords", 0.55), ("query-pairs", 0.96)):
        line = paper.DISTINCT.values[kind]
        assert 1 - line[40] / line[1] == pytest.approx(fall, abs=0.01)
    goal = ProbabilisticDP(epsilon="5", delta="0.001", users=paper.USERS)
    for kind, line in paper.DISTINCT.values.items():
        for m, items in line.items():
            most = (paper.TOTAL.values[kind][m] + 500) / items
            assert most > calibrate(goal, m).tau_prime
    least = ProbabilisticDP(epsilon=str(paper.LEAST_EPSILON), delta="0.001", users=paper.USERS)
    assert calibrate(least, 40).tau_prime + 1 > 7_500 / 13


def test_what_is_printed_has_a_place() -> None:
    printed = paper.printed_values()
    assert printed["distinct"]["values"]["query-pairs"][40] == 13
    assert printed["total"]["values"]["queries"][1] == 147_000
    assert all(value["where"] for value in printed.values())
    assert "does not say" in printed["distinct"]["note"]
