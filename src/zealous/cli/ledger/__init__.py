"""zealous ledger: what has been spent on the same people, and what is left."""

from __future__ import annotations

import click

from zealous.cli.command_groups import Commands

_ORDER = ("init", "show", "events", "report", "verify", "backup", "restore", "move", "void", "logs")

_HELP = """Track the privacy budget that has been spent on the same people.

Every `zealous publish` charges a ledger: the file zealous-ledger.sqlite in the log's folder or the
nearest one above. PLACE is a ledger, or a log or folder whose ledger is meant; show, events and
report take the current folder without one.

\b
Example:
  zealous ledger init logs --dataset shop --cap-epsilon 12 --cap-delta 0.01
  zealous ledger show logs
"""


@click.group(cls=Commands, package=__name__, sections={"Commands": _ORDER}, help=_HELP)
def ledger() -> None:
    """Track the privacy budget that has been spent on the same people."""
