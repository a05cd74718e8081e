"""zealous plan: the parameters of a release, without any data."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from zealous.cli import show
from zealous.cli.options import (
    CHOICE,
    GOAL,
    ITEMS,
    JSON,
    LOG,
    MECHANISM,
    TAIL,
    Given,
    approved_from,
    log_from,
    options,
    whole_number,
)
from zealous.errors import UsageError
from zealous.logs.log import Log
from zealous.mechanisms import Zealous
from zealous.owner.advice import Advice
from zealous.owner.advise import advise
from zealous.planning.plan import Plan, claimed, figures, twelve
from zealous.planning.plan_file import Approved, write_plan
from zealous.privacy.accounting.accounts import for_accounts
from zealous.privacy.accounting.exact import delta_curve
from zealous.privacy.calibrate import as_float, guarantees
from zealous.privacy.guarantee import UNITS, exact, shown
from zealous.release.bundle import Release, read_release

_HELP = """Choose the parameters of a release, without any data.

Prints the noise, the two thresholds and the delta they achieve, and what to expect: how many users
an item needs to appear, how far a count is off, what twelve such releases cost.

\b
Examples:
  zealous plan --users 500000 --items-per-user 2 --epsilon 1 --delta 0.001
  zealous plan --items queries,keywords --items-per-user queries=5,keywords=20 \\
      --users 500000 --epsilon 2 --delta 0.001
To have it approved first, and then carried out exactly so:
  zealous plan --items queries --items-per-user 5 --users 500000 --epsilon 2 --delta 0.001 \\
      -o plan.json
  zealous publish log.parquet --plan plan.json -o release
Which m and epsilon? From public sources only: an earlier release, a log of zealous generate.
  zealous plan --items queries --items-per-user 5 --users 500000 --epsilon 2 --delta 0.001 \\
      --advise --like earlier-release
More items at the same guarantee, and which mechanism gives them:
  zealous plan --guarantee indistinguishable --neighbors add-remove --items-per-user 5 \\
      --epsilon 1 --delta 1e-6 --mechanism auto
The other way round, which guarantees do given parameters satisfy?
  zealous plan --scale 5 --tau 1 --tau-prime 100 --items-per-user 5 --users 500000
