"""How much is protected, and whom: the guarantee."""

from __future__ import annotations

import sys
from fractions import Fraction

import click

from zealous.cli import show
from zealous.cli.help import options_of
from zealous.cli.options import Given
from zealous.cli.values import NUMBER
from zealous.errors import UsageError
from zealous.owner.draft import default_delta
from zealous.owner.start import USERS
from zealous.planning.parameter_source import PARAMETERS_FROM, UNSTATED
from zealous.privacy.guarantee import (
    DEFINITIONS,
    Guarantee,
    Indistinguishability,
    exact_fraction,
    format_number,
)
from zealous.privacy.levels import CONFIRMED, LEVELS, percent, suspicion_after

_option = options_of("Decide")

DEFINITION_HELP = (
    "What delta bounds: the chance that anybody at all is exposed (probabilistic), or what is "
    "added to each person's chances (indistinguishable)."
)
PRIVACY = _option(
    "--privacy",
    type=click.Choice(list(LEVELS)),
    help="An epsilon of 1, 2 or 4 by its name, instead of --epsilon.",
)
PARAMETERS = _option(
    "--parameters-from",
    type=click.Choice(list(PARAMETERS_FROM)),
    default=UNSTATED,
    metavar="SOURCE",
    show_default=True,
    help=f"How the parameters were chosen: {', '.join(PARAMETERS_FROM)}.",
)
GOAL = (
    PRIVACY,
    _option("--epsilon", metavar="E", help="How far anybody's odds may move: exp(E). Total."),
    _option("--delta", metavar="D",
            help="What epsilon does not cover. Total. [default with --privacy: as zealous start]"),
    _option("--users", type=NUMBER, metavar="U",
            help="A public upper bound on the number of users (or of other units)."),
    _option("--items-per-user", metavar="M",
            help="The most items of a user that count: 5, or keywords=20,queries=5. [default: by "
                 "kind]"),
    _option("--unit", type=click.Choice(["user", "user-day", "session"]), default="user",
            show_default=True, help="Whose data is protected as a whole."),
    _option("--guarantee", type=click.Choice(list(DEFINITIONS)), default="probabilistic",
            show_default=True, help=DEFINITION_HELP),
    _option("--neighbors", type=click.Choice(["replace", "add-remove"]), default="replace",
            show_default=True, help="Which two logs must be hard to tell apart."),
    _option("--accept-delta", is_flag=True,
            help="Confirm a per-person delta above 1/(10 x users)."),
    _option("--accept-epsilon", is_flag=True,
            help="Confirm an epsilon above 10, which protects little."),
    PARAMETERS,
)  # fmt: skip


def epsilon_from(given: Given) -> Fraction | None:
    """The total epsilon, by its number or by its name; None where neither is said."""
    privacy, epsilon = given["privacy"], given["epsilon"]
    if privacy and epsilon:
        raise UsageError("--privacy and --epsilon say the same: leave one of them out")
    if privacy:
        return LEVELS[privacy]
    return None if epsilon is None else exact_fraction(epsilon, "epsilon")


def confirm_epsilon(epsilon: Fraction, given: Given) -> None:
    """Have a very large epsilon confirmed: in a terminal it is asked, elsewhere told."""
    if epsilon <= CONFIRMED or given["accept_epsilon"]:
        return
    text = (
        f"epsilon = {format_number(epsilon)} protects little: a suspicion of 10 % can become one "
        f"of {percent(suspicion_after(epsilon))}."
    )
    if sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm(f"{text} Go on?", abort=True, err=True)
    else:
        show.note(f"zealous: warning: {text} Say --accept-epsilon if it is meant so")


def stated_delta(given: Given) -> str | None:
    """The total delta; if none is said, 0 over a public domain, the usual one with --privacy."""
    delta: str | None = given["delta"]
    if delta is None and given.get("domain"):
        return "0"  # a part that needs one says so
    if delta is None and given["privacy"]:
        return format_number(default_delta(given["guarantee"], given["users"] or USERS))
    return delta


def goal_from(given: Given) -> Guarantee:
    """The guarantee that GOAL options ask for."""
    epsilon, delta = epsilon_from(given), stated_delta(given)
    if epsilon is None or delta is None:
        raise UsageError("--epsilon and --delta are needed: how much to protect has no default")
    definition = DEFINITIONS[given["guarantee"]]
    if definition.needs_users and given["users"] is None and not exact_fraction(delta, "delta"):
        definition = Indistinguishability  # with delta = 0 both say the same, for any number
    return definition(
        epsilon=epsilon,
        delta=delta,
        users=given["users"],
        neighbors=given["neighbors"],
        unit=given["unit"],
    )
