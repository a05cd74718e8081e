"""zealous ledger backup: a copy that nothing is charged to."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli.ledger.place import PLACE_ARGUMENT
from zealous.cli.option_values import path_argument
from zealous.files.places import Place
from zealous.ledger.copies import back_up
from zealous.ledger.location import find_ledger

_HELP = """Copy a ledger to a new file, even while it is in use.

Nothing is charged to a backup; `zealous ledger restore` puts it in the place of a ledger. All other
commands read it.

\b
Example:
  zealous ledger backup logs /media/backup/shop-2026-03.sqlite
"""


@click.command(help=_HELP)
@PLACE_ARGUMENT
@path_argument("target", metavar="FILE")
def backup(where: Place, target: Path) -> None:
    """Copy a ledger to a new file, even while it is in use."""
    path = find_ledger(where)
    last = back_up(path, target)
    click.echo(f"{target}: all {last.seq} events of {path}.\nThe last one's hash is {last.hash}")
