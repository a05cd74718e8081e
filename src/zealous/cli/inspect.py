"""zealous inspect: what was understood of a log, for its owner."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from zealous.cli import show
from zealous.cli.help import JSON, command, options
from zealous.cli.options.items import ITEMS, items_option, kinds_from
from zealous.cli.options.log import LOG, log_from
from zealous.cli.options.machine import ANY_ENGINE
from zealous.owner.inspection import Inspection
from zealous.owner.inspection import inspect as run

_HELP = """Tell the owner what was understood of a log.

Internal: these are true figures, for the terminal only; publish none of them. No query is quoted.

\b
Examples:
  zealous inspect log.parquet
  zealous inspect logs/*.txt.gz --format aol
  zealous inspect shop.csv --user CustomerID --items columns:Description
  zealous inspect shop.csv --user CustomerID --items itemsets:Description
"""

_ANY = "5"  # how many would count plays no role here; enough for the largest sets


@command(help=_HELP)
@items_option("Which kinds to look at; all possible if left out.")
@options(LOG, ITEMS, ANY_ENGINE)
@JSON
def inspect(items: str | None, as_json: bool, **given: Any) -> None:
    """Tell the owner what was understood of a log."""
    log = log_from(given)
    kinds = kinds_from(items, given | {"items_per_user": _ANY}) if items else []
    with show.reporting_progress() as say:
        say("reading the log")
        found = run(log, kinds, log.engine)
    names = log.names()
    if as_json:
        show.as_json({"internal": True, "names": names, **asdict(found)})
    else:
        _print_inspection(found, names)


def _print_inspection(found: Inspection, names: tuple[str, ...] | None) -> None:
    click.echo("INTERNAL: true figures of the log, not for publication.\n")
    roles = {name: role for role, name in found.columns.items()}
    columns = names or tuple(found.columns.values())
    show.table("Columns", ["column", "understood as"], [(n, roles.get(n, "")) for n in columns])
    show.table("Entries", ["figure", "value"], [_row(*pair) for pair in found.overall.items()])
    if found.kinds:
        show.table(
            "Items",
            ["kind", "a user", "distinct a user", "median", "most", "distinct in all"],
            [(k.kind, k.occurrences, k.distinct, k.median, k.most, k.items) for k in found.kinds],
        )
    if found.skipped:
        show.table("Lines skipped", ["reason", "lines"], list(found.skipped.items()))
    for warning in found.warnings:
        click.echo(f"Warning: {warning}")


def _row(name: str, value: object) -> tuple[str, str]:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return name.replace("_", " "), text
