"""The report as one self-contained page of HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from zealous.privacy.guarantee import format_bound
from zealous.study.claims.claim import NOT_MEASURED, Finding
from zealous.study.report.parts import Cell, Sheet, as_spread

_CRITERION = re.compile(r"\s*\([A-Z](?:[^()]|\([^()]*\))*\.\)$")
# A claim is also without a case where its figures are there and too small to judge.
_NO_DATA = "too little data: the log lacks it, or too little of it was published or tried."
_HEADLINE = 110  # letters of an explanation that fit over a figure
_TOO_LITTLE = "This is too little to judge."


class ChartView(NamedTuple):
    """A chart as the page shows it: the name of its files, what it shows, its SVG."""

    name: str
    title: str
    svg: str
    width: float  # of the widest


class CellView(NamedTuple):
    """The text of a cell, and the range over the draws of the noise below it."""

    text: str
    spread: str = ""


class TableView(NamedTuple):
    """A table as the page shows it."""

    name: str
    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[CellView]]
    paper_rows: frozenset[int]
    text_columns: int


class FindingView(NamedTuple):
    """A finding as the page shows it."""

    claim: str
    short: str  # without the criterion in brackets
    headline: str  # what came out, over a figure
    paper: str
    measured: str
    holds: bool | None
    verdict: str
    margin: str
    why: str


def finding_view(finding: Finding) -> FindingView:
    """A finding as the page shows it."""
    measured = finding.measured
    if finding.holds is None and measured == NOT_MEASURED:
        measured = _NO_DATA
    elif finding.holds is None:
        measured = f"{measured}. {_TOO_LITTLE}"
    short = _CRITERION.sub("", finding.claim)
    return FindingView(
        claim=finding.claim,
        short=short,
        headline=_headline(finding, short),
        paper=finding.paper or "",
        measured=measured,
        holds=finding.holds,
        verdict=finding.verdict,
        margin=finding.margin_text,
        why=finding.why,
    )


def _headline(finding: Finding, short: str) -> str:
    if finding.holds is None:
        return "too little data to judge"
    if finding.holds:
        return short
    said = "differs from the paper"
    return f"{said}: {finding.why}" if 0 < len(finding.why) <= _HEADLINE else said


@cache
def load_template() -> Template:
    """The template of the page, compiled once."""
    text = files("zealous.study.report").joinpath("report.html.j2").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["code"] = _mark_code
    return environment.from_string(text)


def _mark_code(text: str) -> Markup:
    """A text as HTML; what stands between backticks is code.

    >>> str(_mark_code("tau < 3: see `zealous plan`"))
    'tau &lt; 3: see <code>zealous plan</code>'
    """
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704


def render_page(content: Mapping[str, Any]) -> str:
    """The text of report.html."""
    return load_template().render(content) + "\n"


def table_view(sheet: Sheet) -> TableView:
    """A table as the page shows it."""
    rows = [
        [
            CellView(format_bound(cell)) if place in sheet.bounds and cell else cell_view(cell)
            for place, cell in enumerate(row)
        ]
        for row in sheet.rows
    ]
    return TableView(
        sheet.name, sheet.title, sheet.headings, rows, sheet.paper_rows, sheet.text_columns
    )


def cell_view(cell: Cell) -> CellView:
    """A cell as the page shows it.

    >>> cell_view(0.12345).text, cell_view(123456).text, cell_view(None).text, cell_view(True).text
    ('0.123', '123,456', '–', 'yes')
    """
    spread = as_spread(cell)
    if spread is None:
        return CellView(cell if isinstance(cell, str) else format_number(cell))
    low, high = format_number(spread.low), format_number(spread.high)
    apart = f"{low} to {high}" if spread.draws > 1 and low != high else ""
    return CellView(format_number(spread.mean), apart)


def format_number(value: Any) -> str:
    """A number in print.

    >>> [format_number(each) for each in (12.0, 0.000012, 1234.56, -0.5)]
    ['12', '1.2e-05', '1,235', '-0.5']
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if math.isfinite(value) and (abs(value) >= 100 or value == int(value)):
        return f"{value:,.0f}" if abs(value) < 1e12 else f"{value:.3g}"
    return f"{value:.3g}"


def inline_svg(svg: str, name: str, title: str) -> str:
    """An SVG for use inside the page: ids made unique by name, namespaces removed."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<style type=\"text/css\">.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r' xmlns(:\w+)?="[^"]*"', "", body)
    used = set(re.findall(r'(?:url\(#|href="#)([\w.-]+)', body))
    body = re.sub(
        r' id="([^"]*)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", body
    )
    body = re.sub(r"url\(#", f"url(#{name}-", body)
    body = re.sub(r'xlink:href="#', f'href="#{name}-', body)
    body = re.sub(r"\n\s*", "\n", body)
    body = re.sub(r' (?:width|height|version)="[^"]*"', "", body, count=3)
    label = Markup('<svg role="img" aria-label="{}"').format(escape(title))
    return Markup(label + Markup(body.removeprefix("<svg")))  # noqa: S704
