"""The report as one page of HTML that needs nothing else."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from zealous.study.claims.claim import NOT_MEASURED, Finding
from zealous.study.report.parts import Cell, Sheet, as_spread

_ASIDE = re.compile(r"\s*\([A-Z](?:[^()]|\([^()]*\))*\.\)$")
# A claim is also without a case where its figures are there and too small to judge.
_NO_CASE = "nothing to judge by: the log lacks it, or too little of it is published or was tried."
_NOT_ENOUGH = "This is too little to judge by."


class Drawn(NamedTuple):
    """A chart as the page shows it: the name of its files, what it shows, its SVG."""

    name: str
    title: str
    svg: str
    width: float  # of the widest


class Shown(NamedTuple):
    """A cell in print, and beneath it how far the draws of the noise are apart."""

    text: str
    spread: str = ""


class Grid(NamedTuple):
    """A table as the page shows it."""

    name: str
    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Shown]]
    quiet: frozenset[int]
    texts: int


class Checked(NamedTuple):
    """A finding as the page shows it."""

    claim: str
    short: str  # without what it is judged by
    paper: str
    measured: str
    holds: bool | None
    why: str


def told_of(finding: Finding) -> Checked:
    """A finding in print."""
    measured = finding.measured
    if finding.holds is None and measured == NOT_MEASURED:
        measured = _NO_CASE
    elif finding.holds is None:
        measured = f"{measured}. {_NOT_ENOUGH}"
    short = _ASIDE.sub("", finding.claim)
    return Checked(finding.claim, short, finding.paper or "", measured, finding.holds, finding.why)


@cache
def template() -> Template:
    """The page, compiled once."""
    text = files("zealous.study.report").joinpath("study.html.j2").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(text)


def page(content: Mapping[str, Any]) -> str:
    """The text of report.html."""
    return template().render(content) + "\n"


def grid(sheet: Sheet) -> Grid:
    """A table, its numbers in print."""
    rows = [[shown(cell) for cell in row] for row in sheet.rows]
    return Grid(sheet.name, sheet.title, sheet.headings, rows, sheet.quiet, sheet.texts)


def shown(cell: Cell) -> Shown:
    """A cell in print.

    >>> shown(0.12345).text, shown(123456).text, shown(None).text, shown(True).text
    ('0.123', '123,456', '–', 'yes')
    """
    spread = as_spread(cell)
    if spread is None:
        return Shown(cell if isinstance(cell, str) else number(cell))
    low, high = number(spread.low), number(spread.high)
    apart = f"{low} to {high}" if spread.draws > 1 and low != high else ""
    return Shown(number(spread.mean), apart)


def number(value: Any) -> str:
    """A number in print.

    >>> number(12.0), number(0.000012), number(1234.56), number(-0.5)
    ('12', '1.2e-05', '1,235', '-0.5')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if math.isfinite(value) and (abs(value) >= 100 or value == int(value)):
        return f"{value:,.0f}" if abs(value) < 1e12 else f"{value:.3g}"
    return f"{value:.3g}"


def inline(svg: str, name: str, title: str) -> str:
    """An SVG within a page: no two pictures may share an id, and none needs a name space there."""
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
