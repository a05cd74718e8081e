"""zealous generate: a synthetic log to try things on."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.option_values import path_option
from zealous.errors import UsageError
from zealous.synthetic import PAPER, REGULARS, VISITORS, generate_shop
from zealous.synthetic import figures as count
from zealous.synthetic import generate as generate_log

_BEHAVIOURS = {"regulars": REGULARS, "visitors": VISITORS}
_HELP = """Make a synthetic search log that behaves like a real one.

Everything in it is invented, and it is labelled synthetic. At 500,000 users it resembles the log of
the paper; the command prints how closely. With --behaviour visitors, releases of it resemble the
paper's as well, for every m. With --shop it is a table of purchases instead: customer, invoice,
time, product, price.

\b
Examples:
  zealous generate -o log.parquet --users 500000 --seed 7
  zealous generate --shop -o shop.parquet --users 100000 --seed 7
"""


@click.command(help=_HELP)
@path_option("-o", "--output", required=True, metavar="FILE", help="A new Parquet file.")
@click.option("--users", type=int, required=True, metavar="N", help="How many people.")
@click.option("--seed", type=int, required=True, help="The same seed gives the same log.")
@click.option("--days", type=int, default=30, show_default=True, help="How many days.")
@click.option(
    "--behaviour",
    type=click.Choice(tuple(_BEHAVIOURS)),
    default="regulars",
    show_default=True,
    help="Regulars come a few times a month. Of visitors most come once, and a few all the time.",
)
@click.option("--shop", is_flag=True, help="Purchases of customers instead of searches of users.")
@click.option(
    "--figures/--no-figures",
    default=None,
    help="Print figures of the log. [default: unless --shop]",
)
def generate(
    output: Path,
    users: int,
    seed: int,
    days: int,
    behaviour: str,
    shop: bool,
    figures: bool | None,
) -> None:
    """Make a synthetic search log that behaves like a real one."""
    if shop and figures is not None:
        raise UsageError(
            "--figures compares a search log with the paper's: leave it out for --shop"
        )
    if output.suffix.lower() not in (".parquet", ".pq"):
        raise UsageError("what is made is a Parquet file: let its name end in .parquet")
    if shop and behaviour != "regulars":
        raise UsageError("--behaviour is how people search: leave it out for --shop")
    make = generate_shop if shop else partial(generate_log, behaviour=_BEHAVIOURS[behaviour])
    with terminal.progress_bar("generating") as progress:
        make(output, users=users, seed=seed, days=days, progress=progress)
    what = f"shop with {users:,} customers" if shop else f"log of {users:,} users"
    terminal.echo(f"{output}: a synthetic {what}")
    if shop or figures is False:
        return
    made = count(output)
    rows = [
        (kind.replace("_", "-"), per_user, PAPER.kinds[kind][0], distinct, PAPER.kinds[kind][1])
        for kind, (per_user, distinct) in made.kinds.items()
    ]
    names = ["kind", "a user", "paper", "distinct", "paper (500,000 users)"]
    terminal.table(f"{made.entries:,} entries", names, rows)
