"""A table of the theory, and the numbers that it is made for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from zealous.privacy.guarantee import Number, ProbabilisticDP

Cell = bool | int | float | Decimal | None


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table: its rows, and what to know about them.

    Attributes:
        name: A key for programs.
        title: A line for people.
        columns: From a key to a heading.
        rows: A cell for each column; None where nothing can be said.
        note: What the paper misprints, and how to read it.
    """

    name: str
    title: str
    columns: dict[str, str]
    rows: Sequence[tuple[Cell, ...]]
    note: str

    def as_object(self) -> dict[str, Any]:
        """The same for programs: every number under its key, as text what no float can hold."""
        rows = [dict(zip(self.columns, map(_json_value, row), strict=True)) for row in self.rows]
        return {"title": self.title, "note": self.note, "rows": rows}


@dataclass(frozen=True, kw_only=True)
class TableParameters:
    """Given numbers; where there is none, each table takes the paper's."""

    users: int | None = None
    items_per_user: int | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    histories: int | None = None

    def goal(
        self, *, users: int = 500_000, epsilon: Number = 1, delta: Number = "0.001"
    ) -> ProbabilisticDP:
        """The guarantee of a table, by the paper's numbers where none are given."""
        return ProbabilisticDP(
            epsilon=epsilon if self.epsilon is None else self.epsilon,
            delta=delta if self.delta is None else self.delta,
            users=users if self.users is None else self.users,
        )

    def uses_paper_values(self, *names: str) -> bool:
        """Whether the paper's own numbers stand under these names: then its rows can be named.

        Without names, whether they stand under all that its tables share.
        """
        shared = ("users", "items_per_user", "epsilon", "delta")
        return all(getattr(self, name) is None for name in names or shared)

    def bound(self, items_per_user: int) -> int:
        """m, by the paper where none is given."""
        return items_per_user if self.items_per_user is None else self.items_per_user


def remark_if(holds: bool, remark: str) -> str:
    """A remark on rows of the paper, where they are shown."""
    return f" {remark}" if holds else ""


def _json_value(cell: Cell) -> bool | int | float | str | None:
    if isinstance(cell, Decimal):
        return float(cell) if cell < Decimal("1e300") else f"{cell:.6e}"
    return cell
