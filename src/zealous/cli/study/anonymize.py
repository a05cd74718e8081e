"""zealous study anonymize: what a log becomes by a method that is not private, for comparison."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import Any

import click
from msgspec import to_builtins

from zealous.cli import terminal
from zealous.cli.help import JSON, command, options
from zealous.cli.one_machine import ONE_MACHINE
from zealous.cli.option_values import path_option
from zealous.cli.options.log import LOG, log_from
from zealous.cli.options.machine import ENGINE, embedded_from
from zealous.privacy.guarantee import SESSION_GAP
from zealous.study.anonymity import METHODS, WARNING, Anonymized, method_by_name
from zealous.study.anonymity import anonymize as run
from zealous.study.report.style import format_percent

_HELP = """Anonymise a log by a method that is NOT differentially private, to compare it.

Writes a new directory with the log (or histogram) that the method produces, and the number of its
ids that hold each keyword, query, click and query pair. What was suppressed is printed for the
owner and not written. To share data, use `zealous publish`. `zealous study attack` shows what an
attacker learns from each of these methods.

\b
{methods}

\b
Examples:
  zealous study anonymize log.parquet --method k-query -k 10 -o k-query
  zealous study anonymize log.parquet --method similar-histories -k 5 \\
      --tolerance 0.2 -o histories
  zealous study anonymize user-ct-test-collection-01.txt.gz --format aol \\
      --method scrub -o scrubbed
"""
_METHODS = "\n".join(
    fill(each.summary, 78, initial_indent=f"  {name:<17}  ", subsequent_indent=" " * 21)
    for name, each in METHODS.items()
)


@command(help=_HELP.format(methods=_METHODS))
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    required=True,
    metavar="NAME",
    help="One of the methods above.",
)
@click.option("-k", type=int, metavar="K", help="How many users each is hidden among; k >= 2.")
@click.option(
    "--tolerance",
    metavar="T",
    help="similar-histories: how far histories may differ. [default: 0.2]",
)
@click.option(
    "--session-gap",
    type=int,
    default=SESSION_GAP,
    show_default=True,
    metavar="MIN",
    help="k-query, k-session: minutes without a query that end a session.",
)
@click.option(
    "--by-similarity",
    is_flag=True,
    help="k-query, k-session: a query without a word in common with the last ends a session too.",
)
@click.option("--clicks", is_flag=True, help="k-query: keep the clicks of the queries that stay.")
@path_option("-o", "--output", required=True, metavar="DIR", help="A new directory.")
@options(LOG, ENGINE, ONE_MACHINE)
@JSON
def anonymize(
    method: str,
    k: int | None,
    tolerance: str | None,
    session_gap: int,
    by_similarity: bool,
    clicks: bool,
    output: Path,
    as_json: bool,
    **given: Any,
) -> None:
    """Anonymise a log by a method that is NOT differentially private."""
    chosen = method_by_name(
        method,
        k=k,
        tolerance=tolerance,
        session_gap=session_gap,
        by_similarity=by_similarity,
        clicks=clicks,
    )
    for name, option, value in (
        ("k", "-k", k),
        ("tolerance", "--tolerance", tolerance),
        ("by_similarity", "--by-similarity", by_similarity or None),
        ("clicks", "--clicks", clicks or None),
    ):
        if value is not None and name not in chosen.settings():
            terminal.note(f"zealous: {option} plays no role in {method}")
    with terminal.reporting_progress() as say:
        done = run(output, log_from(given), chosen, engine=embedded_from(given), say=say)
    if as_json:
        changed = [{**asdict(each), "share": each.share} for each in done.changed]
        record = to_builtins(done.bundle.record)
        terminal.as_json({**record, "directory": str(output), "internal": changed})
    else:
        _print(done, output)
    terminal.note(f"zealous: {WARNING}")


def _print(done: Anonymized, output: Path) -> None:
    record = done.bundle.record
    terminal.echo(f"{record.method}, after {record.origin}")
    terminal.echo(f"It promises: {record.promises}\nBut: {record.lacks}\n")
    if done.changed:
        terminal.table(
            "What it did to the log (internal: true figures, not for publication)",
            ["", "number", "of", "share"],
            [
                (each.what, each.number, each.of, format_percent(each.share))
                for each in done.changed
            ],
        )
    rows = [
        (kind, len(table) if kind in record.gives else "none by this method")
        for kind, table in done.bundle.tables.items()
    ]
    terminal.table(f"Written to {output}", ["histogram", "different items"], rows)
