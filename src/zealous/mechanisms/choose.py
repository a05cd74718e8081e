"""Which mechanism serves best, judged by public facts alone."""

from __future__ import annotations

from collections.abc import Collection

from zealous.errors import UsageError, did_you_mean
from zealous.items import Kind
from zealous.mechanisms.protocol import MECHANISMS, CalibratedMechanism, PublicInput
from zealous.privacy.guarantee import Guarantee

__all__ = ["ASKED", "DEFAULT", "MECHANISMS", "choose_mechanism"]

ASKED = "it was asked for"
DEFAULT = "zealous"


def choose_mechanism(
    name: str | None,
    goal: Guarantee,
    items_per_user: int,
    given: PublicInput | None,
    default: str = DEFAULT,
    after: tuple[Kind, Collection[str]] | None = None,
) -> tuple[type[CalibratedMechanism], str]:
    """A mechanism, and why it is that one; nothing here looks at a log.

    Args:
        name: Its name; `auto` for the one that publishes most; None for ZEALOUS, or for the one
            that the given file is for.
        goal: The guarantee.
        items_per_user: m.
        given: Which public file is given.
        default: The kind's default mechanism. Kinds that are made of other published kinds have a
            family of mechanisms of their own.
        after: The kind, and the names of those that are published before it.
    """
    if MECHANISMS[default].only_for_default is not None:
        return _mechanism_of_family(name, goal, items_per_user, given, default)
    if name == "auto":
        return _best_mechanism(goal, items_per_user, given, after=after)
    if name is None:
        name = given or DEFAULT
    if name not in MECHANISMS:
        raise UsageError(
            f"mechanism must be auto or one of {', '.join(MECHANISMS)}"
            + did_you_mean(name, ["auto", *MECHANISMS])
        )
    found = MECHANISMS[name]
    if found.only_for_default is not None:
        raise UsageError(f"the {name} mechanism is for what is made of other items alone")
    if found.public_input != given:
        wanted, other = found.public_input, given
        raise UsageError(
            f"the {name} mechanism needs a public file: say --{wanted} FILE"
            if wanted
            else f"the {name} mechanism makes no use of --{other}: leave out one of the two"
        )
    return found, ASKED


def _mechanism_of_family(
    name: str | None, goal: Guarantee, items_per_user: int, given: PublicInput | None, default: str
) -> tuple[type[CalibratedMechanism], str]:
    """A mechanism for kinds that are made of other published kinds, all with the same default."""
    family = {name: each for name, each in MECHANISMS.items() if each.only_for_default == default}
    if given is not None:
        raise UsageError(f"--{given} does not serve items that are made of others: leave it out")
    if name in (None, "auto"):
        return _best_mechanism(goal, items_per_user, given, default)
    if name not in family:
        raise UsageError(f"for what is made of other items use {' or '.join(family)}, or auto")
    return family[name], ASKED


def _best_mechanism(
    goal: Guarantee,
    items_per_user: int,
    given: PublicInput | None,
    family: str | None = None,
    after: tuple[Kind, Collection[str]] | None = None,
) -> tuple[type[CalibratedMechanism], str]:
    """The first that says so of itself, of those that use the given file and no other."""
    for each in MECHANISMS.values():
        follows = each.requires_kind is not None and given is None
        if follows and (after is None or each.required_kind(after[0]) not in after[1]):
            continue  # what it follows is not published
        if (each.public_input, each.only_for_default) == (given, family):
            why = each.best_for(goal, items_per_user)
            if why is not None:
                return each, why
    raise UsageError(
        f"--{given} serves the indistinguishable guarantee alone: leave it out, or ask for "
        "--guarantee indistinguishable"
    )
