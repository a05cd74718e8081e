"""zealous ledger report: what was known at the end of a day."""

from __future__ import annotations

from datetime import UTC, date, datetime

import click

from zealous.cli.help import JSON
from zealous.cli.ledger.place import PLACE_OR_HERE
from zealous.cli.ledger.show import PERIOD_OPTION, print_book
from zealous.errors import UsageError
from zealous.files.places import Place

_HELP = """Show a ledger as it was at the end of a day (UTC).

\b
Example:
  zealous ledger report logs --as-of 2026-03-31
"""


@click.command(help=_HELP)
@PLACE_OR_HERE
@click.option("--as-of", metavar="DATE", required=True, help="2026-03-31, or a time in UTC.")
@PERIOD_OPTION
@JSON
def report(where: Place, as_of: str, period: str | None, as_json: bool) -> None:
    """Show a ledger as it was at the end of a day (UTC)."""
    try:
        when = date.fromisoformat(as_of) if len(as_of) <= 10 else datetime.fromisoformat(as_of)
    except ValueError:
        raise UsageError("--as-of takes a day such as 2026-03-31") from None
    if isinstance(when, datetime) and when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    print_book(where, when, period, as_json)
