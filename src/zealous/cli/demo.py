"""zealous demo: the main job on a small synthetic log."""

from __future__ import annotations

from pathlib import Path

import click
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zealous.cli import balance, show
from zealous.cli.publish import summary
from zealous.cli.study.compare import findings
from zealous.cli.verify import print_checks
from zealous.errors import ReleaseError
from zealous.items import clicks, keywords, queries, query_pairs
from zealous.ledger import Ledger
from zealous.logs.log import read_log
from zealous.planning.plan import plan
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.release.charging import Account
from zealous.release.publish import publish as publish_release
from zealous.study.compare import compare
from zealous.study.extra import is_installed
from zealous.study.grid.study import Study
from zealous.synthetic import generate, is_personal
from zealous.verify.verify import verify

_HELP = """Try everything on a small synthetic log.

Generates a log, shows the plan, publishes keywords, queries, clicks and query pairs, prints the
top of each table, verifies the release, shows what it cost, and compares how useful ZEALOUS and the
anonymity methods leave the log: the report to open is named at the end. Takes about two minutes.
Without zealous[study] it leaves the comparison out. For the whole grid run `zealous study compare`
on the log that it leaves.

\b
Example:
  zealous demo -o demo
"""

_STUDY = Study(epsilons=(1, 2, 5, 10), k=(10, 50), draws=3)  # a part of the whole grid


@click.command(help=_HELP)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("demo"),
    show_default=True,
    metavar="DIR",
)
@click.option("--users", type=int, default=80_000, show_default=True)
def demo(output: Path, users: int) -> None:
    """Try everything on a small synthetic log."""
    try:
        output.mkdir(parents=True)
    except OSError:
        raise ReleaseError(f"{output} exists already or cannot be made: name another") from None
    path = output / "log.parquet"
    click.echo(f"1. A synthetic log of {users:,} users: {path}\n")
    with show.progress_bar("generating") as progress:
        generate(path, users=users, seed=7, progress=progress)
    log = read_log(path)

    # A small log needs a large epsilon; pairs are the rarest kind and get the largest share.
    goal = ProbabilisticDP(epsilon=12, delta="0.001", users=users)
    kinds = [keywords(4), queries(2), clicks(2), query_pairs(1)]
    split = {"keywords": 2, "queries": 2, "clicks": 2, "query-pairs": 6}
    click.echo("2. The plan, made without looking at the log\n")
    planned = plan(goal, kinds, split=split, parameters_from="synthetic-log")
    click.echo(f"{planned}\n")

    click.echo("3. The release\n")
    ledger = output / "zealous-ledger.sqlite"
    target = output / "release"
    with show.reporting_progress() as say:
        release = publish_release(
            log, planned, account=Account(ledger=ledger), output=target, say=say
        )
    for kind in kinds:
        rows = release[kind.name()].arrow.slice(0, 6).to_pylist()
        title = f"{kind.name()}: the top of {len(release[kind.name()]):,}"
        show.table(title, [*kind.columns(), "count"], [tuple(row.values()) for row in rows])
    summary(release, target)
    asked = _distinct_queries(path)
    personal = {query for query in asked if is_personal(query)}
    published = personal & set(release["queries"].arrow["query"].to_pylist())
    click.echo(
        f"\nOf {len(personal):,} personal queries in the log (invented names, addresses, account "
        f"numbers) {len(published)} are in the release."
    )

    click.echo("\n4. What the release says of itself, checked\n")
    print_checks(target, verify(target, ledger))
    click.echo("\n5. What it cost the people of the log\n")
    balance.print_ledger(ledger, Ledger.open(ledger).book())
    click.echo(f"\nA page to sign: {target / 'statement.html'}")
    if not is_installed():
        show.note("zealous: to compare methods on this log: pip install 'zealous[study]'")
        return
    click.echo("\n6. How useful is what is left? The study of the paper, on this log\n")
    with show.reporting_progress() as say:
        compared = compare(log, _STUDY, output=output / "study", say=say)
    findings(compared)
    click.echo(f"Report: {output / 'study' / 'report.html'}")


def _distinct_queries(path: Path) -> set[str]:
    """The distinct queries of the synthetic log; a real log's are nobody's business."""
    column = pq.read_table(path, columns=["query"])["query"]
    return set(pc.unique(pc.utf8_lower(column)).to_pylist())
