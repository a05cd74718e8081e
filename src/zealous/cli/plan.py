"""zealous plan: the parameters of a release, without any data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from zealous.calibrate import as_float, guarantees
from zealous.cli import show
from zealous.cli.options import (
    GOAL,
    ITEMS,
    JSON,
    Given,
    goal_from,
    kinds_from,
    options,
    split_from,
    whole_number,
)
from zealous.errors import UsageError
from zealous.guarantee import exact
from zealous.items import Unnamed
from zealous.plan import Plan, claimed, figures, twelve
from zealous.plan import plan as make_plan

_HELP = """Choose the parameters of a release, without any data.

Prints the noise, the two thresholds and the delta they achieve, and what to expect: how many users
an item needs to appear, how far a count is off, what twelve such releases cost.

\b
Examples:
  zealous plan --users 500000 --items-per-user 2 --epsilon 1 --delta 0.001
  zealous plan --items queries,keywords --items-per-user queries=5,keywords=20 \\
      --users 500000 --epsilon 2 --delta 0.001
The other way round, which guarantees do given parameters satisfy?
  zealous plan --scale 5 --tau 1 --tau-prime 100 --items-per-user 5 --users 500000
"""


@click.command(help=_HELP)
@click.option("--items", metavar="KIND,..", help="The kinds of items; one of any kind if left out.")
@options(GOAL, ITEMS)
@click.option("--scale", metavar="L", help="With --tau and --tau-prime: which guarantees hold?")
@click.option("--tau", type=int)
@click.option("--tau-prime", type=int)
@JSON
def plan(items: str | None, as_json: bool, **given: Any) -> None:
    """Choose the parameters of a release, without any data."""
    if given["scale"] is not None or given["tau"] is not None or given["tau_prime"] is not None:
        _which_hold(given, as_json)
        return
    goal = goal_from(given)
    if items:
        kinds = kinds_from(items, given)
    else:
        most = whole_number(given["items_per_user"], "--items-per-user")
        kinds = [Unnamed(items_per_user=most)]
    planned = make_plan(goal, kinds, split=split_from(given), accept_delta=given["accept_delta"])
    if as_json:
        show.as_json(_object(planned))
    else:
        click.echo(planned)


def _object(planned: Plan) -> dict[str, Any]:
    """Totals; the numbers of the histogram where there is one; and each part."""
    goal = planned.goal
    parts = [{"kind": part.name(), **figures(part)} for part in planned.parts]
    epsilon, delta = twelve(goal)
    return {
        **(parts[0] if len(parts) == 1 else {}),
        **claimed(goal, float),
        "delta_achieved": as_float(sum((part.delta for part in planned.parts), Fraction(0))),
        "in_words": goal.in_words(),
        "assumptions": goal.assumptions(),
        "twelve_releases": {"epsilon": float(epsilon), "delta": float(delta)},
        "parts": parts,
    }


def _which_hold(given: Given, as_json: bool) -> None:
    if None in (given["scale"], given["tau"], given["tau_prime"]):
        raise UsageError("--scale, --tau and --tau-prime go together")
    if given["epsilon"] is not None or given["delta"] is not None:
        raise UsageError("give either --epsilon and --delta, or --scale, --tau and --tau-prime")
    hold = guarantees(
        scale=exact(given["scale"], "--scale"),
        tau=given["tau"],
        tau_prime=given["tau_prime"],
        items_per_user=whole_number(given["items_per_user"], "--items-per-user"),
        users=given["users"],
    )
    if as_json:
        show.as_json({"guarantees": [claimed(goal, as_float) for goal in hold]})
        return
    rows = [
        (goal.title, goal.neighbors, f"{as_float(goal.epsilon):.6g}", f"{as_float(goal.delta):.4g}")
        for goal in hold
    ]
    show.table(
        "What these parameters satisfy", ["guarantee", "neighbors", "epsilon", "delta"], rows
    )
    if given["users"] is None:
        show.note("The probabilistic guarantee needs --users.")
    if not hold:
        show.note("Nothing: delta would be 1.")
