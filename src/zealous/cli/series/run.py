"""zealous series run: publish what is due and missing."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli import show
from zealous.cli.help import JSON
from zealous.cli.series.status import print_status, status_json
from zealous.series.run import run_series
from zealous.series.series import Series

_HELP = """Publish the periods that are due and have no release yet.

Call it as often as you like, by cron or by hand: a period that has its release is never drawn
again. Of a log with nothing to publish an empty table is published and charged. It stops before a
cap. Beside each release it writes what changed since the one before: changes.csv and a picture.
Exit code 0 if every period that is due has its release, 1 if not.

\b
Example:
  zealous series run series.toml
"""


@click.command(help=_HELP)
@click.argument("file", type=click.Path(path_type=Path))
@JSON
@click.pass_context
def run(context: click.Context, file: Path, as_json: bool) -> None:
    """Publish the periods that are due and have no release yet."""
    series = Series.read(file)
    with show.reporting_progress() as say:
        done = run_series(series, say=say)
    failed = {str(period): why for period, why in done.failed.items()}
    with show.keeping_finished_work("the releases are in place"):
        if as_json:
            published = [str(period) for period in done.published]
            status = status_json(series, done.status)
            show.as_json({"published": published, "failed": failed, **status})
        else:
            print_status(series, done.status)
            for period, why in failed.items():
                show.echo(f"{period}: {why}")
    context.exit(1 if done.status.missing else 0)
