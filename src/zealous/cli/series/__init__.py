"""zealous series: a release every month."""

from __future__ import annotations

import click

from zealous.cli.command_groups import Commands

_ORDER = ("init", "run", "status", "price")

_HELP = """Publish a release every month or every day, under one privacy budget.

A file such as series.toml says where the log of each period is, by which plan it is published, what
all of it may cost, and where releases go; init writes one.

\b
Example:
  zealous series init --log 'logs/{period}.parquet' --first 2026-01
  zealous series run series.toml
  zealous series status series.toml
"""


@click.group(cls=Commands, package=__name__, sections={"Commands": _ORDER}, help=_HELP)
def series() -> None:
    """Publish a release every month, or every day."""
