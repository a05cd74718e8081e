"""What a report is made of: curves in panels, tables, and sections that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pyarrow as pa

from zealous.study.curve_look import Look
from zealous.study.grid.result_table import Point, Spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["linear", "log", "symlog", "auto"]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A curve.

    Attributes:
        label: For the legend; the same label is the same curve in all panels of a chart.
        points: Along x.
        look: Colour, marker, stroke.
        constant: Whether its one point holds for every x: the method has no such parameter.
        gaps: Where on x points were left out because a draw publishes nothing there.
    """

    label: str
    points: Sequence[Point]
    look: Look
    constant: bool = False
    gaps: Sequence[float] = ()


class Axis(NamedTuple):
    """An x axis.

    Attributes:
        label: What it is.
        log: Whether it is logarithmic.
        zero: Whether it has a zero even so.
        names: Its ticks and what stands there; where something was measured, if empty.
        percent: Whether it is in percent, and what is near 100 is stretched.
    """

    label: str
    log: bool = False
    zero: bool = False
    names: tuple[tuple[float, str], ...] = ()
    percent: bool = False


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Curves over one axis."""

    title: str
    x: Axis
    y: str
    lines: Sequence[Line]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Panels in rows.

    Attributes:
        name: Of its files.
        title: One line; also the text alternative of the picture.
        rows: Of panels.
        share: Which panels have the same y axis.
        y: Of each row: linear, log, symlog, which is log and has a zero, or auto, which is log
            where values span decades.
    """

    name: str
    title: str
    rows: Sequence[Sequence[Panel]]
    share: Literal["none", "row", "all"] = "none"
    y: Sequence[Scale] = ()

    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(line.points for row in self.rows for panel in row for line in panel.lines)

    def without_empty(self) -> Chart:
        """Without the rows and the columns of panels in which there is nothing to draw or say."""
        kept = [n for n, row in enumerate(self.rows) if any(map(_says_something, row))]
        width = max((len(self.rows[n]) for n in kept), default=0)
        columns = [
            place
            for place in range(width)
            if any(_has_points(row[place]) for row in self.rows if place < len(row))
        ]
        return replace(
            self,
            rows=[[self.rows[n][p] for p in columns if p < len(self.rows[n])] for n in kept],
            y=[self.y[n] for n in kept if n < len(self.y)],
        )

    def table(self) -> pa.Table:
        """The figures behind it."""
        rows = [
            (panel.title, panel.y, line.label, panel.x.label, None if line.constant else x, *spread)
            for row in self.rows
            for panel in row
            for line in panel.lines
            for x, spread in line.points
        ]
        names = ("panel", "y", "curve", "axis", "x", "mean", "low", "high", "draws")
        columns = zip(*rows, strict=True) if rows else [() for _ in names]
        texts = dict.fromkeys(names[:4], pa.string()) | {"draws": pa.int64()}
        return pa.table(
            {
                name: pa.array(column, texts.get(name, pa.float64()))
                for name, column in zip(names, columns, strict=True)
            }
        )


def _has_points(panel: Panel) -> bool:
    return any(line.points for line in panel.lines)


def _says_something(panel: Panel) -> bool:
    """Whether there are figures in it, or settings at which nothing was published."""
    return any(line.points or line.gaps for line in panel.lines)


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A picture that is no chart of results: it shows nothing of the log.

    Attributes:
        name: Of its files.
        title: One line; also the text alternative of the picture.
        draw: Draws it, at full width.
        figures: The figures in it.
    """

    name: str
    title: str
    draw: Callable[[], Figure]
    figures: pa.Table

    def table(self) -> pa.Table:
        """The figures in it."""
        return self.figures


Cell = Any  # text, a number, a Spread, or None where nothing was measured


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A table.

    Attributes:
        name: Of its file.
        title: One line.
        headings: Of the columns.
        rows: A cell for each column.
        paper_rows: The rows that show the paper's values.
        text_columns: How many columns, from the left, are text.
        bounds: The columns whose numbers are upper bounds, and rounded up on the page.
    """

    name: str
    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    paper_rows: frozenset[int] = frozenset()
    text_columns: int = 1
    bounds: frozenset[int] = frozenset()

    def table(self) -> pa.Table:
        """The sheet as a table, with each spread in three columns."""
        found: dict[str, pa.Array] = {}
        for heading, cells in _columns(self):
            while heading in found:
                heading = f"{heading} "
            texts = any(isinstance(cell, str) for cell in cells)
            plain = [None if c is None else str(c) for c in cells] if texts else cells
            found[heading] = pa.array(plain)
        return pa.table(found)


def _columns(sheet: Sheet) -> Iterator[tuple[str, list[Cell]]]:
    columns = list(zip(*sheet.rows, strict=True)) or [() for _ in sheet.headings]
    for heading, cells in zip(sheet.headings, columns, strict=True):
        spreads = [as_spread(cell) for cell in cells]
        means = [cell if s is None else s.mean for s, cell in zip(spreads, cells, strict=True)]
        yield heading, means
        if any(spread is not None and spread.draws > 1 for spread in spreads):
            yield f"{heading}, low", [None if s is None else s.low for s in spreads]
            yield f"{heading}, high", [None if s is None else s.high for s in spreads]


def as_spread(cell: Cell) -> Spread | None:
    """The cell, if it is a figure over several draws."""
    return cell if isinstance(cell, Spread) else None


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the report.

    Attributes:
        key: Where links lead.
        title: The heading.
        intro: What the section shows, or what to look for.
        finding: The name of the finding that it shows, which is its title then; empty for none.
        paper: What the paper says about it; empty where it says nothing.
        parts: Charts, drawings and tables; those without figures are left out.
        notes: How to read them, and what is left out.
        warnings: What must not be overlooked.
        if_empty: Shown instead of all else where no part has figures.
    """

    key: str
    title: str
    intro: str
    parts: Sequence[Chart | Drawing | Sheet]
    finding: str = ""
    paper: str = ""
    notes: Sequence[str] = field(default=())
    warnings: Sequence[str] = field(default=())
    if_empty: str = "Not measured on this log."
