"""Whose budget a release is charged to, and for which period."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli.help import options_of
from zealous.cli.options import Given
from zealous.errors import UsageError
from zealous.privacy.period import Period
from zealous.release.charging import Account

_option = options_of("Budget and approval")

APPROVED = (
    _option("--plan", "approved", type=click.Path(path_type=Path), metavar="FILE",
            help="An approved plan, instead of --items and all that decides it."),
)  # fmt: skip
ACCOUNT = (
    _option("--period", metavar="P",
            help="The days to publish: 2026-03, 2026-Q1, 2026-03-05..2026-03-20."),
    _option("--all-in-period", is_flag=True,
            help="Declare that a log without times is of that period."),
    _option("--again", is_flag=True, help="Publish a period again, and pay again."),
    _option("--people", metavar="NAME",
            help="Claim, on record, that no other NAME of the ledger holds these people."),
    _option("--ledger", type=click.Path(path_type=Path), metavar="FILE",
            help="The ledger to charge. [default: the one of the log]"),
    _option("--no-ledger", is_flag=True, help="Charge none: the release says so."),
    _option("--id", "release_id", metavar="ID",
            help="A run repeated with the id of a finished release returns that release."),
    _option("--signed-by", metavar="WHO", help="Who publishes. [default: the login]"),
)  # fmt: skip


def period_from(given: Given) -> Period | None:
    """The days to publish, as ACCOUNT options say."""
    if given["period"] is None:
        return None
    return Period.parse(given["period"], all_in_period=given["all_in_period"])


def account_from(given: Given) -> Account | None:
    """Who pays, as ACCOUNT options say; None where nobody does."""
    declared = {
        "ledger": given["ledger"],
        "people": given["people"],
        "again": given["again"],
        "by": given["signed_by"],
        "id": given["release_id"],
    }
    if not given["no_ledger"]:
        return Account(**declared)
    if any(declared.values()):
        raise UsageError(
            "--no-ledger goes with none of --ledger, --people, --again, --signed-by and --id"
        )
    return None
