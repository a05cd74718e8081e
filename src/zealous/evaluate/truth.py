"""All that a release is measured against, and the measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from zealous.evaluate.caching import Caching
from zealous.evaluate.measured import Measure, Measured
from zealous.evaluate.original import Original
from zealous.evaluate.phrases import Words, words
from zealous.evaluate.ranking import quality
from zealous.evaluate.released import Released
from zealous.evaluate.statistics import Statistics
from zealous.evaluate.substitution import Ranked, learn

OwnMeasure = Callable[[Original, Released], float | Iterable[Measured]]
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
    """

    originals: Mapping[str, Original]
    statistics: Statistics
    caching: Caching | None
    substituted: int
    own: Sequence[OwnMeasure] = ()

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
        if not {"queries", "query-pairs"} <= set(self.originals):
            return None
        return self._learned(*(_table(self.originals[kind]) for kind in ("query-pairs", "queries")))

    def _learned(self, pairs: pa.Table, queries: pa.Table | None) -> Ranked:
        return learn(pairs, queries).top(self._asked, max(TOP), self._cut)

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
            for own in self.own:
                for figure in _own(own, original, each):
                    yield kind, figure
        if substitute:
            yield from self._substitution(released)

    def perfect(self) -> Iterator[tuple[str, Measured]]:
        """Query substitution by the original itself, which need not be learned again."""
        if self._ranked is not None:
            for figure in quality(self._ranked, self._ranked, TOP):
                yield "query-pairs", figure

    def _substitution(self, released: Mapping[str, Released]) -> Iterator[tuple[str, Measured]]:
        learned_from = [kind for kind in LEARNED_FROM if kind in released]
        if not learned_from or self._ranked is None:
            return
        queries = released["queries"].table() if "queries" in released else None
        for kind in learned_from:
            found = self._learned(released[kind].table(), queries)
            for figure in quality(self._ranked, found, TOP):
                yield kind, figure


def _table(original: Original) -> pa.Table:
    return original.items.append_column("count", pa.array(original.users))


def _own(measure: OwnMeasure, original: Original, released: Released) -> Iterable[Measured]:
    found = measure(original, released)
    if isinstance(found, int | float):
        return [Measured(name_of(measure), float(found))]
    return found


def name_of(measure: OwnMeasure) -> str:
    """What a measure of one's own is called."""
    return str(getattr(measure, "name", None) or getattr(measure, "__name__", "own"))
