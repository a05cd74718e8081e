"""zealous inspect: what was understood of a log, for its owner."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Any

from zealous.cli import terminal
from zealous.cli.help import JSON, command, options
from zealous.cli.options import Given
from zealous.cli.options.items import ITEMS, items_option, kinds_from
from zealous.cli.options.log import LOG, log_from, stated_from
from zealous.cli.options.machine import ANY_ENGINE
from zealous.errors import LogError, UsageError, ZealousError
from zealous.logs.column_names import guess_roles
from zealous.logs.log import NoUserColumn
from zealous.logs.query import query
from zealous.owner.inspection import Inspection
from zealous.owner.inspection import inspect as run
from zealous.owner.start import look_at_log

_HELP = """Show the owner how a log is read, with its true figures.

Internal: these are true figures, for the terminal only; publish none of them. No query is quoted.

\b
Examples:
  zealous inspect log.parquet
  zealous inspect logs/*.txt.gz --format aol
  zealous inspect shop.csv --user CustomerID --items columns:Description
  zealous inspect shop.csv --user CustomerID --items itemsets:Description
"""

_INTERNAL = "INTERNAL: what the log holds, not for publication.\n"
_ANY = "5"  # how many would count plays no role here; enough for the largest sets


@command(help=_HELP)
@items_option("Which kinds to look at; all possible if left out.")
@options(LOG, ITEMS, ANY_ENGINE)
@JSON
def inspect(items: str | None, as_json: bool, **given: Any) -> None:
    """Show the owner how a log is read, with its true figures."""
    try:
        found = _inspect(items, given)
    except LogError:
        if given["sql"] is None:
            look_at_log(given["paths"], stated_from(given))  # which says more of what is no table
        raise
    except UsageError as error:
        if isinstance(error, NoUserColumn) and given["sql"] is None:
            look_at_log(given["paths"], stated_from(given))
        if not as_json:
            _print_header(given)
        raise
    if as_json:
        terminal.as_json({"internal": True, **asdict(found)})
    else:
        _print_inspection(found)
        shown = {each.kind for each in found.kinds}
        unsaid = [each for each in (items or "").split(",") if each and each not in shown]
        if found.kinds and unsaid:
            terminal.echo(
                f"{', '.join(unsaid)}: made of things once these are published; above are the "
                "things."
            )


def _inspect(items: str | None, given: Given) -> Inspection:
    log = log_from(given)
    kinds = kinds_from(items, given | {"items_per_user": _ANY}) if items else []
    with terminal.reporting_progress() as say:
        say("reading the log")
        return run(log, kinds, log.engine)


def _print_header(given: Given) -> None:
    """The columns of a log that cannot be read yet: with them its owner knows what to say."""
    with suppress(ZealousError):
        if given["sql"] is None:
            guesses = look_at_log(given["paths"], stated_from(given)).guesses
        else:
            with query(given["paths"][0], given["sql"]).open_rows(()) as rows:
                guesses = guess_roles(rows.schema.names)
        terminal.echo(_INTERNAL)
        columns = [(each.column, each.role) for each in guesses]
        terminal.table("Columns", ["column", "looks like"], columns)


def _print_inspection(found: Inspection) -> None:
    terminal.echo(_INTERNAL)
    roles = {name: role for role, name in found.columns.items()}
    columns = found.names or tuple(found.columns.values())
    terminal.table("Columns", ["column", "understood as"], [(n, roles.get(n, "")) for n in columns])
    terminal.table("Entries", ["figure", "value"], [_row(*pair) for pair in found.overall.items()])
    if found.kinds:
        terminal.table(
            "Items",
            ["kind", "a user", "distinct a user", "median", "most", "distinct in all"],
            [(k.kind, k.occurrences, k.distinct, k.median, k.most, k.items) for k in found.kinds],
        )
    if found.skipped:
        terminal.table("Lines skipped", ["reason", "lines"], list(found.skipped.items()))
    for warning in found.warnings:
        terminal.echo(f"Warning: {warning}")


def _row(name: str, value: object) -> tuple[str, str]:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return name.replace("_", " "), text
