"""A plan in a file: what somebody approved, to be carried out exactly so or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

from zealous.counting.bound import Select
from zealous.errors import Refused, UsageError, reason
from zealous.files.strict_json import parse
from zealous.items import Kind, named
from zealous.mechanisms.choose import MECHANISMS
from zealous.planning.declared import PublicFile
from zealous.planning.plan import PARAMETERS_FROM, PLANNER, Declared, Plan, figures, plan
from zealous.privacy.guarantee import DEFINITIONS
from zealous.version import VERSION

FORMAT = "zealous plan 1"


@dataclass(frozen=True, kw_only=True)
class Approved:
    """What a release will be made of, apart from the log.

    Attributes:
        planned: The goal, and each histogram with its parameters.
        accept_delta: Whether a large per-person delta was confirmed.
        select: How each user's items are chosen.
        parameters_from: How the parameters were chosen.
        sha256: Of the file, for the release to name; None before it is written.
    """

    planned: Plan
    accept_delta: bool = False
    select: Select = "random"
    parameters_from: str = "unstated"
    sha256: str | None = None

    def kinds(self) -> list[Kind]:
        """What will be published."""
        return [part.kind for part in self.planned.parts]

    def mechanisms(self) -> dict[str, str]:
        """How each kind will be published."""
        return {part.name(): part.mechanism.name for part in self.planned.parts}

    def check_files(self, files: Mapping[str, PublicFile]) -> None:
        """Refuse public files that are not those of the plan.

        Raises:
            UsageError: One is missing, is another, or is not in the plan.
        """
        planned = {part.name(): part.public for part in self.planned.parts if part.public}
        if {name: file.sha256 for name, file in files.items()} != {
            name: public["sha256"] for name, public in planned.items()
        }:
            names = ", ".join(f"{public['name']} for {kind}" for kind, public in planned.items())
            raise UsageError(
                "the public files are not those of the plan, by their SHA-256: give "
                f"{names or 'none'}"
            )

    def split(self) -> dict[str, Fraction]:
        """The share of each kind in the budget."""
        whole = self.planned.goal.epsilon
        return {part.name(): part.goal.epsilon / whole for part in self.planned.parts}


def write_plan(approved: Approved, path: Path) -> str:
    """Write a plan to a new file; gives its SHA-256, which a release made by it will name."""
    if approved.kinds() and approved.kinds()[0].label == "items":
        raise UsageError("a plan to approve must say what is published: name the --items")
    text = json.dumps(_object(approved), indent=2, ensure_ascii=False) + "\n"
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} exists already: name a file that does not") from None
    except OSError as error:
        why = reason(error)
        raise UsageError(f"the plan cannot be written to {path}: {why}") from None
    return hashlib.sha256(text.encode()).hexdigest()


def read_plan(path: Path) -> Approved:
    """Read a plan back, and refuse one that this version would carry out differently."""
    try:
        raw = path.read_bytes()
        found = parse(raw.decode())
    except (OSError, ValueError, RecursionError):
        raise UsageError(f"{path} holds no plan: make one with `zealous plan -o`") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise UsageError(f"{path} is not a plan that this version of zealous can read")
    try:
        approved = _from(found, hashlib.sha256(raw).hexdigest())
    except (KeyError, TypeError, AttributeError, ZeroDivisionError):
        raise UsageError(f"{path} is damaged: make the plan again") from None
    again = json.loads(json.dumps(_object(approved)))
    again["software"] = found.get("software")
    if again != found:
        raise Refused(
            f"{path} does not say what this version of zealous would do: it was changed by hand or "
            "made by another version. Plan again and have it approved"
        )
    return approved


def _object(approved: Approved) -> dict[str, Any]:
    goal = approved.planned.goal
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
        "in_words": goal.in_words(),
        "assumptions": goal.assumptions(),
        "accept_delta": approved.accept_delta,
        "select": approved.select,
        "parameters_from": approved.parameters_from,
        "planner": PLANNER,
        "parts": [
            {"kind": part.name(), "settings": part.kind.settings(), **figures(part)}
            for part in approved.planned.parts
        ],
    }


def _from(found: Mapping[str, Any], sha256: str) -> Approved:
    wanted = found["goal"]
    goal = DEFINITIONS[wanted["guarantee"]](
        epsilon=wanted["epsilon"],
        delta=wanted["delta"],
        users=wanted["users"],
        neighbors=wanted["neighbors"],
        unit=wanted["unit"],
    )
    parts: Sequence[Mapping[str, Any]] = found["parts"]
    kinds = [named(part["kind"], part["items_per_user"], **part["settings"]) for part in parts]
    split = {part["kind"]: part["exact"]["epsilon"] for part in parts}
    if found["select"] not in get_args(Select) or found["parameters_from"] not in PARAMETERS_FROM:
        raise KeyError
    return Approved(
        planned=plan(
            goal,
            kinds,
            split=split,
            accept_delta=found["accept_delta"],
            mechanism={part["kind"]: part["mechanism"] for part in parts},
            public=_public(parts),
        ),
        accept_delta=found["accept_delta"],
        select=found["select"],
        parameters_from=found["parameters_from"],
        sha256=sha256,
    )


def _public(parts: Sequence[Mapping[str, Any]]) -> dict[str, Declared]:
    """The public files that a plan names, by kind."""
    found: dict[str, Declared] = {}
    for part in parts:
        needs = MECHANISMS[part["mechanism"]].needs
        if needs is not None:
            found[part["kind"]] = (needs, part["public"])
    return found
