"""Goals, kinds and mechanisms, read back from release.json; `Plan.from_record` puts them together.

What is read is a stranger's. Its types were checked when it was read, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import json

from zealous.errors import ReleaseError, UsageError
from zealous.items import Kind, kind_by_name
from zealous.mechanisms import CalibratedMechanism
from zealous.mechanisms.retired import recorded_class
from zealous.privacy.guarantee import DEFINITIONS, Guarantee, exact_fraction

if TYPE_CHECKING:
    from zealous.record.record import ExactClaim, PartRecord, Record

_OTHER_PARAMETERS = "its parameters are not those of its mechanism"
_OF_SOME_MECHANISMS = ("rounds", "longer", "parameters")
_ROUNDED = "a rounded number is not the one that the exact number gives"


def guarantee_from_record(claim: ExactClaim | PartRecord, definition: str) -> Guarantee:
    """What is claimed of a release or of one table, from its exact numbers.

    Raises:
        ReleaseError: The rounded numbers are others.
        UsageError: There is no such guarantee.
    """
    goal = DEFINITIONS[definition](
        epsilon=exact_fraction(claim.exact.epsilon, "epsilon"),
        delta=exact_fraction(claim.exact.delta, "delta"),
        users=claim.users,
        neighbors=claim.neighbors,
        unit=claim.unit,
    )
    if (float(goal.epsilon), float(goal.delta)) != (claim.epsilon, claim.delta):
        raise ReleaseError(_ROUNDED)
    return goal


def goal_from_record(record: Record) -> Guarantee:
    """The guarantee that the tables were made with: for a child, that of its first parent."""
    if not record.plan:
        raise ReleaseError("there is no plan")
    return guarantee_from_record(record.guarantee, record.plan[0].guarantee)


def mechanism_from_record(part: PartRecord) -> CalibratedMechanism:
    """The mechanism of a table, with its parameters.

    Raises:
        ReleaseError: No such mechanism has these parameters.
    """
    try:
        mechanism = recorded_class(part).from_record(part)
    except UsageError as why:
        raise ReleaseError(str(why)) from None
    except (LookupError, TypeError, ValueError):
        raise ReleaseError(_OTHER_PARAMETERS) from None
    if (mechanism.noise_law, mechanism.tau, mechanism.tau_prime) != (
        part.noise,
        part.tau,
        part.tau_prime,
    ):
        raise ReleaseError("its noise or thresholds are not those of its mechanism")
    said = {name: getattr(part, name) for name in _OF_SOME_MECHANISMS}
    said = {name: value for name, value in said.items() if value is not None}
    if json.encode(said, order="sorted") != json.encode(mechanism.parameters(), order="sorted"):
        raise ReleaseError(_OTHER_PARAMETERS)
    if float(mechanism.scale) != part.scale:
        raise ReleaseError(_ROUNDED)
    if (mechanism.public_input is None) != (part.public is None):
        raise ReleaseError("it must name a public file exactly where its mechanism uses one")
    return mechanism


def kind_of_table(part: PartRecord, record: Record) -> Kind:
    """What a table of a release counts; see `kind_from_record`."""
    return kind_from_record(part, record.files[part.kind].columns)


def kind_from_record(part: PartRecord, item: Sequence[str]) -> Kind:
    """What a table counts.

    Args:
        part: A part of the plan.
        item: The columns of an item in its table.

    Raises:
        ReleaseError: There is no such kind, it has no such settings, or its items other columns.
    """
    try:
        kind = kind_by_name(part.kind, part.items_per_user, part.settings, item)
    except UsageError as why:
        raise ReleaseError(f"this is no kind of items: {why}") from None
    if kind.name() != part.kind or not part.settings.items() <= kind.settings().items():
        raise ReleaseError("this is no kind of items, or not one with such settings")
    if list(kind.columns()) != list(item):
        raise ReleaseError("the columns are not those of such items")
    return kind
