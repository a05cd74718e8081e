"""What a plan in a file holds, key by key, in the order in which it is written.

As of release.json, these types are the format. The tables are those of a release, but for `select`,
which a plan says once.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, to_builtins

from zealous.privacy.guarantee import Definition, Neighbors, Unit
from zealous.privacy.units import Select
from zealous.record.codec import structure
from zealous.record.record import ColumnNames, LimitsRecord, PartRecord, Strict, Users

PLAN_FORMAT: Literal["zealous plan 1"] = "zealous plan 1"


class PlannedBy(Strict, frozen=True, kw_only=True):
    """What wrote the plan."""

    name: Literal["zealous"]
    version: Annotated[str, Meta(pattern=r"^[0-9A-Za-z.+-]{1,64}$")]


class GoalRecord(Strict, frozen=True, kw_only=True):
    """The guarantee of the whole release; its numbers as fractions."""

    guarantee: Definition
    epsilon: str
    delta: str
    users: Users | None
    neighbors: Neighbors
    unit: Unit


class CleaningRule(Strict, frozen=True, kw_only=True):
    """Who is left out, and the most that is looked at of anybody else."""

    users_excluded_by_list: bool
    max_entries_per_user: int | None
    limits: LimitsRecord


class LogRecord(Strict, frozen=True, kw_only=True):
    """How the log is to be read, and whose ledger is to be charged."""

    person: str
    columns: ColumnNames
    sql: str | None = None
    dataset: str | None = None
    people: str | None = None
    cleaning: CleaningRule


class PlanRecord(Strict, frozen=True, kw_only=True):
    """All that is approved.

    Attributes:
        in_words: The guarantee in words.
        both_deltas: The delta of it, and of the other guarantee.
        planner: The number of the planner that chose the parameters.
        parts: The tables.
    """

    format: Literal["zealous plan 1"]
    software: PlannedBy
    goal: GoalRecord
    in_words: str
    both_deltas: str
    assumptions: tuple[str, ...]
    log: LogRecord
    accept_delta: bool
    select: Select
    parameters_from: str
    advised_by: tuple[str, ...] | None = None  # of plans by the figures of these files
    planner: int
    parts: tuple[PartRecord, ...]


def plan_to_json(record: PlanRecord) -> dict[str, Any]:
    """What the file holds."""
    found: dict[str, Any] = to_builtins(record)
    for part in found["parts"]:
        del part["select"]
    return found


def plan_from_json(found: dict[str, Any]) -> PlanRecord:
    """The plan that a file holds.

    Raises:
        ReleaseError: It holds none; says where.
    """
    parts = found.get("parts")
    if isinstance(parts, list):
        select = found.get("select")
        parts = [{**each, "select": select} if isinstance(each, dict) else each for each in parts]
    return structure({**found, "parts": parts}, PlanRecord)
