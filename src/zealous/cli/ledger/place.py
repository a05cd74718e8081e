"""Which ledger a command is about, and who signs.

PLACE is a ledger, or a log or folder whose ledger is meant.
"""

from __future__ import annotations

import click

from zealous.cli.option_values import PLACE, path_option

PLACE_ARGUMENT = click.argument("where", metavar="PLACE", type=PLACE)
PLACE_OR_HERE = click.argument("where", metavar="[PLACE]", type=PLACE, default=".")
SIGNING_KEY = path_option(
    "--key", metavar="FILE", help="The SSH key to sign with, if the ledger has approvers."
)
