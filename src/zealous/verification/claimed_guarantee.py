"""What a release promises, computed anew from its parameters and compared with what it says."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from msgspec.structs import replace

from zealous.errors import UsageError
from zealous.logs.log import Columns
from zealous.planning.from_record import goal_from_record, guarantee_from_record
from zealous.planning.parameter_source import PARAMETERS_FROM
from zealous.planning.part import Part, part_record, part_select
from zealous.planning.plan import COMPOSITION, PLANNER, Plan, other_guarantee, theorem
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.guarantee import (
    ONE_EACH,
    ONLY_THIS,
    Guarantee,
    Indistinguishability,
    format_bound,
    person_in_words,
)
from zealous.privacy.period import Period
from zealous.privacy.units import unit_warning
from zealous.record.record import Claim, ExactClaim, PartRecord, Record
from zealous.release.assumptions import OTHERS, assumptions
from zealous.release.bundle import file_names, text_files
from zealous.release.provenance import claim_record, exact_claim
from zealous.release.text.readme import FILTERED
from zealous.version import VERSION

_PERSON_OF_0_1_0 = (
    "One user is one id of the log: a person with several ids is protected once per id."
)
_FIXED_OF_0_1_0 = (
    "The parameters, the kinds of items and the cleaning rules were fixed without looking at this "
    "log."
)
# Not compared with what another planner's version wrote: these may grow, or be told sharper.
_OF_ITS_VERSION = {"settings", "delta_achieved", "forecast"}


class CheckFailed(Exception):
    """A check that did not pass, with what was found."""


class Unchecked(Exception):
    """What cannot be judged here, and why."""


# The plan


def _check_select(recorded: Plan, record: Record) -> None:
    """Refuse several ways to choose items; 0.x wrote the plan's also for kinds that rank them."""
    for part, said in zip(recorded.parts, record.plan, strict=True):
        if said.select not in (recorded.select, part_select(part.kind, recorded.select)):
            raise UsageError("select is one for all kinds of items, but for those that rank them")


def check_plan(record: Record, *, by_parent: bool) -> str:
    """The plan is one that planning allows; for our planner also the one that it makes.

    Args:
        record: What the release says.
        by_parent: Whether a child is compared with its parent, whose plan it has.
    """
    recorded = Plan.from_record(record)
    try:
        recorded.check_possible(record.columns.assigned())
        _check_select(recorded, record)
    except UsageError as why:
        raise CheckFailed(f"this cannot be planned: {why}") from None
    possible = "each mechanism serves its kind of items, and what it makes use of comes before it"
    planner = record.planner_number()
    if planner < 1:
        raise CheckFailed("there is no planner of such a number")
    if planner != PLANNER:
        if record.software.version == VERSION and record.review is None:
            raise CheckFailed("this version of zealous plans by another planner")
        if record.software.version == VERSION and not by_parent:
            raise Unchecked(
                f"{possible}; its parent was planned by another planner, or so it says: compare "
                "with the parent (--parent DIR)"
            )
        return f"{possible}; chosen by another planner (number {planner}), so not planned again"
    try:
        again = recorded.plan_again()
    except UsageError as why:
        raise CheckFailed(f"this cannot be planned: {why}") from None
    if again.goal != recorded.goal:
        raise CheckFailed("planned again, the release has another epsilon or delta in total")
    for part, other in zip(recorded.parts, again.parts, strict=True):
        if part.goal != other.goal:
            raise CheckFailed(f"{part.name()}: planned again, it has another share of the budget")
        if part != other:
            raise CheckFailed(f"{part.name()}: planned again, it has other parameters")
    return f"{possible}; planned again, all parameters are the same"


# Numbers


def check_guarantee(record: Record) -> str:
    """Compute from each part's parameters what they give, and compare with what is claimed."""
    claim = record.guarantee
    goal = guarantee_from_record(claim, claim.definition)
    if record.is_filtered() and not isinstance(goal, Indistinguishability):
        raise CheckFailed("a filtered child keeps indistinguishability alone, and claims more")
    recorded = Plan.from_record(record)
    # A review may claim less than the plan gives, and never more.
    allowed = {record.plan[0].guarantee}
    if record.review is not None:
        allowed.add(Indistinguishability.definition)
    if claim.definition not in allowed:
        raise CheckFailed("its guarantee is another than that of its tables")
    for part, stated_part in zip(recorded.parts, record.plan, strict=True):
        try:
            _check_part(part, stated_part, record)
        except CheckFailed as why:
            raise CheckFailed(f"{part.name()}: {why}") from None
    of_delta = sum((part.goal.delta for part in recorded.parts), Fraction(0))
    if of_delta > goal.delta or recorded.delta_achieved > goal.delta:
        raise CheckFailed("composed or not, the shares of the tables add up to more than the total")
    if record.also_guaranteed is not None:
        _check_other_guarantee(recorded, record.also_guaranteed, record)
    return (
        f"epsilon = {float(format_bound(claim.epsilon, 6)):g} and "
        f"delta = {float(format_bound(claim.delta, 6)):g} follow from the parameters "
        f"of {len(record.plan)} table(s)"
        + "".join(f". {each}" for each in unit_warning(claim.unit)).removesuffix(".")
    )


