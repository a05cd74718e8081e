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

# The settings on which claims are judged, whatever else a study tries. The paper prints the m of
# its tables; of its figures it does not say where epsilon and k begin and end.
JUDGED_EPSILONS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
JUDGED_K = (5, 10, 50, 100)
JUDGED_M = ITEMS_PER_USER


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

    @property
    def least_m(self) -> float:
        """The smallest m of the study: 1, as in the paper, where it was tried."""
        return min(self.results.axis("m", "zealous"), default=1)

    def zealous(self, measure: str, kind: str, m: float, **fixed: float) -> Spread | None:
        """One figure of ZEALOUS."""
        return self.results.value(measure, kind, "zealous", m=m, **self._with_epsilon(fixed))

    def over_m(self, measure: str, kind: str, **fixed: float) -> list[Point]:
        """A curve of ZEALOUS over m."""
        return self.results.curve(measure, kind, "zealous", over="m", **self._with_epsilon(fixed))

    def over_epsilon(self, measure: str, kind: str, m: float | None = None) -> list[Point]:
        """A curve of ZEALOUS, at the smallest m unless another one is given."""
        m = self.least_m if m is None else m
        return self.results.curve(measure, kind, "zealous", over="epsilon", m=m)

    def over_k(self, measure: str, kind: str) -> list[Point]:
        """A curve of k-query."""
        return self.results.curve(measure, kind, "k-query", over="k")

    def k_query(self, measure: str, kind: str, **fixed: float) -> Spread | None:
        """One figure of k-query, at the paper's k = 10 or the nearest."""
        k = nearest(self.results.axis("k", "k-query"), 10)
        return self.results.value(measure, kind, "k-query", k=k, **fixed)

    @property
    def on_epsilon(self) -> str:
        """The epsilons that decide, of those that the study tried."""
        return _settings_text("epsilon", JUDGED_EPSILONS, self.study.epsilons)

    @property
    def on_k(self) -> str:
        """The k that decide, of those that the study tried."""
        return _settings_text("k", JUDGED_K, self.study.k)

    @property
    def on_m(self) -> str:
        """The m that decide, of those that the study tried."""
        return _settings_text("m", JUDGED_M, self.study.items_per_user)

    def _with_epsilon(self, fixed: Mapping[str, float]) -> dict[str, float]:
        return {"epsilon": float(self.study.epsilon), **fixed}


def judge(
    name: str,
    claim: str,
    cases: Iterable[Case | None],
    *,
    margin_of: str,
    judged_on: str,
    printed: str | None = None,
) -> Finding:
    """Judge a claim: it fails if one case fails, and holds if one holds and none fails."""
    found = [case for case in cases if case is not None]
    verdicts = {case.holds for case in found} - {None}
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
        why="".join(case.why for case in found if case.holds is False).strip(),
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
    """The points at the settings that decide, so that further ones cannot change a verdict."""
    return [point for point in points if point.x in settings]


def spans(points: Sequence[Point], settings: Sequence[float]) -> bool:
    """Whether the first and the last of the settings that decide were tried."""
    return bool(points) and (points[0].x, points[-1].x) == (settings[0], settings[-1])


def _settings_text(name: str, judged: Sequence[float], tried: Sequence[float]) -> str:
    both = [each for each in judged if each in tried]
    return f"{name} = {values_text(both)}" if both else f"no {name} of this study"


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


def nearest(axis: Sequence[float], wanted: float) -> float | None:
    """The value on an axis that is nearest to the wanted one; None on an empty axis."""
    return min(axis, key=lambda value: abs(value - wanted), default=None)


def rises(points: Sequence[Point]) -> list[tuple[Point, Point]]:
    """Neighbours of which the later is higher, and by more than the spread of the draws."""
    return [(a, b) for a, b in pairwise(points) if b.y.low > a.y.high]


def falls(points: Sequence[Point]) -> list[tuple[Point, Point]]:
    """Neighbours of which the later is lower, and by more than the spread of the draws."""
    return [(a, b) for a, b in pairwise(points) if b.y.high < a.y.low]
