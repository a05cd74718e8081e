"""zealous series status: which periods have their release, and how long the budget lasts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zealous.cli import show
from zealous.cli.help import JSON
from zealous.series.series import Series
from zealous.series.status import SeriesStatus
from zealous.series.status import status as status_of

_HELP = """Show which periods have their release, which are missing, and how long the budget lasts.

Changes nothing, and reads no log.

\b
Example:
  zealous series status series.toml
"""


@click.command(help=_HELP)
@click.argument("file", type=click.Path(path_type=Path))
@JSON
def status(file: Path, as_json: bool) -> None:
    """Show which periods have their release, and how long the budget lasts."""
    series = Series.read(file)
    found = status_of(series)
    if as_json:
        show.as_json(status_json(series, found))
    else:
        print_status(series, found)


def print_status(series: Series, found: SeriesStatus) -> None:
    """The periods and the budget, for people."""
    rows = [
        (
            str(each.period),
            each.state,
            str(series.release_path(each.period)) if each.state == "released" else "",
            each.charges,
        )
        for each in found.periods
    ]
    show.table(f"Series {series.name}", ["period", "", "release", "charges"], rows)
    unseen = sum(each.unseen for each in found.periods if each.state == "released")
    if unseen:
        show.echo(
            f"{unseen} charge{'s' if unseen > 1 else ''} of runs that ended before their release "
            "was in place still count. If nobody saw what they left: zealous ledger void"
        )
    show.echo(found.budget_text())


def status_json(series: Series, found: SeriesStatus) -> dict[str, Any]:
    """The same for programs."""
    return {
        "series": series.name,
        "periods": [
            {
                "period": str(each.period),
                "state": each.state,
                "release": str(series.release_path(each.period)),
                "charges": each.charges,
                "unseen": each.unseen,
            }
            for each in found.periods
        ],
        "spent": None if found.spent is None else found.spent.as_json(),
        "lasts_until": None if found.lasts_until is None else str(found.lasts_until),
    }
