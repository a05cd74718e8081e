"""zealous approve: sign a plan with an SSH key."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.option_values import path_argument, path_option
from zealous.planning.plan_file import read_plan
from zealous.release.approval import write_signature

_HELP = """Sign a plan with an SSH key, as its approver.

Writes PLAN.sig beside the plan, by `ssh-keygen -Y sign`: agents, passphrases and hardware keys
work. A ledger with approvers (`zealous ledger init --approvers`) accepts only signed plans.

\b
Example:
  zealous approve plan.json --key ~/.ssh/id_ed25519
  zealous publish log.parquet --plan plan.json -o release
"""


@click.command(help=_HELP)
@path_argument("plan")
@path_option(
    "--key",
    metavar="FILE",
    required=True,
    help="A private key, or a public one whose private key an agent holds.",
)
def approve(plan: Path, key: Path) -> None:
    """Sign a plan with an SSH key, as its approver."""
    planned = read_plan(plan)
    terminal.echo(f"{planned}\n")
    click.echo(f"Signed: {write_signature(planned, plan, key)}")
