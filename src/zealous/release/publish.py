"""The composition: from a log to a release, top to bottom."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from zealous.engines.engine import Engine
from zealous.errors import UsageError
from zealous.files.places import Place, place_of
from zealous.items import Kind
from zealous.logs.log import Log
from zealous.logs.open_log import open_log
from zealous.logs.source import Source
from zealous.planning.plan import Options, Plan
from zealous.planning.plan import plan as make_plan
from zealous.planning.plan_file import check_approved
from zealous.privacy.guarantee import Guarantee
from zealous.privacy.period import Period
from zealous.release.bundle import Release, read_release
from zealous.release.charging import Account, earlier_release, prepare_payment
from zealous.release.checks import check_log, check_same_release, check_users, rehearse
from zealous.release.drawing import draw
from zealous.release.progress import Say, never_raising, report_skipped, reporting_spent_budget
from zealous.release.provenance import provenance, with_tables
from zealous.release.public_tables import public_tables

_BESIDE_THE_LOG = Account()


def publish(
    log: Log,
    plan: Plan | Guarantee,
    kinds: Sequence[Kind] = (),
    *,
    account: Account | None = _BESIDE_THE_LOG,
    period: Period | str | None = None,
    output: str | Path | Place | None = None,
    engine: Engine | None = None,
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
        kinds: What to publish, where a goal is given.
        account: Which ledger is charged, and how; None for a release whose budget is not tracked.
        period: The days that the release is about, such as "2026-03"; entries of other days are
            left out. A log without times needs one that declares `all_in_period`.
        output: A new directory, or a URL in an object store, to write it to. What would hinder
            that is found before the budget is spent. A release of the account's id that is there
            already is returned.
        engine: Where to run; where the log is, or an embedded DuckDB, if not given.
        say: Receives progress, for the owner's eyes. What it raises is ignored.
        options: As for `plan`, where a goal is given.
    """
    planned, say = _plan_to_execute(plan, kinds, options), never_raising(say)
    goal = planned.goal
    days = Period.parse(period) if isinstance(period, str) else period
    target = None if output is None else place_of(output)
    account = account if planned.seed is None else None
    check_log(log, planned, days)
    key = secrets.randbits(64) if planned.seed is None else planned.seed  # before the log is read
    others = account is not None and account.people is not None
    record = provenance(planned, log, key=key, period=days, others=others)
    if account is not None and (made := earlier_release(account, log.paths, target)) is not None:
        say(f"the release of this id was made before, in {made}: nothing is drawn again")
        return check_same_release(read_release(made), record)
    payment = prepare_payment(account, log, planned, days)
    rehearse(planned, record, payment, target)
    # Before the log is read, and before it costs.
    public = public_tables(planned, log.columns.assigned(), say)
    with reporting_spent_budget(payment.entry_number, say):
        with log.engine_for(engine) as running:
            say("reading the log")
            source = _open_log(log, planned, running, days, key)
            report_skipped(source.skipped, say)
            check_users(source, goal, say)
            charged = payment.reserve(say)  # from here on it is spent
            drawn = draw(planned, source, key=key, public=public, say=say)
        record = with_tables(record, drawn, name=payment.id, ledger=charged)
        release = Release(record=record, tables=drawn, on_written=payment.mark_written)
        if target is None:
            return release
        say(f"writing {target}")
        return replace(release, directory=release.write(target))


def _plan_to_execute(plan: Plan | Guarantee, kinds: Sequence[Kind], options: Options) -> Plan:
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


def _open_log(log: Log, planned: Plan, engine: Engine, period: Period | None, key: int) -> Source:
    """The entries of the period; without clicks where nothing is made of them: they take long."""
    kinds = planned.kinds()
    if not any("url" in kind.needs for kind in kinds):
        log = replace(log, columns=replace(log.columns, url=None))
    extra = [name for kind in kinds for name in kind.extra_columns()]
    return open_log(log, engine, extra, unit=planned.goal.unit, period=period, key=key)
