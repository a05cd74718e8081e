"""zealous study: how methods compare, what attackers get, and what the theory says.

Commands of the study; of the others `demo` alone uses it too.
"""

from __future__ import annotations

import click

from zealous.cli.command_groups import Commands

_HELP = """Compare methods on a log: utility, attacks and theory.

Publishing needs none of these commands. What they print about a log is internal. Commands that draw
figures or rank results need more packages, in a clone: pip install '.[study]'.

\b
Examples:
  zealous study compare log.parquet -o study
  zealous study attack
"""


@click.group(cls=Commands, package=__name__, help=_HELP)
def study() -> None:
    """Study methods on a log."""