def _check_part(part: Part, said: PartRecord, record: Record) -> None:
    """The share of one table is what its parameters give."""
    claim = record.guarantee
    if not _protect_same_people(said, claim):
        raise CheckFailed("neighbours, unit or users are not those of the whole release")
    if said.guarantee != record.plan[0].guarantee:
        raise CheckFailed("its guarantee is another than that of the whole release")
    if part.delta > part.goal.delta:
        raise CheckFailed("its epsilon or delta is smaller than what its parameters give")
    if Fraction(said.delta_achieved) < part.delta:
        raise CheckFailed("the delta that it says to achieve is too small")


def _check_other_guarantee(recorded: Plan, other: Claim, record: Record) -> None:
    given = other_guarantee(recorded)
    if record.is_filtered() and other.definition != Indistinguishability.definition:
        raise CheckFailed("a filtered child keeps indistinguishability alone, and claims more")
    if (
        given is None
        or not _protect_same_people(other, record.guarantee)
        or given.definition != other.definition
        or given.epsilon > Fraction(other.epsilon)
        or given.delta > Fraction(other.delta)
    ):
        raise CheckFailed("what is also guaranteed does not follow from the parameters")


def _protect_same_people(one: Claim | PartRecord, other: Claim) -> bool:
    """Whether both are about the same people."""
    return (one.neighbors, one.unit, one.users) == (other.neighbors, other.unit, other.users)


# Words, and figures that are computed for people to read


def check_stated(record: Record) -> None:
    """What release.json says in words is what its numbers say, if this version wrote it."""
    claim = record.guarantee
    goal = guarantee_from_record(claim, claim.definition)
    planned = Plan.from_record(record)
    if claim != stated_guarantee(goal, record, theorem(planned)):
        raise CheckFailed("the guarantee in words is not the one in numbers")
    if record.assumptions not in possible_assumptions(record):
        raise CheckFailed("the assumptions are not those of the guarantee and the columns")
    if record.also_guaranteed != stated_other_guarantee(record, planned):
        raise CheckFailed("what is also guaranteed is not said as it follows from the parameters")
    _check_figures(planned, record)


def check_texts(path: Path, record: Record) -> str:
    """What people read is what release.json says, if this build of the program wrote it."""
    for name, text in text_files(record).items():
        if (path / name).read_bytes() != text.encode():
            raise CheckFailed(f"{name} does not say what release.json says")
    return "figures, README, statement, registry entry and catalogues say what release.json says"


def stated_guarantee(goal: Guarantee, record: Record, proof: str) -> ExactClaim:
    """The guarantee of a release as it states it; of a child, with the proof of what is left."""
    return exact_claim(goal, COMPOSITION if record.is_filtered() else proof)


def stated_assumptions(record: Record) -> tuple[str, ...]:
    """What a release rests on, in order.

    That some people are in no other release is the publisher's word: it stands there, or not.
    """
    said = assumptions(
        goal_from_record(record),
        Columns(**record.columns.assigned()),
        Period.parse(record.period) if record.period is not None else None,
        [part.public for part in record.plan if part.public is not None],
        others=record.ledger is not None and OTHERS in record.assumptions,
        parameters_from=record.parameters_from,
        query=record.query,
    )
    return (*said, FILTERED) if record.is_filtered() else said


def possible_assumptions(record: Record) -> list[tuple[str, ...]]:
    """What a release may rest on, as this version says it; of a child, also in its parent's words.

    0.1.0 did not name the column of the person, and took the parameters to be fixed in any case.
    """
    said = stated_assumptions(record)
    if record.review is None or record.planner is not None:
        return [said]
    new = {
        f"{person_in_words(record.columns.user)} {ONE_EACH}": _PERSON_OF_0_1_0,
        ONLY_THIS: f"{_FIXED_OF_0_1_0}\n{ONLY_THIS}",
        PARAMETERS_FROM[record.parameters_from].assumption: "",
    }
    lines = "\n".join(new.get(each, each) for each in said)
    return [said, tuple(filter(None, lines.split("\n")))]


def stated_other_guarantee(record: Record, planned: Plan | None = None) -> Claim | None:
    """What else the parameters give, as release.json states it; of a child, what is left of it."""
    other = other_guarantee(planned or Plan.from_record(record))
    if other is None or (record.is_filtered() and not isinstance(other, Indistinguishability)):
        return None
    return claim_record(
        other, float_rounded_up, COMPOSITION if record.is_filtered() else other.theorem
    )


def _check_figures(planned: Plan, record: Record) -> None:
    """Every figure of the plan follows from its parameters, and files are called by their kind."""
    names = file_names([part.name() for part in planned.parts])
    for again, part in zip(planned.parts, record.plan, strict=True):
        files = record.files[part.kind]
        figured = part_record(again, part.select)
        if record.planner_number() != PLANNER:  # a child keeps what its parent's version computed
            kept = {name: getattr(part, name) for name in _OF_ITS_VERSION}
            figured = replace(figured, **kept)
        if figured != part:
            raise CheckFailed(f"{part.kind}: settings or figures are not those of its parameters")
        name = names[part.kind]
        if (files.parquet, files.csv) != (f"{name}.parquet", f"{name}.csv"):
            raise CheckFailed(f"{part.kind}: files are not called as those of such items")
