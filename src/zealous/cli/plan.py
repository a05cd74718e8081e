"""zealous plan: the parameters of a release, without any data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from msgspec import to_builtins

from zealous.cli import terminal
from zealous.cli.help import JSON, command, options
from zealous.cli.option_values import path_option
from zealous.cli.options import Given
from zealous.cli.options.described_plan import PLAN, plan_from
from zealous.cli.options.goal import epsilon_from, stated_delta
from zealous.cli.options.items import items_option
from zealous.cli.options.log import (
    CLEANING,
    NAMED_COLUMNS,
    SQL,
    cleaning_from,
    columns_for,
    log_from,
)
from zealous.cli.options.public_inputs import FILES
from zealous.errors import UsageError
from zealous.files.places import absolute_name
from zealous.items import Kind
from zealous.logs.log import Log
from zealous.owner.advice import Advice
from zealous.owner.draft import Rung, default_delta, epsilon_rung
from zealous.owner.parameter_search import advise
from zealous.owner.start import USERS
from zealous.owner.start_text import Page, ladder_only
from zealous.planning.part import figures, guarantee_numbers
from zealous.planning.plan import Plan, other_guarantee
from zealous.planning.plan_file import write_plan
from zealous.planning.plan_text import TWELVE
from zealous.planning.together import cost_of_releases
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.guarantee import DEFINITIONS, UNIT_PLURALS, format_number
from zealous.privacy.levels import LADDER
from zealous.privacy.promise import promise
from zealous.release.bundle import Release, read_release
from zealous.release.recognition import remember_looked_at

_HELP = """Choose the parameters of a release, without any data.

Prints the noise, the two thresholds and the delta they achieve, and what to expect: how many users
an item needs to appear, the noise on its count, what twelve such releases cost.

\b
Examples:
  zealous plan --users 500k --items-per-user 2 --epsilon 1 --delta 0.001
  zealous plan --items queries,keywords --users 500k --epsilon 2 \\
      --delta 0.001 --items-per-user queries=5,keywords=20
Write a plan for approval, then publish exactly that:
  zealous plan --items queries --items-per-user 5 --users 500k --epsilon 2 \\
      --delta 0.001 -o plan.json
  zealous publish log.parquet --plan plan.json -o release
What each epsilon means, and how many users an item needs:
  zealous plan --items queries --advise
Compare choices of epsilon and --items-per-user, from public sources alone:
  zealous plan --items queries --items-per-user 5 --users 500k --epsilon 2 \\
      --delta 0.001 --advise --like earlier-release
Twelve releases of the same people that cost epsilon 2 together:
  zealous plan --guarantee indistinguishable --mechanism gaussian \\
      --items-per-user 5 --epsilon 2 --delta 1e-5 --releases 12
Let the program choose the mechanism:
  zealous plan --guarantee indistinguishable --neighbors add-remove \\
      --items-per-user 5 --epsilon 1 --delta 1e-6 --mechanism auto
