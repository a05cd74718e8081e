"""All that a release is measured against, and the measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from zealous.evaluate.caching import Caching
from zealous.evaluate.measured import Measure, Measured
from zealous.evaluate.original import Original
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
        own: Measures of one's own, on every kind.
        asked: The queries that substitutions are looked for; None where the log has no pairs.
        ranked: What the original gives for them.
    """

    originals: Mapping[str, Original]
    statistics: Statistics
    caching: Caching | None
    own: Sequence[OwnMeasure]
    asked: pa.Array | None
    ranked: Ranked | None

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

    def _substitution(self, released: Mapping[str, Released]) -> Iterator[tuple[str, Measured]]:
        if self.asked is None or self.ranked is None:
            return
        queries = released["queries"].table() if "queries" in released else None
        for kind in LEARNED_FROM:
            if kind in released:
                found = learn(released[kind].table(), queries).top(self.asked, max(TOP))
                for figure in quality(self.ranked, found, TOP):
                    yield kind, figure


def truth(
    originals: Mapping[str, Original],
    *,
    top: Sequence[int],
    substituted: int,
    caching: Caching | None,
    own: Sequence[OwnMeasure] = (),
) -> Truth:
    """Prepare what takes long and is the same for every release.

    Args:
        originals: The true histograms.
        top: Every j of top-j.
        substituted: For how many of the most frequent queries substitutions are looked for.
        caching: Index caching.
        own: Measures of one's own.
    """
    asked = ranked = None
    if {"queries", "query-pairs"} <= set(originals):
        queries, pairs = originals["queries"], originals["query-pairs"]
        asked = queries.items["query"].combine_chunks().slice(0, substituted)
        ranked = learn(_table(pairs), _table(queries)).top(asked, max(TOP))
    return Truth(
        originals=originals,
        statistics=Statistics(top=top),
        caching=caching,
        own=own,
        asked=asked,
        ranked=ranked,
    )


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
