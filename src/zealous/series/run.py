"""Publish what is due and missing, each period once, however often this is called.

Guarantee:
    A period that has its release is never drawn again. What was charged for one is gone on with
    after a kill: of all that is drawn for a charge one release leaves, and no other
    (docs/proofs/series.md).
    A run stops at a cap alone; a period whose log is missing, cannot be read or holds more people
    than the plan declares is named, and the others go on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path

from zealous.errors import Refused, ReleaseError, UsageError, ZealousError, reason
from zealous.files.places import place_of
from zealous.ledger import Caps, Ledger
from zealous.ledger.refusals import OverCap
from zealous.planning.declared import public_files
from zealous.planning.plan import Plan, plan_with_files
from zealous.privacy.period import Period
from zealous.release.bundle import Release, check_writable, read_release
from zealous.release.publish import publish
from zealous.series.changes import changes
from zealous.series.changes_files import write_changes
from zealous.series.drafts import DraftAccount, Drafts, opened_drafts
from zealous.series.series import Series
from zealous.series.status import SeriesStatus, log_is_there, status

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class SeriesRun:
    """What a run did.

    Attributes:
        published: The periods that have their release now.
        failed: Why others have none, by period.
        status: How the series stands after it.
    """

    published: tuple[Period, ...]
    failed: dict[Period, str]
    status: SeriesStatus


def run_series(
    series: Series, *, today: date | None = None, say: Say = lambda _: None
) -> SeriesRun:
    """Publish what is due and missing, in the order of periods.

    Args:
        series: The series.
        today: The day in UTC; by the clock where not given. A clock that goes back delays
            releases, and repeats none.
        say: Receives progress.

    Raises:
        Refused: Another run is at work, or the ledger has not the cap that the series names.
    """
    with opened_drafts(series.ledger, series.name) as drafts:
        plan, ledger = series.read_plan(), _ledger_of(series)
        day = today or datetime.now(UTC).date()
        _make_folder(series.releases)
        published: list[Period] = []
        failed: dict[Period, str] = {}
        for period in series.due(day):
            target = series.release_path(period)
            if ledger.settle(series.release_id(period), target) is not None:
                drafts.discard(target.name)
                continue
            try:
                _publish(series, plan, period, ledger, drafts, say)
            except OverCap as error:
                failed[period] = str(error)
                break  # later periods would be refused too
            except ZealousError as error:
                failed[period] = str(error)
                continue
            published.append(period)
        for period in series.due(day):
            _write_changes(series, period, say)
        return SeriesRun(
            published=tuple(published), failed=failed, status=status(series, today=day)
        )


def _ledger_of(series: Series) -> Ledger:
    """The series' ledger, made with its cap if there is none.

    A run that was killed in between left one without its cap, to which nothing is charged yet.
    """
    ledger = Ledger.open(series.ledger, create=True, dataset=series.name)
    book = ledger.book()
    if series.total is not None and not book.entries and not book.capped():
        ledger.set_caps(Caps(all=series.total))
    if series.total is not None and ledger.book().caps.all != series.total:
        raise Refused(
            f"the ledger {series.ledger} has another cap than [total] says: change one of them "
            f"(zealous ledger init {series.ledger} --cap-epsilon ... --cap-delta ... --reason ...)"
        )
    return ledger


def _publish(
    series: Series, plan: Plan, period: Period, ledger: Ledger, drafts: Drafts, say: Say
) -> None:
    """Draw a release to the private folder, if none is there, and put it where releases are."""
    target = series.release_path(period)
    found = drafts.find(target.name, ledger)
    if found is None:
        if not log_is_there(series, period):
            raise UsageError(f"there is no log at {series.log_path(period)}")
        check_writable(place_of(target), [part.name() for part in plan.parts])
        say(f"publishing {period}")
        _draw(series, plan, period, drafts, say)
        found = drafts.find(target.name, ledger)
        assert found is not None  # noqa: S101 - it was just drawn
    drafts.put_in_place(*found, target, ledger)


def _draw(series: Series, plan: Plan, period: Period, drafts: Drafts, say: Say) -> None:
    before = _release_before(series, period)
    approval = None if series.approval is None else _read_text(series.approval)
    publish(
        series.read_log(period, plan),
        _with_prior(plan, before) if series.prior and before else plan,
        account=DraftAccount(
            ledger=series.ledger,
            id=series.release_id(period),
            approval=approval,
            drafts=drafts,
        ),
        period=period,
        output=drafts.new_draft(series.release_path(period).name),
        publisher=series.publisher,
        attendance="unattended",
        selection_key=None if before is None else before.record.selection_key,
        say=say,
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written to: {reason(error)}") from None


def _release_before(series: Series, period: Period) -> Release | None:
    """The latest release of an earlier period that can be read."""
    earlier = itertools.takewhile(lambda each: each.end <= period.first, series.periods())
    for each in reversed([*earlier]):
        if (series.release_path(each) / "release.json").exists():
            with suppress(ReleaseError):
                return read_release(series.release_path(each))
    return None


def _with_prior(plan: Plan, before: Release) -> Plan:
    """The same goal and kinds, with what was frequent in the release before as known."""
    kinds = plan.kinds()
    known = {kind.name(): before.directory for kind in kinds if len(before.get(kind.name(), ()))}
    if not known:
        return plan
    files = {name: str(where) for name, where in known.items()}
    made = plan_with_files(
        plan.goal,
        kinds,
        public_files(kinds, prior=files),
        accept_delta=plan.accept_delta,
        mechanism={**plan.mechanisms(), **dict.fromkeys(known, "prior")},
        split={part.name(): part.goal.epsilon for part in plan.parts},
    )
    return replace(plan, goal=made.goal, parts=made.parts, approved_file=None)


def _write_changes(series: Series, period: Period, say: Say) -> None:
    """Beside a release what changed since the one before, if that can be told."""
    target, release = series.changes_path(period), series.release_path(period)
    if target.exists() or not (release / "release.json").exists():
        return
    before = _release_before(series, period)
    if before is None:
        return
    try:
        found = changes(before, release)
    except (ReleaseError, UsageError) as error:
        say(f"{period}: {error}")
        return
    write_changes(found, target)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise UsageError(f"{path} holds no signature: make one with `zealous approve`") from None
