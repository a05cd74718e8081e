"""What the report asks of the results: which methods and kinds there are, and their curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from zealous.study.anonymity import METHODS as KNOWN
from zealous.study.grid.results import Point, Results, Spread
from zealous.study.report.parts import Axis, Line
from zealous.study.report.style import LADDER, METHODS, OTHERS, Look

FOUR = ("keywords", "queries", "clicks", "query-pairs")  # the paper's
PHRASES = "phrase-pairs"
ORIGINAL, ZEALOUS = "original", "zealous"
_SOME_M = (1, 6, 40)
_VAST = 1e150  # beyond, an axis overflows
# They compare frequencies. An empty release has none, and by some of these looks good.
_OF_ITEMS = frozenset(["l1", "kl", "average-difference", "rms-difference", "total-variation"])
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

    def at(self, axis: str, value: float) -> Entry:
        """The same elsewhere on an axis; a measure's own axis is none of a method's."""
        moved: dict[str, Any] = {axis: value}
        return self if axis == "at" else replace(self, **moved)

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

    def tried(self, axis: str, method: str) -> list[float]:
        """All values of epsilon, k or m that the method was run with, ascending."""
        return sorted(
            {value for each in self.settings(method) if (value := getattr(each, axis)) is not None}
        )

    def settings(self, method: str) -> list[Entry]:
        """Everything that the method was run with, as in the table."""
        return self._settings.get(method, [])

    @cached_property
    def _settings(self) -> dict[str, list[Entry]]:
        names = ["method", "epsilon", "k", "m"]
        table = self.results.table.select(names)
        found: dict[str, list[Entry]] = {}
        for row in table.group_by(names, use_threads=False).aggregate([]).to_pylist():
            found.setdefault(row["method"], []).append(Entry(**row))
        return found

    def some_m(self) -> list[float]:
        """Three m at most, far apart: where a curve for each is too much."""
        tried = self.tried("m", ZEALOUS)
        return [m for m in tried if m in _SOME_M] or tried[:3]

    def nearest(self, axis: str, value: float, method: str) -> float | None:
        """What of that axis was tried, next to a value; None where the method has none."""
        return min(self.tried(axis, method), key=lambda each: abs(each - value), default=None)

    def look(self, method: str, step: int = 0) -> Look:
        """How its curves look everywhere; those of its further settings in their own strokes."""
        if method in METHODS:
            return METHODS[method]
        others = [name for name in self.methods if name not in METHODS]
        look = OTHERS[others.index(method) % len(OTHERS)]
        if step == 0:
            return look
        other = LADDER[step % len(LADDER)]
        return look._replace(marker=other.marker, stroke=other.stroke, hollow=True)

    def entry(self, method: str, *, epsilon: float | None = None, m: int = 1) -> Entry:
        """A method at these settings, or those next to them that were tried."""
        return Entry(
            method=method,
            epsilon=self.nearest("epsilon", self.epsilon if epsilon is None else epsilon, method),
            k=self.nearest("k", 10, method),
            m=self.nearest("m", m, method),
        )

    def value(
        self, measure: str, kind: str, entry: Entry, at: float | None = None
    ) -> Spread | None:
        """One figure; `at` None is that of a measure without an axis of its own."""
        return self.results.value(
            measure, kind, entry.method, epsilon=entry.epsilon, k=entry.k, m=entry.m, at=at
        )

    def published(self, kind: str, entry: Entry) -> bool:
        """Whether every draw publishes something: nothing has no frequencies and cannot be scaled.

        Taken for granted where it was not measured.
        """
        distinct = self.value("distinct", kind, entry)
        return distinct is None or distinct.low > 0

    def entries(self) -> list[Entry]:
        """The rows of the tables that compare methods: of one's own every setting."""
        found = [Entry(method=ORIGINAL)] if ORIGINAL in self.results.names("method") else []
        for method in self.methods:
            found += self.shown(method)
            if method == ZEALOUS:
                found += [self.entry(method, m=6), self.entry(method, epsilon=1)]
        return list(dict.fromkeys(found))

    def shown(self, method: str) -> list[Entry]:
        """At what settings a method is shown beside others: one's own at all."""
        return self.settings(method) if is_own(method) else [self.entry(method)]

    def over_m(self, measure: str, kind: str, *, at: float | None) -> list[Point]:
        """ZEALOUS at the study's epsilon."""
        return self.results.curve(measure, kind, ZEALOUS, over="m", epsilon=self.epsilon, at=at)

    def line(
        self,
        label: str,
        look: Look,
        measure: str,
        kind: str,
        entry: Entry,
        *,
        over: str,
        at: float | None = None,
    ) -> Line:
        """A curve, the entry's settings fixed but that one; what cannot be drawn is left out."""
        fixed = {"epsilon": entry.epsilon, "k": entry.k, "m": entry.m, "at": at}
        del fixed[over]
        found = self.results.curve(measure, kind, entry.method, over=over, **fixed)
        shown = [
            point
            for point in found
            if measure not in _OF_ITEMS or self.published(kind, entry.at(over, point.x))
        ]
        drawn = [point for point in shown if _drawable(point.x, *point.y)]
        gaps = [point.x for point in found if point not in shown]
        return Line(label=label, points=drawn, look=look, gaps=gaps)

    def lines(
        self, measure: str, kind: str, over: str, *, m: int = 1, at: float | None = None
    ) -> list[Line]:
        """Every method that varies along epsilon, or along k; those without either go across.

        Of one's own methods a curve for every m.
        """
        found = []
        for method in self.methods:
            bounds = sorted({each.m for each in self.settings(method)}, key=lambda m: m or 0)
            if not is_own(method):
                bounds = [self.nearest("m", m, method)]
            for step, bound in enumerate(bounds):
                told = method == ZEALOUS or len(bounds) > 1
                label = str(Entry(method=method, m=bound if told else None))
                look = self.look(method, step)
                settings = [each for each in self.settings(method) if each.m == bound]
                if any(getattr(each, over) is not None for each in settings):
                    entry = Entry(method=method, m=bound)
                    found.append(self.line(label, look, measure, kind, entry, over=over, at=at))
                flat = Entry(method=method, m=bound)
                if flat in settings:
                    found.append(self._flat(label, look, measure, kind, flat, at))
        return [line for line in found if line.points or line.gaps]

    def level(self, measure: str, kind: str) -> list[Line]:
        """The original, across."""
        entry = Entry(method=ORIGINAL)
        return [self._flat(ORIGINAL, self.look(ORIGINAL), measure, kind, entry, None)]

    def _flat(
        self, label: str, look: Look, measure: str, kind: str, entry: Entry, at: float | None
    ) -> Line:
        """What has the same value everywhere."""
        spread = self.value(measure, kind, entry, at=at)
        left_out = measure in _OF_ITEMS and not self.published(kind, entry)
        drawn = spread is not None and not left_out and _drawable(*spread)
        points = [Point(0, spread)] if spread is not None and drawn else []
        return Line(
            label=label,
            points=points,
            look=look,
            across=True,
            gaps=[0] if spread is not None and left_out else [],
        )


def is_own(method: str) -> bool:
    """Whether it is a method of somebody's own."""
    return method not in KNOWN and method not in (ORIGINAL, ZEALOUS)


def _drawable(*values: float | None) -> bool:
    """Whether there is a place for it on an axis."""
    return all(value is not None and abs(value) < _VAST for value in values)
