"""zealous series status: which periods have their release, and how long the budget lasts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zealous.cli import terminal
from zealous.cli.help import JSON
from zealous.cli.option_values import path_argument, path_option
from zealous.errors import UsageError, reason
from zealous.series.budget_picture import budget_picture, budget_steps
from zealous.series.forecast import book_of
from zealous.series.series import Series
from zealous.series.status import PeriodState, SeriesStatus
from zealous.series.status import status as status_of

_HELP = """Show which periods have their release, which are missing, and how long the budget lasts.

Changes nothing, and reads no log. --picture draws the budget over time: what was spent after each
release, and how long the rest lasts.

\b
Examples:
  zealous series status series.toml
  zealous series status series.toml --picture budget.svg
"""

_LOST = (
    "The release of {} is paid for, and is not where it was published, or cannot be read. Put it "
    "back from a copy: nothing is drawn again for it. `zealous series run --again PERIOD` "
    "publishes a corrected edition, for a further charge."
)
_NO_ROWS = (
    "{} no row: no item had enough users, or the log is read wrongly. `zealous inspect LOG` shows "
    "how it is read; time_format, delimiter and encoding of the series' file change that."
)


@click.command(help=_HELP)
@path_argument("file")
@path_option("--picture", metavar="FILE", help="Draw the budget's curve as an SVG file.")
@JSON
def status(file: Path, picture: Path | None, as_json: bool) -> None:
    """Show which periods have their release, and how long the budget lasts."""
    series = Series.read(file)
    found = status_of(series)
    if picture is not None:
        _draw(series, picture)
    if as_json:
        terminal.as_json(status_json(series, found))
    else:
        print_status(series, found)


def _draw(series: Series, picture: Path) -> None:
    book = book_of(series)
    cap = None if book.caps.all.epsilon is None else float(book.caps.all.epsilon)
    drawn = budget_picture(series, budget_steps(series, book, series.read_plan()), cap)
    try:
        picture.write_text(drawn, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{picture} cannot be written: {reason(error)}") from None


def print_status(series: Series, found: SeriesStatus) -> None:
    """The periods and the budget, for people."""
    rows = [
        (
            str(each.period),
            each.state,
            str(series.release_path(each.period, max(each.editions, 1)))
            if each.state == "released"
            else "",
            "" if each.rows is None else each.rows,
            each.charges,
        )
        for each in found.periods
    ]
    terminal.table(f"Series {series.name}", ["period", "", "release", "rows", "charges"], rows)
    empty = sum(each.rows == 0 for each in found.periods)
    if empty:
        terminal.echo(_NO_ROWS.format("A release has" if empty == 1 else f"{empty} releases have"))
    lost = [str(each.period) for each in found.periods if _is_lost(each)]
    if lost:
        terminal.echo(_LOST.format(", ".join(lost)))
    unseen = sum(each.unseen for each in found.periods)
    if unseen:
        terminal.echo(
            f"{unseen} charge{'s' if unseen > 1 else ''} of runs that ended before their release "
            "was in place. The next run goes on with those of periods that are due; if others stay "
            "and nobody saw what was drawn for them: zealous ledger void"
        )
    terminal.echo(found.budget_text())


def _is_lost(period: PeriodState) -> bool:
    return period.state == "released" and period.rows is None


def status_json(series: Series, found: SeriesStatus) -> dict[str, Any]:
    """The same for programs."""
    return {
        "series": series.name,
        "periods": [
            {
                "period": str(each.period),
                "state": each.state,
                "release": str(series.release_path(each.period, max(each.editions, 1))),
                "charges": each.charges,
                "unseen": each.unseen,
                "editions": each.editions,
                "rows": each.rows,
            }
            for each in found.periods
        ],
        "spent": None if found.spent is None else found.spent.as_json(),
        "lasts_until": None if found.lasts_until is None else str(found.lasts_until),
    }
