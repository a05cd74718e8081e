"""zealous ledger void: nobody saw an output."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli import balance
from zealous.cli.ledger.place import PLACE_ARGUMENT, SIGNING_KEY
from zealous.errors import UsageError
from zealous.files.places import Place
from zealous.ledger import Ledger
from zealous.ledger.location import find_ledger

_HELP = """State that nobody saw an output, so that its charge no longer counts.

For runs that crashed. This includes you: an output that you looked at, even briefly, has been seen.
The statement is recorded with its author and cannot be undone. ENTRY is the number that `zealous
ledger show` lists.

\b
Example:
  zealous ledger void logs 7 --signed-by "R. Ito" --nobody-saw-it \\
      --reason "power cut, nothing written"
"""


@click.command(help=_HELP)
@PLACE_ARGUMENT
@click.argument("entry", type=int)
@click.option("--signed-by", "by", metavar="WHO", required=True, help="Who states it.")
@click.option("--reason", metavar="TEXT", required=True, help="Why nobody saw it.")
@SIGNING_KEY
@click.option("--nobody-saw-it", is_flag=True, help="Confirm that nobody saw it.")
def void(
    where: Place, entry: int, by: str, reason: str, key: Path | None, nobody_saw_it: bool
) -> None:
    """State that nobody saw an output, so that its charge no longer counts."""
    if not nobody_saw_it:
        raise UsageError("an entry is voided only if nobody saw its output: say --nobody-saw-it")
    found = Ledger.open(find_ledger(where))
    found.void(entry, by=by, reason=reason, key=key)
    balance.print_ledger(found.path, found.book())
