"""The report of a study: one page, and every figure and table of it as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zealous.files.csv_cells import write_rows
from zealous.study.claims.findings import Finding
from zealous.study.grid.results import Results
from zealous.study.report.draw import figure, share
from zealous.study.report.page import Drawn, Grid, grid, inline, page, told_of
from zealous.study.report.parts import Chart, Section, Sheet
from zealous.study.report.results_view import Asked
from zealous.study.report.sections import INVENTED, Told, left_out, sections
from zealous.study.report.sheets import hurry, promise
from zealous.study.report.style import svg_and_png
from zealous.study.theory.tables import Table
from zealous.version import VERSION

_STAMP = "internal: not for publication"


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the report says besides figures.

    Attributes:
        study: The settings, as `Study.as_object` gives them.
        users: How many the log has.
        log: What is said of the log, by name.
        synthetic: Whether the log was generated.
        tables: Those of the theory; of these it shows `privacy` and `thresholds`.
        paper: What the paper prints, as `claims.paper.printed` gives it.
        audits: Of methods of one's own: method, epsilon, delta, proven, seen_from, failures; and m
            where the same name has several.
        documents: Where document frequencies come from, in a sentence.
        documents_fit: Whether they go with the log; not those of an invented corpus beside a log
            that is not invented.
        promises: What somebody says of each of their own methods, by its name.
        own: Methods and measures of one's own, each as it is to be listed.
        left_out: What could not be run on this log, a sentence each.
        version: Of the software.
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
    folder: Path, results: Results, findings: Sequence[Finding], context: Context
) -> Path:
    """Write report.html, and in `figures` each chart as SVG and PNG and all data as CSV.

    Internal: it holds true figures of a log.

    Args:
        folder: Where to write; must exist.
        results: All figures.
        findings: What the paper found, beside what was found here.
        context: What else to say.

    Returns:
        The page.
    """
    asked = Asked(results=results, study=context.study)
    told = Told(
        asked=asked,
        tables={table.name: table for table in context.tables},
        paper=context.paper,
        audits=tuple(context.audits),
        documents=context.documents,
        documents_fit=context.documents_fit,
    )
    (folder / "figures").mkdir(exist_ok=True)
    promises = {
        entry: promise(entry, context.study["delta"], context.audits, context.promises)
        for entry in asked.entries()
    }
    content = {
        "context": context,
        "epsilon": f"{asked.epsilon:g}",
        "hurry": _table(folder, hurry(asked, promises)),
        "findings": [told_of(each) for each in findings],
        "sections": [_section(folder, each) for each in sections(told)],
        "left_out": left_out(asked, context.left_out),
        "warning": "" if context.documents_fit else INVENTED,
        "settings": {name: _setting(value) for name, value in context.study.items()},
    }
    path = folder / "report.html"
    path.write_text(page(content), encoding="utf-8")
    return path


def _section(folder: Path, section: Section) -> dict[str, Any]:
    """The section as the page shows it, its files written."""
    parts: list[dict[str, Drawn | Grid]] = []
    for part in section.parts:
        if isinstance(part, Sheet):
            if part.rows:
                parts.append({"table": _table(folder, part)})
        elif not part.empty():
            parts.append({"chart": _chart(folder, part)})
    return {"about": section, "parts": parts}


def _table(folder: Path, sheet: Sheet) -> Grid:
    _csv(folder, sheet)
    return grid(sheet)


def _chart(folder: Path, chart: Chart) -> Drawn:
    text, pixels = svg_and_png(lambda: figure(chart, _STAMP))
    base = folder / "figures" / chart.name
    base.with_suffix(".svg").write_text(text, encoding="utf-8")
    base.with_suffix(".png").write_bytes(pixels)
    _csv(folder, chart)
    return Drawn(chart.name, chart.title, inline(text, chart.name, chart.title), share(chart))


def _csv(folder: Path, part: Chart | Sheet) -> None:
    path = folder / "figures" / f"{part.name}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        write_rows(part.table(), file)


def _setting(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_setting, value))
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else f"{value}"
