"""One figure of one release, and what a measure is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from zealous.study.releases.original import Original
from zealous.study.releases.released import Released

BUILT_IN = (
    *("distinct", "total", "l1", "kl", "missing", "missing-share"),
    *("average-difference", "rms-difference", "total-variation", "items-with-count"),
    *("average-items", "average-distinct-items", "people"),
    *("inaccuracy-retain", "inaccuracy-filter"),
    *("inaccuracy-retain-exact", "inaccuracy-filter-exact"),
    *("hit-probability", "whole-queries", "lists"),
    *("precision", "recall", "map-printed", "average-precision", "ndcg", "coverage"),
)
"""The names of all measures of the program; nobody's own may be called so."""


class Measured(NamedTuple):
    """One figure.

    Attributes:
        measure: What was measured.
        value: What came out.
        at: Where on the measure's own axis, such as the j of top-j; None where it has none.
    """

    measure: str
    value: float
    at: float | None = None


class Measure(Protocol):
    """Compares what is left of one kind with the original."""

    def __call__(self, original: Original, released: Released, /) -> Iterable[Measured]:
        """All figures of this measure."""
        ...
