"""All that a release is measured against, and the measuring."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np
import pyarrow as pa

from zealous.errors import UsageError
from zealous.study.measures.caching import Caching
from zealous.study.measures.jones import LEARNERS
from zealous.study.measures.measured import (
    BUILT_IN,
    MEASURES,
    Measure,
    Measured,
    OwnMeasure,
    name_of,
)
from zealous.study.measures.phrases import Words, words
from zealous.study.measures.ranking import ranking_quality
from zealous.study.measures.statistics import Statistics
from zealous.study.measures.substitution import Ranked
from zealous.study.releases.original_histogram import Original
from zealous.study.releases.released import Released

TOP = (2, 5)  # of substitutions
LEARNED_FROM = ("query-pairs", "phrase-pairs")


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The original, and what is measured on it.

    Attributes:
        originals: The true histograms by kind.
        statistics: Measures of every kind.
        caching: Index caching, on keywords.
        substituted: For how many of the most frequent queries substitutions are looked for.
        own: Measures of one's own, on every kind.
        substitution: How substitutions are learned: a name of `LEARNERS`.
    """

    originals: Mapping[str, Original]
    statistics: Statistics
    caching: Caching | None
    substituted: int
    own: Sequence[OwnMeasure] = ()
    substitution: str = "ratio"

    @cached_property
    def _asked(self) -> pa.Array:
        queries = self.originals["queries"].items["query"]
        return queries.combine_chunks().slice(0, self.substituted)

    @cached_property
    def _cut(self) -> Words:
        return words(self._asked)

    @cached_property
    def _ranked(self) -> Ranked | None:
        """What the original gives: learned when it is first asked for, since it takes long."""
        pairs, queries = (self.originals.get(kind) for kind in ("query-pairs", "queries"))
        if pairs is None or queries is None:
            return None
        found = self._learned(_table(pairs), _table(queries))
        pa.default_memory_pool().release_unused()  # the system's again: it was much
        return found

    def _learned(self, pairs: pa.Table, queries: pa.Table | None) -> Ranked:
        learned = LEARNERS[self.substitution](pairs, queries)
        return learned.top(self._asked, max(TOP), self._cut)

    def measure(
        self, released: Mapping[str, Released], *, substitute: bool
    ) -> Iterator[tuple[str, Measured]]:
        """All figures of a release, each with its kind.

        Args:
            released: What is left of each kind.
            substitute: Whether query substitution is measured.
        """
        for kind, each in released.items():
            original = self.originals[kind]
            measures: list[Measure] = [self.statistics]
            if kind == "keywords" and self.caching is not None:
                measures.append(self.caching)
            for measure in measures:
                for figure in measure(original, each):
                    yield kind, figure
            for figure in _own([*MEASURES.values(), *self.own], original, each):
                yield kind, figure
        if substitute:
            yield from self._substitution(released)

    def measure_original(self) -> Iterator[tuple[str, Measured]]:
        """Query substitution by the original itself, which need not be learned again."""
        if self._ranked is not None:
            for figure in ranking_quality(self._ranked, self._ranked, TOP):
                yield "query-pairs", figure

    def _substitution(self, released: Mapping[str, Released]) -> Iterator[tuple[str, Measured]]:
        learned_from = [kind for kind in LEARNED_FROM if kind in released]
        if not learned_from or self._ranked is None:
            return
        queries = released.get("queries")
        cut_by = None if queries is None else queries.table()
        for kind in learned_from:
            found = self._learned(released[kind].table(), cut_by)
            for figure in ranking_quality(self._ranked, found, TOP):
                yield kind, figure


def _table(original: Original) -> pa.Table:
    return original.items.append_column("count", pa.array(original.users))


def check_measures(measures: Sequence[OwnMeasure]) -> None:
    """Refuse measures of one's own whose figures could not be told apart, or cannot be had."""
    if not isinstance(measures, Sequence):
        raise UsageError("measures must be a list: write measures=[mine]")
    names = list(MEASURES)
    for measure in measures:
        if not callable(measure) or isinstance(measure, type):
            raise UsageError(
                "a measure of your own must be a function of (original, released), or an object "
                "that can be called like one: see docs/extending/quick.md"
            )
        name = name_of(measure)
        _check_name(name)
        if name in names:
            raise UsageError(f"two measures are called {name!r}: give one another name")
        names.append(name)


def _check_name(name: str) -> None:
    if name in BUILT_IN:
        raise UsageError(f"the program has a measure called {name!r}: give yours another name")


def _own(
    measures: Sequence[OwnMeasure], original: Original, released: Released
) -> Iterator[Measured]:
    """The figures of one's own measures, no two at the same place: they would be averaged."""
    seen = set()
    for measure in measures:
        name = name_of(measure)
        for figure in _figures(name, measure(original, released)):
            _check_name(figure.measure)
            place = (figure.measure, figure.at)
            if place in seen:
                raise UsageError(
                    f"the measure {name!r} gives a second figure called {figure.measure!r} for the "
                    "same place: give it another name, or another at"
                )
            seen.add(place)
            yield figure


def _figures(name: str, found: object) -> Iterator[Measured]:
    """What a measure returned, as figures."""
    if isinstance(found, Real | np.bool_):
        yield Measured(name, _number(name, found))
        return
    if isinstance(found, str | bytes | Measured) or not isinstance(found, Iterable):
        raise UsageError(
            f"the measure {name!r} must return a number, or a list of Measured(measure, value, at)"
        )
    for each in found:
        if not isinstance(each, Measured) or not isinstance(each.measure, str) or not each.measure:
            raise UsageError(
                f"the measure {name!r} must give a number or several Measured(measure, value, at), "
                "whose measure is a text: see docs/extending/quick.md"
            )
        at = None if each.at is None else _number(name, each.at)
        yield Measured(each.measure, _number(name, each.value), at)


def _number(name: str, value: object) -> float:
    try:
        number = float(value) if isinstance(value, Real | np.bool_) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UsageError(
            f"the measure {name!r} gives something that is no finite number: return [] where there "
            "is nothing to measure"
        )
    return number
