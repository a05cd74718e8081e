"""What release.json says of how a release was made: public parameters alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from zealous.counting.bound import Select
from zealous.logs.log import Columns, Log
from zealous.planning.part import figures
from zealous.planning.plan import PLANNER, Plan, also, theorem
from zealous.privacy.calibrate import as_float
from zealous.privacy.guarantee import Guarantee
from zealous.privacy.period import Period
from zealous.release.bundle import Table, file_names
from zealous.release.charging import OTHERS, UNTIMED, sessions
from zealous.release.schema import FORMAT
from zealous.version import VERSION

DECLARED = (
    "The file {name} (SHA-256 {sha256}) is public: of these people's data it holds at most what "
    "was released, and charged, before."
)


def provenance(
    planned: Plan, log: Log, *, select: Select, key: int, private: bool
) -> dict[str, Any]:
    """The promise, and everything that was fixed before the log was read."""
    goal, other = planned.goal, also(planned)
    return {
        "format": FORMAT,
        "software": {"name": "zealous", "version": VERSION},
        "created": datetime.now(UTC).date().isoformat(),
        "private": private,
        "guarantee": {
            **claim(goal, float, theorem(planned)),
            "exact": {"epsilon": str(goal.epsilon), "delta": str(goal.delta)},
        },
        "also_guaranteed": claim(other, as_float, other.theorem) if other else None,
        "selection_key": f"{key:016x}",
        "columns": log.columns.given(),
        "cleaning": cleaning(log),
        "planner": PLANNER,
        "plan": [
            {
                "kind": part.name(),
                "settings": part.kind.settings(),
                "select": select,
                **figures(part),
            }
            for part in planned.parts
        ],
    }


def cleaning(log: Log) -> dict[str, Any]:
    """Who was left out of a log, without telling whom."""
    return {
        "users_excluded_by_list": log.cleaning.exclude_users is not None,
        "max_entries_per_user": log.cleaning.max_entries_per_user,
        "limits": log.cleaning.limits.about(),
    }


def assumptions(
    goal: Guarantee,
    columns: Columns,
    period: Period | None,
    public: Iterable[Mapping[str, Any]] = (),
    *,
    others: bool,
) -> list[str]:
    """What the guarantee rests on: with what the publisher says and the program cannot see."""
    cut = sessions(goal, columns)
    said = [*goal.assumptions(), *([cut] if cut else [])]
    if period is not None and columns.time is None:
        said.append(UNTIMED.format(period))
    if others:
        said.append(OTHERS)
    said += [DECLARED.format(**file) for file in public]
    return said


def described(tables: Mapping[str, Table]) -> dict[str, Any]:
    """The files of each kind."""
    names = file_names(list(tables))
    return {
        kind: {
            "parquet": f"{names[kind]}.parquet",
            "csv": f"{names[kind]}.csv",
            "columns": [name for name in table.arrow.column_names if name != "count"],
            "rows": len(table),
        }
        for kind, table in tables.items()
    }


def claim(goal: Guarantee, number: Callable[[Fraction], float], proof: str) -> dict[str, Any]:
    """A guarantee for programs: what was asked as it was, what was computed rounded up."""
    return {
        "definition": goal.definition,
        "title": goal.title,
        "epsilon": number(goal.epsilon),
        "delta": number(goal.delta),
        "users": goal.users,
        "neighbors": goal.neighbors,
        "unit": goal.unit,
        "in_words": goal.in_words(),
        "theorem": proof,
    }
