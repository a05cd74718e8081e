"""How much is protected, and whom: the guarantee."""

from __future__ import annotations

import sys
from fractions import Fraction

import click

from zealous.cli import terminal
from zealous.cli.help import options_of
from zealous.cli.option_values import NUMBER
from zealous.cli.options import Given
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
from zealous.privacy.units import PRIVACY_UNITS

_option = options_of("Decide")
_LARGE_DELTA = Fraction(1, 10)  # as where one per person is refused: 1/(10 x users) for each

DEFINITION_HELP = (
    "What delta bounds: the probability that anybody at all is exposed (probabilistic), or for "
    "each person the probability that epsilon does not cover (indistinguishable)."
)
PRIVACY = _option(
    "--privacy",
    type=click.Choice(list(LEVELS)),
    help="A named epsilon, instead of --epsilon: strict is 1, moderate 2, permissive 4.",
)
PARAMETERS = _option(
    "--parameters-from",
    type=click.Choice(list(PARAMETERS_FROM)),
    default=UNSTATED,
    metavar="SOURCE",
    show_default=True,
    help=f"How the parameters were chosen, as the release will state it: "
    f"{', '.join(PARAMETERS_FROM)}.",
)
GOAL = (
    PRIVACY,
    _option("--epsilon", metavar="E",
            help="The privacy loss: odds about anybody change by at most a factor of exp(E). In "
            "total, over all kinds."),
    _option("--delta", metavar="D",
            help="The probability that epsilon does not cover, in total; see --guarantee. [default "
            "with --privacy: chosen from --users]"),
    _option("--users", type=NUMBER, metavar="U",
            help="An upper bound on the number of users (or other units, see --unit) that is "
            "public knowledge, and not counted in the log."),
    _option("--items-per-user", metavar="M",
            help="How many different items of each user count: 5, or keywords=20,queries=5. "
                 "[default: depends on the kind]"),
    _option("--unit", type=click.Choice(list(PRIVACY_UNITS)), default="user",
            show_default=True,
            help="What is protected: all data of a user, each day of a user, or each session. "
                 "Weak, since a person is not protected: each query of a user, or each keyword."),
    _option("--guarantee", type=click.Choice(list(DEFINITIONS)), default="probabilistic",
            show_default=True, help=DEFINITION_HELP),
    _option("--neighbors", type=click.Choice(["replace", "add-remove"]), default="replace",
            show_default=True,
            help="Which logs must be hard to tell apart: those that differ in all data of one user "
                 "(replace), or in whether a user is in the log at all (add-remove)."),
    _option("--accept-delta", is_flag=True,
            help="Accept a delta per person above 1/(10 x users)."),
    _option("--accept-epsilon", is_flag=True,
            help="Accept an epsilon above 10, which protects little."),
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
        terminal.note(f"zealous: warning: {text} Say --accept-epsilon if it is meant so")


def warn_of_delta(goal: Guarantee) -> None:
    """Tell of a delta with which somebody is likely to be exposed; one per person is refused."""
    if goal.delta_per_person or goal.delta <= _LARGE_DELTA:
        return
    terminal.note(
        f"zealous: warning: delta = {format_number(goal.delta)} protects little: the bound may "
        "fail somebody (usual: 0.001)"
    )


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
