"""What a claim of the paper is judged by, and how the verdict is put into words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from zealous.study.grid.results import Point, Results, Spread
from zealous.study.grid.study import Study

NOT_MEASURED = "too little of it on this log to judge"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A claim of the paper, and what became of it.

    Attributes:
        name: A short name.
        claim: What the paper says, in our words.
        paper: Its numbers, where it prints any.
        measured: Ours.
        holds: None where this log or this study cannot tell.
        why: Where it does not hold, or not plainly, what the numbers say about it; else empty.
    """

    name: str
    claim: str
    paper: str | None
    measured: str
    holds: bool | None
    why: str

    def because(self, more: str) -> Finding:
        """The same with a further reason."""
        return replace(self, why=f"{self.why} {more}".strip())


class Case(NamedTuple):
    """One kind's part of a finding."""

    told: str
    holds: bool | None
    why: str = ""


class Asked(NamedTuple):
    """A study, asked for curves. ZEALOUS is at the study's epsilon where no other is named."""

    results: Results
    study: Study

    @property
    def least_m(self) -> float:
        """The paper's m = 1, where the study has it."""
        return min(self.results.axis("m", "zealous"), default=1)

    def zealous(self, measure: str, kind: str, m: float, **fixed: float) -> Spread | None:
        """One figure of ZEALOUS."""
        return self.results.value(measure, kind, "zealous", m=m, **self._at(fixed))

    def over_m(self, measure: str, kind: str, **fixed: float) -> list[Point]:
        """A curve of ZEALOUS."""
        return self.results.curve(measure, kind, "zealous", over="m", **self._at(fixed))

    def over_epsilon(self, measure: str, kind: str, m: float | None = None) -> list[Point]:
        """A curve of ZEALOUS, at the least m where no other is named."""
        m = self.least_m if m is None else m
        return self.results.curve(measure, kind, "zealous", over="epsilon", m=m)

    def over_k(self, measure: str, kind: str) -> list[Point]:
        """A curve of k-query."""
        return self.results.curve(measure, kind, "k-query", over="k")

    def k_query(self, measure: str, kind: str, **fixed: float) -> Spread | None:
        """One figure of k-query, at the paper's k = 10 or the nearest."""
        k = nearest(self.results.axis("k", "k-query"), 10)
        return self.results.value(measure, kind, "k-query", k=k, **fixed)

    def _at(self, fixed: Mapping[str, float]) -> dict[str, float]:
        return {"epsilon": float(self.study.epsilon), **fixed}


def finding(
    name: str, claim: str, cases: Iterable[Case | None], *, printed: str | None = None
) -> Finding:
    """It fails where one case fails, and holds where one holds and none fails."""
    found = [case for case in cases if case is not None]
    verdicts = {case.holds for case in found} - {None}
    return Finding(
        name=name,
        claim=claim,
        paper=printed,
        measured=_told(found) if found else NOT_MEASURED,
        holds=all(verdicts) if verdicts else None,
        why="".join(case.why for case in found if case.holds is False).strip(),
    )


def _told(cases: Sequence[Case]) -> str:
    """One after the other; where some hold and some fail, which do."""
    groups = [
        (word, "; ".join(case.told for case in cases if case.holds is verdict))
        for word, verdict in (("Holds", True), ("Fails", False), ("Not judged", None))
    ]
    if not (groups[0][1] and groups[1][1]):
        return "; ".join(case.told for case in cases)
    return " ".join(f"{word}: {told}." for word, told in groups if told)


def ends(points: Sequence[Point], axis: str) -> str:
    """The first and the last of a curve."""
    first, last = points[0], points[-1]
    return f"{number(first.y.mean)} at {axis} = {first.x:g}, {number(last.y.mean)} at {last.x:g}"


def number(value: float) -> str:
    """Large ones whole, small ones with three digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"


def nearest(axis: Sequence[float], wanted: float) -> float | None:
    """The setting of the study that is nearest to the paper's."""
    return min(axis, key=lambda value: abs(value - wanted), default=None)


def rises(points: Sequence[Point]) -> list[tuple[Point, Point]]:
    """Neighbours of which the later is higher, and by more than the spread of the draws."""
    return [(a, b) for a, b in pairwise(points) if b.y.low > a.y.high]


def falls(points: Sequence[Point]) -> list[tuple[Point, Point]]:
    """Neighbours of which the later is lower, and by more than the spread of the draws."""
    return [(a, b) for a, b in pairwise(points) if b.y.high < a.y.low]
