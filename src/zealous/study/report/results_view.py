"""The results as the report reads them: methods, kinds, settings and curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from zealous.study.anonymity import METHODS as KNOWN
from zealous.study.claims.paper import KINDS as PAPER_KINDS
from zealous.study.curve_look import Look
from zealous.study.grid.other_guarantees import OTHER_GUARANTEES
from zealous.study.grid.result_table import Point, Results, Spread
from zealous.study.report.parts import Axis, Line
from zealous.study.report.style import CURVES, LADDER, OTHERS

PHRASES = "phrase-pairs"
ORIGINAL, ZEALOUS = "original", "zealous"
_SELECTED_M = (1, 6, 40)
_AXIS_LIMIT = 1e150  # beyond, an axis overflows
# They compare frequencies. An empty release has none, and by some of these looks good.
_FREQUENCY_MEASURES = frozenset(
    ["l1", "kl", "average-difference", "rms-difference", "total-variation"]
)
EPSILON = Axis("epsilon")
K = Axis("k, users", log=True)
M = Axis("m, items a user", log=True)


def kind_label(kind: str) -> str:
    """The name of a kind.

    >>> kind_label("query-pairs")
    'query pairs'
    """
    return kind.replace("-", " ")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A method at one setting: a row of a table."""

    method: str
    epsilon: float | None = None
    k: float | None = None
    m: float | None = None

    def at(self, axis: str, value: float) -> Entry:
        """The same method elsewhere on an axis; `at` is an axis of measures, not of methods."""
        moved: dict[str, Any] = {axis: value}
        return self if axis == "at" else replace(self, **moved)

    def __str__(self) -> str:
        """In words."""
        named = {"epsilon": self.epsilon, "k": self.k, "m": self.m}
        told = [f"{name} = {value:g}" for name, value in named.items() if value is not None]
        return f"{self.method}, {', '.join(told)}" if told else self.method


