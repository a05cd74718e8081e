"""zealous ledger move: a ledger goes on in another file."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli.ledger.place import PLACE_ARGUMENT, SIGNING_KEY
from zealous.cli.option_values import path_argument
from zealous.files.places import Place
from zealous.ledger.copies import move as move_ledger
from zealous.ledger.location import find_ledger

_HELP = """Let a ledger go on in another file.

The old file stays, is charged nothing any more, and says where the ledger went. To move a ledger
together with its log, move the folder: nothing needs to be said.

\b
Example:
  zealous ledger move logs /srv/ledgers/shop.sqlite
"""


@click.command(help=_HELP)
@PLACE_ARGUMENT
@path_argument("target", metavar="FILE")
@click.option("--signed-by", "by", metavar="WHO", help="Who.  [default: the login's name]")
@click.option("--reason", metavar="TEXT", help="Why.")
@SIGNING_KEY
def move(where: Place, target: Path, by: str | None, reason: str | None, key: Path | None) -> None:
    """Let a ledger go on in another file."""
    path = find_ledger(where)
    last = move_ledger(path, target, by=by, reason=reason, key=key)
    click.echo(f"{target}: the ledger of {path}, which is closed. Event {last.seq} says so.")