"""


@command(help=_HELP)
@items_option("The kinds of items. If left out, the plan is for one table of any kind.")
@options(PLAN, FILES)
@path_option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the plan to a file for approval; see publish --plan.",
)
@click.option(
    "--advise",
    is_flag=True,
    help="Compare choices of epsilon and --items-per-user.",
)
@click.option(
    "--like", metavar="PATH", help="With --advise: a release or log that you declare to be public."
)
@click.option(
    "--releases",
    metavar="N",
    help="Plan one of N such releases of the same people: epsilon and delta are for all of them.",
)
@click.option(
    "--dataset",
    metavar="NAME",
    help="Only for the ledger of this name. Ledgers with approvers require it.",
)
@click.option(
    "--people", metavar="NAME", help="Only for these people of the ledger; see publish --people."
)
@options(NAMED_COLUMNS, SQL, CLEANING)
@JSON
def plan(items: str | None, output: Path | None, as_json: bool, **given: Any) -> None:
    """Choose the parameters of a release, without any data."""
    if given["advise"] and epsilon_from(given) is None and not (output or given["like"]):
        given = _with_examples(items, given)
        _print_ladder([epsilon_rung(each) for each in _every_epsilon(items, given)], given, as_json)
        return
    if given["like"] and not given["advise"]:
        raise UsageError("--like goes with --advise")
    planned = plan_from(items, given)
    public = _public_source(given) if given["like"] else None
    if isinstance(public, Log):
        planned = replace(planned, advised_by=tuple(map(absolute_name, public.paths)))
        remember_looked_at(public, terminal.note)
    if items:
        sql = given["sql"].strip() if given["sql"] else None
        planned = planned.for_log(columns_for(planned, given), cleaning_from(given), sql)
    planned = planned.for_people(given["dataset"], given["people"])
    if output:
        sha256 = write_plan(planned, output)
        terminal.note(
            f"Written to {output}, SHA-256 {sha256}. Once it is approved: publish --plan {output}"
        )
    refuse_other_mechanisms(planned, given, ("advise",))
    advice = _advice_by_kind(planned, public) if given["advise"] else []
    if as_json:
        terminal.as_json(
            {
                **plan_as_json(planned),
                **({"advice": [each.figures() for each in advice]} if advice else {}),
            }
        )
        return
    terminal.echo(planned)
    if given["releases"]:
        terminal.note(
            f"{given['releases']} releases by this plan keep the epsilon and delta that were asked "
            "for together, if all are published by it."
        )
    for each in advice:
        click.echo()
        for grid in each.tables():
            terminal.table(grid.title, grid.names, grid.rows)
        terminal.echo("\n\n".join(each.explanation()))


def _with_examples(items: str | None, given: Given) -> Given:
    """What is not said, as `zealous start` would have it: to compare epsilons nobody needs more."""
    users = given["users"]
    if users is None and DEFINITIONS[given["guarantee"]].needs_users:
        users = USERS
    delta = stated_delta(given) or format_number(default_delta(given["guarantee"], users or USERS))
    most = given["items_per_user"]
    if items is None and most is None:
        most = str(Kind.default_items_per_user)
    return {**given, "users": users, "delta": delta, "items_per_user": most}


def _every_epsilon(items: str | None, given: Given) -> Iterator[Plan]:
    """What is asked for, at each epsilon that one may think about."""
    for epsilon in LADDER:
        yield plan_from(items, {**given, "epsilon": format_number(epsilon)})


def _print_ladder(rungs: Sequence[Rung], given: Given, as_json: bool) -> None:
    if as_json:
        terminal.as_json(
            {"ladder": [{**each._asdict(), "epsilon": float(each.epsilon)} for each in rungs]}
        )
        return
    page, units = Page(terminal.width()), UNIT_PLURALS[given["unit"]]
    bound = f"at most {given['users']:,} {units} and " if given["users"] else ""
    terminal.echo(ladder_only(page, rungs, units))
    terminal.note(
        f"For {bound}delta {given['delta']}: --users, --delta and --items-per-user say yours."
    )


def refuse_other_mechanisms(planned: Plan, given: Given, names: Sequence[str]) -> None:
    """Refuse options about what is proven of Laplace noise alone, where other noise is planned."""
    if all(part.mechanism.exact_parameters() is not None for part in planned.parts):
        return
    for option in names:
        if given[option]:
            raise UsageError(
                f"--{option.replace('_', '-')} is for Laplace noise between two thresholds: use "
                "--mechanism zealous or laplace"
            )


def _advice_by_kind(planned: Plan, public: Log | Release | None) -> list[Advice]:
    """For each kind, choices at its share of the budget."""
    with terminal.reporting_progress() as say:
        return [
            advise(part.goal, part.kind, public, select=planned.select, say=say)
            for part in planned.parts
        ]


def _public_source(given: Given) -> Log | Release:
    if (Path(given["like"]) / "release.json").is_file():
        return read_release(given["like"])
    unsaid = dict.fromkeys(("names", "delimiter", "encoding", "time_format"))
    return log_from({**unsaid, **given, "paths": [given["like"]]})


def plan_as_json(planned: Plan) -> dict[str, Any]:
    """Totals; the numbers of the histogram where there is one; and each part."""
    goal = planned.goal
    parts = [{"kind": part.name(), **figures(part), "why": part.why} for part in planned.parts]
    epsilon, delta = cost_of_releases(goal, planned.parts, TWELVE)
    other = other_guarantee(planned)
    return {
        **(parts[0] if len(parts) == 1 else {}),
        **guarantee_numbers(goal, float),
        "delta_achieved": float_rounded_up(planned.delta_achieved),
        "in_words": promise(goal),
        "also_guaranteed": guarantee_numbers(other, float_rounded_up) if other else None,
        "assumptions": planned.assumptions(),
        **({"log": to_builtins(planned.log.as_record())} if planned.log else {}),
        "twelve_releases": {
            "epsilon": float_rounded_up(epsilon),
            "delta": float(delta),
            "epsilon_added": float(TWELVE * goal.epsilon),
        },
        "parts": parts,
    }
