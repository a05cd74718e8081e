"""What a release promises, computed anew from its parameters and compared with what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from zealous.account import OTHERS
from zealous.bound import check_select
from zealous.calibrate import as_float
from zealous.errors import UsageError
from zealous.guarantee import DEFINITIONS, Guarantee, Indistinguishability, exact
from zealous.handout import FILTERED
from zealous.items import Kind, Unnamed, columns, named
from zealous.log import Columns
from zealous.mechanism import Calibrated
from zealous.mechanism.choose import MECHANISMS
from zealous.period import Period
from zealous.plan import COMPOSITION, Part, Plan, also, figures, theorem
from zealous.provenance import assumptions as assumed
from zealous.provenance import claim as as_stated
from zealous.release import file_names, papers

About = Mapping[str, Any]


class Failed(Exception):
    """A check that did not pass, with what was found."""


def claimed(claim: About, definition: str) -> Guarantee:
    """What is claimed as a value, from its exact numbers."""
    goal = DEFINITIONS[definition](
        epsilon=exact(claim["exact"]["epsilon"], "epsilon"),
        delta=exact(claim["exact"]["delta"], "delta"),
        users=claim["users"],
        neighbors=claim["neighbors"],
        unit=claim["unit"],
    )
    if (float(goal.epsilon), float(goal.delta)) != (claim["epsilon"], claim["delta"]):
        raise Failed("a rounded number is not the one that the exact number gives")
    return goal


def drawn(about: About) -> Guarantee:
    """The guarantee that the tables were made with: for a child, that of its first parent."""
    return claimed(about["guarantee"], about["plan"][0]["guarantee"])


# Numbers


def check_numbers(about: About) -> str:
    """Compute from each part's parameters what they give, and compare with what is claimed."""
    claim = about["guarantee"]
    goal = claimed(claim, claim["definition"])
    if about["review"] is not None and not isinstance(goal, Indistinguishability):
        raise Failed("a filtered child keeps indistinguishability alone, and claims more")
    if not about["plan"]:
        raise Failed("there is no plan")
    epsilon = delta = Fraction(0)
    for part in about["plan"]:
        try:
            share = _part(part, about)
        except Failed as why:
            raise Failed(f"{part['kind']}: {why}") from None
        epsilon, delta = epsilon + share.epsilon, delta + share.delta
    if epsilon > goal.epsilon or delta > goal.delta:
        raise Failed("the shares of the tables add up to more than the total")
    if about["also_guaranteed"] is not None:
        _also(about)
    return (
        f"epsilon = {claim['epsilon']:g} and delta = {claim['delta']:g} follow from the parameters "
        f"of {len(about['plan'])} table(s)"
    )


def _part(part: About, about: About) -> Guarantee:
    """The share of one table; fails where its parameters do not give it."""
    claim = about["guarantee"]
    if any(part[name] != claim[name] for name in ("neighbors", "unit", "users")):
        raise Failed("neighbours, unit or users are not those of the whole release")
    first = about["plan"][0]["guarantee"]
    if part["guarantee"] != (claim["definition"] if about["review"] is None else first):
        raise Failed("its guarantee is another than that of the whole release")
    share, scale = claimed(part, part["guarantee"]), exact(part["exact"]["scale"], "scale")
    if float(scale) != part["scale"]:
        raise Failed("a rounded number is not the one that the exact number gives")
    mechanism = _mechanism(part)
    given = mechanism.delta(share)
    if given > share.delta:
        raise Failed("its epsilon or delta is smaller than what its parameters give")
    if Fraction(part["delta_achieved"]) < given:
        raise Failed("the delta that it says to achieve is too small")
    return share


def _mechanism(part: About) -> Calibrated:
    """The mechanism of a table, made anew from its parameters."""
    try:
        mechanism = MECHANISMS[part["mechanism"]].again(part)
    except LookupError:
        raise Failed("its parameters are not those of its mechanism") from None
    except UsageError as why:
        raise Failed(str(why)) from None
    if (mechanism.noise, mechanism.tau, mechanism.tau_prime) != (
        part["noise"], part["tau"], part["tau_prime"],
    ):  # fmt: skip
        raise Failed("its noise or thresholds are not those of its mechanism")
    if (mechanism.needs is None) != ("public" not in part):
        raise Failed("it must name a public file exactly where its mechanism uses one")
    return mechanism


def _also(about: About) -> None:
    other = about["also_guaranteed"]
    if about["review"] is not None and other["definition"] != Indistinguishability.definition:
        raise Failed("a filtered child keeps indistinguishability alone, and claims more")
    parts = [_of_any_kind(part) for part in about["plan"]]
    given = also(Plan(goal=drawn(about), parts=tuple(parts)))
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
    goal = claimed(claim, claim["definition"])
    planned = _planned(about)
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
        drawn(about),
        Columns(**about["columns"]),
        Period.parse(about["period"]) if about["period"] is not None else None,
        [part["public"] for part in about["plan"] if "public" in part],
        others=about["ledger"]["tracked"] and OTHERS in about["assumptions"],
    )
    return said if about["review"] is None else [*said, FILTERED]


def also_stated(about: About, planned: Plan | None = None) -> dict[str, Any] | None:
    """What else the parameters give, as release.json states it; of a child, what is left of it."""
    other = also(planned or _planned(about))
    if other is None or (
        about["review"] is not None and not isinstance(other, Indistinguishability)
    ):
        return None
    return stated(other, about, as_float, other.theorem)


def _planned(about: About) -> Plan:
    parts = [_again(part, about["files"][part["kind"]]["columns"]) for part in about["plan"]]
    return Plan(goal=drawn(about), parts=tuple(parts))


def _again(part: About, item: Sequence[str]) -> Part:
    """A part of the plan, made anew from its parameters."""
    m, settings = part["items_per_user"], part["settings"]
    try:
        if part["kind"].startswith("columns:"):  # a column's own name may hold a plus sign
            by = settings["by"]
            kind: Kind = columns(*(item[:-1] if by else item), items_per_user=m, by=by)
        else:
            kind = named(part["kind"], m, **settings)
    except UsageError:
        raise Failed(
            f"{part['kind']}: this is no kind of items, or not one with such settings"
        ) from None
    return replace(_of_any_kind(part), kind=kind)


def _of_any_kind(part: About) -> Part:
    """A part of the plan, apart from what its items are."""
    goal, mechanism = claimed(part, part["guarantee"]), _mechanism(part)
    return Part(
        kind=Unnamed(items_per_user=part["items_per_user"]),
        goal=goal,
        mechanism=mechanism,
        delta=mechanism.delta(goal),
        public=part.get("public"),
    )


def _check_figures(planned: Plan, about: About) -> None:
    """Every figure of the plan follows from its parameters; items are those of the columns."""
    names = file_names([part.name() for part in planned.parts])
    for again, part in zip(planned.parts, about["plan"], strict=True):
        kind, files = again.kind, about["files"][part["kind"]]
        figured = {"kind": kind.name(), "settings": kind.settings(), "select": part["select"]}
        if {**figured, **figures(again)} != part:
            raise Failed(f"{part['kind']}: settings or figures are not those of its parameters")
        name = names[part["kind"]]
        if (files["parquet"], files["csv"], files["columns"]) != (
            f"{name}.parquet", f"{name}.csv", list(kind.columns()),
        ):  # fmt: skip
            raise Failed(f"{part['kind']}: files or columns are not those of such items")
        try:
            kind.check(about["columns"])
            check_select(part["select"], about["columns"])
        except UsageError:
            raise Failed(f"{part['kind']}: the log's columns do not give such items") from None
