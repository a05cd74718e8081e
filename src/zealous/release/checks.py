"""What is checked before a release is charged, so that nothing is paid for that cannot be made."""

from __future__ import annotations

from zealous.errors import Refused, ReleaseError, UsageError, reason
from zealous.files.places import Place
from zealous.files.scratch import working_directory
from zealous.logs.log import Log, is_anonymized
from zealous.logs.source import Source, count_everyone, has_users
from zealous.planning.plan import Plan
from zealous.privacy.guarantee import Guarantee
from zealous.privacy.period import Period
from zealous.record.record import Record
from zealous.release.bundle import Release, check_writable, read_release
from zealous.release.charging import LedgerPayment, UntrackedPayment
from zealous.release.drawing import as_table
from zealous.release.progress import Say
from zealous.release.provenance import ASKED, with_tables


def check_log(log: Log, planned: Plan, period: Period | None) -> None:
    """Refuse before anything is read what cannot be published from this log."""
    if any(map(is_anonymized, log.paths)):
        raise Refused(
            "this is the output of an anonymity method: its ids are no people, and which rows it "
            "has depends on everybody, so that no guarantee would hold. Publish from the log itself"
        )
    roles = log.columns.assigned()
    planned.check_possible(roles)
    if period is not None and "time" not in roles and not period.all_in_period:
        raise UsageError(
            "--period needs a column with the time: say --time COLUMN, or declare with "
            "--all-in-period that every entry of the log is of that period"
        )


def check_same_release(made: Release, asked: Record) -> Release:
    """A release of the same id must be what is asked for now, whoever planned and drew it."""
    if any(getattr(made.record, name) != getattr(asked, name) for name in ASKED):
        raise Refused(
            "the release of this --id was made before, and with other parameters: give this one an "
            "id of its own"
        )
    return made


def rehearse(
    planned: Plan, record: Record, payment: LedgerPayment | UntrackedPayment, output: Place | None
) -> None:
    """Write a release of the same shape without rows: what would fail then fails before it costs.

    Not what hangs on the rows: their size on the disk and in memory.
    """
    if output is not None:
        check_writable(output, [part.name() for part in planned.parts])
    elif isinstance(payment, UntrackedPayment):  # it costs nothing, and is written nowhere yet
        return
    local = output.local() if output is not None else None
    beside = local.parent if local else None
    tables = {part.name(): as_table(part.kind, []) for part in planned.parts}
    try:
        with working_directory(beside, hidden=beside is not None) as folder:
            written = with_tables(record, tables, name="0" * 16, ledger=payment.preview())
            empty = Release(record=written, tables=tables)
            made = read_release(empty.write(folder / "release", not_private=True))
            if made.tables != tables:
                raise UsageError("the columns cannot be written to files as they are: rename them")
    except UnicodeEncodeError:
        raise UsageError("a name that the release would hold is not UTF-8: rename it") from None
    except OSError as error:
        raise ReleaseError(
            f"nothing can be written to {beside or 'the temporary directory'}: {reason(error)}"
        ) from None


def check_users(source: Source, goal: Guarantee, say: Say) -> None:
    """Refuse a log of more users than are declared; tell the owner where there are none."""
    if goal.users is not None and count_everyone(source) > goal.users:
        raise Refused(
            f"the log holds more {goal.units()} than --users declares: the guarantee would not "
            "hold. Declare a bound that you know to be true without counting, and plan again"
        )
    # No error: whether there is a release must not tell whether there is a user.
    if not has_users(source):
        say("no entry with a user id was understood: see `zealous inspect`")
