"""zealous study tables: the paper's analytic tables, as printed and as this program does it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

import click

from zealous.cli import terminal
from zealous.cli.help import JSON
from zealous.privacy.guarantee import format_bound
from zealous.study.theory.tables import tables as all_tables
from zealous.study.theory.theory_table import Cell, Table, TableParameters

_HUGE, _TINY = 1e6, 1e-3

_HELP = """Print the paper's analytic tables, as printed and as computed by this program.

Noise and thresholds by delta, tau' by tau, the best tau, the threshold of indistinguishability,
accuracy, the negative result, a growing domain and A-hat. Compares the paper's continuous noise
with the integer noise of a release, and notes misprints below each table. Reads no data. The
paper's parameters (U = 500,000 and so on) are not a recommendation: use the options to see the
tables for yours.

\b
Examples:
  zealous study tables
  zealous study tables --users 2000000 --items-per-user 3 --epsilon 2 \\
      --delta 1e-4
  zealous study tables --histories 1000000
  zealous study tables --json
"""


@click.command(help=_HELP)
@click.option("--users", type=int, metavar="U", help="Instead of the paper's number of users.")
@click.option("--items-per-user", type=int, metavar="M", help="Instead of the paper's m.")
@click.option("--epsilon", metavar="E", help="Instead of the paper's epsilon.")
@click.option("--delta", metavar="D", help="Instead of the paper's delta.")
@click.option(
    "--histories", type=int, metavar="N", help="How many histories a user can have, for A-hat."
)
@JSON
def tables(
    users: int | None,
    items_per_user: int | None,
    epsilon: str | None,
    delta: str | None,
    histories: int | None,
    as_json: bool,
) -> None:
    """Print the paper's analytic tables."""
    own = TableParameters(
        users=users,
        items_per_user=items_per_user,
        epsilon=epsilon,
        delta=delta,
        histories=histories,
    )
    made = all_tables(own)
    if as_json:
        terminal.as_json({table.name: table.as_object() for table in made})
        return
    for table in made:
        terminal.table(table.title, list(table.columns.values()), _aligned_cells(table))
        terminal.echo(
            click.wrap_text(table.note, width=78, initial_indent="  ", subsequent_indent="  ")
            + "\n"
        )


def _aligned_cells(table: Table) -> list[list[str]]:
    """Text that stands to the right in its column."""
    columns = [
        _bounds(cells) if "delta" in name else _column(cells)
        for name, cells in zip(table.columns, zip(*table.rows, strict=True), strict=True)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _bounds(cells: Sequence[Cell]) -> list[str]:
    """Deltas, rounded up: what is printed is no stronger promise than what holds."""
    texts = [
        format_bound(cell, 2 if cell < _TINY else 3)
        if isinstance(cell, Decimal | float) and cell
        else _text(cell, 0)
        for cell in cells
    ]
    width = max(map(len, texts))
    return [text.rjust(width) for text in texts]


def _column(cells: Sequence[Cell]) -> list[str]:
    """As many decimals as the column needs, up to four; one where a number is large."""
    numbers = [cell for cell in cells if isinstance(cell, float) and 1 <= cell < _HUGE]
    most = 1 if any(number >= 100 for number in numbers) else 4
    places = min(
        places
        for places in range(most + 1)
        if all(round(number, places) == round(number, most) for number in numbers)
    )
    texts = [_text(cell, places) for cell in cells]
    width = max(map(len, texts))
    return [text.rjust(width) for text in texts]


def _text(cell: Cell, places: int) -> str:
    if cell is None or isinstance(cell, bool):
        return {None: "-", True: "yes", False: "no"}[cell]
    if cell == 0 or isinstance(cell, int):
        return f"{int(cell):,}"
    if isinstance(cell, Decimal) or not _TINY <= cell < _HUGE:
        return re.sub(r"e\+?(-?)0*(\d)", r"e\1\2", f"{cell:.1e}")
    return f"{cell:,.{places}f}" if cell >= 1 else f"{cell:.3g}"
