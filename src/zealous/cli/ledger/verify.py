"""zealous ledger verify: try to catch a ledger lying."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.balance import changed_promise
from zealous.cli.help import JSON
from zealous.cli.ledger.place import PLACE_OR_HERE
from zealous.cli.option_values import PLACE, path_option
from zealous.errors import UsageError
from zealous.files.places import Place, place_of
from zealous.ledger import Ledger
from zealous.ledger import verify as verify_ledger
from zealous.ledger.copies import describe_copy
from zealous.ledger.location import find_ledger
from zealous.ledger.stated import RELEASE

_HELP = """Check that nothing in a ledger was changed, removed or made up.

With --releases it also detects a ledger that was rewritten or truncated: each release carries the
hash of its entry. Exits with 1 if something is wrong.

\b
Example:
  zealous ledger verify logs
  zealous ledger verify logs --releases published/*
  zealous ledger verify logs --copy /media/backup/shop.sqlite
"""


@click.command(help=_HELP)
@PLACE_OR_HERE
@click.option(
    "--releases",
    multiple=True,
    type=PLACE,
    metavar="DIR...",
    help="Releases, or folders of releases, that were charged to it.",
)
@path_option(
    "--copy",
    "copies",
    multiple=True,
    metavar="FILE",
    help="A copy or backup: check whether both were charged since.",
)
@click.argument("more", nargs=-1, type=PLACE, metavar="")
@JSON
def verify(
    where: Place,
    releases: tuple[Place, ...],
    copies: tuple[Path, ...],
    more: tuple[Place, ...],
    as_json: bool,
) -> int:
    """Check that nothing in a ledger was changed, removed or made up."""
    if more and not releases:
        raise UsageError("verify takes one PLACE; releases come after --releases")
    if releases and (where / RELEASE).is_file():  # one of several after --releases
        where, more = place_of("."), (where, *more)
    path = find_ledger(where)
    problems = verify_ledger(path, [*releases, *more])
    if not problems:
        found = [describe_copy(path, each) for each in copies]
        problems = [each for each in found if each is not None]
    if as_json:
        terminal.as_json({"ledger": str(path), "problems": problems})
    elif problems:
        click.echo("\n".join([f"{path}: {len(problems)} wrong", *(f"  {p}" for p in problems)]))
    else:
        book = Ledger.open(path).book()
        last = book.last
        assert last is not None  # noqa: S101
        checked = len(releases) + len(more)
        click.echo(
            f"{path}: all {last.seq} events hold together"
            + (", and the releases agree with them" if checked else "")
            + f".\nThe last one's hash is {last.hash}"
        )
        if (changed := changed_promise(book)) is not None:
            click.echo(changed)
        if not checked:
            terminal.note("A ledger that was written anew is found only with --releases.")
    return 1 if problems else 0
