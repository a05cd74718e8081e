"""zealous verify: does a release hold what it says?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from zealous.cli import show
from zealous.cli.help import JSON
from zealous.verify.verify import SHOWN, Check
from zealous.verify.verify import verify as run

_HELP = """Check a release that you made or were given.

Looks at every file and its SHA-256, at release.json, at the tables and at what follows from one of
them for another, at whether the plan is one that zealous makes, and at whether the guarantee that
is stated follows from the parameters that are stated. With the ledger also whether the release was
paid for as it says; with the parent of a filtered child also whether the child is the parent
without some rows. What this version cannot judge is shown as not checked. Exit code 0 if all that
was checked is well, 1 if something is not.

This shows whether a release is consistent. It cannot show that noise was drawn: for that you trust
whoever published it.

\b
Examples:
  zealous verify release
  zealous verify release --ledger zealous-ledger.sqlite
  zealous verify reviewed --parent release
"""

_STATES = {True: "passed", False: "FAILED", None: "not checked"}


@click.command(help=_HELP)
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--ledger",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The ledger that was charged for it.",
)
@click.option(
    "--parent",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The release that a filtered child was made from.",
)
@JSON
@click.pass_context
def verify(
    context: click.Context,
    release: Path,
    ledger: Path | None,
    parent: Path | None,
    as_json: bool,
) -> None:
    """Check a release that you made or were given."""
    checks = run(release, ledger, parent)
    passed = all(check.ok is not False for check in checks)
    if as_json:
        found = [asdict(check) for check in checks]
        show.as_json({"ok": passed, "checks": found, "shown": SHOWN})
    else:
        print_checks(release, checks)
    context.exit(0 if passed else 1)


def print_checks(release: Path, checks: Sequence[Check]) -> None:
    """The checks for people."""
    rows = [(each.name, _STATES[each.ok], each.detail) for each in checks]
    show.table(f"{release}", ["check", "", "what was found"], rows)
    found = {check.ok for check in checks}
    if False in found:
        click.echo("FAILED: do not rely on this release.")
    elif None in found:
        click.echo("Passed, except for what was not checked.")
    else:
        click.echo("All checks passed.")
    if False not in found:
        click.echo(SHOWN)
