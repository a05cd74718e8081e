"""What is checked before a release is charged, so that nothing is paid for that cannot be made.

Guarantee:
    A refusal says nothing of who is in the log, and comes before the charge.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from zealous.errors import Refused, ReleaseError, UsageError, ZealousError, reason
from zealous.files.scratch import working_directory
from zealous.libraries import pa
from zealous.logs.log import is_anonymized
from zealous.logs.source import Source, count_everyone
from zealous.planning.plan import Plan
from zealous.privacy.guarantee import Guarantee
from zealous.record.record import LedgerStamp, Record
from zealous.release.bundle import Release, check_writable, read_release
from zealous.release.drawing import as_table, draw
from zealous.release.provenance import ASKED, plan_record, with_tables
from zealous.release.request import Request
from zealous.release.table import INTERVAL


def check_request(request: Request, *, internal: bool) -> None:
    """Refuse before anything is read what cannot be published, or not from this log.

    Args:
        request: What is asked for.
        internal: Whether the release is for its owner alone.
    """
    log, planned, period = request.log, request.plan, request.period
    if internal and request.output is not None:
        raise UsageError("an internal release is for its owner alone, and is not written")
    if any(map(is_anonymized, log.paths)):
        raise Refused(
            "this is the output of an anonymity method: its ids are no people, and which rows it "
            "has depends on everybody, so that no guarantee would hold. Publish from the log itself"
        )
    roles = log.columns.assigned()
    planned.check_possible(roles)
    if {name.lower() for part in planned.parts for name in part.kind.columns()} & {*INTERVAL}:
        raise UsageError(
            f"a column called {' or '.join(INTERVAL)} cannot be an item, since each table has "
            "these beside its count: rename it"
        )
    if period is not None and "time" not in roles and not period.all_in_period:
        raise UsageError(
            "--period needs a column with the time: say --time COLUMN, or declare with "
            "--all-in-period that every entry of the log is of that period"
        )


def check_same_release(made: Release, record: Record, planned: Plan) -> Release:
    """A release of the same id must be what is asked for now, whoever planned and drew it."""
    if not is_same_request(made, record, planned):
        raise Refused(
            "the release of this id was made before, and with other parameters: give this one an "
            "id of its own"
        )
    return made


def is_same_request(made: Release, record: Record, planned: Plan) -> bool:
    """Whether a release is what is asked for now."""
    found = {kind: table.arrow for kind, table in made.tables.items()}
    try:
        asked = replace(record, plan=plan_record(planned.with_inputs(found)))
    except LookupError:  # it has other kinds
        return False
    return all(getattr(made.record, name) == getattr(asked, name) for name in ASKED)


def rehearse_writing(request: Request, record: Record, ledger: LedgerStamp | None) -> None:
    """Write a release of the same shape without rows: what would fail then fails before it costs.

    Not what hangs on the rows: their size on the disk and in memory.

    Args:
        request: What is asked for.
        record: What is known of the release before the log is read.
        ledger: What the release would say of its charge; None where it costs nothing.
    """
    planned, output = request.plan, request.output
    if output is None and ledger is None:  # it is written nowhere yet, and costs nothing
        return
    if output is not None:
        check_writable(output, [part.name() for part in planned.parts])
    local = output.local() if output is not None else None
    beside = local.parent if local else None
    tables = {part.name(): as_table(part.kind, []) for part in planned.parts}
    try:
        with working_directory(beside, hidden=beside is not None) as folder:
            written = with_tables(record, planned, tables, name="0" * 16, ledger=ledger)
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


def rehearse_counting(
    request: Request,
    source: Source,
    public: Mapping[str, pa.Table],
    ledger: LedgerStamp | None,
) -> None:
    """Draw the tables of a log of nobody: a mistake in the SQL of a kind is found before it costs.

    The steps are those that will run, on the engine and the columns of the log. Of a public list
    one row is enough. What costs nothing may fail later.

    Raises:
        UsageError: A kind or a mechanism cannot be run.
    """
    if ledger is None:
        return
    listed = {name: table.slice(0, 1) for name, table in public.items()}
    said: list[str] = []
    try:
        draw(
            request.plan,
            source.without_entries(),
            key=request.key,
            public=listed,
            say=said.append,
        )
    except ZealousError as error:
        raise UsageError(
            f"{said[-1]} fails on a log of nobody: {error}. Nothing was charged"
        ) from None


def check_users(source: Source, goal: Guarantee) -> None:
    """Refuse a log of more users than are declared."""
    if goal.users is not None and count_everyone(source) > goal.users:
        raise Refused(
            f"the log holds more {goal.units()} than --users declares: the guarantee would not "
            "hold. Declare a bound that you know to be true without counting, and plan again"
        )
