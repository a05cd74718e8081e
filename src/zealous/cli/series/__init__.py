"""zealous series: a release every month."""

from __future__ import annotations

import click

from zealous.cli.command_groups import Commands

_ORDER = ("run", "status", "price")

_HELP = """Publish a release every month or every day, under one privacy budget.

A file such as series.toml says where the log of each period is, by which plan it is published, what
all of it may cost, and where releases go; docs/guide/series.md has one to copy.

\b
Example:
  zealous series run series.toml
  zealous series status series.toml
"""


@click.group(cls=Commands, package=__name__, sections={"Commands": _ORDER}, help=_HELP)
def series() -> None:
    """Publish a release every month, or every day."""
