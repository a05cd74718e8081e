"""One figure of one release, and what a measure is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, SupportsFloat, TypeVar

from zealous.errors import UsageError
from zealous.registry import Registry
from zealous.study.releases.original_histogram import Original
from zealous.study.releases.released import Released

BUILT_IN = (
    *("distinct", "empty", "total", "l1", "kl", "missing", "missing-share"),
    *("average-difference", "rms-difference", "total-variation", "items-with-count"),
    *("average-items", "average-distinct-items", "people"),
    *("inaccuracy-retain", "inaccuracy-filter"),
    *("inaccuracy-retain-exact", "inaccuracy-filter-exact"),
    *("hit-probability", "hit-probability-by-memory", "whole-queries", "answered-from-memory"),
    *("lists", "lists-for-most-hits"),
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


OwnMeasure = Callable[[Original, Released], SupportsFloat | Iterable[Measured]]
_NAMELESS = "<lambda>"


def name_of(measure: OwnMeasure) -> str:
    """What a measure of one's own is called: its `name`, or that of the function."""
    name = getattr(measure, "name", None) or getattr(measure, "__name__", None)
    if not isinstance(name, str) or not name.strip() or name == _NAMELESS:
        raise UsageError(
            "a measure of your own needs a name, by which its figures are told apart: write it "
            "with def, or give it an attribute called name"
        )
    return name


MEASURES: Registry[OwnMeasure] = Registry("zealous.study.measures", name_of)
"""Measures of every kind of items, a file each, that need nothing but both histograms."""
F = TypeVar("F", bound=OwnMeasure)


def register(measure: F) -> F:
    """Have `evaluate` and `compare` measure by it; a decorator."""
    MEASURES.register(measure)
    return measure
