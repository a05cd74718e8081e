"""zealous ledger logs: the logs by which a copy is recognised."""

from __future__ import annotations

import click

from zealous.cli import terminal
from zealous.cli.help import JSON
from zealous.errors import LedgerError, reason
from zealous.release import known_logs
from zealous.release.known_logs import KnownLogs

_HELP = """List the logs whose copies are recognised, or forget them.

`zealous publish` keeps a sketch of the ids of each log that it charges: 256 bytes that depend on a
secret key. Both are kept in one file of your account, and in no ledger, backup or release. It warns
about a log that shares people with one charged to another ledger.

\b
Example:
  zealous ledger logs
  zealous ledger logs --forget
"""


@click.command(help=_HELP)
@click.option("--forget", is_flag=True, help="Remove the file: all sketches, and their key.")
@JSON
def logs(forget: bool, as_json: bool) -> None:
    """List the logs whose copies are recognised, or forget them."""
    file = known_logs.path()
    try:
        if forget:
            file.unlink(missing_ok=True)
        known = KnownLogs.read()
    except OSError as error:
        raise LedgerError(f"{file} cannot be used: {reason(error)}") from None
    if as_json:
        terminal.as_json({"path": str(file), **known.as_json()})
        return
    for each in known.logs:
        people = f" for the people {each.name.people}" if each.name.people else ""
        done = f"charged to {each.ledger}{people}" if each.ledger else "figures were laid out"
        terminal.echo(f"{each.name.log}\n  {done}, {each.day}")
    for first, second in sorted({(first.log, second.log) for first, second in known.noticed}):
        terminal.echo(f"{first}\n  shares people with {second}, and is not counted with it")
    if known.logs:
        terminal.note(f"{len(known.logs)} in {file}. To remove it: zealous ledger logs --forget")
    else:
        terminal.note(f"no log is known: there is nothing in {file}")
