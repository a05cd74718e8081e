"""A plan in a file: what somebody approved, to be carried out exactly so or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zealous.errors import Refused, ReleaseError, UsageError, reason
from zealous.files.strict_json import parse
from zealous.items import Kind, kind_by_name
from zealous.mechanisms.protocol import MECHANISMS, public_input_name
from zealous.planning.declared import PublicFile
from zealous.planning.log_binding import LogBinding
from zealous.planning.part import part_record
from zealous.planning.plan import PLANNER, Plan, other_guarantee, plan_with_files
from zealous.privacy.guarantee import DEFINITIONS
from zealous.privacy.promise import both_deltas, promise
from zealous.record.plan_record import (
    PLAN_FORMAT,
    GoalRecord,
    PlannedBy,
    PlanRecord,
    plan_from_json,
    plan_to_json,
)
from zealous.record.record import PartRecord
from zealous.version import VERSION


def write_plan(planned: Plan, path: Path) -> str:
    """Write a plan to a new file; gives its SHA-256, which a release made by it will name."""
    _check_readable(planned)
    log = _named_log(planned)
    if log is None:
        raise UsageError("a plan to approve must say which column is the person: Plan.for_log")
    if planned.seed is not None:
        raise UsageError("a plan with a seed is for tests: nobody approves what is not private")
    stated = plan_to_json(_plan_record(planned, log))
    text = json.dumps(stated, indent=2, ensure_ascii=False) + "\n"
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise _there_already(path) from None
    except OSError as error:
        why = reason(error)
        raise UsageError(f"the plan cannot be written to {path}: {why}") from None
    return hashlib.sha256(text.encode()).hexdigest()


def check_new_plan(path: Path) -> None:
    """Nothing is ever overwritten."""
    if os.path.lexists(path):
        raise _there_already(path)


def _there_already(path: Path) -> UsageError:
    return UsageError(f"{path} exists already: name a file that does not")


def read_plan(path: str | Path) -> Plan:
    """Read a plan back, and refuse one that this version would carry out differently.

    A plan file does not say where its public files are: see `Plan.with_files`.

    Args:
        path: The file.
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"the plan {path} cannot be read: {reason(error)}") from None
    try:
        found = parse(raw.decode())
    except (ValueError, RecursionError):
        raise UsageError(f"{path} holds no plan: make one with `zealous plan -o`") from None
    if not isinstance(found, dict) or found.get("format") != PLAN_FORMAT:
        raise UsageError(f"{path} is not a plan that this version of zealous can read")
    try:
        planned = _plan_from(plan_from_json(found))
    except (ReleaseError, LookupError, ZeroDivisionError):
        raise UsageError(
            f"{path} is damaged, or was made by another version: make the plan again"
        ) from None
    if not _states_plan(found, planned):
        raise Refused(
            f"{path} does not say what this version of zealous would do: it was changed by hand or "
            "made by another version. Plan again and have it approved"
        )
    return replace(planned, approved_file=raw)


def check_approved(planned: Plan) -> None:
    """Refuse a plan that is not the one of the file that it names as approved.

    Raises:
        Refused: Somebody changed it since `read_plan`.
    """
    if planned.approved_file is None:
        return
    try:
        found = parse(planned.approved_file.decode())
    except (ValueError, RecursionError):
        found = None
    if planned.seed is not None or not _states_plan(found, planned):
        raise Refused("this is not the plan that was approved: read the approved file again")


def _check_readable(planned: Plan) -> None:
    """Refuse a plan that a file cannot hold: it must be the same one when it is read back.

    Two columns A and B have the same name as one column A+B, and a plan without --items has none.
    """
    try:
        known = _kinds_from(_part_records(planned)) == planned.kinds()
    except UsageError:
        known = False
    if not known:
        raise UsageError(
            "a plan to approve must say what is published: name the --items, of columns without a "
            "plus sign in their names"
        )


def _states_plan(found: Any, planned: Plan) -> bool:
    """Whether a file holds this plan, whichever version wrote it."""
    log = _named_log(planned)
    if not isinstance(found, dict) or log is None:
        return False
    stated = {**plan_to_json(_plan_record(planned, log)), "software": found.get("software")}
    # As text, in which 1, 1.0 and true are not the same.
    return json.dumps(stated, sort_keys=True) == json.dumps(found, sort_keys=True)


def _named_log(planned: Plan) -> LogBinding | None:
    """How the log of a plan is read, where it says which column is the person."""
    return planned.log if planned.log and planned.log.columns.user is not None else None


def _plan_record(planned: Plan, log: LogBinding) -> PlanRecord:
    goal = planned.goal
    return PlanRecord(
        format=PLAN_FORMAT,
        software=PlannedBy(name="zealous", version=VERSION),
        goal=GoalRecord(
            guarantee=goal.definition,
            epsilon=str(goal.epsilon),
            delta=str(goal.delta),
            users=goal.users,
            neighbors=goal.neighbors,
            unit=goal.unit,
        ),
        in_words=promise(goal),
        both_deltas=both_deltas(goal, other_guarantee(planned)),
        assumptions=tuple(planned.assumptions()),
        log=log.as_record(),
        accept_delta=planned.accept_delta,
        select=planned.select,
        parameters_from=planned.parameters_from,
        advised_by=planned.advised_by or None,
        planner=PLANNER,
        parts=_part_records(planned),
    )


def _part_records(planned: Plan) -> tuple[PartRecord, ...]:
    return tuple(part_record(part, planned.select) for part in planned.parts)


def _plan_from(record: PlanRecord) -> Plan:
    wanted, parts = record.goal, record.parts
    goal = DEFINITIONS[wanted.guarantee](
        epsilon=wanted.epsilon,
        delta=wanted.delta,
        users=wanted.users,
        neighbors=wanted.neighbors,
        unit=wanted.unit,
    )
    planned = plan_with_files(
        goal,
        _kinds_from(parts),
        _public(parts),
        split={part.kind: part.exact.epsilon for part in parts},
        accept_delta=record.accept_delta,
        mechanism={part.kind: part.mechanism for part in parts},
    )
    return replace(
        planned,
        select=record.select,
        parameters_from=record.parameters_from,
        log=LogBinding.from_record(record.log),
        advised_by=record.advised_by or (),
    )


def _kinds_from(parts: Sequence[PartRecord]) -> list[Kind]:
    return [kind_by_name(part.kind, part.items_per_user, part.settings) for part in parts]


def _public(parts: Sequence[PartRecord]) -> dict[str, PublicFile]:
    """The public files that a plan names, by kind.

    Raises:
        LookupError: There is no such mechanism, or its file is missing.
    """
    found: dict[str, PublicFile] = {}
    for part in parts:
        used = public_input_name(MECHANISMS[part.mechanism])
        if used is not None:
            if part.public is None:
                raise LookupError(part.kind)
            found[part.kind] = PublicFile.from_record(part.public, used)
    return found
