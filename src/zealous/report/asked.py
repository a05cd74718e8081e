"""What the report asks of the results: which methods and kinds there are, and their curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from zealous.report.parts import Axis, Line
from zealous.report.style import METHODS, OTHERS, Look

if TYPE_CHECKING:
    from zealous.evaluate.results import Point, Results, Spread

FOUR = ("keywords", "queries", "clicks", "query-pairs")  # the paper's
PHRASES = "phrase-pairs"
ORIGINAL, ZEALOUS = "original", "zealous"
_SOME_M = (1, 6, 40)
EPSILON = Axis("epsilon")
K = Axis("k, users", log=True)
M = Axis("m, items a user", log=True)


def words(kind: str) -> str:
    """The name of a kind.

    >>> words("query-pairs")
    'query pairs'
    """
    return kind.replace("-", " ")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A method at one setting: a row of a table.

    Attributes:
        method: Its name.
        epsilon: None where it has none.
        k: Likewise.
        m: Likewise.
    """

    method: str
    epsilon: float | None = None
    k: float | None = None
    m: float | None = None

    def __str__(self) -> str:
        """In words."""
        named = {"epsilon": self.epsilon, "k": self.k, "m": self.m}
        told = [f"{name} = {value:g}" for name, value in named.items() if value is not None]
        return f"{self.method}, {', '.join(told)}" if told else self.method


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Results, and the study they are of.

    Attributes:
        results: All figures.
        study: Its settings, as `Study.as_object` gives them.
    """

    results: Results
    study: Mapping[str, Any]

    @cached_property
    def kinds(self) -> list[str]:
        """What was counted, in the paper's order."""
        found = set(self.results.names("kind"))
        return [kind for kind in (*FOUR, PHRASES) if kind in found]

    @property
    def four(self) -> list[str]:
        """Those of the paper's kinds that the log allows."""
        return [kind for kind in self.kinds if kind in FOUR]

    @cached_property
    def methods(self) -> list[str]:
        """All but the original: ZEALOUS first, then as in the table."""
        names = [name for name in self.results.names("method") if name not in (ORIGINAL, None)]
        return sorted(names, key=lambda name: name != ZEALOUS)

    @property
    def epsilon(self) -> float:
        """That of the tables and figures that vary something else."""
        return self.nearest("epsilon", self.study["epsilon"], ZEALOUS) or self.study["epsilon"]

    @cached_property
    def _tried(self) -> dict[tuple[str, str], list[float]]:
        return {}

    def tried(self, axis: str, method: str) -> list[float]:
        """All values of epsilon, k or m that the method was run with, ascending."""
        if (axis, method) not in self._tried:
            self._tried[axis, method] = self.results.axis(axis, method)
        return self._tried[axis, method]

    def some_m(self) -> list[float]:
        """Three m at most, far apart: where a curve for each is too much."""
        tried = self.tried("m", ZEALOUS)
        return [m for m in tried if m in _SOME_M] or tried[:3]

    def nearest(self, axis: str, value: float, method: str) -> float | None:
        """What of that axis was tried, next to a value; None where the method has none."""
        return min(self.tried(axis, method), key=lambda each: abs(each - value), default=None)

    def look(self, method: str) -> Look:
        """How its curves look everywhere."""
        if method in METHODS:
            return METHODS[method]
        others = [name for name in self.methods if name not in METHODS]
        return OTHERS[others.index(method) % len(OTHERS)]

    def entry(self, method: str, *, epsilon: float | None = None, k: int = 10, m: int = 1) -> Entry:
        """A method at these settings, or those next to them that were tried."""
        return Entry(
            method=method,
            epsilon=self.nearest("epsilon", self.epsilon if epsilon is None else epsilon, method),
            k=self.nearest("k", k, method),
            m=self.nearest("m", m, method),
        )

    def value(
        self, measure: str, kind: str, entry: Entry, at: float | None = None
    ) -> Spread | None:
        """One figure; `at` None is that of a measure without an axis of its own."""
        return self.results.value(
            measure, kind, entry.method, epsilon=entry.epsilon, k=entry.k, m=entry.m, at=at
        )

    def entries(self) -> list[Entry]:
        """The rows of the tables that compare methods."""
        found = [Entry(method=ORIGINAL)] if ORIGINAL in self.results.names("method") else []
        for method in self.methods:
            found.append(self.entry(method))
            if method == ZEALOUS:
                found += [self.entry(method, m=6), self.entry(method, epsilon=1)]
        return list(dict.fromkeys(found))

    def over_m(self, measure: str, kind: str, *, at: float | None) -> list[Point]:
        """ZEALOUS at the study's epsilon."""
        return self.results.curve(measure, kind, ZEALOUS, over="m", epsilon=self.epsilon, at=at)

    def lines(
        self, measure: str, kind: str, over: str, *, m: int = 1, at: float | None = None
    ) -> list[Line]:
        """Every method that varies along epsilon, or along k; those without either go across."""
        found = []
        for method in self.methods:
            own = "epsilon" if self.tried("epsilon", method) else "k"
            across = not self.tried(own, method)
            if own != over and not across:
                continue
            fixed = {"m": self.nearest("m", m, method), "at": at}
            points = (
                _anywhere(self.results.value(measure, kind, method, **fixed))
                if across
                else self.results.curve(measure, kind, method, over=over, **fixed)
            )
            label = method if method != ZEALOUS else f"{ZEALOUS}, m = {fixed['m'] or m:g}"
            found.append(Line(label=label, points=points, look=self.look(method), across=across))
        return [line for line in found if line.points]

    def level(self, measure: str, kind: str, at: float | None = None) -> list[Line]:
        """The original, across."""
        points = _anywhere(self.results.value(measure, kind, ORIGINAL, at=at))
        return [Line(label=ORIGINAL, points=points, look=self.look(ORIGINAL), across=True)]


def _anywhere(spread: Spread | None) -> Sequence[Point]:
    from zealous.evaluate.results import Point

    return [] if spread is None else [Point(0, spread)]
