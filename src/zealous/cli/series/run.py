"""zealous series run: publish what is due and missing."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from zealous.cli import show
from zealous.cli.help import JSON
from zealous.cli.option_values import path_argument
from zealous.cli.series.price import find_price
from zealous.cli.series.status import print_status, status_json
from zealous.errors import Refused
from zealous.series.run import publish_again, run_series
from zealous.series.series import Series

_HELP = """Publish the periods that are due and have no release yet.

Run it as often as you like, by cron or by hand: a period that has a release is never published
again. If a log has nothing to publish, an empty table is published and charged. It stops before a
cap is exceeded. Beside each release it writes what changed since the previous one: changes.csv and
a picture. Exit code 0 if every period that is due has its release, 1 if not.

With --again it publishes a corrected edition of one period instead, beside the first one, and
states the price before.

\b
Examples:
  zealous series run series.toml
  zealous series run series.toml --again 2026-03 --yes
"""


@click.command(help=_HELP)
@path_argument("file")
@click.option("--again", metavar="PERIOD", help="Publish a corrected edition of this period.")
@click.option("--yes", is_flag=True, help="With --again: do not ask for confirmation.")
@JSON
@click.pass_context
def run(context: click.Context, file: Path, again: str | None, yes: bool, as_json: bool) -> None:
    """Publish the periods that are due and have no release yet."""
    series = Series.read(file)
    if again is not None:
        _correct(series, again, agreed=yes, as_json=as_json)
        return
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


def _correct(series: Series, period: str, *, agreed: bool, as_json: bool) -> None:
    """Publish a corrected edition, once its price was said."""
    price = find_price(series, again=(period,)).text()
    show.note(price)
    if not agreed and not (sys.stdin.isatty() and click.confirm("Publish it?", err=True)):
        raise Refused("nothing was done: say --yes if that is what it may cost")
    with show.reporting_progress() as say:
        path = publish_again(series, series.period_named(period), say=say)
    with show.keeping_finished_work("the release is in place"):
        if as_json:
            show.as_json({"period": period, "release": str(path)})
        else:
            show.echo(f"{period} was published again: {path}")
