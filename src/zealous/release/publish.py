"""The composition: from a log to a release, top to bottom.

Guarantee:
    Everything that can be refused is refused before the charge, and the charge is on the disk
    before any noise is drawn.
"""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from zealous.engines.engine import Engine
from zealous.files.places import Place
from zealous.items import Kinds
from zealous.logs.log import Log
from zealous.planning.plan import Options, Plan
from zealous.privacy.guarantee import Guarantee
from zealous.privacy.period import Period
from zealous.release.account import Account, payment_method
from zealous.release.bundle import Release, read_release
from zealous.release.charging import PaymentMethod
from zealous.release.checks import (
    check_request,
    check_same_release,
    rehearse_counting,
    rehearse_writing,
)
from zealous.release.doubts import check_data_doubts, check_doubts
from zealous.release.drawing import draw
from zealous.release.opening import open_source
from zealous.release.progress import Say, never_raising, reporting_spent_budget
from zealous.release.provenance import provenance, with_tables
from zealous.release.public_tables import public_tables
from zealous.release.recognition import recognise
from zealous.release.request import Attendance, Request, plan_to_execute

_BESIDE_THE_LOG = Account()


def publish(
    log: Log,
    plan: Plan | Guarantee,
    kinds: Kinds = (),
    *,
    account: PaymentMethod | None = _BESIDE_THE_LOG,
    period: Period | str | None = None,
    output: str | Path | Place | None = None,
    engine: Engine | None = None,
    publisher: str | Path | None = None,
    attendance: Attendance = "attended",
    selection_key: str | None = None,
    say: Say = lambda _: None,
    **options: Unpack[Options],
) -> Release:
    """Publish the frequent items of a log: `publish(log, plan)` or `publish(log, goal, kinds)`.

    Guarantee:
        The release as a whole satisfies the plan's goal, under the assumptions that it lists.
        Everything in it is either a public parameter, fixed before the log is read, or the output
        of a mechanism. The budget is charged before any noise is drawn.

    Args:
        log: What to publish from.
        plan: A plan; or the guarantee of the whole release, which is then planned with `kinds` and
            `options`.
        kinds: What to publish, if a guarantee is given: `queries(5)`, or a list of kinds.
        account: Which ledger is charged, and how. None makes a release whose budget is not tracked.
        period: The days that the release is about, such as "2026-03"; entries of other days are
            left out. A log without times needs one that declares `all_in_period`.
        output: A new directory, or a URL in an object store, to write the release to. Problems with
            it are found before the budget is spent. If the release of the account's id is already
            there, it is returned.
        engine: Where to run. By default, where the log is, or an embedded DuckDB.
        publisher: A publisher.toml: who publishes and what for. The release states it.
        attendance: Whether a probable mistake stops the run before the charge: `attended`, always;
            `proceed`, never; `unattended`, only if it can be found without the data.
        selection_key: The `selection_key` of an earlier release, so that the same items of the same
            people count in both. By default, a new one is drawn.
        say: Receives progress, for the owner. Exceptions that it raises are ignored.
        options: As for `plan`, if a guarantee is given.
    """
    say = never_raising(say)
    # Log and plan; the selection key is drawn.
    request = Request.of(
        log,
        plan_to_execute(log, plan, kinds, options),
        period=period,
        output=output,
        attendance=attendance,
        selection_key=selection_key,
    )
    paying = payment_method(account, request.plan)
    # What can be refused without the data.
    check_request(request, internal=paying.internal)
    record = provenance(request, others=paying.people is not None, publisher=publisher)
    made = paying.earlier_release(request.log.paths, request.output)
    if made is not None:
        say(f"the release of this id was made before, in {made}: nothing is drawn again")
        return check_same_release(read_release(made), record, request.plan)
    payment = paying.prepare(request)
    recognition = recognise(paying, request, say)
    check_doubts(request, record, payment, recognition, say)
    rehearse_writing(request, record, payment.preview())
    public = public_tables(request, say)
    with reporting_spent_budget(lambda: payment.settle(request.output), say):
        with request.log.engine_for(engine) as running:
            # What only the log tells.
            source = open_source(request, running, recognition, say)
            rehearse_counting(request, source, public, payment.preview())
            check_data_doubts(request, source, recognition, say)
            # Charge: from here on it is spent.
            charged = payment.reserve(say)
            recognition.remember(charged, say)
            # Count, add noise, drop what is rare.
            tables = draw(request.plan, source, key=request.key, public=public, say=say)
        # Write.
        record = with_tables(record, request.plan, tables, name=payment.id, ledger=charged)
        release = Release(
            record=record, tables=tables, on_written=payment.mark_written, internal=paying.internal
        )
        if request.output is not None:
            say(f"writing {request.output}")
            release.write(request.output)
        return release
