"""One release of a series: drawn to the private folder, then put where releases are."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from zealous.errors import ReleaseError, UsageError
from zealous.files.places import place_of
from zealous.ledger import Ledger
from zealous.planning.declared import public_files
from zealous.planning.plan import Plan, plan_with_files
from zealous.privacy.period import Period
from zealous.release.bundle import Release, check_writable, read_release
from zealous.release.publish import publish
from zealous.release.request import Attendance
from zealous.series.drafts import DraftAccount, Drafts
from zealous.series.series import Series
from zealous.series.status import log_is_there

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class OneRelease:
    """What the release of one period is made of.

    Attributes:
        series: The series.
        period: The period.
        edition: 1, or more where it corrects what was published.
    """

    series: Series
    period: Period
    edition: int = 1

    @property
    def path(self) -> Path:
        """Where it belongs."""
        return self.series.release_path(self.period, self.edition)

    @property
    def id(self) -> str:
        """What the ledger calls it."""
        return self.series.release_id(self.period, self.edition)

    def publish(
        self, plan: Plan, ledger: Ledger, drafts: Drafts, say: Say, attendance: Attendance
    ) -> None:
        """Draw it, if no draft is there, and put it in place."""
        found = drafts.find(self.path.name, ledger)
        if found is None:
            if not log_is_there(self.series, self.period):
                raise UsageError(f"there is no log at {self.series.log_path(self.period)}")
            check_writable(place_of(self.path), [part.name() for part in plan.parts])
            say(f"publishing {self.path.name}")
            self._draw(plan, drafts, say, attendance)
            found = drafts.find(self.path.name, ledger)
            assert found is not None  # noqa: S101 - it was just drawn
        drafts.put_in_place(*found, self.path, ledger)

    def _draw(self, plan: Plan, drafts: Drafts, say: Say, attendance: Attendance) -> None:
        series, before = self.series, release_before(self.series, self.period)
        publish(
            series.read_log(self.period, plan),
            with_prior(plan, before) if series.prior and before else plan,
            account=DraftAccount(
                ledger=series.ledger,
                id=self.id,
                approval=None if series.approval is None else _read_text(series.approval),
                again=self.edition > 1,
                draft=drafts.id_of(self.path.name),
            ),
            period=self.period,
            output=drafts.new_draft(self.path.name),
            publisher=series.publisher,
            attendance=attendance,
            selection_key=series_key(series),
            say=say,
        )


def series_key(series: Series) -> str | None:
    """The selection key of the series, which all its releases have; None before the first."""
    found = (_read_latest(series, each) for each in _periods_with_release(series))
    return next((each.record.selection_key for each in found if each is not None), None)


def release_before(series: Series, period: Period) -> Release | None:
    """The latest release of an earlier period that can be read, in its last edition."""
    earlier = itertools.takewhile(lambda each: each.end <= period.first, series.periods())
    found = (_read_latest(series, each) for each in reversed([*earlier]))
    return next((each for each in found if each is not None), None)


def with_prior(plan: Plan, before: Release) -> Plan:
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
        mechanism={kind: name for kind, name in plan.mechanisms().items() if kind not in known},
        split={part.name(): part.goal.epsilon for part in plan.parts},
    )
    return replace(plan, goal=made.goal, parts=made.parts, approved_file=None)


def _periods_with_release(series: Series) -> list[Period]:
    """All that have a release, in order: a folder's name is that of its period."""
    found = []
    for path in series.releases.glob("*/release.json"):
        with suppress(UsageError):
            found.append(series.period_named(path.parent.name))
    return sorted(found, key=lambda each: each.first)


def _read_latest(series: Series, period: Period) -> Release | None:
    edition = series.last_edition(period)
    if not edition:
        return None
    with suppress(ReleaseError):
        return read_release(series.release_path(period, edition))
    return None


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise UsageError(f"{path} holds no signature: make one with `zealous approve`") from None
