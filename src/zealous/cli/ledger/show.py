"""zealous ledger show: what was published, what was lost, what is left."""

from __future__ import annotations

from datetime import date

import click

from zealous.cli import balance, terminal
from zealous.cli.help import JSON
from zealous.cli.ledger.place import PLACE_OR_HERE
from zealous.files.places import Place
from zealous.ledger import Ledger
from zealous.ledger.location import find_ledger
from zealous.privacy.period import Period

_HELP = """Show what was published, what was spent for one person, and what is left.

Two accounts: what was revealed about one person's entries of one period, and over all releases.

\b
Example:
  zealous ledger show logs
  zealous ledger show logs --period 2026-Q1
"""

PERIOD_OPTION = click.option(
    "--period", metavar="P", help="The account of this period: 2026-03, 2026-Q1."
)


@click.command(help=_HELP)
@PLACE_OR_HERE
@PERIOD_OPTION
@JSON
def show(where: Place, period: str | None, as_json: bool) -> None:
    """Show what was published, what was spent for one person, and what is left."""
    print_book(where, None, period, as_json)


def print_book(where: Place, as_of: date | None, period: str | None, as_json: bool) -> None:
    """Print a ledger as it is, or as it was known at some time."""
    within = Period.parse(period) if period else None
    found = Ledger.open(find_ledger(where))
    book = found.book(as_of)
    if as_json:
        as_of_said = {"as_of": str(as_of)} if as_of else {}
        terminal.as_json({**as_of_said, **balance.ledger_as_json(found.path, book, within)})
        return
    if as_of is not None:
        click.echo(f"What was known at {as_of} (UTC).\n")
    balance.print_ledger(found.path, book, within)