@dataclass(frozen=True, kw_only=True)
class ResultsView:
    """Results, and the study they are of."""

    results: Results
    study: Mapping[str, Any]

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds that were counted, in the paper's order."""
        found = set(self.results.names("kind"))
        return [kind for kind in (*PAPER_KINDS, PHRASES) if kind in found]

    @property
    def paper_kinds(self) -> list[str]:
        """Those of the paper's kinds that the log allows."""
        return [kind for kind in self.kinds if kind in PAPER_KINDS]

    @cached_property
    def methods(self) -> list[str]:
        """All but the original: ZEALOUS first, then as in the table."""
        names = [name for name in self.results.names("method") if name not in (ORIGINAL, None)]
        return sorted(names, key=lambda name: name != ZEALOUS)

    @property
    def epsilon(self) -> float:
        """The epsilon of tables and figures that do not vary epsilon."""
        return (
            self.nearest_tried("epsilon", self.study["epsilon"], ZEALOUS) or self.study["epsilon"]
        )

    def values_tried(self, axis: str, method: str) -> list[float]:
        """All values of epsilon, k or m that the method was run with, ascending."""
        return sorted(
            {value for each in self.settings(method) if (value := getattr(each, axis)) is not None}
        )

    def settings(self, method: str) -> list[Entry]:
        """All settings that the method was run with, in the order of the results."""
        return self._settings.get(method, [])

    @cached_property
    def _settings(self) -> dict[str, list[Entry]]:
        names = ["method", "epsilon", "k", "m"]
        table = self.results.table.select(names)
        found: dict[str, list[Entry]] = {}
        for row in table.group_by(names, use_threads=False).aggregate([]).to_pylist():
            found.setdefault(row["method"], []).append(Entry(**row))
        return found

    def selected_m(self) -> list[float]:
        """At most three m, far apart: for figures where a curve for each m is too much."""
        tried = self.values_tried("m", ZEALOUS)
        return [m for m in tried if m in _SELECTED_M] or tried[:3]

    def nearest_tried(self, axis: str, value: float, method: str) -> float | None:
        """The value nearest to the given one that was tried; None where the method has none."""
        return min(
            self.values_tried(axis, method), key=lambda each: abs(each - value), default=None
        )

    def look(self, method: str, step: int = 0) -> Look:
        """How a method's curves look; those of its further settings differ in stroke and marker."""
        if method in CURVES:
            return CURVES[method]
        others = [name for name in self.methods if name not in CURVES]
        look = OTHERS[others.index(method) % len(OTHERS)]
        if step == 0:
            return look
        other = LADDER[step % len(LADDER)]
        return look._replace(marker=other.marker, stroke=other.stroke, hollow=True)

    def nearest_entry(self, method: str, *, epsilon: float | None = None, m: int = 1) -> Entry:
        """A method at the settings nearest to these that were tried."""
        return Entry(
            method=method,
            epsilon=self.nearest_tried(
                "epsilon", self.epsilon if epsilon is None else epsilon, method
            ),
            k=self.nearest_tried("k", 10, method),
            m=self.nearest_tried("m", m, method),
        )

    def value(
        self, measure: str, kind: str, entry: Entry, at: float | None = None
    ) -> Spread | None:
        """One figure; `at` is None for a measure without an axis of its own."""
        return self.results.value(
            measure, kind, entry.method, epsilon=entry.epsilon, k=entry.k, m=entry.m, at=at
        )

    def publishes_something(self, kind: str, entry: Entry) -> bool:
        """Whether every draw publishes something: an empty release cannot be scaled.

        Assumed where it was not measured.
        """
        distinct = self.value("distinct", kind, entry)
        return distinct is None or distinct.low > 0

    def compared_entries(self) -> list[Entry]:
        """The rows of tables that compare methods; custom methods at every setting."""
        found = [Entry(method=ORIGINAL)] if ORIGINAL in self.results.names("method") else []
        for method in self.methods:
            found += self.compared_settings(method)
            if method == ZEALOUS:
                found += [self.nearest_entry(method, m=6), self.nearest_entry(method, epsilon=1)]
        return list(dict.fromkeys(found))

    def compared_settings(self, method: str) -> list[Entry]:
        """The settings at which a method is compared with others: all of a custom method."""
        return self.settings(method) if is_custom(method) else [self.nearest_entry(method)]

    def over_m(self, measure: str, kind: str, *, at: float | None) -> list[Point]:
        """A curve of ZEALOUS at the study's epsilon."""
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
        """A curve over one setting, the others fixed; what cannot be drawn is left out."""
        fixed = {"epsilon": entry.epsilon, "k": entry.k, "m": entry.m, "at": at}
        del fixed[over]
        found = self.results.curve(measure, kind, entry.method, over=over, **fixed)
        shown = [
            point
            for point in found
            if measure not in _FREQUENCY_MEASURES
            or self.publishes_something(kind, entry.at(over, point.x))
        ]
        drawn = [point for point in shown if _drawable(point.x, *point.y)]
        gaps = [point.x for point in found if point not in shown]
        return Line(label=label, points=drawn, look=look, gaps=gaps)

    def lines(
        self, measure: str, kind: str, over: str, *, m: int = 1, at: float | None = None
    ) -> list[Line]:
        """A curve for every method that varies along the axis, a constant for the others.

        Custom methods have a curve for every m.
        """
        found = []
        for method in self.methods:
            bounds = sorted({each.m for each in self.settings(method)}, key=lambda m: m or 0)
            if not is_custom(method):
                bounds = [self.nearest_tried("m", m, method)]
            for step, bound in enumerate(bounds):
                told = method in (ZEALOUS, *OTHER_GUARANTEES) or len(bounds) > 1
                label = str(Entry(method=method, m=bound if told else None))
                look = self.look(method, step)
                settings = [each for each in self.settings(method) if each.m == bound]
                if any(getattr(each, over) is not None for each in settings):
                    entry = Entry(method=method, m=bound)
                    found.append(self.line(label, look, measure, kind, entry, over=over, at=at))
                flat = Entry(method=method, m=bound)
                if flat in settings:
                    found.append(self._flat_line(label, look, measure, kind, flat, at))
        return [line for line in found if line.points or line.gaps]

    def original_line(self, measure: str, kind: str) -> list[Line]:
        """The original log's value, the same everywhere."""
        entry = Entry(method=ORIGINAL)
        return [self._flat_line(ORIGINAL, self.look(ORIGINAL), measure, kind, entry, None)]

    def _flat_line(
        self, label: str, look: Look, measure: str, kind: str, entry: Entry, at: float | None
    ) -> Line:
        """A line with the same value everywhere."""
        spread = self.value(measure, kind, entry, at=at)
        left_out = measure in _FREQUENCY_MEASURES and not self.publishes_something(kind, entry)
        drawn = spread is not None and not left_out and _drawable(*spread)
        points = [Point(0, spread)] if spread is not None and drawn else []
        return Line(
            label=label,
            points=points,
            look=look,
            constant=True,
            gaps=[0] if spread is not None and left_out else [],
        )


def is_custom(method: str) -> bool:
    """Whether a method is neither built in nor the original."""
    return method not in KNOWN and method not in (ORIGINAL, ZEALOUS, *OTHER_GUARANTEES)


def _drawable(*values: float | None) -> bool:
    """Whether all values fit on an axis."""
    return all(value is not None and abs(value) < _AXIS_LIMIT for value in values)
