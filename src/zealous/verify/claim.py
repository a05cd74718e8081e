"""What a release promises, computed anew from its parameters and compared with what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from zealous.errors import UsageError
from zealous.logs.log import Columns
from zealous.planning.from_record import goal_from_record, guarantee_from_record
from zealous.planning.part import Part, figures
from zealous.planning.plan import COMPOSITION, PLANNER, Plan, also, theorem
from zealous.privacy.calibrate import as_float
from zealous.privacy.guarantee import Guarantee, Indistinguishability
from zealous.privacy.period import Period
from zealous.release.bundle import file_names, papers
from zealous.release.charging import OTHERS
from zealous.release.provenance import assumptions as assumed
from zealous.release.provenance import claim as as_stated
from zealous.release.text.readme import FILTERED
from zealous.version import VERSION

About = Mapping[str, Any]
_OF_ITS_VERSION = {"settings", "delta_achieved", "forecast"}  # which may grow, or be told sharper


class Failed(Exception):
    """A check that did not pass, with what was found."""


class Unchecked(Exception):
    """What cannot be judged here, and why."""


# The plan


def check_plan(about: About) -> str:
    """The plan is one that planning allows; for our planner also the one that it makes."""
    recorded = Plan.from_record(about)
    try:
        recorded.check_possible(about["columns"])
        if any(part["select"] != recorded.select for part in about["plan"]):
            raise UsageError("select is one for all kinds of items")
    except UsageError as why:
        raise Failed(f"this cannot be planned: {why}") from None
    possible = "each mechanism serves its kind of items, and what it makes use of comes before it"
    planner = about.get("planner", 1)
    if planner < 1:
        raise Failed("there is no planner of such a number")
    if planner != PLANNER:
        if about["software"]["version"] == VERSION and about["review"] is None:
            raise Failed("this version of zealous plans by another planner")
        return f"{possible}; chosen by another planner (number {planner}), so not planned again"
    try:
        again = recorded.plan_again()
    except UsageError as why:
        raise Failed(f"this cannot be planned: {why}") from None
    if again.goal != recorded.goal:
        raise Failed("planned again, the release has another epsilon or delta in total")
    for part, other in zip(recorded.parts, again.parts, strict=True):
        if part.goal != other.goal:
            raise Failed(f"{part.name()}: planned again, it has another share of the budget")
        if part != other:
            raise Failed(f"{part.name()}: planned again, it has other parameters")
    return f"{possible}; planned again, all parameters are the same"


# Numbers


def check_numbers(about: About) -> str:
    """Compute from each part's parameters what they give, and compare with what is claimed."""
    claim = about["guarantee"]
    goal = guarantee_from_record(claim, claim["definition"])
    if about["review"] is not None and not isinstance(goal, Indistinguishability):
        raise Failed("a filtered child keeps indistinguishability alone, and claims more")
    recorded = Plan.from_record(about)
    for part, stated_part in zip(recorded.parts, about["plan"], strict=True):
        try:
            _check_part(part, stated_part, about)
        except Failed as why:
            raise Failed(f"{part.name()}: {why}") from None
    shares = [part.goal for part in recorded.parts]
    if (
        sum((share.epsilon for share in shares), Fraction(0)) > goal.epsilon
        or sum((share.delta for share in shares), Fraction(0)) > goal.delta
    ):
        raise Failed("the shares of the tables add up to more than the total")
    if about["also_guaranteed"] is not None:
        _check_also(recorded, about)
    return (
        f"epsilon = {claim['epsilon']:g} and delta = {claim['delta']:g} follow from the parameters "
        f"of {len(about['plan'])} table(s)"
    )


def _check_part(part: Part, said: About, about: About) -> None:
    """The share of one table is what its parameters give."""
    claim = about["guarantee"]
    if any(said[name] != claim[name] for name in ("neighbors", "unit", "users")):
        raise Failed("neighbours, unit or users are not those of the whole release")
    first = about["plan"][0]["guarantee"]
    if said["guarantee"] != (claim["definition"] if about["review"] is None else first):
        raise Failed("its guarantee is another than that of the whole release")
    if part.delta > part.goal.delta:
        raise Failed("its epsilon or delta is smaller than what its parameters give")
    if Fraction(said["delta_achieved"]) < part.delta:
        raise Failed("the delta that it says to achieve is too small")


