"""zealous series price: what a correction, a backfill or another plan would cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.help import JSON
from zealous.cli.option_values import path_argument, path_option
from zealous.planning.plan_file import read_plan
from zealous.privacy.period import Period
from zealous.series.forecast import Price, book_of, lasts_until
from zealous.series.forecast import price as price_of
from zealous.series.series import Series
from zealous.series.status import status

_HELP = """Show what a correction, a backfill or another plan would cost; changes nothing.

Without options: the price of what is due and missing. The ledger charges and refuses by the same
figures.

\b
Examples:
  zealous series price series.toml --again 2026-03
  zealous series price series.toml --first 2025-10
  zealous series price series.toml --plan new-plan.json
"""


@click.command(help=_HELP)
@path_argument("file")
@click.option(
    "--again", multiple=True, metavar="PERIOD", help="The price of publishing this period again."
)
@click.option("--first", metavar="PERIOD", help="The price of a backfill from this period on.")
@path_option("--plan", "plan_file", help="The price of using this plan from now on.")
@JSON
def price(
    file: Path, again: tuple[str, ...], first: str | None, plan_file: Path | None, as_json: bool
) -> None:
    """Show what a correction, a backfill or another plan would cost."""
    series = Series.read(file)
    found = find_price(series, again=again, first=first, plan_file=plan_file)
    if as_json:
        terminal.as_json(
            {
                "releases": list(found.releases),
                "before": found.before.as_json(),
                "after": None if found.after is None else found.after.as_json(),
                "lasted_until": None if found.lasted_until is None else str(found.lasted_until),
                "lasts_until": None if found.lasts_until is None else str(found.lasts_until),
            }
        )
    else:
        terminal.echo(found.text())


def find_price(
    series: Series,
    *,
    again: tuple[str, ...] = (),
    first: str | None = None,
    plan_file: Path | None = None,
) -> Price:
    """What it would cost to publish what is missing with these changes, and periods again."""
    changed = series
    if first is not None:
        begin = Period.parse(first, all_in_period=series.all_in_period)
        changed = replace(series, first=begin)
    book = book_of(series)
    as_is = lasts_until(series, book, series.read_plan()) if book.capped() else None
    return price_of(
        changed,
        book,
        series.read_plan() if plan_file is None else read_plan(plan_file),
        missing=() if again else status(changed).missing,
        again=[series.period_named(each) for each in again],
        lasted_until=as_is,
    )
