"""zealous publish: from a log to a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zealous.cli import show
from zealous.cli.options import (
    ENGINE,
    GOAL,
    ITEMS,
    JSON,
    LOG,
    engine_from,
    goal_from,
    kinds_from,
    log_from,
    options,
    split_from,
)
from zealous.handout import PARAMETERS_FROM, empty
from zealous.publish import publish as run
from zealous.release import Release, check_new

_HELP = """Publish the frequent items of a log.

Writes a new directory that may be handed to anyone: a table for each kind of items, the guarantee,
and a README for the recipient. KIND is keywords, queries, clicks, query-pairs, query-clicks or, for
any table, columns:NAME[+NAME]. --epsilon and --delta are the total over all kinds.

\b
Examples:
  zealous publish log.parquet --items queries,keywords --items-per-user 5 \\
      --users 500000 --epsilon 2 --delta 0.001 -o release
  zealous publish shop.csv.gz --user CustomerID --items columns:Description \\
      --items-per-user 3 --users 10000 --epsilon 2 --delta 0.001 -o products
"""


@click.command(help=_HELP)
@click.option("--items", metavar="KIND,..", required=True, help="What to publish.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR")
@options(GOAL, ITEMS)
@click.option("--select", type=click.Choice(["random", "first", "frequent"]), default="random",
              show_default=True, help="Which of a user's items count.")  # fmt: skip
@click.option("--parameters-from", type=click.Choice(PARAMETERS_FROM), default="unstated",
              show_default=True, help="How the parameters were chosen.")  # fmt: skip
@options(LOG)
@click.option("--engine", type=click.Choice(["duckdb"]), default="duckdb", show_default=True)
@options(ENGINE)
@JSON
def publish(items: str, output: Path, as_json: bool, engine: str, **given: Any) -> None:
    """Publish the frequent items of a log."""
    del engine  # one so far
    goal, kinds = goal_from(given), kinds_from(items, given)
    check_new(output)
    log = log_from(given)
    with show.telling() as say:
        release = run(
            log,
            goal,
            kinds,
            select=given["select"],
            split=split_from(given),
            accept_delta=given["accept_delta"],
            parameters_from=given["parameters_from"],
            engine=engine_from(given),
            say=say,
        )
        say(f"writing {output}")
        release.write(output)
    if as_json:
        show.as_json({**release.about, "directory": str(output)})
    else:
        summary(release, output)


def summary(release: Release, output: Path) -> None:
    """What was published, in a few lines."""
    goal = release.about["guarantee"]
    rows = [
        (part["kind"], len(release[part["kind"]]), part["items_per_user"], part["tau_prime"],
         part["forecast"]["error_95"])
        for part in release.about["plan"]
    ]  # fmt: skip
    show.table(
        f"Published in {output}",
        ["kind", "items", "items a user", "users more than", "off by at most (95 %)"],
        rows,
    )
    for part in release.about["plan"]:
        if not len(release[part["kind"]]):
            click.echo(f"{part['kind']}: {empty(part)}")
    click.echo(
        f"{goal['title']}, epsilon = {goal['epsilon']:g}, delta = {goal['delta']:g}, "
        f"per {goal['unit']}.\nStart with {output / 'README.md'}"
    )
