"""Which mechanism serves best, judged by public facts alone."""

from __future__ import annotations

from collections.abc import Collection

from zealous.errors import UsageError, did_you_mean
from zealous.items import Kind
from zealous.mechanisms.protocol import MECHANISMS, CalibratedMechanism, public_input_name
from zealous.mechanisms.retired import RETIRED
from zealous.privacy.guarantee import Guarantee

__all__ = ["ASKED", "DEFAULT", "MECHANISMS", "choose_mechanism"]

ASKED = "it was asked for"
DEFAULT = "zealous"


def choose_mechanism(
    name: str | None,
    goal: Guarantee,
    kind: Kind,
    given: str | None,
    before: Collection[str] = (),
) -> tuple[type[CalibratedMechanism], str]:
    """A mechanism, and why it is that one; nothing here looks at a log.

    Args:
        name: Its name; `auto` to have it chosen; None for ZEALOUS, or for the one
            that the given file is for.
        goal: The guarantee.
        kind: What is published. Kinds that are made of other published kinds have a family of
            mechanisms of their own.
        given: What the public file that is given is for.
        before: The names of the kinds that are published before.
    """
    if MECHANISMS[kind.default_mechanism()].family is not None:
        return _mechanism_of_family(name, goal, kind, given)
    if name == "auto":
        return _best_mechanism(goal, kind, given, before=before)
    if name is None:
        name = DEFAULT if given is None else _first_with_input(given)
    if name not in MECHANISMS and name not in RETIRED:
        raise UsageError(
            f"mechanism must be auto or one of {', '.join(MECHANISMS)}"
            + did_you_mean(name, ["auto", *MECHANISMS])
        )
    found = MECHANISMS.get(name) or RETIRED[name]  # a retired one cannot be calibrated
    if found.family is not None:
        raise UsageError(f"the {name} mechanism is for what is made of other items alone")
    wanted = public_input_name(found)
    if wanted != given:
        raise UsageError(
            f"the {name} mechanism needs a public file: say --{wanted} FILE"
            if wanted
            else f"the {name} mechanism makes no use of --{given}: leave out one of the two"
        )
    return found, ASKED


def _first_with_input(given: str) -> str:
    """The mechanism that a public file is for, where none is named."""
    return next(each.name for each in MECHANISMS.values() if public_input_name(each) == given)


def _mechanism_of_family(
    name: str | None, goal: Guarantee, kind: Kind, given: str | None
) -> tuple[type[CalibratedMechanism], str]:
    """A mechanism for kinds that are made of other published kinds, all with the same default."""
    default = kind.default_mechanism()
    family = {name: each for name, each in MECHANISMS.items() if each.family == default}
    if given is not None:
        raise UsageError(f"--{given} does not serve items that are made of others: leave it out")
    if name in (None, "auto"):
        return _best_mechanism(goal, kind, given, family=default)
    if name not in family:
        raise UsageError(f"for what is made of other items use {' or '.join(family)}, or auto")
    return family[name], ASKED


def _best_mechanism(
    goal: Guarantee,
    kind: Kind,
    given: str | None,
    *,
    family: str | None = None,
    before: Collection[str] = (),
) -> tuple[type[CalibratedMechanism], str]:
    """The first that says so of itself, of those that use the given file and no other."""
    for each in MECHANISMS.values():
        if (public_input_name(each), each.family) != (given, family):
            continue
        if given is None and each.required_kind(kind) not in (None, *before):
            continue  # where a file is given, a message will name the kind that is missing
        why = each.best_for(goal, kind.items_per_user)
        if why is not None:
            return each, why
    raise UsageError(
        f"--{given} serves the indistinguishable guarantee alone: leave it out, or ask for "
        "--guarantee indistinguishable"
    )
