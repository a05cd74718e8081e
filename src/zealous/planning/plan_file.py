"""A plan in a file: what somebody approved, to be carried out exactly so or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, ValidationError, convert

from zealous.errors import Refused, UsageError, reason
from zealous.files.strict_json import parse
from zealous.items import Kind, kind_by_name
from zealous.mechanisms.protocol import MECHANISMS, public_input_name
from zealous.planning.declared import PublicFile
from zealous.planning.log_binding import LogBinding
from zealous.planning.part import figures
from zealous.planning.plan import PLANNER, Plan, other_guarantee, plan_with_files
from zealous.privacy.guarantee import DEFINITIONS
from zealous.privacy.promise import both_deltas, promise
from zealous.record.record import PublicFileRecord
from zealous.version import VERSION

FORMAT = "zealous plan 1"


class _Software(Struct, forbid_unknown_fields=True):
    name: Literal["zealous"]
    version: Annotated[str, Meta(pattern=r"^[0-9A-Za-z.+-]{1,64}$")]


class _Goal(Struct):
    users: int | None


class _Part(Struct):
    items_per_user: int


class _Cleaning(Struct):
    users_excluded_by_list: bool
    max_entries_per_user: int | None
    limits: dict[str, int]


class _LogBinding(Struct):
    columns: dict[str, str]
    cleaning: _Cleaning
    sql: str | None = None
    dataset: str | None = None
    people: str | None = None


class _Shape(Struct):
    """The types of what is taken from the file as it is, and so cannot differ from the plan."""

    software: _Software
    goal: _Goal
    parts: list[_Part]
    log: _LogBinding
    accept_delta: bool
    select: str
    parameters_from: str
    advised_by: list[str] = []


def write_plan(planned: Plan, path: Path) -> str:
    """Write a plan to a new file; gives its SHA-256, which a release made by it will name."""
    _check_readable(planned)
    if planned.log is None:
        raise UsageError("a plan to approve must say which column is the person: Plan.for_log")
    if planned.seed is not None:
        raise UsageError("a plan with a seed is for tests: nobody approves what is not private")
    text = json.dumps(_plan_object(planned), indent=2, ensure_ascii=False) + "\n"
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

    Where its public files are is not in it: see `Plan.with_files`.
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"the plan {path} cannot be read: {reason(error)}") from None
    try:
        found = parse(raw.decode())
    except (ValueError, RecursionError):
        raise UsageError(f"{path} holds no plan: make one with `zealous plan -o`") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise UsageError(f"{path} is not a plan that this version of zealous can read")
    try:
        convert(found, _Shape)
        planned = _plan_from(found)
    except (ValidationError, KeyError, TypeError, AttributeError, ZeroDivisionError):
        raise UsageError(f"{path} is damaged: make the plan again") from None
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
        known = _kinds_from(_plan_object(planned)["parts"]) == planned.kinds()
    except UsageError:
        known = False
    if not known:
        raise UsageError(
            "a plan to approve must say what is published: name the --items, of columns without a "
            "plus sign in their names"
        )


def _states_plan(found: Any, planned: Plan) -> bool:
    """Whether a file holds this plan, whichever version wrote it."""
    stated: dict[str, Any] = json.loads(json.dumps(_plan_object(planned)))
    if not isinstance(found, dict):
        return False
    stated["software"] = found.get("software")
    # As text, in which 1, 1.0 and true are not the same.
    return json.dumps(stated, sort_keys=True) == json.dumps(found, sort_keys=True)


def _plan_object(planned: Plan) -> dict[str, Any]:
    goal = planned.goal
    return {
        "format": FORMAT,
        "software": {"name": "zealous", "version": VERSION},
        "goal": {
            "guarantee": goal.definition,
            "epsilon": str(goal.epsilon),
            "delta": str(goal.delta),
            "users": goal.users,
            "neighbors": goal.neighbors,
            "unit": goal.unit,
        },
        "in_words": promise(goal),
        "both_deltas": both_deltas(goal, other_guarantee(planned)),
        "assumptions": planned.assumptions(),
        "log": planned.log.as_json() if planned.log else None,
        "accept_delta": planned.accept_delta,
        "select": planned.select,
        "parameters_from": planned.parameters_from,
        **({"advised_by": list(planned.advised_by)} if planned.advised_by else {}),
        "planner": PLANNER,
        "parts": [
            {"kind": part.name(), "settings": part.kind.settings(), **figures(part)}
            for part in planned.parts
        ],
    }


def _plan_from(found: Mapping[str, Any]) -> Plan:
    wanted = found["goal"]
    goal = DEFINITIONS[wanted["guarantee"]](
        epsilon=wanted["epsilon"],
        delta=wanted["delta"],
        users=wanted["users"],
        neighbors=wanted["neighbors"],
        unit=wanted["unit"],
    )
    parts: Sequence[Mapping[str, Any]] = found["parts"]
    planned = plan_with_files(
        goal,
        _kinds_from(parts),
        _public(parts),
        split={part["kind"]: part["exact"]["epsilon"] for part in parts},
        accept_delta=found["accept_delta"],
        mechanism={part["kind"]: part["mechanism"] for part in parts},
    )
    return replace(
        planned,
        select=found["select"],
        parameters_from=found["parameters_from"],
        log=LogBinding.from_json(found["log"]),
        advised_by=tuple(found.get("advised_by", ())),
    )


def _kinds_from(parts: Sequence[Mapping[str, Any]]) -> list[Kind]:
    return [kind_by_name(part["kind"], part["items_per_user"], part["settings"]) for part in parts]


def _public(parts: Sequence[Mapping[str, Any]]) -> dict[str, PublicFile]:
    """The public files that a plan names, by kind."""
    found: dict[str, PublicFile] = {}
    for part in parts:
        used = public_input_name(MECHANISMS[part["mechanism"]])
        if used is not None:
            found[part["kind"]] = PublicFile.from_record(
                convert(part["public"], PublicFileRecord), used
            )
    return found
