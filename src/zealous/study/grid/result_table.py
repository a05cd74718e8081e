"""All figures of a study in one long table, and how to ask it for a curve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

INTERNAL = "internal: true figures of a log, and noise that can be repeated. Not for publication."

SCHEMA = pa.schema(
    [
        ("method", pa.string()),  # original, zealous, k-query, ..., or a custom method
        ("epsilon", pa.float64()),  # null where the method has none
        ("k", pa.int64()),
        ("m", pa.int64()),
        ("draw", pa.int64()),  # of the noise
        ("kind", pa.string()),  # keywords, queries, ...
        ("measure", pa.string()),
        ("at", pa.float64()),  # on the measure's own axis: j of top-j, a count; null without one
        ("value", pa.float64()),
    ],
    metadata={"zealous": INTERNAL},
)


class Spread(NamedTuple):
    """A figure over several draws of the noise."""

    mean: float
    low: float
    high: float
    draws: int


class Point(NamedTuple):
    """A spread at a place of an axis."""

    x: float
    y: Spread


@dataclass(frozen=True, kw_only=True, repr=False)
class Results:
    """The figures of a study.

    Attributes:
        table: One row a figure, as `SCHEMA` says.
    """

    table: pa.Table

    def __repr__(self) -> str:
        return f"Results({INTERNAL})"

    @cached_property
    def _spreads(self) -> Mapping[tuple[Any, ...], Mapping[tuple[Any, ...], Spread]]:
        """By (measure, kind, method) and then by (epsilon, k, m, at)."""
        keys = ["measure", "kind", "method", "epsilon", "k", "m", "at"]
        figures = [("value", "mean"), ("value", "min"), ("value", "max"), ("value", "count")]
        grouped = self.table.group_by(keys, use_threads=False).aggregate(figures)
        found: dict[tuple[Any, ...], dict[tuple[Any, ...], Spread]] = {}
        for row in grouped.to_pylist():
            key = [row[name] for name in keys]
            spread = Spread(*(row[f"value_{what}"] for what in ("mean", "min", "max", "count")))
            found.setdefault(tuple(key[:3]), {})[tuple(key[3:])] = spread
        return found

    def curve(
        self, measure: str, kind: str, method: str, *, over: str, **fixed: float | None
    ) -> list[Point]:
        """A measure over one axis, the others being fixed.

        Args:
            measure: Its name.
            kind: The kind of items.
            method: The method.
            over: epsilon, k, m or at.
            fixed: Values of the other axes; an axis that is not named may have any value, so that
                name every axis along which the method varies.
        """
        found = self._matching(measure, kind, method, fixed)
        return sorted(Point(at[over], spread) for at, spread in found if at[over] is not None)

    def value(self, measure: str, kind: str, method: str, **fixed: float | None) -> Spread | None:
        """One figure; None where it was not measured."""
        found = self._matching(measure, kind, method, fixed)
        return next((spread for _, spread in found), None)

    def _matching(
        self, measure: str, kind: str, method: str, fixed: Mapping[str, float | None]
    ) -> Iterator[tuple[dict[str, Any], Spread]]:
        """The spreads at these values of axes, each with where it stands on all of them."""
        for key, spread in self._spreads.get((measure, kind, method), {}).items():
            at = dict(zip(("epsilon", "k", "m", "at"), key, strict=True))
            if all(at[name] == value for name, value in fixed.items()):
                yield at, spread

    def axis(self, name: str, method: str | None = None) -> list[float]:
        """All values of epsilon, k, m or draw that were tried, ascending."""
        table = self.table
        if method is not None:
            table = table.filter(pc.field("method") == method)
        return sorted(table[name].drop_null().unique().to_pylist())

    def names(self, column: str) -> list[str]:
        """The methods, kinds or measures, in the order of the table."""
        return list(dict.fromkeys(self.table[column].unique().to_pylist()))


def as_table(rows: Iterable[Sequence[Any]]) -> pa.Table:
    """Rows in the order of `SCHEMA` as a table."""
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True)) or [() for _ in SCHEMA]
    arrays = [pa.array(list(c), f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    return pa.table(arrays, schema=SCHEMA)
