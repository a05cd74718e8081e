"""Publish what is due and missing, each period once, however often this is called.

Guarantee:
    A period that has its release is never drawn again. What was charged for one is gone on with
    after a kill: of all that is drawn for a charge one release leaves, and no other
    (docs/proofs/series.md).
    A run stops at a cap alone; a period whose log is missing, cannot be read or holds more people
    than the plan declares is named, and the others go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from zealous.errors import Refused, ReleaseError, UsageError, ZealousError, reason
from zealous.ledger import Caps, Ledger
from zealous.ledger.refusals import OverCap
from zealous.planning.plan import Plan
from zealous.privacy.period import Period
from zealous.release.bundle import Release
from zealous.release.request import Attendance
from zealous.series.changes import changes
from zealous.series.changes_files import write_changes
from zealous.series.drafts import Drafts, opened_drafts
from zealous.series.one_release import OneRelease, Say, release_before
from zealous.series.series import Series
from zealous.series.status import SeriesStatus, status

_KEYS = {
    "--all-in-period": "all_in_period = true",
    "--columns": "names",
    "--delimiter": "delimiter",
    "--encoding": "encoding",
    "--time-format": "time_format",
    "--format": "format",
    "--ledger FILE --reason TEXT": "ledger",
    "--ledger FILE": "ledger",
}


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
    series: Series,
    *,
    today: date | None = None,
    attendance: Attendance = "unattended",
    say: Say = lambda _: None,
) -> SeriesRun:
    """Publish what is due and missing, in the order of periods.

    Args:
        series: The series.
        today: The day in UTC; by the clock where not given. A clock that goes back delays
            releases, and repeats none.
        attendance: As for `publish`: somebody who attends is asked about a log that is probably
            read wrongly, before its period is charged.
        say: Receives progress.

    Raises:
        Refused: Another run is at work, or the ledger has not the cap that the series names.
    """
    plan = _checked_plan(series)
    with opened_drafts(series.ledger, series.name) as drafts:
        ledger = _ledger_of(series)
        day = today or datetime.now(UTC).date()
        _make_folder(series.releases)
        published: list[Period] = []
        failed: dict[Period, str] = {}
        for period in series.due_periods(day):
            release = OneRelease(series=series, period=period)
            if _is_released(release, ledger, drafts):
                continue
            try:
                release.publish(plan, ledger, drafts, say, attendance)
            except OverCap as error:
                failed[period] = _in_words_of_the_file(str(error))
                break  # later periods would be refused too
            except ZealousError as error:
                failed[period] = _in_words_of_the_file(str(error))
                continue
            published.append(period)
        for period in series.due_periods(day):
            _write_changes(series, period, say)
        return SeriesRun(
            published=tuple(published), failed=failed, status=status(series, today=day)
        )


def publish_again(
    series: Series,
    period: Period,
    *,
    attendance: Attendance = "unattended",
    say: Say = lambda _: None,
) -> Path:
    """Publish a corrected edition of a period, which is charged like any other release.

    A correction that was begun and killed is finished, and no other is begun.

    Returns:
        Where it is.

    Raises:
        Refused: The period has no release yet; or the ledger does not allow one more.
    """
    plan = _checked_plan(series)
    with opened_drafts(series.ledger, series.name) as drafts:
        ledger = _ledger_of(series)
        edition = 1
        while ledger.book().is_released(series.release_id(period, edition)):
            edition += 1
        if edition == 1:
            raise Refused(f"{period} has no release yet: `zealous series run` publishes it")
        made = OneRelease(series=series, period=period, edition=edition)
        if not _is_released(made, ledger, drafts):
            try:
                made.publish(plan, ledger, drafts, say, attendance)
            except Refused as error:
                raise Refused(_in_words_of_the_file(str(error))) from None
        _write_changes(series, period, say)
        return made.path


def _in_words_of_the_file(message: str) -> str:
    """A message that names keys of series.toml in place of the options of `publish`."""
    for option, key in _KEYS.items():
        message = message.replace(option, key)
    return message


def _is_released(release: OneRelease, ledger: Ledger, drafts: Drafts) -> bool:
    """Whether it is in place; marks it if only that was missing."""
    if ledger.settle(release.id, release.path) is None:
        return False
    drafts.discard(release.path.name)
    return True


def _checked_plan(series: Series) -> Plan:
    """The plan; refused where a later month could not be published by it."""
    plan = series.read_plan()
    if series.prior and any(part.mechanism.required_kind(part.kind) for part in plan.parts):
        raise UsageError(
            f"prior = true needs tables that stand by themselves, and {series.plan} has one that "
            "follows another: plan with --items-per-user, or leave prior out"
        )
    return plan


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


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written to: {reason(error)}") from None


def _write_changes(series: Series, period: Period, say: Say) -> None:
    """Beside each edition of a release what changed since the one before, if that can be told."""
    for edition in range(1, series.last_edition(period) + 1):
        target = series.changes_path(period, edition)
        if target.exists():
            continue
        before: Release | Path | None = release_before(series, period)
        if edition > 1:
            before = series.release_path(period, edition - 1)
        if before is None:
            continue
        try:
            write_changes(changes(before, series.release_path(period, edition)), target)
        except (ReleaseError, UsageError) as error:
            say(f"{target.name}: {error}")
