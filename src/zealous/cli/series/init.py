"""zealous series init: a series.toml to start from."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from zealous.cli import terminal
from zealous.cli.option_values import path_argument
from zealous.series.new_file import write_series_file
from zealous.series.series import Every

_HELP = """Write a commented series.toml to start from.

It is written to FILE, which must not exist. Its other keys, such as the cap over all releases, are
there as comments. Paths are relative to the folder of FILE.

\b
Example:
  zealous series init --log 'logs/{period}.parquet' --first 2026-01
"""


@click.command(help=_HELP)
@path_argument("file", default="series.toml")
@click.option(
    "--log", required=True, metavar="PATTERN", help="The logs, with {period} for the period."
)
@click.option("--first", required=True, metavar="PERIOD", help="The first period, such as 2026-01.")
@click.option(
    "--every",
    type=click.Choice(get_args(Every)),
    default="month",
    show_default=True,
    help="How long a period is.",
)
@click.option(
    "--name", metavar="NAME", help="Its name in the ledger.  [default: the name of the folder]"
)
def init(file: Path, log: str, first: str, every: Every, name: str | None) -> None:
    """Write a commented series.toml to start from."""
    name = file.resolve().parent.name if name is None else name
    write_series_file(file, name=name, log=log, every=every, first=first)
    terminal.note(
        f"Written to {file}. Next: make the plan that it names (zealous plan --time COLUMN ... "
        f"-o plan.json), then zealous series price {file}"
    )
