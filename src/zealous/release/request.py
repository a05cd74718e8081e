"""What somebody asks to be published: the value that every step of a run is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from zealous.files.places import Place
from zealous.logs.log import Log
from zealous.planning.plan import Plan
from zealous.privacy.period import Period

Attendance = Literal["attended", "proceed", "unattended"]
"""Whether doubts stop a run: all of them, none, or those alone that do not look at the data."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A plan, and the log that it is executed on.

    Attributes:
        plan: What is published, and how; bound to the log.
        log: What it is published from.
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
