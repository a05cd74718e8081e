"""The report of a study: one page, and every figure and table of it as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zealous.files.csv_cells import write_rows
from zealous.study.claims.findings import Finding
from zealous.study.grid.result_table import Results
from zealous.study.report.chart_drawing import draw_chart, width_share
from zealous.study.report.first_screen import note, sentences, tally, tradeoff
from zealous.study.report.page import (
    ChartView,
    TableView,
    finding_view,
    inline_svg,
    render_page,
    table_view,
)
from zealous.study.report.parts import Chart, Drawing, Section, Sheet
from zealous.study.report.results_view import ResultsView
from zealous.study.report.sections import (
    INVENTED_CORPUS_WARNING,
    ReportData,
    left_out_notes,
    sections,
)
from zealous.study.report.sheets import promise_text, summary
from zealous.study.report.style import render_svg_and_png
from zealous.study.theory.theory_table import Table
from zealous.version import VERSION

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class ReportContext:
    """What the report says besides figures.

    Attributes:
        study: The settings, as `Study.as_object` gives them.
        users: How many the log has.
        log: What is said of the log, by name.
        synthetic: Whether the log was generated.
        tables: The tables of the theory, of which it shows `privacy` and `thresholds`.
        paper: What the paper prints, as `claims.paper.printed_values` gives it.
        audits: Of custom methods: method, epsilon, delta, proven, seen_from, failures; and m
            where several have the same name.
        documents: Where document frequencies come from, in a sentence.
        documents_fit: Whether they go with the log: an invented corpus goes only with a generated
            log.
        promises: What the author of each custom method says that it promises, by name.
        own: The custom methods and measures, as they are to be listed.
        left_out: What could not be run on this log, in a sentence each.
        version: The version of zealous.
    """

    study: Mapping[str, Any]
    users: int
    log: Mapping[str, Any] = field(default_factory=dict)
    synthetic: bool = False
    tables: Sequence[Table] = ()
    paper: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    audits: Sequence[Mapping[str, Any]] = ()
    documents: str = ""
    documents_fit: bool = True
    promises: Mapping[str, str] = field(default_factory=dict)
    own: Sequence[str] = ()
    left_out: Sequence[str] = ()
    version: str = VERSION


def write_report(
    folder: Path, results: Results, findings: Sequence[Finding], context: ReportContext
) -> Path:
    """Write report.html, and in `figures` each chart as SVG and PNG and all data as CSV.

    Internal: it holds true figures of a log.

    Args:
        folder: Where to write; must exist.
        results: All figures.
        findings: The paper's findings and whether they hold here.
        context: What else to say.

    Returns:
        The page.
    """
    view = ResultsView(results=results, study=context.study)
    data = ReportData(
        view=view,
        tables={table.name: table for table in context.tables},
        paper=context.paper,
        audits=tuple(context.audits),
        documents=context.documents,
        documents_fit=context.documents_fit,
    )
    (folder / "figures").mkdir(exist_ok=True)
    promises = {
        entry: promise_text(
            entry, context.study["delta"], context.audits, context.promises, context.users
        )
        for entry in view.compared_entries()
    }
    content = {
        "context": context,
        "epsilon": f"{view.epsilon:g}",
        "sentences": sentences(view),
        "tally": tally(findings),
        "tradeoff": None if (first := tradeoff(view)).is_empty() else _render_chart(folder, first),
        "tradeoff_note": note(view),
        "summary": _render_table(folder, summary(view, promises)),
        "findings": [finding_view(each) for each in findings],
        "sections": [_render_section(folder, each, findings) for each in sections(data)],
        "left_out": left_out_notes(view, context.left_out),
        "warning": "" if context.documents_fit else INVENTED_CORPUS_WARNING,
        "settings": {name: _format_setting(value) for name, value in context.study.items()},
    }
    path = folder / "report.html"
    path.write_text(render_page(content), encoding="utf-8")
    return path


def _render_section(folder: Path, section: Section, findings: Sequence[Finding]) -> dict[str, Any]:
    """Write the files of a section; return what the page shows of it."""
    parts: list[dict[str, ChartView | TableView]] = []
    for part in section.parts:
        if isinstance(part, Sheet):
            if part.rows:
                parts.append({"table": _render_table(folder, part)})
        elif isinstance(part, Drawing):
            parts.append({"chart": _render_drawing(folder, part)})
        elif not part.is_empty():
            parts.append({"chart": _render_chart(folder, part)})
    found = next((finding_view(each) for each in findings if each.name == section.finding), None)
    return {"about": section, "parts": parts, "finding": found}


def _render_table(folder: Path, sheet: Sheet) -> TableView:
    _write_csv(folder, sheet)
    return table_view(sheet)


def _render_chart(folder: Path, chart: Chart) -> ChartView:
    shown = chart.without_empty()
    return _write_picture(folder, shown, lambda: draw_chart(shown), width_share(shown))


def _render_drawing(folder: Path, drawing: Drawing) -> ChartView:
    """Without a stamp: it tells nothing of the log."""
    return _write_picture(folder, drawing, drawing.draw, 1.0)


def _write_picture(
    folder: Path, part: Chart | Drawing, draw: Callable[[], Figure], width: float
) -> ChartView:
    text, pixels = render_svg_and_png(draw)
    base = folder / "figures" / part.name
    base.with_suffix(".svg").write_text(text, encoding="utf-8")
    base.with_suffix(".png").write_bytes(pixels)
    _write_csv(folder, part)
    return ChartView(part.name, part.title, inline_svg(text, part.name, part.title), width)


def _write_csv(folder: Path, part: Chart | Drawing | Sheet) -> None:
    path = folder / "figures" / f"{part.name}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        write_rows(part.table(), file)


def _format_setting(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_format_setting, value))
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else f"{value}"
