"""zealous series run: publish what is due and missing."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.help import JSON
from zealous.cli.option_values import path_argument
from zealous.cli.series.price import find_price
from zealous.cli.series.status import print_status, status_json
from zealous.errors import Refused
from zealous.release.request import Attendance
from zealous.series.run import publish_again, run_series
from zealous.series.series import Series

_HELP = """Publish the periods that are due and have no release yet.

Run it as often as you like, by cron or by hand: a period that has a release is never published
again. If a log has nothing to publish, an empty table is published and charged. In a terminal, a
period whose log is probably read wrongly, such as one without a readable time, is reported and not
charged; --proceed publishes it. It stops before a cap is exceeded. Beside each release it writes
what changed since the previous one: changes.csv and a picture. Exit code 0 if every period that is
due has its release, 1 if not.

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
@click.option("--proceed", is_flag=True, help="Publish what is probably a mistake too.")
@JSON
@click.pass_context
def run(
    context: click.Context,
    file: Path,
    again: str | None,
    yes: bool,
    proceed: bool,
    as_json: bool,
) -> None:
    """Publish the periods that are due and have no release yet."""
    series = Series.read(file)
    attended = sys.stdin.isatty() and sys.stderr.isatty()
    attendance: Attendance = "proceed" if proceed else "attended" if attended else "unattended"
    if again is not None:
        _correct(series, again, attendance, agreed=yes, as_json=as_json)
        return
    with terminal.reporting_progress() as say:
        done = run_series(series, attendance=attendance, say=say)
    failed = {str(period): why for period, why in done.failed.items()}
    with terminal.keeping_finished_work("the releases are in place"):
        if as_json:
            published = [str(period) for period in done.published]
            status = status_json(series, done.status)
            terminal.as_json({"published": published, "failed": failed, **status})
        else:
            print_status(series, done.status)
            for why in dict.fromkeys(failed.values()):
                periods = ", ".join(each for each, text in failed.items() if text == why)
                terminal.echo(f"{periods}: {why}")
    context.exit(1 if done.status.missing else 0)


def _correct(
    series: Series, period: str, attendance: Attendance, *, agreed: bool, as_json: bool
) -> None:
    """Publish a corrected edition, once its price was said."""
    price = find_price(series, again=(period,)).text()
    terminal.note(price)
    if not agreed and not (sys.stdin.isatty() and click.confirm("Publish it?", err=True)):
        raise Refused("nothing was done: say --yes if that is what it may cost")
    with terminal.reporting_progress() as say:
        path = publish_again(series, series.period_named(period), attendance=attendance, say=say)
    with terminal.keeping_finished_work("the release is in place"):
        if as_json:
            terminal.as_json({"period": period, "release": str(path)})
        else:
            terminal.echo(f"{period} was published again: {path}")
