"""zealous verify: does a release hold what it says?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.help import JSON
from zealous.cli.option_values import PLACE, path_argument, path_option
from zealous.files.places import Place
from zealous.verification.verify import SHOWN, STATES, Verdict
from zealous.verification.verify import verify as run

_HELP = """Check a release that you made or received.

Checks every file and its SHA-256, release.json, the tables and how they depend on each other, that
the plan is one that zealous makes, and that the stated guarantee follows from the stated
parameters. With --ledger it also checks that the release was charged as it states, and with
--parent that a filtered child is its parent without some rows. What is not compared with either,
or cannot be judged by this version, is shown as not checked. Exit code 0 unless a check failed.

This shows whether a release is consistent. It cannot show that noise was drawn: for that you have
to trust whoever published it.

\b
Examples:
  zealous verify release
  zealous verify release --ledger logs
  zealous verify reviewed --parent release
"""


@click.command(help=_HELP)
@path_argument("release")
@click.option(
    "--ledger",
    type=PLACE,
    metavar="PLACE",
    help="The ledger that was charged for it, or a log or folder whose ledger it is.",
)
@path_option("--parent", metavar="DIR", help="The release that a filtered child was made from.")
@JSON
@click.pass_context
def verify(
    context: click.Context,
    release: Path,
    ledger: Place | None,
    parent: Path | None,
    as_json: bool,
) -> None:
    """Check a release that you made or were given."""
    checks = run(release, ledger, parent)
    if as_json:
        found = [asdict(check) for check in checks]
        terminal.as_json({"ok": checks.ok, "checks": found, "shown": SHOWN})
    else:
        print_checks(release, checks)
    context.exit(0 if checks.ok else 1)


def print_checks(release: Path, checks: Verdict) -> None:
    """The checks for people."""
    rows = [(each.name, STATES[each.ok], each.detail) for each in checks]
    terminal.table(f"{release}", ["check", "", "what was found"], rows)
    terminal.echo(checks.summary())
    if checks.ok:
        terminal.echo(SHOWN)