"""


@click.command(help=_HELP)
@click.option("--items", metavar="KIND,..", help="The kinds of items; one of any kind if left out.")
@options(GOAL, ITEMS, TAIL, CHOICE, MECHANISM)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the plan to a file for approval; see publish --plan.",
)
@click.option("--curve", is_flag=True, help="The least delta that is proven at other epsilons.")
@click.option(
    "--accounts-per-person",
    type=int,
    metavar="G",
    help="Say what holds for a person with up to G ids of the log.",
)
@click.option("--advise", is_flag=True, help="Lay out choices of epsilon and --items-per-user.")
@click.option(
    "--like", metavar="PATH", help="With --advise: a release or log that you declare to be public."
)
@options(LOG[1:7])
@click.option("--scale", metavar="L", help="With --tau and --tau-prime: which guarantees hold?")
@click.option("--tau", type=int)
@click.option("--tau-prime", type=int)
@JSON
def plan(items: str | None, output: Path | None, as_json: bool, **given: Any) -> None:
    """Choose the parameters of a release, without any data."""
    if given["scale"] is not None or given["tau"] is not None or given["tau_prime"] is not None:
        _which_hold({**given, "items": items, "output": output}, as_json)
        return
    approved = approved_from(items, given)
    planned = approved.planned
    if output:
        sha256 = write_plan(approved, output)
        show.note(
            f"Written to {output}, SHA-256 {sha256}. Once it is approved: publish --plan {output}"
        )
    if given["like"] and not given["advise"]:
        raise UsageError("--like goes with --advise")
    for option in ("accounts_per_person", "advise", "curve"):
        if given[option] and not all(isinstance(each.mechanism, Zealous) for each in planned.parts):
            raise UsageError(f"--{option.replace('_', '-')} goes with --mechanism zealous alone")
    person = None
    if given["accounts_per_person"] is not None:
        person = Person(planned, given["accounts_per_person"])
    advice = _advice(approved, given) if given["advise"] else []
    curve = _curve(planned) if given["curve"] else []
    if as_json:
        show.as_json(
            {
                **_object(planned),
                **({"person": person.figures()} if person else {}),
                **({"curve": [_claim_at(*point) for point in curve]} if curve else {}),
                **({"advice": [each.figures() for each in advice]} if advice else {}),
            }
        )
        return
    click.echo(planned)
    if person:
        click.echo(f"\n{person.in_words()}")
    if curve:
        click.echo()
        rows = [(shown(epsilon), _delta(delta)) for epsilon, delta in curve]
        show.table("The least delta proven at each epsilon", ["epsilon", "delta"], rows)
    for each in advice:
        click.echo()
        for grid in each.grids():
            show.table(grid.title, grid.names, grid.rows)
        click.echo("\n\n".join(each.explanation()))


class Person:
    """What a plan promises to a person with several accounts."""

    def __init__(self, planned: Plan, accounts: int) -> None:
        self.accounts = accounts
        self.goal = planned.goal
        self.holds = for_accounts(planned.goal, _thresholds(planned), accounts)

    def figures(self) -> dict[str, Any]:
        """For programs."""
        return {
            "up_to": self.accounts,
            "unit": self.goal.unit,
            "guarantee": claimed(self.holds, as_float) if self.holds else None,
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
            f"{whose}: epsilon = {shown(self.holds.epsilon)}, delta = {shown(self.holds.delta)}. "
            f"{self.holds.in_words()} (--users bounds the {self.goal.units()} of all people.)"
        )


def _thresholds(planned: Plan) -> list[Zealous]:
    return [part.mechanism for part in planned.parts if isinstance(part.mechanism, Zealous)]


def _curve(planned: Plan) -> list[tuple[Fraction, Fraction]]:
    """From a tenth of the whole loss to all of it."""
    tenths = [planned.goal.epsilon * tenth / 10 for tenth in range(1, 11)]
    return delta_curve(planned.goal, _thresholds(planned), tenths)


def _claim_at(epsilon: Fraction, delta: Fraction) -> dict[str, float | None]:
    return {"epsilon": as_float(epsilon), "delta": as_float(delta) if delta < 1 else None}


def _delta(delta: Fraction) -> str:
    return shown(delta) if delta < 1 else "nothing is proven"


def _advice(approved: Approved, given: Given) -> list[Advice]:
    """For each kind, choices at its share of the budget."""
    public = _public(given) if given["like"] else None
    with show.telling() as say:
        return [
            advise(part.goal, part.kind, public, select=approved.select, say=say)
            for part in approved.planned.parts
        ]


def _public(given: Given) -> Log | Release:
    if (Path(given["like"]) / "release.json").is_file():
        return read_release(given["like"])
    unsaid = dict.fromkeys(
        (
            "keywords",
            "names",
            "delimiter",
            "encoding",
            "time_format",
            "exclude_users",
            "max_entries_per_user",
            "limits",
        )
    )
    return log_from({**unsaid, **given, "paths": [given["like"]]})


def _object(planned: Plan) -> dict[str, Any]:
    """Totals; the numbers of the histogram where there is one; and each part."""
    goal = planned.goal
    parts = [{"kind": part.name(), **figures(part), "why": part.why} for part in planned.parts]
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
    for name in ("epsilon", "delta", "items", "output", "advise", "curve", "accounts_per_person",
                 "mechanism", "domain", "prior", "results", "tail"):  # fmt: skip
        if given[name]:
            option = "-o" if name == "output" else "--" + name.replace("_", "-")
            raise UsageError(f"--scale, --tau and --tau-prime do not go with {option}")
    hold = guarantees(
        scale=exact(given["scale"], "--scale"),
        tau=given["tau"],
        tau_prime=given["tau_prime"],
        items_per_user=whole_number(given["items_per_user"], "--items-per-user"),
        users=given["users"],
        unit=given["unit"],
    )
    if as_json:
        show.as_json({"guarantees": [claimed(goal, as_float) for goal in hold]})
        return
    rows = [(goal.title, goal.neighbors, shown(goal.epsilon), shown(goal.delta)) for goal in hold]
    show.table(
        f"What these parameters satisfy, for {UNITS[given['unit']]}",
        ["guarantee", "neighbors", "epsilon", "delta"],
        rows,
    )
    if given["users"] is None:
        show.note("The probabilistic guarantee needs --users.")
    if not hold:
        show.note("Nothing: delta would be 1.")
