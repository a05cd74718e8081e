"""zealous publish: from a log to a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from zealous.cli import terminal
from zealous.cli.associations import print_strongest_rules
from zealous.cli.help import JSON, command, names_of, options
from zealous.cli.missing import check_complete
from zealous.cli.option_values import PLACE
from zealous.cli.options.account import ACCOUNT, APPROVED, run_from
from zealous.cli.options.described_plan import PLAN, plan_from
from zealous.cli.options.items import items_option
from zealous.cli.options.log import LOG, log_from
from zealous.cli.options.machine import ANY_ENGINE
from zealous.cli.options.public_inputs import FILES, files_from
from zealous.errors import UsageError
from zealous.files.places import Place, place_of
from zealous.owner.draft import least_users, users_to_appear
from zealous.owner.start import default_output
from zealous.planning.part_text import undercount
from zealous.planning.plan_file import read_plan
from zealous.privacy.guarantee import UNITS
from zealous.privacy.levels import is_weak, strength
from zealous.privacy.units import unit_warning
from zealous.record.codec import to_json
from zealous.release.bundle import Release, read_release
from zealous.release.publish import publish as publish_release
from zealous.release.text.method_wording import noise_at_most
from zealous.release.text.readme import epsilon_and_delta, why_empty

_HELP = """Publish the frequent items of a log.

Writes a new directory that may be handed to anyone: a table for each kind of items, the guarantee,
and a README for the recipient. KIND is keywords, queries, clicks, query-pairs, phrase-pairs,
query-clicks or, for any table, columns:NAME[+NAME] (a value, or a combination of values),
itemsets:NAME[/NAME] and sequences:NAME[/NAME] (things, from one column or several, that are
together or follow each other). --epsilon and --delta are the total over all kinds. The budget is
charged to the ledger of the log (see zealous ledger) before any noise is drawn.

\b
Examples:
  zealous publish log.parquet --items queries,keywords --items-per-user 5 \\
      --users 500000 --epsilon 2 --delta 0.001 -o release
  zealous publish shop.csv.gz --user CustomerID --items columns:Description \\
      --items-per-user 3 --users 10000 --epsilon 2 --delta 0.001 -o products
  zealous publish shop.csv.gz --user CustomerID --items columns:Description \\
      --items-per-user 3 --domain catalogue.csv --epsilon 1 -o all-products
  zealous publish log.parquet --items queries --items-per-user 5 \\
      --guarantee indistinguishable --epsilon 1 --delta 1e-6 \\
      --mechanism auto -o more
  zealous publish log.parquet --plan plan.json --period 2026-03 -o march
"""


@command(help=_HELP)
@items_option("What to publish.")
@click.option(
    "-o",
    "--output",
    type=PLACE,
    metavar="DIR",
    help="A new directory, or a new folder of an object store: s3://bucket/release. [default: "
    "LOG-release]",
)
@options(PLAN, APPROVED, ACCOUNT, FILES, LOG, ANY_ENGINE)
@JSON
@click.pass_context
def publish(
    context: click.Context,
    /,
    items: str | None,
    output: Place | None,
    approved: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Publish the frequent items of a log."""
    if not approved:
        check_complete(items, given)
    output = output or place_of(default_output(given["paths"][0]))
    if approved:
        _refuse_options_of(context, "items", *names_of(PLAN))
        planned = read_plan(approved)
        planned = planned.with_files(**files_from(given, planned.kinds()))
        log = log_from(given, planned)
    else:
        log = log_from(given)
        planned = plan_from(items, given, log)
    with terminal.reporting_progress(log.engine_for(None).share_done) as say:
        if (needed := users_to_appear(planned)) > 1:
            say(
                f"an item needs about {needed:,} {planned.goal.units()} to appear: with fewer than "
                f"about {least_users(needed):,} of them expect next to nothing"
            )
        release = publish_release(
            log,
            planned,
            output=output,
            engine=log.engine,
            say=say,
            **run_from(given, approved),
        )
    directory = release.directory or output
    # Exit code 0 says that there is a release: whoever takes it for failed would pay twice.
    with terminal.keeping_finished_work(f"the release is complete in {directory}"):
        if as_json:
            terminal.as_json(
                {**to_json(read_release(directory).record), "directory": str(directory)}
            )
        else:
            summary(release, directory)


def _refuse_options_of(context: click.Context, *names: str) -> None:
    """Nothing beside an approved plan may change what is done."""
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
        if given and option.name in names:
            raise UsageError(f"--plan says all of that already: leave out {option.opts[-1]}")


def summary(release: Release, output: Path | Place) -> None:
    """What was published, in a few lines."""
    goal = release.record.guarantee
    rows = [
        (
            part.kind,
            len(release[part.kind]),
            part.items_per_user,
            "" if part.tau_prime is None else part.tau_prime,
            noise_at_most(part),
        )
        for part in release.record.plan
    ]
    terminal.table(
        f"Published in {output}",
        ["kind", "items", f"items a {goal.unit}", "count above", "noise at most (95 %)"],
        rows,
    )
    most = [part.items_per_user for part in release.record.plan]
    terminal.echo(undercount(most, goal.unit))
    for part in release.record.plan:
        if not len(release[part.kind]):
            terminal.echo(f"{part.kind}: {why_empty(part, release.record)}")
    print_strongest_rules(release)
    weak = f" {strength(goal.epsilon)}" if is_weak(goal.epsilon) else ""
    weak += "".join(f" {each}" for each in unit_warning(goal.unit))
    terminal.echo(
        f"{goal.title}, {epsilon_and_delta(goal)}, for {UNITS[goal.unit]}.{weak}\n"
        f"Start with {output / 'README.md'}; the page to sign is "
        f"{output / 'statement.html'}"
    )
