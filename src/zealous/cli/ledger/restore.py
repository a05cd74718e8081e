"""zealous ledger restore: a backup takes the place of a ledger."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.ledger.place import SIGNING_KEY
from zealous.cli.option_values import PLACE
from zealous.files.places import Place
from zealous.ledger import FILE_NAME, ledger_path
from zealous.ledger.copies import restore as restore_ledger
from zealous.ledger.location import check_exists, ensure_folder, named_ledger

_HELP = """Replace a ledger that is lost, damaged or outdated by a backup.

A ledger that is still there is kept under another name. The command refuses if that ledger is sound
and holds charges that the backup does not. Charges made after the backup are not in it: check with
`zealous ledger verify PLACE --releases DIR`.

\b
Example:
  zealous ledger restore /media/backup/shop.sqlite logs \\
      --reason "disk failed"
"""


@click.command(help=_HELP)
@click.argument("backup", metavar="BACKUP", type=click.Path(path_type=Path, exists=True))
@click.argument("where", metavar="PLACE", type=PLACE)
@click.option(
    "--signed-by", "by", metavar="WHO", help="Who restores it.  [default: the login's name]"
)
@click.option("--reason", metavar="TEXT", required=True, help="What happened to the ledger.")
@SIGNING_KEY
def restore(backup: Path, where: Place, by: str | None, reason: str, key: Path | None) -> None:
    """Replace a ledger by a backup."""
    local = where.local()
    # A folder whose own ledger is lost, and not the one of a folder above it.
    beside = local / FILE_NAME if local is not None and local.is_dir() else None
    path = named_ledger(where) or beside or ensure_folder(ledger_path([check_exists(where)]))
    last = restore_ledger(backup, path, by=by, reason=reason, key=key)
    click.echo(f"{path}: all {last.seq - 1} events of {backup}, and that it was restored.")
    terminal.note(
        "What was charged since the backup is not in it: compare with the releases, "
        f"zealous ledger verify {path} --releases DIR"
    )
