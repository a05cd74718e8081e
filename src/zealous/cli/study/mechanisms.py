"""zealous study mechanisms: compare what each mechanism publishes of a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from zealous.cli import terminal
from zealous.cli.help import JSON, command, options
from zealous.cli.one_machine import ONE_MACHINE
from zealous.cli.option_values import count_option, path_option
from zealous.cli.options.items import ITEMS, items_option, kinds_from
from zealous.cli.options.log import LOG, log_from
from zealous.cli.options.machine import ENGINE, embedded_from
from zealous.errors import UsageError
from zealous.files.folder import check_new, new_folder
from zealous.items import Kind
from zealous.privacy.guarantee import Neighbors, exact_fraction, format_number
from zealous.study.extra import check_installed
from zealous.study.grid.result_table import Spread
from zealous.study.grid.workspace import check_outside_release, mark_internal
from zealous.study.mechanism_comparison import (
    COMPARED_INPUTS,
    FIGURES,
    MechanismComparison,
    MechanismRow,
    compare_mechanisms,
)
from zealous.study.report.mechanism_report import write_mechanisms
from zealous.study.report.style import format_percent
from zealous.version import VERSION

_HELP = """Compare what each mechanism publishes of a log, at equal epsilon and delta.

Releases one kind of items with every mechanism, several times, and compares the releases with the
true counts: the number of items; the share of all pairs of a user and an item that they hold (the
covered mass); the average error of a count, its median relative to the true count, and the part of
it that is due to noise (the rest are users who contributed other items); and the seconds that
counting and noise take for one release. All mechanisms, including ZEALOUS, run under the
indistinguishable guarantee; with the same numbers the probabilistic guarantee of ZEALOUS
promises more.

INTERNAL: the table contains true figures and is for the owner only. Do not share it, and do not use
it to choose the mechanism or parameters of a release of the same log. Nothing is published, so no
ledger is charged.

\b
Examples:
  zealous study mechanisms log.parquet --items queries --items-per-user 5
  zealous study mechanisms log.parquet --items queries --items-per-user 5 \\
      --epsilon 1 --draws 3 --neighbors add-remove --prior last-year \\
      -o mechanisms
  zealous study mechanisms shop.csv.gz --user CustomerID --json \\
      --items columns:StockCode --items-per-user 20 --domain catalogue.csv
