"""What was decided about a plan: approved or returned, by whom and when, in a file beside it.

Where the ledger names approvers their signature decides, and this only tells of it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

from zealous.errors import Refused, UsageError, reason
from zealous.ledger.budgets import check_label

_LARGEST = 10_000  # bytes


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One decision.

    Attributes:
        decision: What was decided.
        by: Who decided it.
        time: When, in UTC.
        sha256: Of the plan that was looked at.
        reason: Why it was returned.
    """

    decision: Literal["approved", "returned"]
    by: str
    time: str
    sha256: str
    reason: str | None = None


def plan_hash(plan: Path) -> str:
    """The SHA-256 of a plan's file."""
    return sha256(plan.read_bytes()).hexdigest()


def read_decision(plan: Path) -> Decision | None:
    """What was decided about a plan as it is now; None where that is open."""
    try:
        content = _file(plan).read_bytes()
        found = Decision(**json.loads(content)) if len(content) < _LARGEST else None
    except (OSError, ValueError, TypeError):
        return None
    return found if found is not None and found.sha256 == plan_hash(plan) else None


def write_decision(
    plan: Path,
    decision: Literal["approved", "returned"],
    *,
    seen: str,
    by: str,
    reason_given: str | None = None,
) -> None:
    """Record a decision; a plan is decided about once.

    Args:
        plan: Its file.
        decision: What was decided.
        seen: The SHA-256 of what the page showed.
        by: Who decides.
        reason_given: Why.

    Raises:
        Refused: The plan was changed since it was shown, or is decided about.
    """
    if plan_hash(plan) != seen:
        raise Refused("the plan was changed while you looked at it: read it again")
    made = Decision(
        decision=decision,
        by=check_label(by, "your name"),
        time=f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
        sha256=seen,
        reason=None if reason_given is None else check_label(reason_given, "the reason"),
    )
    try:
        with _file(plan).open("x", encoding="utf-8") as file:
            json.dump(asdict(made), file, indent=2)
    except FileExistsError:
        raise Refused("this plan was approved or returned before: write a new one") from None
    except OSError as error:
        raise UsageError(f"the decision cannot be written: {reason(error)}") from None


def _file(plan: Path) -> Path:
    return plan.with_name(f"{plan.name}.decision")
