"""zealous demo: the whole story on a synthetic log, in a minute."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.help import JSON
from zealous.cli.option_values import path_option
from zealous.cli.study.compare import findings
from zealous.errors import ReleaseError
from zealous.logs.log import read_log
from zealous.study.compare import compare
from zealous.study.demonstration import demonstrate
from zealous.study.demonstration_text import as_object, story_text
from zealous.study.extra import check_installed
from zealous.study.grid.study import Study

_HELP = """Show on a synthetic log what zealous does and why.

Makes a log of invented people, publishes its frequent queries at epsilon 2, verifies the release,
and lets an attacker with fake accounts try both k-anonymity and the release. Takes about a minute.
All figures are measured in this run; the log, the release and its ledger stay in DIR. --study then
compares how useful ZEALOUS and the anonymity methods leave the log, as in the paper, and writes a
report: about two minutes more, and it needs the extra 'study'.

\b
Examples:
  zealous demo -o demo
  zealous demo -o demo --study
"""

_STUDY = Study(epsilons=(1, 2, 5, 10), k=(10, 50), draws=3)  # a part of the whole grid


@click.command(help=_HELP)
@path_option("-o", "--output", default=Path("demo"), show_default=True, metavar="DIR")
@click.option("--users", type=int, default=80_000, show_default=True, help="How many people.")
@click.option("--study", is_flag=True, help="Compare methods on the log as well.")
@JSON
def demo(output: Path, users: int, study: bool, as_json: bool) -> None:
    """Show on a synthetic log what zealous does and why."""
    if study:
        check_installed()
    try:
        output.mkdir(parents=True)
    except OSError:
        raise ReleaseError(f"{output} exists already or cannot be made: name another") from None
    with terminal.current_step() as say:
        found = demonstrate(output, users=users, say=say)
    if as_json:
        terminal.as_json({**as_object(found), "directory": str(output)})
    else:
        click.echo(story_text(found, output, width=terminal.width()))
    if study:
        with terminal.reporting_progress() as say:
            compared = compare(
                read_log(output / "log.parquet"), _STUDY, output=output / "study", say=say
            )
        if not as_json:
            findings(compared)
            click.echo(f"Report: {output / 'study' / 'report.html'}")
