"""zealous generate: a synthetic log to try things on."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli import show

_HELP = """Make a synthetic search log that behaves like a real one.

Everything in it is invented, and it is labelled synthetic. At 500,000 users it is near the log of
the paper; the command prints how near.

\b
Example:
  zealous generate -o log.parquet --users 500000 --seed 7
"""


@click.command(help=_HELP)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE")
@click.option("--users", type=int, required=True, metavar="N")
@click.option("--seed", type=int, required=True, help="The same seed gives the same log.")
@click.option("--days", type=int, default=30, show_default=True)
@click.option("--figures/--no-figures", default=True, help="Count what was made, as a check.")
def generate(output: Path, users: int, seed: int, days: int, figures: bool) -> None:
    """Make a synthetic search log that behaves like a real one."""
    from zealous.generate import PAPER
    from zealous.generate import figures as count
    from zealous.generate import generate as run

    with show.measuring("generating") as progress:
        run(output, users=users, seed=seed, days=days, progress=progress)
    click.echo(f"{output}: a synthetic log of {users:,} users")
    if not figures:
        return
    made = count(output)
    rows = [
        (kind.replace("_", "-"), per_user, PAPER.kinds[kind][0], distinct, PAPER.kinds[kind][1])
        for kind, (per_user, distinct) in made.kinds.items()
    ]
    names = ["kind", "a user", "paper", "distinct", "paper (500,000 users)"]
    show.table(f"{made.entries:,} entries", names, rows)
