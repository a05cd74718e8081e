"""How claims of the paper are judged: the figures, the cases and the verdict in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from zealous.study.grid.result_table import Point, Results, Spread
from zealous.study.grid.study import Study

NOT_MEASURED = "too little of it in this log to judge"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A claim of the paper and whether it holds on this log.

    Attributes:
        name: A short name.
        claim: What the paper says, in our words.
        paper: Its numbers, where it prints any.
        measured: What was measured here.
        holds: None where this log or this study cannot tell.
        why: Where it does not hold, or not plainly, what explains it; else empty.
    """

    name: str
    claim: str
    paper: str | None
    measured: str
    holds: bool | None
    why: str

    def with_reason(self, more: str) -> Finding:
        """The same finding with a further reason."""
        return replace(self, why=f"{self.why} {more}".strip())


class Case(NamedTuple):
    """What was measured for one kind, or one measure, and whether the claim holds there."""

    measured: str
    holds: bool | None
    why: str = ""


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

    def _with_epsilon(self, fixed: Mapping[str, float]) -> dict[str, float]:
        return {"epsilon": float(self.study.epsilon), **fixed}


def judge(
    name: str, claim: str, cases: Iterable[Case | None], *, printed: str | None = None
) -> Finding:
    """Judge a claim: it fails if one case fails, and holds if one holds and none fails."""
    found = [case for case in cases if case is not None]
    verdicts = {case.holds for case in found} - {None}
    return Finding(
        name=name,
        claim=claim,
        paper=printed,
        measured=_join_cases(found) if found else NOT_MEASURED,
        holds=all(verdicts) if verdicts else None,
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
