"""A plan, read back from release.json: the one place that makes values of what stands there.

What is read is a stranger's. Its shape was checked by `schema`, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zealous.counting.bound import check_select
from zealous.errors import ReleaseError, UsageError
from zealous.items import Kind, columns, named
from zealous.logs.sessions import check_unit
from zealous.mechanisms import Calibrated
from zealous.mechanisms.choose import MECHANISMS
from zealous.planning.declared import PublicFile
from zealous.planning.plan import Part, Plan, choose_mechanisms, plan_with_files
from zealous.privacy.guarantee import DEFINITIONS, Guarantee, exact

Record = Mapping[str, Any]
_ROUNDED = "a rounded number is not the one that the exact number gives"


def guarantee_from_record(claim: Record, definition: str) -> Guarantee:
    """What is claimed of a release or of one table, from its exact numbers.

    Raises:
        ReleaseError: The rounded numbers are others.
        UsageError: There is no such guarantee.
    """
    goal = DEFINITIONS[definition](
        epsilon=exact(claim["exact"]["epsilon"], "epsilon"),
        delta=exact(claim["exact"]["delta"], "delta"),
        users=claim["users"],
        neighbors=claim["neighbors"],
        unit=claim["unit"],
    )
    if (float(goal.epsilon), float(goal.delta)) != (claim["epsilon"], claim["delta"]):
        raise ReleaseError(_ROUNDED)
    return goal


def goal_from_record(about: Record) -> Guarantee:
    """The guarantee that the tables were made with: for a child, that of its first parent."""
    if not about["plan"]:
        raise ReleaseError("there is no plan")
    return guarantee_from_record(about["guarantee"], about["plan"][0]["guarantee"])


def mechanism_from_record(part: Record) -> Calibrated:
    """The mechanism of a table, with its parameters.

    Raises:
        ReleaseError: No such mechanism has these parameters.
    """
    try:
        mechanism = MECHANISMS[part["mechanism"]].again(part)
    except LookupError:
        raise ReleaseError("its parameters are not those of its mechanism") from None
    except UsageError as why:
        raise ReleaseError(str(why)) from None
    if (mechanism.noise, mechanism.tau, mechanism.tau_prime) != (
        part["noise"],
        part["tau"],
        part["tau_prime"],
    ):
        raise ReleaseError("its noise or thresholds are not those of its mechanism")
    if float(mechanism.scale) != part["scale"]:
        raise ReleaseError(_ROUNDED)
    if (mechanism.needs is None) != ("public" not in part):
        raise ReleaseError("it must name a public file exactly where its mechanism uses one")
    return mechanism


def kind_from_record(part: Record, item: Sequence[str]) -> Kind:
    """What a table counts.

    Args:
        part: A part of the plan.
        item: The columns of an item in its table.

    Raises:
        ReleaseError: There is no such kind, it has no such settings, or its items other columns.
    """
    m, settings = part["items_per_user"], part["settings"]
    try:
        if part["kind"].startswith("columns:"):  # a column's own name may hold a plus sign
            by = settings["by"]
            kind: Kind = columns(*(item[:-1] if by else item), items_per_user=m, by=by)
        else:
            kind = named(part["kind"], m, **settings)
    except UsageError as why:
        raise ReleaseError(f"this is no kind of items: {why}") from None
    if kind.name() != part["kind"] or not settings.items() <= kind.settings().items():
        raise ReleaseError("this is no kind of items, or not one with such settings")
    if list(kind.columns()) != list(item):
        raise ReleaseError("the columns are not those of such items")
    return kind


def plan_from_record(about: Record) -> Plan:
    """The plan that a release says it was made by, with the parameters that it states.

    Raises:
        ReleaseError: What it states is no plan.
    """
    goal, parts = goal_from_record(about), []
    for part in about["plan"]:
        try:
            kind = kind_from_record(part, about["files"][part["kind"]]["columns"])
            share = guarantee_from_record(part, part["guarantee"])
            mechanism = mechanism_from_record(part)
        except LookupError:
            raise ReleaseError("the plan and the tables do not name the same kinds") from None
        except (ReleaseError, UsageError) as why:
            raise ReleaseError(f"{part['kind']}: {why}") from None
        parts.append(
            Part(
                kind=kind,
                goal=share,
                mechanism=mechanism,
                delta=mechanism.delta(share),
                public=_public(part, mechanism),
            )
        )
    return Plan(goal=goal, parts=tuple(parts))


def check_possible(recorded: Plan, about: Record) -> None:
    """Refuse a plan that nobody could have made, whatever the parameters are.

    The rules are those of planning and of publishing: which mechanism serves which kind, what must
    be published before, and which columns a log must have.

    Raises:
        UsageError: It cannot be planned, or not for a log of such columns.
    """
    choose_mechanisms(
        recorded.goal,
        recorded.kinds(),
        mechanism=_mechanisms(recorded),
        public=recorded.public(),
    )
    roles = about["columns"]
    check_unit(recorded.goal.unit, roles)
    for made, part in zip(recorded.parts, about["plan"], strict=True):
        made.check(roles)
        check_select(part["select"], roles)
    if len({part["select"] for part in about["plan"]}) > 1:
        raise UsageError("select is one for all kinds of items")


def plan_again(recorded: Plan) -> Plan:
    """What this version plans for the same goal, kinds, shares, mechanisms and public files."""
    return plan_with_files(
        recorded.goal,
        recorded.kinds(),
        recorded.public(),
        split={part.name(): part.goal.epsilon for part in recorded.parts},
        accept_delta=True,
        mechanism=_mechanisms(recorded),
    )


def _mechanisms(recorded: Plan) -> dict[str, str]:
    return {part.name(): part.mechanism.name for part in recorded.parts}


def _public(part: Record, mechanism: Calibrated) -> PublicFile | None:
    if mechanism.needs is None:
        return None
    return PublicFile.from_record(part["public"], mechanism.needs)
