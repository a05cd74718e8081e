"""Whose budget a release is charged to, and for which period."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import click

from zealous.cli.help import options_of
from zealous.cli.options import Given
from zealous.errors import UsageError
from zealous.privacy.period import Period
from zealous.release.account import Account
from zealous.release.approval import read_signature
from zealous.release.charging import PaymentMethod
from zealous.release.request import Attendance
from zealous.release.untracked import Untracked

_option = options_of("Budget and approval")

APPROVED = (
    _option(
        "--plan",
        "approved",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="An approved plan, instead of --items and its parameters.",
    ),
)
ACCOUNT = (
    _option("--period", metavar="P",
            help="The days to publish: 2026-03, 2026-Q1, 2026-03-05..2026-03-20."),
    _option("--all-in-period", is_flag=True,
            help="Declare that a log without times holds only entries of that period."),
    _option("--again", is_flag=True, help="Publish a period again, which is charged again."),
    _option("--people", metavar="NAME",
            help="A name for the people of this log, such as north. You state, on record, that "
            "none of them is under another name in the ledger."),
    _option("--ledger", type=click.Path(path_type=Path), metavar="FILE",
            help="The ledger to charge. [default: the one of the log]"),
    _option("--no-ledger", is_flag=True, help="Charge no ledger. The release states this."),
    _option("--reason", metavar="TEXT",
            help="Why a capped ledger of the log is not charged, or why the log has other --people "
            "than before: recorded in the ledger."),
    _option("--id", "release_id", metavar="ID",
            help="A run repeated with the id of a finished release returns that release."),
    _option("--publisher", type=click.Path(path_type=Path), metavar="FILE",
            help="A publisher.toml: who publishes, and what for."),
    _option("--proceed", is_flag=True,
            help="Do not stop for warnings before the budget is charged."),
    _option("--unattended", is_flag=True,
            help="Never stop because of the data; for scheduled runs."),
    _option("--signed-by", metavar="WHO", help="Who publishes. [default: the login]"),
)  # fmt: skip


class Run(TypedDict):
    """What ACCOUNT options say of a run: arguments of `publish`, by their names."""

    account: PaymentMethod
    period: Period | None
    publisher: Path | None
    attendance: Attendance


def run_from(given: Given, approved: Path | None) -> Run:
    """Who pays, for which days, who publishes, and who attends, as ACCOUNT options say."""
    return Run(
        account=_account(given, approved),
        period=_period(given),
        publisher=given["publisher"],
        attendance=_attendance(given),
    )


def _period(given: Given) -> Period | None:
    if given["period"] is None:
        return None
    return Period.parse(given["period"], all_in_period=given["all_in_period"])


def _attendance(given: Given) -> Attendance:
    if given["proceed"]:
        return "proceed"
    return "unattended" if given["unattended"] else "attended"


def _account(given: Given, approved: Path | None) -> PaymentMethod:
    declared = {
        "ledger": given["ledger"],
        "people": given["people"],
        "again": given["again"],
        "id": given["release_id"],
        "approval": read_signature(approved),
    }
    why = {"signed_by": given["signed_by"], "reason": given["reason"]}
    if not given["no_ledger"]:
        return Account(**declared, **why)
    if any(value for name, value in declared.items() if name != "approval"):
        raise UsageError("--no-ledger goes with none of --ledger, --people, --again and --id")
    return Untracked(**why)
