"""zealous study evaluate: how useful releases of a log are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from zealous.cli import terminal
from zealous.cli.help import JSON, command, options
from zealous.cli.option_values import path_argument, path_option
from zealous.cli.options.log import READING, log_from
from zealous.cli.options.machine import ANY_ENGINE
from zealous.cli.options.public_inputs import DOCUMENTS
from zealous.study.compare import evaluate as run
from zealous.study.grid.result_table import Results
from zealous.study.measures.measured import MEASURES
from zealous.study.report.style import format_percent

_HELP = """Measure how useful releases of a log are.

RELEASE is a directory written by `zealous publish` or `zealous study anonymize`, or one with tables
in their layout, such as queries.csv with the columns query and count. Measures statistics of every
kind, index caching and query substitution against LOG, from which the releases were made. The
output contains true figures of the log: it is internal, and cannot be written into a release.

\b
Examples:
  zealous study evaluate release --against log.parquet -o evaluation
  zealous study evaluate release k-query --against log.parquet --json
"""
_TOP = 1_000


@dataclass(frozen=True, kw_only=True)
class _Column:
    """How a measure is shown.

    Attributes:
        title: Its heading.
        text: A figure of it.
        at: Where it is looked at.
        needs_items: An empty release has none: it cannot be scaled to the same total.
    """

    title: str
    text: Callable[[float], object] = "{:.4g}".format
    at: Mapping[str, float] = field(default_factory=dict)
    needs_items: bool = False


_TABLE = {
    "distinct": _Column(title="distinct items", text=int),
    "missing-share": _Column(title=f"top {_TOP:,} missing", text=format_percent, at={"at": _TOP}),
    "average-difference": _Column(title="average difference", needs_items=True),
    "total-variation": _Column(title="total variation", needs_items=True),
}


@command(help=_HELP)
@path_argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@click.option(
    "--against",
    "paths",
    multiple=True,
    required=True,
    metavar="LOG",
    help="The log that the releases were made from; can be repeated.",
)
@path_option(
    "-o", "--output", metavar="DIR", help="Where to write internal-results.parquet and .csv."
)
@DOCUMENTS
@options(READING, ANY_ENGINE)
@JSON
def evaluate(
    releases: tuple[Path, ...],
    output: Path | None,
    documents: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Measure how useful releases of a log are."""
    log = log_from(given)
    with terminal.reporting_progress() as say:
        found = run(
            releases,
            log,
            documents=documents,
            output=output,
            engine=log.engine,
            say=say,
        )
    if as_json:
        terminal.as_json({"internal": True, "rows": found.table.to_pylist()})
    else:
        _print(found)
        if output is not None:
            terminal.echo(f"Written to {output}: internal-results.parquet and internal-results.csv")
    terminal.note_internal()


def _print(found: Results) -> None:
    columns = {**_TABLE, **{name: _Column(title=name) for name in MEASURES}}
    for kind in found.names("kind"):
        rows = []
        for method in found.names("method"):
            kept = found.value("distinct", kind, method)
            if kept is None:
                continue
            figures: list[object] = []
            for name, column in columns.items():
                spread = found.value(name, kind, method, **column.at)
                if spread is None or (column.needs_items and not kept.mean):
                    figures.append("–")
                else:
                    figures.append(column.text(spread.mean))
            rows.append((method, *figures))
        terminal.table(f"{kind}", ["release", *(each.title for each in columns.values())], rows)
    _print_uses(found)


def _print_uses(found: Results) -> None:
    rows = []
    for method in found.names("method"):
        hit = found.value("hit-probability", "keywords", method)
        whole = found.value("whole-queries", "keywords", method)
        kinds = [k for k in ("phrase-pairs", "query-pairs") if found.value("coverage", k, method)]
        pairs = kinds[0] if kinds else "query-pairs"
        uses = [hit, whole] + [
            found.value(name, pairs, method, at=5) for name in ("coverage", "precision", "ndcg")
        ]
        if any(uses):
            rows.append((method, *("–" if each is None else f"{each.mean:.3f}" for each in uses)))
    if rows:
        terminal.table(
            "Applications: index caching, and the top 5 query substitutions",
            ["release", "cache hits", "whole queries", "coverage", "precision", "ndcg"],
            rows,
        )
