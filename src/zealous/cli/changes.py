"""zealous changes: what changed between two releases beyond noise."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.help import JSON
from zealous.cli.option_values import path_argument, path_option
from zealous.series.changes import ERROR_RATE, change_row
from zealous.series.changes import changes as find
from zealous.series.changes_files import write_changes

_SHOWN = 20

_HELP = """Show what changed between two releases beyond what noise explains.

Lists items that are new, gone, risen or fallen, from the two releases alone: no log is read and no
budget is spent. On average at most --error-rate of them are due to chance. Tables are compared if
both releases count in the same way. For an item that is missing in one release it gives an upper
bound on its users.

\b
Examples:
  zealous changes january february
  zealous changes january february --error-rate 0.01 -o changes
"""


@click.command(help=_HELP)
@path_argument("old")
@path_argument("new")
@click.option(
    "--error-rate",
    type=float,
    default=ERROR_RATE,
    show_default=True,
    help="The share of reported changes that may be due to chance.",
)
@path_option(
    "-o",
    "--output",
    metavar="DIR",
    help="A new directory for changes.csv and a picture, changes.svg.",
)
@JSON
def changes(old: Path, new: Path, error_rate: float, output: Path | None, as_json: bool) -> None:
    """Show what changed between two releases beyond what noise explains."""
    found = find(old, new, error_rate=error_rate)
    if output is not None:
        write_changes(found, output)
    if as_json:
        terminal.as_json(
            {
                "changes": [asdict(each) for each in found],
                "error_rate": found.error_rate,
                "tested": found.tested,
                "not_judged": found.not_judged,
                "not_compared": found.not_compared,
            }
        )
        return
    terminal.table(
        found.summary(),
        ["change", "kind", "item", "before", "after"],
        [change_row(each) for each in found[:_SHOWN]],
    )
    if len(found) > _SHOWN:
        terminal.echo(f"and {len(found) - _SHOWN:,} more: write all of them with -o DIR")
    terminal.echo(found.meaning())
    for kind, why in found.not_compared.items():
        terminal.echo(f"Not compared: {kind}, since {why}.")
