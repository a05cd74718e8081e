"""The composition: from a log to a release, top to bottom.

Guarantee:
    The plan that is executed is the one that was checked, and what was approved. The selection key
    is drawn before the log is read. Everything that can be refused is refused before the charge,
    and the charge is on the disk before any noise is drawn.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import Unpack

from zealous.engines.engine import Engine
from zealous.errors import UsageError
from zealous.files.places import Place, place_of
from zealous.items import Kinds
from zealous.logs.log import Log
from zealous.planning.plan import Options, Plan
from zealous.planning.plan import plan as make_plan
from zealous.planning.plan_file import check_approved
from zealous.privacy.guarantee import Guarantee
from zealous.privacy.period import Period
from zealous.release.account import Account
from zealous.release.bundle import Release, read_release
from zealous.release.charging import PaymentMethod
from zealous.release.checks import (
    check_request,
    check_same_release,
    rehearse_counting,
    rehearse_writing,
)
from zealous.release.doubts import check_doubts, warn
from zealous.release.drawing import draw
from zealous.release.opening import open_source
from zealous.release.progress import Say, never_raising, reporting_spent_budget
from zealous.release.provenance import provenance, with_tables
from zealous.release.public_tables import public_tables
from zealous.release.publisher import read_publisher
from zealous.release.recognition import recognise
from zealous.release.repetition import check_repetition
from zealous.release.request import Attendance, Request
from zealous.release.untracked import Untracked

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
        plan: All that the release is made by; or the guarantee of the whole release, to be planned
            for with `kinds` and `options`.
        kinds: What to publish, where a goal is given: `queries(5)`, or a list of kinds.
        account: Which ledger is charged, and how; `Untracked`, or None, for a release whose budget
            is not tracked.
        period: The days that the release is about, such as "2026-03"; entries of other days are
            left out. A log without times needs one that declares `all_in_period`.
        output: A new directory, or a URL in an object store, to write it to. What would hinder
            that is found before the budget is spent. A release of the account's id that is there
            already is returned.
        engine: Where to run; where the log is, or an embedded DuckDB, if not given.
        publisher: A publisher.toml: who publishes and what for, as the release then states it.
        attendance: Whether what is probably a mistake stops the run before it costs: `attended`,
            always; `proceed`, never; `unattended`, only where that can be told without the data.
        selection_key: The `selection_key` of an earlier release, so that of two logs of the same
            people the same items count. A new one is drawn where not given.
        say: Receives progress, for the owner's eyes. What it raises is ignored.
        options: As for `plan`, where a goal is given.
    """
    say = never_raising(say)
    # Log and plan.
    planned, log = _bound_plan(_plan_to_execute(plan, kinds, options), log, say)
    paying = Untracked() if account is None else account
    if planned.seed is not None:
        paying, attendance = paying.for_unprivate(), "proceed"
    request = Request(
        plan=planned,
        log=log,
        period=Period.parse(period) if isinstance(period, str) else period,
        output=None if output is None else place_of(output),
        key=_selection_key(planned, selection_key, drawn=secrets.randbits(64)),
        attendance=attendance,
    )
    # What can be refused without the data.
    check_request(request, internal=paying.internal)
    record = provenance(
        request,
        others=paying.people is not None,
        publisher=None if publisher is None else read_publisher(publisher),
    )
    made = paying.earlier_release(log.paths, request.output)
    if made is not None:
        say(f"the release of this id was made before, in {made}: nothing is drawn again")
        return check_same_release(read_release(made), record, planned)
    payment = paying.prepare(request)
    recognition = recognise(paying, request, say)
    check_doubts(request, recognition.ledger_doubts(), say)
    check_repetition(request, record, payment, say)
    warn(payment.doubts(), say)
    rehearse_writing(request, record, payment.preview())
    public = public_tables(planned, log.columns.assigned(), say)
    with reporting_spent_budget(payment.entry_number, say):
        with log.engine_for(engine) as running:
            # What only the log tells.
            source = open_source(request, running, recognition, say)
            rehearse_counting(request, source, public, payment.preview())
            # Charge: from here on it is spent.
            charged = payment.reserve(say)
            recognition.remember(charged, say)
            # Count, add noise, drop what is rare.
            drawn = draw(planned, source, key=request.key, public=public, say=say)
        # Write.
        record = with_tables(record, planned, drawn, name=payment.id, ledger=charged)
        release = Release(
            record=record, tables=drawn, on_written=payment.mark_written, internal=paying.internal
        )
        if request.output is not None:
            say(f"writing {request.output}")
            release.write(request.output)
        return release


def _plan_to_execute(plan: Plan | Guarantee, kinds: Kinds, options: Options) -> Plan:
    """The plan to execute: the one that is given, if it is a sound one, or a new one."""
    if not isinstance(plan, Plan):
        return make_plan(plan, kinds, **options)
    if kinds or options:
        raise UsageError(
            "a plan says already what is published and how: give either a plan, or a goal and kinds"
        )
    plan.check_claim()  # somebody may have changed it since it was made, or approved
    check_approved(plan)
    return plan


def _selection_key(plan: Plan, given: str | None, *, drawn: int) -> int:
    """The public key that chooses each user's items, fixed before the log is read."""
    if plan.seed is not None:
        return plan.seed
    if given is None:
        return drawn
    if not re.fullmatch("[0-9a-f]{16}", given):
        raise UsageError("selection_key is that of a release: sixteen hexadecimal digits")
    return int(given, 16)


def _bound_plan(planned: Plan, log: Log, say: Say) -> tuple[Plan, Log]:
    """The plan with the columns of the log, and the log with what the plan says of it."""
    if not isinstance(log, Log):
        raise UsageError("a log is published once it is read: z.read_log(PATH)")
    bound, log = planned.bind(log)
    if bound.parameters_from != planned.parameters_from:
        say("the parameters were chosen by looking at this very log: the release says so")
    return bound, log
