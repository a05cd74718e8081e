"""The mechanisms by their names, and which one serves best, judged by public facts alone."""

from __future__ import annotations

from zealous.errors import UsageError
from zealous.mechanisms.domain import Domain
from zealous.mechanisms.gaussian import Gaussian
from zealous.mechanisms.laplace import Laplace
from zealous.mechanisms.listed import Listed
from zealous.mechanisms.of_keywords import OfKeywords
from zealous.mechanisms.of_smaller import OfSmaller, OfSmallerGaussian
from zealous.mechanisms.prior import Prior
from zealous.mechanisms.protocol import Calibrated, Needs
from zealous.mechanisms.results import Results
from zealous.mechanisms.rounds import Rounds, SetUnion, Sips
from zealous.mechanisms.selection import Selection
from zealous.mechanisms.zealous import Zealous
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP

ASKED = "it was asked for"
DEFAULT = Zealous.name
MECHANISMS: dict[str, type[Calibrated]] = {
    each.name: each
    for each in (
        Zealous,
        Laplace,
        Gaussian,
        Selection,
        SetUnion,
        Sips,
        Rounds,
        Prior,
        Domain,
        Results,
        OfKeywords,
        OfSmaller,
        OfSmallerGaussian,
        Listed,
    )
}


def choose(
    name: str | None,
    goal: Guarantee,
    items_per_user: int,
    given: Needs | None,
    usual: str = DEFAULT,
) -> tuple[type[Calibrated], str]:
    """A mechanism, and why it is that one; nothing here looks at a log.

    Args:
        name: Its name; `auto` for the one that publishes most; None for ZEALOUS, or for the one
            that the given file is for.
        goal: The guarantee.
        items_per_user: m.
        given: Which public file is given.
        usual: The mechanism that is usual for such items; it has a family of its own for those
            that are made of others.
    """
    if MECHANISMS[usual].family is not None:
        return _of_family(name, goal, items_per_user, given, usual)
    if name == "auto":
        return _best(goal, items_per_user, given)
    if name is None:
        name = given or DEFAULT
    if name not in MECHANISMS:
        raise UsageError(f"mechanism must be auto or one of {', '.join(MECHANISMS)}")
    found = MECHANISMS[name]
    if found.family is not None:
        raise UsageError(f"the {name} mechanism is for what is made of other items alone")
    if found.needs != given:
        wanted, other = found.needs, given
        raise UsageError(
            f"the {name} mechanism needs a public file: say --{wanted} FILE"
            if wanted
            else f"the {name} mechanism makes no use of --{other}: leave out one of the two"
        )
    return found, ASKED


def _of_family(
    name: str | None, goal: Guarantee, items_per_user: int, given: Needs | None, usual: str
) -> tuple[type[Calibrated], str]:
    family = {name: each for name, each in MECHANISMS.items() if each.family == usual}
    if given is not None:
        raise UsageError(f"--{given} does not serve items that are made of others: leave it out")
    if name not in (None, "auto"):
        if name not in family:
            raise UsageError(f"for what is made of other items use {' or '.join(family)}, or auto")
        return family[name], ASKED
    if usual == Listed.name:
        return Listed, "all there can be is known, so no threshold is needed, and no delta"
    if isinstance(goal, Indistinguishability) and not goal.pure and items_per_user > 1:
        return OfSmallerGaussian, "all there can be is known; for several items Gaussian noise"
    return OfSmaller, "all there can be is known, so no delta is needed"


def _best(
    goal: Guarantee, items_per_user: int, given: Needs | None
) -> tuple[type[Calibrated], str]:
    if given == "domain":
        return Domain, "with a public list of the items no threshold is needed, and no delta"
    if given == "results":
        return Results, "clicks are counted over a public list of documents, without a delta"
    if isinstance(goal, ProbabilisticDP):
        if given:
            raise UsageError(
                f"--{given} serves the indistinguishable guarantee alone: leave it out, or ask for "
                "--guarantee indistinguishable"
            )
        return Zealous, "no other gives the probabilistic guarantee without a public list"
    if given == "prior":
        return Prior, "what is known to be frequent steers which of their items people give"
    if items_per_user == 1:
        return Selection, "where one item of each user counts, it publishes most"
    return Rounds, "rounds that steer each other find the most items; their counts come after"
