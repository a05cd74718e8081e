"""zealous study mechanisms: what each mechanism publishes of a log, in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from zealous.cli import show
from zealous.cli.one_machine import ONE_MACHINE
from zealous.cli.options import ENGINE, ITEMS, JSON, LOG, engine_from, kinds_from, log_from, options
from zealous.errors import UsageError
from zealous.files.folder import check_new, new_folder
from zealous.items import Kind
from zealous.privacy.guarantee import Neighbors, exact, shown
from zealous.study.extra import check_installed
from zealous.study.grid.results import Spread
from zealous.study.grid.workspace import check_apart, mark
from zealous.study.mechanism_comparison import FIGURES, Compared, Row, compare_mechanisms
from zealous.study.report.mechanism_report import write_mechanisms
from zealous.study.report.style import format_percent
from zealous.version import VERSION

_HELP = """Compare what each mechanism publishes of a log, at equal epsilon and delta.

Releases one kind of items by every mechanism, several times, and compares with the truth: items
released; the share of the total count that they cover (users of the released items over users of
all items); how far a count is from the true number of users on average, and how far by noise alone,
the rest being users who gave other items; and the seconds of counting and noise for one release.
All run under the indistinguishable guarantee, ZEALOUS too: at the same numbers its probabilistic
one promises more.

INTERNAL: the table is made of true figures and is for the owner alone. It must not be handed out,
and which mechanism or parameters to take must not be decided by it for a release of the same log.
Nothing is published, so no ledger is charged.

\b
Examples:
  zealous study mechanisms log.parquet --items queries --items-per-user 5
  zealous study mechanisms log.parquet --items queries --items-per-user 5 --epsilon 1 --draws 3 \\
      --neighbors add-remove --prior last-year -o mechanisms
  zealous study mechanisms shop.csv.gz --user CustomerID --items columns:StockCode \\
      --items-per-user 20 --domain catalogue.csv --json
"""
NOTES = (
    "every mechanism runs under indistinguishability, delta is per person; the probabilistic "
    "guarantee of ZEALOUS promises more at the same numbers and is not compared",
    "a draw has its own noise, and its own key by which users choose their items; the keys are the "
    "same for all rows",
    "seconds are those of counting and noise for one draw, on the log as numbers, without reading "
    "the log or writing a release; what rows share is counted in each",
)
_HEADINGS = ("mechanism", "items", "of all counts", "count error", "of it noise", "seconds", "note")


@click.command(help=_HELP)
@click.option("--items", metavar="KIND", required=True, help="What to publish: one kind of items.")
@click.option(
    "--items-per-user", metavar="M", required=True, help="The most items of a user that count."
)
@click.option("--epsilon", default="0.5,1,2,5", show_default=True, metavar="E,..")
@click.option(
    "--delta",
    default="1e-6",
    show_default=True,
    metavar="D",
    help="What epsilon does not cover, per person.",
)
@click.option(
    "--neighbors",
    default="add-remove,replace",
    show_default=True,
    metavar="N,..",
    help="Which two logs must be hard to tell apart.",
)
@click.option(
    "--mechanisms", "compared", metavar="NAME,..", help="[default: all that the given files allow]"
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    metavar="N",
    help="How often each is released.",
)
@click.option(
    "--prior",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A public list with frequencies, or an earlier release, for prior.",
)
@click.option(
    "--domain",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A public list of the items, for domain.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where to write the table and a plot; marked internal.",
)
@options(ONE_MACHINE, ITEMS, LOG, ENGINE)
@JSON
def mechanisms(items: str, output: Path | None, as_json: bool, **given: Any) -> None:
    """Compare what each mechanism publishes of a log, at equal epsilon and delta."""
    if output is not None:
        check_installed()
        check_apart(output)
        check_new(output)
    kind = _kind(items, given)
    with show.telling() as say:
        found = compare_mechanisms(
            log_from(given),
            kind,
            epsilons=_epsilons(given["epsilon"]),
            delta=exact(given["delta"], "delta"),
            neighbors=_relations(given["neighbors"]),
            mechanisms=_listed(given["compared"]) if given["compared"] is not None else None,
            draws=given["draws"],
            prior=given["prior"],
            domain=given["domain"],
            engine=engine_from(given),
            say=say,
        )
    about = as_object(kind, found)
    if output is not None:
        _write(output, about, found.rows)
    if as_json:
        show.as_json(about | ({"directory": str(output)} if output else {}))
    else:
        _print(found.rows)
        if output is not None:
            click.echo(f"Written to {output}: internal-mechanisms.csv, .json, .svg and .png")
    show.note("zealous: internal: these figures compare with the truth, and must not be handed out")


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _kind(items: str, given: dict[str, Any]) -> Kind:
    kinds = kinds_from(items, given)
    if len(kinds) != 1:
        raise UsageError("--items takes one kind here: compare the others by themselves")
    if given["rates"]:
        raise UsageError("--rates needs two kinds, and here is one: leave it out")
    return kinds[0]


def _epsilons(text: str) -> list[Any]:
    try:
        return [exact(part, "epsilon") for part in text.split(",")]
    except UsageError:
        raise UsageError("--epsilon must be numbers with commas between: 0.5,1,2,5") from None


def _relations(text: str) -> list[Neighbors]:
    known: dict[str, Neighbors] = {"add-remove": "add-remove", "replace": "replace"}
    parts = _listed(text)
    if not parts or set(parts) - set(known):
        raise UsageError("--neighbors must be add-remove, replace or both: add-remove,replace")
    return [known[part] for part in parts]


def as_object(kind: Kind, found: Compared) -> dict[str, Any]:
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


def _row(row: Row) -> dict[str, Any]:
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


def _write(output: Path, about: Mapping[str, Any], rows: Sequence[Row]) -> None:
    with new_folder(output, "comparison", mode=0o700) as folder:
        mark(folder, {"mechanisms": about["kind"], "software": VERSION})
        write_mechanisms(folder, about, rows)


def _print(rows: Sequence[Row]) -> None:
    click.echo("INTERNAL: true figures of the log, not for publication.\n")
    for (relation, epsilon, delta), block in groupby(
        rows, lambda row: (row.goal.neighbors, row.goal.epsilon, row.goal.delta)
    ):
        title = f"{relation}, epsilon = {shown(epsilon)}, delta = {shown(delta)}"
        show.table(title, _HEADINGS, [_cells(row) for row in block])
    click.echo("In brackets the least and the most of the draws, before them the mean.")
    for note in NOTES:
        click.echo(f"- {note}")


def _cells(row: Row) -> tuple[str, ...]:
    figures: Mapping[str, Spread | None] = row.figures or {}
    covered, noise, seconds = (figures.get(name) for name in ("covered", "noise", "seconds"))
    return (
        row.mechanism,
        _spread(figures.get("items"), 0),
        format_percent(covered.mean if covered else None),
        _spread(figures.get("error"), 1),
        f"{noise.mean:,.1f}" if noise else "–",
        f"{seconds.mean:,.2f}" if seconds else "–",
        row.note,
    )


def _spread(spread: Spread | None, digits: int) -> str:
    if spread is None:
        return "–"
    mean, low, high = (f"{value:,.{digits}f}" for value in spread[:3])
    return mean if spread.draws < 2 else f"{mean} ({low}..{high})"
