"""zealous ledger move: a ledger goes on in another file."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli.ledger.place import PLACE_ARGUMENT, SIGNING_KEY
from zealous.cli.option_values import path_argument
from zealous.files.places import Place
from zealous.ledger.copies import move as move_ledger
from zealous.ledger.location import find_ledger

_HELP = """Move a ledger to another file.

The old file stays, accepts no more charges, and says where the ledger is now. To move a ledger
together with its log, just move the folder.

\b
Example:
  zealous ledger move logs /srv/ledgers/shop.sqlite
"""


@click.command(help=_HELP)
@PLACE_ARGUMENT
@path_argument("target", metavar="FILE")
@click.option("--signed-by", "by", metavar="WHO", help="Who moves it.  [default: the login's name]")
@click.option("--reason", metavar="TEXT", help="Why it is moved.")
@SIGNING_KEY
def move(where: Place, target: Path, by: str | None, reason: str | None, key: Path | None) -> None:
    """Move a ledger to another file."""
    path = find_ledger(where)
    last = move_ledger(path, target, by=by, reason=reason, key=key)
    click.echo(f"{target}: the ledger of {path}, which is closed. Event {last.seq} says so.")