"""
NOTES = (
    "every mechanism runs under indistinguishability, with delta per person; the probabilistic "
    "guarantee of ZEALOUS promises more with the same numbers and is not compared",
    "the covered mass is the share of all pairs of a user and an item that released items hold; "
    "the median error is that of |count - users| / users over released items",
    "each draw has its own noise and its own key for selecting users' items; the keys are the same "
    "for all rows",
    "seconds cover counting and noise for one draw, on the encoded log, without reading the log or "
    "writing a release; work that rows share is included in each",
)
_HEADINGS = (
    "mechanism",
    "items",
    "covered mass",
    "count error",
    "median error",
    "due to noise",
    "seconds",
    "note",
)


_FILES = tuple(
    path_option(f"--{use}", metavar="FILE", help=f"For mechanisms with a {use}; see publish.")
    for use in COMPARED_INPUTS
)


@command(help=_HELP)
@items_option("One kind of items.", required=True)
@click.option(
    "--items-per-user",
    metavar="M",
    required=True,
    help="The largest number of items that a user contributes.",
)
@click.option("--epsilon", default="0.5,1,2,5", show_default=True, metavar="E,..")
@click.option(
    "--delta",
    default="1e-6",
    show_default=True,
    metavar="D",
    help="Delta per person.",
)
@click.option(
    "--neighbors",
    default="add-remove,replace",
    show_default=True,
    metavar="N,..",
    help="Neighbor relations.",
)
@click.option(
    "--mechanisms", "compared", metavar="NAME,..", help="[default: all that the given files allow]"
)
@count_option("--draws", least=1, default=5, description="Releases per mechanism and setting.")
@path_option(
    "-o", "--output", metavar="DIR", help="Where to write the table and a plot; marked internal."
)
@options(_FILES, ONE_MACHINE, ITEMS, LOG, ENGINE)
@JSON
def mechanisms(items: str, output: Path | None, as_json: bool, **given: Any) -> None:
    """Compare what each mechanism publishes of a log, at equal epsilon and delta."""
    if output is not None:
        check_installed()
        check_outside_release(output)
        check_new(output)
    kind = _kind(items, given)
    with terminal.reporting_progress() as say:
        found = compare_mechanisms(
            log_from(given),
            kind,
            epsilons=_epsilons(given["epsilon"]),
            delta=exact_fraction(given["delta"], "delta"),
            neighbors=_relations(given["neighbors"]),
            mechanisms=_split_list(given["compared"]) if given["compared"] is not None else None,
            draws=given["draws"],
            **{use: given[use] for use in COMPARED_INPUTS},
            engine=embedded_from(given),
            say=say,
        )
    about = as_object(kind, found)
    if output is not None:
        _write(output, about, found.rows)
    if as_json:
        terminal.as_json(about | ({"directory": str(output)} if output else {}))
    else:
        _print(found.rows)
        if output is not None:
            terminal.echo(f"Written to {output}: internal-mechanisms.csv, .json, .svg and .png")
    terminal.note_internal()


def _split_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _kind(items: str, given: dict[str, Any]) -> Kind:
    kinds = kinds_from(items, given)
    if len(kinds) != 1:
        raise UsageError("--items takes one kind here: compare other kinds separately")
    if given["rates"]:
        raise UsageError("--rates needs two kinds and cannot be used here")
    return kinds[0]


def _epsilons(text: str) -> list[Any]:
    try:
        return [exact_fraction(part, "epsilon") for part in text.split(",")]
    except UsageError:
        raise UsageError("--epsilon must be numbers separated by commas: 0.5,1,2,5") from None


def _relations(text: str) -> list[Neighbors]:
    known: dict[str, Neighbors] = {"add-remove": "add-remove", "replace": "replace"}
    parts = _split_list(text)
    if not parts or set(parts) - set(known):
        raise UsageError("--neighbors must be add-remove, replace or both: add-remove,replace")
    return [known[part] for part in parts]


def as_object(kind: Kind, found: MechanismComparison) -> dict[str, Any]:
    """What --json prints."""
    return {
        "internal": True,
        "software": VERSION,
        "kind": kind.name(),
        "items_per_user": kind.items_per_user,
        "guarantee": "indistinguishable",
        "distinct_items": found.items,
        "users": found.users,
        "reading_seconds": round(found.seconds, 2),
        "notes": list(NOTES),
        "rows": [_row(each) for each in found.rows],
    }


def _row(row: MechanismRow) -> dict[str, Any]:
    figures: Mapping[str, Spread | None] = row.figures or {}
    spreads = {name: figures.get(name) for name in FIGURES}
    return {
        "neighbors": row.goal.neighbors,
        "epsilon": float(row.goal.epsilon),
        "delta": float(row.goal.delta),
        "mechanism": row.mechanism,
        "items_per_user": row.items_per_user,
        "draws": spreads["items"].draws if spreads["items"] else 0,
        **{name: _numbers(spread) for name, spread in spreads.items()},
        "note": row.note,
    }


def _numbers(spread: Spread | None) -> dict[str, float | None]:
    """Mean, least and most over the draws."""
    mean, low, high = spread[:3] if spread else (None, None, None)
    return {"mean": mean, "low": low, "high": high}


def _write(output: Path, about: Mapping[str, Any], rows: Sequence[MechanismRow]) -> None:
    with new_folder(output, "comparison", mode=0o700) as folder:
        mark_internal(folder, {"mechanisms": about["kind"], "software": VERSION})
        write_mechanisms(folder, about, rows)


def _print(rows: Sequence[MechanismRow]) -> None:
    terminal.echo("INTERNAL: true figures of the log, not for publication.\n")
    for (relation, epsilon, delta), block in groupby(
        rows, lambda row: (row.goal.neighbors, row.goal.epsilon, row.goal.delta)
    ):
        title = f"{relation}, epsilon = {format_number(epsilon)}, delta = {format_number(delta)}"
        terminal.table(title, _HEADINGS, [_cells(row) for row in block])
    terminal.echo("Mean over the draws, with the smallest and the largest value in brackets.")
    for note in NOTES:
        terminal.echo(f"- {note}")


def _cells(row: MechanismRow) -> tuple[str, ...]:
    figures: Mapping[str, Spread | None] = row.figures or {}
    covered, relative, noise, seconds = (
        figures.get(name) for name in ("covered", "relative_error", "noise", "seconds")
    )
    return (
        row.mechanism,
        _spread(figures.get("items"), 0),
        format_percent(covered.mean if covered else None),
        _spread(figures.get("error"), 1),
        format_percent(relative.mean if relative else None),
        f"{noise.mean:,.1f}" if noise else "–",
        f"{seconds.mean:,.2f}" if seconds else "–",
        row.note,
    )


def _spread(spread: Spread | None, digits: int) -> str:
    if spread is None:
        return "–"
    mean, low, high = (f"{value:,.{digits}f}" for value in spread[:3])
    return mean if spread.draws < 2 else f"{mean} ({low}..{high})"
