"""Which ledger a command is about, and who signs.

PLACE is a ledger, or a log or folder whose ledger is meant.
"""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli.option_values import PLACE

PLACE_ARGUMENT = click.argument("where", metavar="PLACE", type=PLACE)
PLACE_OR_HERE = click.argument("where", metavar="[PLACE]", type=PLACE, default=".")
SIGNING_KEY = click.option(
    "--key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The SSH key that signs it, where the ledger has approvers.",
)
