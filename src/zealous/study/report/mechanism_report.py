"""The comparison of mechanisms as files: CSV, JSON and a figure."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from zealous.study.grid.result_table import Point
from zealous.study.mechanism_comparison import MechanismRow
from zealous.study.report.chart_drawing import draw_chart
from zealous.study.report.parts import Chart, Line, Panel
from zealous.study.report.results_view import EPSILON
from zealous.study.report.style import BLACK, CURVES, OTHERS, render_svg_and_png

NAME = "internal-mechanisms"
_LOOKS = (*(look for look in CURVES.values() if look != BLACK), *OTHERS, BLACK)


def write_mechanisms(folder: Path, about: Mapping[str, Any], rows: Sequence[MechanismRow]) -> None:
    """Write the rows as CSV, all that is said about them as JSON, and the picture as SVG and PNG.

    Internal: they hold true figures of a log.
    """
    with (folder / f"{NAME}.csv").open("w", newline="", encoding="utf-8") as file:
        table = [_flatten(each) for each in about["rows"]]
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in table for name in row)))
        writer.writeheader()
        writer.writerows(table)
    text = json.dumps(about, indent=2, ensure_ascii=False)
    (folder / f"{NAME}.json").write_text(f"{text}\n", encoding="utf-8")
    svg, png = render_svg_and_png(lambda: draw_chart(items_released_chart(rows)))
    (folder / f"{NAME}.svg").write_text(svg, encoding="utf-8")
    (folder / f"{NAME}.png").write_bytes(png)


def _flatten(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with each spread in three columns."""
    return dict(_flat_cells(row))


def _flat_cells(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}_{part}", each) for part, each in value.items())
        else:
            yield name, value


def items_released_chart(rows: Sequence[MechanismRow]) -> Chart:
    """Items released over epsilon, a curve for each mechanism, a panel for each neighbours."""
    relations = list(dict.fromkeys(row.goal.neighbors for row in rows))
    looks = dict(zip(dict.fromkeys(row.mechanism for row in rows), cycle(_LOOKS), strict=False))
    panels = [
        Panel(
            title=relation,
            x=EPSILON,
            y="items released",
            lines=[
                _mechanism_line(name, look, [row for row in rows if row.goal.neighbors == relation])
                for name, look in looks.items()
            ],
        )
        for relation in relations
    ]
    return Chart(
        name=NAME,
        title="Items released over epsilon, by each mechanism",
        rows=[panels],
        share="row",
        y=("auto",),
    )


def _mechanism_line(name: str, look: Any, rows: Sequence[MechanismRow]) -> Line:
    points = []
    for row in rows:
        items = row.figures["items"] if row.figures and row.mechanism == name else None
        if items is not None:
            points.append(Point(float(row.goal.epsilon), items))
    return Line(label=name, points=sorted(points), look=look)
