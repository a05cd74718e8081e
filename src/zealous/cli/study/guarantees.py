"""zealous study guarantees: what else a plan guarantees, and what given parameters satisfy."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from zealous.cli import terminal
from zealous.cli.help import JSON, command, options
from zealous.cli.option_values import whole_number
from zealous.cli.options import Given
from zealous.cli.options.described_plan import PLAN, plan_from
from zealous.cli.options.items import items_option
from zealous.cli.options.public_inputs import FILES
from zealous.cli.plan import plan_as_json, refuse_other_mechanisms
from zealous.errors import UsageError
from zealous.planning.part import guarantee_numbers
from zealous.planning.plan import Plan
from zealous.privacy.accounting.exact import ThresholdParameters, delta_curve
from zealous.privacy.accounting.several_accounts import guarantee_for_accounts
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.calibrate import satisfied_guarantees as guarantees_of
from zealous.privacy.guarantee import UNITS, exact_fraction, format_number
from zealous.privacy.promise import promise

_HELP = """Show what else a plan guarantees, or which guarantees given parameters satisfy.

Takes the options of `zealous plan`. Reads no data.

\b
Examples:
The smallest delta proven at smaller epsilons:
  zealous study guarantees --users 500k --items-per-user 2 --epsilon 1 \\
      --delta 0.001 --curve
The guarantee for a person with several ids in the log:
  zealous study guarantees --users 500k --items-per-user 2 --epsilon 1 \\
      --delta 0.001 --accounts-per-person 2
The guarantees that given parameters satisfy:
  zealous study guarantees --scale 5 --tau 1 --tau-prime 100 \\
      --items-per-user 5 --users 500k
"""


@command(help=_HELP)
@click.option("--curve", is_flag=True, help="The least delta that is proven at other epsilons.")
@click.option(
    "--accounts-per-person",
    type=int,
    metavar="G",
    help="Say what holds for a person with up to G ids of the log.",
)
@click.option("--scale", metavar="L", help="With --tau and --tau-prime: which guarantees hold?")
@click.option("--tau", type=int, metavar="T", help="The first threshold.")
@click.option("--tau-prime", type=int, metavar="T", help="The second threshold.")
@items_option("The kinds of items. If left out, the plan is for one table of any kind.")
@options(PLAN, FILES)
@JSON
def guarantees(items: str | None, as_json: bool, **given: Any) -> None:
    """Show what else a plan guarantees, or which guarantees given parameters satisfy."""
    if given["scale"] is not None or given["tau"] is not None or given["tau_prime"] is not None:
        _which_hold({**given, "items": items}, as_json)
        return
    if not given["curve"] and given["accounts_per_person"] is None:
        raise UsageError(
            "say what to show: --curve, --accounts-per-person, or --scale, --tau and --tau-prime"
        )
    planned = plan_from(items, given)
    refuse_other_mechanisms(planned, given, ("accounts_per_person", "curve"))
    person = None
    if given["accounts_per_person"] is not None:
        person = Person(planned, given["accounts_per_person"])
    curve = _curve(planned) if given["curve"] else []
    if as_json:
        terminal.as_json(
            {
                **plan_as_json(planned),
                **({"person": person.figures()} if person else {}),
                **({"curve": [_claim_at(*point) for point in curve]} if curve else {}),
            }
        )
        return
    terminal.echo(planned)
    if person:
        terminal.echo(f"\n{person.in_words()}")
    if curve:
        click.echo()
        rows = [(format_number(epsilon), _delta(delta)) for epsilon, delta in curve]
        terminal.table("The least delta proven at each epsilon", ["epsilon", "delta"], rows)


class Person:
    """What a plan promises to a person with several accounts."""

    def __init__(self, planned: Plan, accounts: int) -> None:
        self.accounts = accounts
        self.goal = planned.goal
        self.holds = guarantee_for_accounts(planned.goal, _thresholds(planned), accounts)

    def figures(self) -> dict[str, Any]:
        """For programs."""
        return {
            "up_to": self.accounts,
            "unit": self.goal.unit,
            "guarantee": guarantee_numbers(self.holds, float_rounded_up) if self.holds else None,
        }

    def in_words(self) -> str:
        """One paragraph."""
        whose = f"A person with up to {self.accounts} of the log's ids"
        if self.goal.unit != "user":
            whose = f"A user with up to {self.accounts} {self.goal.units()}"
        if self.holds is None:
            return (
                f"{whose}: no guarantee is proven. Together they could hold up an item that the "
                "thresholds take for one of several people."
            )
        return (
            f"{whose}: epsilon = {format_number(self.holds.epsilon)}, "
            f"delta = {format_number(self.holds.delta)}. "
            f"{promise(self.holds)} (--users bounds the {self.goal.units()} of all people.)"
        )


def _thresholds(planned: Plan) -> list[ThresholdParameters]:
    found = (part.mechanism.exact_parameters() for part in planned.parts)
    return [each for each in found if each is not None]


def _curve(planned: Plan) -> list[tuple[Fraction, Fraction]]:
    """From a tenth of the whole loss to all of it."""
    tenths = [planned.goal.epsilon * tenth / 10 for tenth in range(1, 11)]
    return delta_curve(planned.goal, _thresholds(planned), tenths)


def _claim_at(epsilon: Fraction, delta: Fraction) -> dict[str, float | None]:
    return {
        "epsilon": float_rounded_up(epsilon),
        "delta": float_rounded_up(delta) if delta < 1 else None,
    }


def _delta(delta: Fraction) -> str:
    return format_number(delta) if delta < 1 else "nothing is proven"


def _which_hold(given: Given, as_json: bool) -> None:
    if None in (given["scale"], given["tau"], given["tau_prime"]):
        raise UsageError("--scale, --tau and --tau-prime go together")
    for name in (
        "epsilon",
        "delta",
        "items",
        "curve",
        "accounts_per_person",
        "mechanism",
        "domain",
        "prior",
        "results",
        "tail",
    ):
        if given[name]:
            option = "--" + name.replace("_", "-")
            raise UsageError(f"--scale, --tau and --tau-prime do not go with {option}")
    hold = guarantees_of(
        scale=exact_fraction(given["scale"], "--scale"),
        tau=given["tau"],
        tau_prime=given["tau_prime"],
        items_per_user=whole_number(given["items_per_user"], "--items-per-user"),
        users=given["users"],
        unit=given["unit"],
    )
    if as_json:
        terminal.as_json(
            {"guarantees": [guarantee_numbers(goal, float_rounded_up) for goal in hold]}
        )
        return
    rows = [
        (goal.title, goal.neighbors, format_number(goal.epsilon), format_number(goal.delta))
        for goal in hold
    ]
    terminal.table(
        f"What these parameters satisfy, for {UNITS[given['unit']]}",
        ["guarantee", "neighbors", "epsilon", "delta"],
        rows,
    )
    if given["users"] is None:
        terminal.note("The probabilistic guarantee needs --users.")
    if not hold:
        terminal.note("Nothing: delta would be 1.")
