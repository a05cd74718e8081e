"""How claims of the paper are judged: the figures, the cases and the verdict in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from zealous.study.claims.paper import ITEMS_PER_USER
from zealous.study.grid.result_table import Point, Results, Spread
from zealous.study.grid.study import Study

VERDICTS = {True: "as in the paper", False: "differs", None: "too little data"}
NOT_MEASURED = "too little of it in this log to judge"

# The settings on which claims are judged, whatever else a study tries; a study that lacks one of
# them gets no verdict. The paper prints the m of its tables; of its figures it does not say where
# epsilon, k and j begin and end.
JUDGED_EPSILONS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
JUDGED_K = (5, 10, 50, 100)
JUDGED_M = ITEMS_PER_USER
JUDGED_TOP = (10, 50, 100, 500, 1_000, 5_000, 10_000, 50_000)
FIRST_M, CACHING_M = 1, 6  # of the paper's text: m of its statistics, and of its applications
USUAL_K = 10  # of the anonymity methods where nothing varies

_LEAST_CHANGE = 0.001  # relative: less is +0.0 % in print


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A claim of the paper and whether it holds on this log.

    Attributes:
        name: A short name.
        claim: What the paper says, in our words.
        paper: Its numbers, where it prints any.
        measured: What was measured here.
        holds: None where this log or this study cannot tell.
        margin: How far the measured values are from the other verdict: above 0 where the claim
            holds; None where it was not judged.
        margin_of: What the margin is a share of, or a difference of.
        judged_on: The settings that decide. Others of the study have no say.
        why: Where it does not hold, or not plainly, what explains it; else empty.
    """

    name: str
    claim: str
    paper: str | None
    measured: str
    holds: bool | None
    margin: float | None
    margin_of: str
    judged_on: str
    why: str

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return VERDICTS[self.holds]

    @property
    def margin_text(self) -> str:
        """How near the verdict is to the other, and what decided it; empty where not judged."""
        if self.holds is None or self.margin is None:
            return ""
        return f"{self.margin:+.1%} ({self.margin_of}); judged on {self.judged_on}"

    def with_reason(self, more: str) -> Finding:
        """The same finding with a further reason."""
        return replace(self, why=f"{self.why} {more}".strip())


class Case(NamedTuple):
    """What was measured for one kind, or one measure, and whether the claim holds there.

    Attributes:
        measured: The figures.
        holds: None where they do not decide.
        why: What explains it where it does not hold.
        margin: How far from the other verdict, as a share; negative where it does not hold.
    """

    measured: str
    holds: bool | None
    why: str = ""
    margin: float | None = None


class StudyCurves(NamedTuple):
    """Curves of a study. ZEALOUS is at the study's epsilon unless another one is given."""

    results: Results
    study: Study

    def zealous(self, measure: str, kind: str, m: float, **fixed: float) -> Spread | None:
        """One figure of ZEALOUS."""
        return self.results.value(measure, kind, "zealous", m=m, **self._with_epsilon(fixed))

    def over_m(self, measure: str, kind: str, **fixed: float) -> list[Point]:
        """A curve of ZEALOUS over m."""
        return self.results.curve(measure, kind, "zealous", over="m", **self._with_epsilon(fixed))

    def over_epsilon(self, measure: str, kind: str, m: float = FIRST_M) -> list[Point]:
        """A curve of ZEALOUS."""
        return self.results.curve(measure, kind, "zealous", over="epsilon", m=m)

    def over_k(self, measure: str, kind: str) -> list[Point]:
        """A curve of k-query."""
        return self.results.curve(measure, kind, "k-query", over="k")

    def k_query(self, measure: str, kind: str, **fixed: float) -> Spread | None:
        """One figure of k-query, at the paper's k = 10."""
        return self.results.value(measure, kind, "k-query", k=USUAL_K, **fixed)

    def untried(self, needed: Needed) -> str:
        """Which settings that decide the study did not try, in a sentence; empty if none."""
        tried = {
            "epsilon": self.study.epsilons,
            "k": self.study.k,
            "m": self.study.items_per_user,
            "j": self.study.top,
        }
        lacking = {axis: [x for x in wanted if x not in tried[axis]] for axis, wanted in needed}
        told = [f"{axis} = {values_text(values)}" for axis, values in lacking.items() if values]
        return f"This study did not try {', '.join(told)}." if told else ""

    def _with_epsilon(self, fixed: Mapping[str, float]) -> dict[str, float]:
        return {"epsilon": float(self.study.epsilon), **fixed}


