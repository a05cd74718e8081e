"""zealous ledger events: who decided what, when, and why."""

from __future__ import annotations

import textwrap

import click

from zealous.cli import terminal
from zealous.cli.help import JSON
from zealous.cli.ledger.place import PLACE_OR_HERE
from zealous.files.places import Place
from zealous.ledger import Ledger
from zealous.ledger.events import Event
from zealous.ledger.location import find_ledger

_HELP = """List who changed caps, voided a charge or bypassed the ledger, when, and why.

`zealous ledger show` lists charges and releases; --all lists them here too, in order of time.
Events are never changed: each contains the hash of the one before.

\b
Example:
  zealous ledger events logs
  zealous ledger events logs --all --json
"""


@click.command(help=_HELP)
@PLACE_OR_HERE
@click.option("--all", "every", is_flag=True, help="Also list charges and releases.")
@JSON
def events(where: Place, every: bool, as_json: bool) -> None:
    """List who changed caps, voided a charge or bypassed the ledger, when, and why."""
    found = Ledger.open(find_ledger(where))
    book = found.book()
    listed = book.events if every else book.decisions()
    if as_json:
        terminal.as_json(
            {
                "ledger": book.id,
                "path": str(found.path),
                "events": [event.as_json() for event in listed],
            }
        )
        return
    click.echo(f"{book.dataset or 'unnamed people'}: {found.path}\n")
    for event in listed:
        click.echo(_lines(event))
    if not every:
        terminal.note("Charges are listed with --all.")


def _lines(event: Event) -> str:
    """One event: when and who, and below it what and why."""
    lines = [f"event {event.seq}, {event.time:%Y-%m-%d %H:%M} UTC, {event.by}"]
    for text in (event.text, f'reason: "{event.reason}"' if event.reason else ""):
        lines += textwrap.wrap(
            text,
            terminal.width(),
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
        )
    return "\n".join(lines)
