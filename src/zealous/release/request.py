"""What somebody asks to be published: the value that every step of a run is given.

Guarantee:
    The plan that is executed is the one that was checked, and what was approved. The selection key
    is drawn before the log is read.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from zealous.errors import UsageError
from zealous.files.places import Place, place_of
from zealous.items import Kinds
from zealous.logs.log import Log
from zealous.planning.plan import Options, Plan
from zealous.planning.plan import plan as make_plan
from zealous.planning.plan_file import check_approved
from zealous.privacy.guarantee import Guarantee
from zealous.privacy.period import Period

Attendance = Literal["attended", "proceed", "unattended"]
"""Whether doubts stop a run: all of them, none, or those alone that do not look at the data."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A plan, and the log that it is executed on.

    Attributes:
        plan: What is published, and how; bound to the log.
        log: What it is published from, as the plan has it read.
        period: The days that it is about.
        output: Where it is to be written, if it is.
        key: The public key that chooses each user's items, drawn before the log is read.
        attendance: Whether doubts stop the run.
    """

    plan: Plan
    log: Log
    period: Period | None
    output: Place | None
    key: int
    attendance: Attendance

    @classmethod
    def of(
        cls,
        log: Log,
        plan: Plan,
        *,
        period: Period | str | None,
        output: str | Path | Place | None,
        attendance: Attendance,
        selection_key: str | None,
    ) -> Request:
        """What `publish` was asked, checked, with a selection key.

        A plan with a seed makes nothing private, so its runs stop for no doubt.
        """
        if not isinstance(log, Log):
            raise UsageError("a log is published once it is read: z.read_log(PATH)")
        bound, log = plan.bind(log)
        return cls(
            plan=bound,
            log=log,
            period=Period.parse(period) if isinstance(period, str) else period,
            output=None if output is None else place_of(output),
            key=_selection_key(bound, selection_key, drawn=secrets.randbits(64)),
            attendance=attendance if bound.seed is None else "proceed",
        )


def plan_to_execute(log: Log, plan: Plan | Guarantee, kinds: Kinds, options: Options) -> Plan:
    """The plan that is given, if it is a sound one, or a new one for a goal."""
    if not isinstance(plan, Plan):
        return make_plan(plan, kinds, log=log, **options)
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