Needed = Sequence[tuple[str, Sequence[float]]]
"""The axes (epsilon, k, m, j) and the settings on them that decide."""

EPSILONS_NEEDED: Needed = [("epsilon", JUDGED_EPSILONS)]
K_NEEDED: Needed = [("k", JUDGED_K)]
M_NEEDED: Needed = [("m", JUDGED_M)]
STATISTICS_NEEDED: Needed = [*EPSILONS_NEEDED, ("m", (FIRST_M,))]
BOTH_NEEDED: Needed = [*STATISTICS_NEEDED, *K_NEEDED]


def judge(
    name: str,
    claim: str,
    cases: Iterable[Case | None],
    *,
    margin_of: str,
    judged_on: str,
    printed: str | None = None,
    untried: str = "",
) -> Finding:
    """Judge a claim: it fails if one case fails, and holds if one holds and none fails.

    Args:
        name: A short name.
        claim: What the paper says.
        cases: What was measured; None where nothing was.
        margin_of: See `Finding`.
        judged_on: See `Finding`.
        printed: What the paper prints.
        untried: Which settings that decide were not tried: the reason if there is no verdict.
    """
    found = [case for case in cases if case is not None]
    verdicts = {case.holds for case in found} - {None}
    reasons = "".join(case.why for case in found if case.holds is False).strip()
    margins = [case.margin for case in found if case.holds is not None and case.margin is not None]
    return Finding(
        name=name,
        claim=claim,
        paper=printed,
        measured=_join_cases(found) if found else NOT_MEASURED,
        holds=all(verdicts) if verdicts else None,
        margin=min(margins, default=None),
        margin_of=margin_of,
        judged_on=judged_on,
        why=reasons if verdicts else untried,
    )


def _join_cases(cases: Sequence[Case]) -> str:
    """What was measured in all cases, grouped by verdict where verdicts differ."""
    groups = [
        (word, "; ".join(case.measured for case in cases if case.holds is verdict))
        for word, verdict in (("Holds", True), ("Fails", False), ("Not judged", None))
    ]
    if not (groups[0][1] and groups[1][1]):
        return "; ".join(case.measured for case in cases)
    return " ".join(f"{word}: {told}." for word, told in groups if told)


def at_settings(points: Iterable[Point], settings: Sequence[float]) -> list[Point]:
    """The points at the settings that decide; none where one of these was not tried.

    Further settings cannot change a verdict then, and fewer cannot turn it into its opposite.
    """
    found = [point for point in points if point.x in settings]
    return found if spans(found, settings) else []


def spans(points: Sequence[Point], settings: Sequence[float]) -> bool:
    """Whether all of the settings that decide were tried."""
    return set(settings) <= {point.x for point in points}


def settings_text(needed: Needed) -> str:
    """The settings that decide, in words."""
    return "; ".join(f"{axis} = {values_text(values)}" for axis, values in needed)


def is_above(one: Spread, other: Spread) -> bool | None:
    """Whether one figure is above another; None where draws of the noise disagree.

    >>> is_above(Spread(3, 2.9, 3.1, 5), Spread(2, 1.9, 2.1, 5))
    True
    >>> is_above(Spread(3, 2.9, 3.1, 5), Spread(2.95, 2.9, 3, 5)) is None
    True
    >>> is_above(Spread(2, 2, 2, 1), Spread(2, 2, 2, 1))
    False
    """
    if one.low > other.high:
        enough = one.low - other.high >= _LEAST_CHANGE * abs(other.mean)
        return True if enough else None
    return None if one.high > other.low else False


def values_text(settings: Sequence[float]) -> str:
    """Settings in words: 1, 4 and 40."""
    *most, last = (f"{each:g}" for each in settings)
    return f"{', '.join(most)} and {last}" if most else last


def ends_text(points: Sequence[Point], axis: str) -> str:
    """The first and the last value of a curve."""
    first, last = points[0], points[-1]
    low, high = format_number(first.y.mean), format_number(last.y.mean)
    return f"{low} at {axis} = {first.x:g}, {high} at {last.x:g}"


def format_number(value: float) -> str:
    """A number in print: large ones rounded to whole numbers, small ones to three digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"


def rises(points: Sequence[Point]) -> list[tuple[Point, Point]]:
    """Neighbours of which the later is higher, and by more than the spread of the draws."""
    return [(a, b) for a, b in pairwise(points) if b.y.low > a.y.high]


def falls(points: Sequence[Point]) -> list[tuple[Point, Point]]:
    """Neighbours of which the later is lower, and by more than the spread of the draws."""
    return [(a, b) for a, b in pairwise(points) if b.y.high < a.y.low]