def _check_also(recorded: Plan, about: About) -> None:
    other, given = about["also_guaranteed"], also(recorded)
    if about["review"] is not None and other["definition"] != Indistinguishability.definition:
        raise Failed("a filtered child keeps indistinguishability alone, and claims more")
    same = all(other[name] == about["guarantee"][name] for name in ("neighbors", "unit", "users"))
    if (
        given is None
        or not same
        or given.definition != other["definition"]
        or given.epsilon > Fraction(other["epsilon"])
        or given.delta > Fraction(other["delta"])
    ):
        raise Failed("what is also guaranteed does not follow from the parameters")


# Words, and figures that are computed for people to read


def check_words(path: Path, about: About) -> str:
    """What people read is what the numbers say; for a release that this version wrote."""
    claim = about["guarantee"]
    goal = guarantee_from_record(claim, claim["definition"])
    planned = Plan.from_record(about)
    said = {**stated(goal, about, float, theorem(planned)), "exact": claim["exact"]}
    if said != claim:
        raise Failed("the guarantee in words is not the one in numbers")
    if about["assumptions"] != assumptions(about):
        raise Failed("the assumptions are not those of the guarantee and the columns")
    if about["also_guaranteed"] != also_stated(about, planned):
        raise Failed("what is also guaranteed is not said as it follows from the parameters")
    _check_figures(planned, about)
    for name, text in papers(about).items():
        if (path / name).read_bytes() != text.encode():
            raise Failed(f"{name} does not say what release.json says")
    return "figures, README, statement and registry entry say what release.json says"


def stated(
    goal: Guarantee, about: About, number: Callable[[Fraction], float], proof: str
) -> dict[str, Any]:
    """A guarantee as release.json states it."""
    return as_stated(goal, number, proof if about["review"] is None else COMPOSITION)


def assumptions(about: About) -> list[str]:
    """What a release rests on, in order.

    That some people are in no other release is the publisher's word: it stands there, or not.
    """
    said = assumed(
        goal_from_record(about),
        Columns(**about["columns"]),
        Period.parse(about["period"]) if about["period"] is not None else None,
        [part["public"] for part in about["plan"] if "public" in part],
        others=about["ledger"]["tracked"] and OTHERS in about["assumptions"],
    )
    return said if about["review"] is None else [*said, FILTERED]


def also_stated(about: About, planned: Plan | None = None) -> dict[str, Any] | None:
    """What else the parameters give, as release.json states it; of a child, what is left of it."""
    other = also(planned or Plan.from_record(about))
    if other is None or (
        about["review"] is not None and not isinstance(other, Indistinguishability)
    ):
        return None
    return stated(other, about, as_float, other.theorem)


def _check_figures(planned: Plan, about: About) -> None:
    """Every figure of the plan follows from its parameters, and files are called by their kind."""
    names = file_names([part.name() for part in planned.parts])
    for again, part in zip(planned.parts, about["plan"], strict=True):
        kind, files = again.kind, about["files"][part["kind"]]
        figured = {"kind": kind.name(), "settings": kind.settings(), "select": part["select"]}
        figured |= figures(again)
        if about.get("planner", 1) != PLANNER:  # a child keeps what its parent's version computed
            compared = figured.keys() & part.keys() - _OF_ITS_VERSION
            differs = any(figured[name] != part[name] for name in compared)
        else:
            differs = figured != part
        if differs:
            raise Failed(f"{part['kind']}: settings or figures are not those of its parameters")
        name = names[part["kind"]]
        if (files["parquet"], files["csv"]) != (f"{name}.parquet", f"{name}.csv"):
            raise Failed(f"{part['kind']}: files are not called as those of such items")
