"""The composition: from a log to a release, top to bottom."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from zealous.counting.bound import Select
from zealous.engines.engine import Engine
from zealous.errors import Refused, UsageError
from zealous.files.places import Place
from zealous.items import Kind
from zealous.logs.log import Log
from zealous.logs.open_log import open_log
from zealous.planning.declared import Files, public_files
from zealous.planning.plan import PARAMETERS_FROM, covers_replaced, plan
from zealous.privacy.guarantee import Guarantee, Number
from zealous.privacy.period import Period
from zealous.release.bundle import Release, check_writable, read_release
from zealous.release.charging import UNTRACKED, Account, released, spending
from zealous.release.checks import check_log, check_same, check_users, rehearse
from zealous.release.drawing import draw
from zealous.release.progress import Say, saying_what_is_spent, tell_skipped, unfailing
from zealous.release.provenance import assumptions, described, provenance
from zealous.release.public_tables import public_tables

_BESIDE_THE_LOG = Account()


def publish(
    log: Log,
    goal: Guarantee,
    kinds: Sequence[Kind],
    *,
    select: Select = "random",
    split: Mapping[str, Number] | None = None,
    accept_delta: bool = False,
    parameters_from: str = "unstated",
    approved_plan: str | None = None,
    mechanism: str | Mapping[str, str] | None = None,
    domain: Files | None = None,
    prior: Files | None = None,
    results: Files | None = None,
    period: Period | str | None = None,
    all_in_period: bool = False,
    account: Account | None = _BESIDE_THE_LOG,
    output: Place | None = None,
    engine: Engine | None = None,
    seed: int | None = None,
    say: Say = lambda _: None,
) -> Release:
    """Publish the frequent items of a log.

    Guarantee:
        The release as a whole satisfies `goal`, under the assumptions that it lists. Everything
        in it is either a public parameter, fixed before the log is read, or the output of a
        mechanism. The budget is charged before any noise is drawn.

    Args:
        log: What to publish from.
        goal: The guarantee of the whole release, over all kinds.
        kinds: What to publish.
        select: How each user's items are chosen: `random`, `first` or `frequent`.
        split: Weights of the kinds in the budget; even where not given.
        accept_delta: Confirms a large per-person delta; see `plan`.
        parameters_from: How the parameters were chosen: `public-facts`, `earlier-release`,
            `synthetic-log`, `this-log` (which the guarantee does not cover) or `unstated`.
        approved_plan: The SHA-256 of the plan that was approved, for the release to name.
        mechanism: See `plan`.
        domain: A public file with the items of the only kind, or one for each of several kinds by
            their names: those are published, all of them, and no others.
        prior: Likewise a public file, an earlier release or a list with frequencies: what it has
            as frequent steers which of their items people give.
        results: A public file with the documents that a search shows for a query (`query`, `url`,
            perhaps `rank`): of the clicks for published queries, those on them are published.
        period: The days that the release is about, such as "2026-03"; entries of other days are
            left out.
        all_in_period: Declares, for a log without times, that all its entries are of the period.
        account: Which ledger is charged, and how; None for a release whose budget is not tracked.
        output: Where it will be written, so that what would hinder that is found before the
            budget is spent. A release of the account's id that is there already is returned.
        engine: Where to run; where the log is, or an embedded DuckDB, if not given.
        seed: Fixes noise and selection, for tests; such a release is marked as not private, and
            charged to nobody.
        say: Receives progress, for the owner's eyes. What it raises is ignored.
    """
    if parameters_from not in PARAMETERS_FROM:
        raise UsageError(f"parameters_from must be one of {', '.join(PARAMETERS_FROM)}")
    files = public_files(kinds, domain=domain, prior=prior, results=results)
    planned = plan(
        goal,
        kinds,
        split=split,
        accept_delta=accept_delta,
        mechanism=mechanism,
        public={name: (each.use, each.about()) for name, each in files.items()},
    )
    goal = planned.goal
    days = Period.parse(period) if isinstance(period, str) else period
    check_log(log, planned, select, days, all_in_period)
    key = secrets.randbits(64) if seed is None else seed  # drawn before the log is read
    about = {
        **provenance(planned, log, select=select, key=key, private=seed is None),
        "assumptions": assumptions(
            goal,
            log.columns,
            days,
            [part.public for part in planned.parts if part.public],
            others=account is not None and account.people is not None,
        ),
        "parameters_from": parameters_from,
        "period": str(days) if days else None,
        "approved_plan": approved_plan,
    }
    paying, say = None, unfailing(say)
    if account is not None and seed is None:
        made = released(account, log.paths, output)
        if made is not None:
            say(f"the release of this id was made before, in {made}: nothing is drawn again")
            return check_same(read_release(made), about)
        if not covers_replaced(planned):
            raise Refused(
                "with so large a delta an add-remove release may cost more than a ledger would "
                "charge where a history changes: lower --delta, or ask for --neighbors replace"
            )
        paying = spending(account, log, goal, days)
    if output is not None:
        check_writable(output, [part.name() for part in planned.parts])
    if output is not None or paying is not None:
        rehearse(planned, about, paying, output)
    tables = public_tables(planned, files, log, say)  # before the log is read, and before it costs
    with (
        saying_what_is_spent(paying.charged if paying else lambda: None, say),
        log.on(engine) as running,
    ):
        say("reading the log")
        extra = [name for kind in kinds for name in kind.extra()]
        source = open_log(_needed(log, kinds), running, extra, unit=goal.unit, period=days, key=key)
        tell_skipped(source.skipped, say)
        check_users(source, goal, say)
        charged = paying.reserve(say) if paying else UNTRACKED  # from here on it is spent
        drawn = draw(planned, source, select=select, key=key, public=tables, seed=seed, say=say)
        about |= {
            "id": paying.id if paying else _untracked_id(seed),
            "ledger": charged,
            "review": None,
            "files": described(drawn),
        }
        return Release(about=about, tables=drawn, written=paying.written if paying else None)


def publish_to(
    directory: Place, log: Log, goal: Guarantee, kinds: Sequence[Kind], **options: Any
) -> tuple[Release, Place]:
    """Publish into a new directory; what was made under the account's id is not made again.

    Args:
        directory: Must not exist yet.
        log: What to publish from.
        goal: The guarantee of the whole release.
        kinds: What to publish.
        options: As for `publish`.

    Returns:
        The release, and where it is.
    """
    release = publish(log, goal, kinds, output=directory, **options)
    if release.directory is not None:
        return release, release.directory
    say = unfailing(options.get("say", lambda _: None))
    with saying_what_is_spent(lambda: release.about["ledger"].get("entry"), say):
        say(f"writing {directory}")
        return release, release.write(directory)


def _needed(log: Log, kinds: Sequence[Kind]) -> Log:
    """The same without its clicks where nothing is made of them, which take long to look at."""
    if any("url" in kind.needs for kind in kinds):
        return log
    return replace(log, columns=replace(log.columns, url=None))


def _untracked_id(seed: int | None) -> str:
    return secrets.token_hex(8) if seed is None else f"seed-{seed}"
