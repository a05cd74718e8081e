"""zealous start: from a file to the one command that publishes it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from zealous.cli import show
from zealous.cli.help import JSON, command, options, options_of
from zealous.cli.options import Given
from zealous.cli.options.goal import DEFINITION_HELP, PRIVACY, epsilon_from
from zealous.cli.options.log import LOG, log_from, stated_from
from zealous.cli.options.plan import plan_from
from zealous.cli.publish import publish
from zealous.cli.values import NUMBER, items_per_user_from
from zealous.errors import UsageError
from zealous.items import default_items_per_user
from zealous.mechanisms.choose import MECHANISMS
from zealous.owner import start_text as text
from zealous.owner.column_names import Role
from zealous.owner.draft import Draft, default_delta, kinds_of
from zealous.owner.start import (
    UNITS,
    USERS,
    FoundLog,
    Offer,
    check_kinds,
    command_line,
    expected_items,
    look_at_log,
    new_output_name,
    offers,
    reading_options,
    with_values,
)
from zealous.planning.plan_file import write_plan
from zealous.privacy.guarantee import DEFINITIONS, PLURAL, Unit
from zealous.privacy.levels import LEVELS

_HELP = """Lead from a file to a plan and the one command that publishes it.

In a terminal it asks, and Enter takes what it proposes; in a pipe it prints. It reads the first
lines for the format and the names of the columns, shows none of them, and spends nothing. No number
of the plan comes from the log.

\b
Examples:
  zealous start log.csv
  zealous start shop.csv.gz --user CustomerID --privacy strict --users 50k
  zealous start shop.csv.gz --items itemsets:Description --basket InvoiceNo \\
      -o plan.json
"""
_decide = options_of("Decide")
_what = options_of("What to publish")
_EXAMPLE = "moderate"
_ROLES: tuple[Role, ...] = ("user", "query", "time", "url", "session")


@command(help=_HELP)
@PRIVACY
@_decide("--epsilon", metavar="E", help="Any other epsilon, in total.")
@_decide("--users", type=NUMBER, metavar="U", help="A public upper bound on the people.")
@_decide("--unit", type=click.Choice(UNITS), help="Whose data is protected as a whole.")
@_what("--items", metavar="KIND,..", help="What to publish.")
@_decide("--items-per-user", metavar="M", help="The most items of a user that count.")
@_what("--basket", metavar="COLUMN", help="What tells which things are together.")
@_decide("--guarantee", type=click.Choice(list(DEFINITIONS)), default="probabilistic",
         show_default=True, help=DEFINITION_HELP)  # fmt: skip
@_what("--mechanism", type=click.Choice(["auto", *MECHANISMS]), metavar="NAME",
       help="How it is published; auto for the one that publishes most.")  # fmt: skip
@click.option("--look", is_flag=True, help="Count this log too. Internal: the plan says so.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the plan to a file for approval.")  # fmt: skip
@click.option("--header/--no-header", default=None, help="Whether the first line names columns.")
@options(LOG)
@JSON
def start(as_json: bool, **given: Any) -> None:
    """Lead from a file to a plan and the one command that publishes it."""
    guide = _Guide(given, quiet=as_json)
    found = guide.find_log()
    offered = offers(found)
    draft = guide.make_draft(found, offered)
    result = {**draft.figures(), **guide.finish(found, draft)}
    if as_json:
        show.as_json({**found.figures(), "offered": [each.items for each in offered], **result})


class _Guide:
    """Asks in a terminal, takes what is proposed elsewhere, and prints what it found."""

    def __init__(self, given: Given, *, quiet: bool) -> None:
        self.given = given
        self.quiet = quiet
        self.asks = not quiet and sys.stdin.isatty() and sys.stdout.isatty()
        self.page = text.Page(show.width())
        self.epsilon = epsilon_from(given)

    def find_log(self) -> FoundLog:
        """The log, with names for its columns, one of which is the person."""
        given = self.given
        found = self._look_at()
        if self.asks and not found.format.has_header and not given["names"]:
            self._say(text.columns_section(self.page, found))
            given["names"] = self._ask("The columns in order", ",".join(found.format.columns))
            found = self._look_at()
        self._say(text.columns_section(self.page, found))
        person = found.column("user")
        if self.asks and not given["user"]:
            columns = click.Choice(found.format.columns)
            given["user"] = self._ask("One person is one value of which column", person, columns)
            return self._look_at()
        if person is None:
            raise UsageError(
                "which column is the person? None has a name that tells: try zealous start "
                f"{shlex.join(found.paths)} --user COLUMN"
            )
        return found

    def _look_at(self) -> FoundLog:
        given = self.given
        return look_at_log(
            given["paths"], stated_from(given), {role: given[role] for role in _ROLES}
        )

    def make_draft(self, found: FoundLog, offered: list[Offer]) -> Draft:
        """What is to be published, and how: the unit first, the privacy last."""
        given = self.given
        unit = self._unit(found)
        self._say(text.unit_section(self.page, found, unit))
        items, basket = self._items(found, offered)
        users = given["users"] or self._users(unit)
        goal = DEFINITIONS[given["guarantee"]](
            epsilon=self.epsilon or LEVELS[_EXAMPLE],
            delta=default_delta(given["guarantee"], users),
            users=users,
            unit=unit,
        )
        draft = Draft(goal=goal, items=items, basket=basket, mechanism=given["mechanism"])
        self._say(text.items_section(self.page, draft, [] if self.asks else offered))
        self._say(text.ladder_section(self.page, draft, bool(self.epsilon) or self.asks))
        if self.epsilon is None and self.asks:  # a decision, never made by Enter alone
            level = self._ask("Privacy", None, click.Choice(list(LEVELS)))
            self.epsilon = LEVELS[level]
            draft = draft.with_epsilon(self.epsilon)
        self._say(text.outlook_section(self.page, draft, users != USERS or bool(given["users"])))
        return draft

    def _unit(self, found: FoundLog) -> Unit:
        units = found.units()
        said: Unit | None = self.given["unit"]
        if said or len(units) == 1:
            return said or units[0]
        chosen: Unit = self._ask("Protected as a whole", units[0], click.Choice(units))
        return chosen

    def _items(self, found: FoundLog, offered: list[Offer]) -> tuple[dict[str, int], str | None]:
        """What is published and how many of a user count; and the basket, if there is one."""
        names: list[str]
        kind = _Items(self.given, found, offered)
        if self.given["items"]:
            names = kind.names(self.given["items"])
        elif not offered:
            raise UsageError("no column is known to hold items: say --items columns:NAME")
        else:
            self._note("These columns allow, one or several with commas between them:")
            for each in offered:
                self._note(f"  {each.items}")
            names = self._ask("Publish", offered[0].items, kind)
        return kind.items_per_user(names), kind.basket(names)

    def _users(self, unit: Unit) -> int:
        self._note("A bound known without counting the log; rather too large than too small.")
        number: int = self._ask(f"At most how many {PLURAL[unit]}", f"{USERS:,}", NUMBER)
        return number

    def finish(self, found: FoundLog, draft: Draft) -> dict[str, Any]:
        """Check that the command would be carried out, then print it; write the plan if asked."""
        given, plan = self.given, self.given["output"]
        options = [
            *reading_options(found, draft, given["time_format"]),
            *_passed_on_options(given),
        ]
        reading = [*map(_path_argument, found.paths), *with_values(options)]
        source = "this-log" if given["look"] else "public-facts"
        wish = with_values([*draft.options(), "--parameters-from", source])
        output = ["-o", new_output_name(found, Path.cwd())]
        parsed = publish.make_context("publish", [*reading, *wish, *output]).params
        log = log_from(parsed)
        planned = plan_from(parsed["items"], parsed, log.columns.assigned())
        for part in planned.parts:
            part.check(log.columns.assigned())
        looked: dict[str, Any] = {}
        if given["look"]:
            drafts = [draft.with_epsilon(each.epsilon) for each in draft.ladder()]
            users, expected = expected_items(log, drafts)
            self._say(text.look_section(self.page, users, drafts, expected))
            looked = {"this_log": {"users": users, "expected_items": expected}}
        self._say(text.promise_section(self.page, draft))
        if plan:
            write_plan(planned, plan)
            wish = with_values(["--plan", str(plan)])
        command = ["zealous", "publish", *reading, *wish, *output]
        decided = self.epsilon is not None
        line = command_line(command, self.page.width - 2)
        self._say(text.command_section(self.page, line, decided, plan))
        return {
            "internal": given["look"],
            **looked,
            "decided": decided,
            "parameters_from": source,
            "plan": str(plan) if plan else None,
            "command": command,
        }

    def _ask(self, question: str, proposed: Any, kind: Any = None) -> Any:
        if not self.asks:
            return kind.convert(proposed, None, None) if kind else proposed
        few = len(getattr(kind, "choices", ())) <= len(UNITS)
        return click.prompt(question, default=proposed, type=kind, err=True, show_choices=few)

    def _note(self, said: str) -> None:
        if self.asks:
            show.note(said)

    def _say(self, section: str) -> None:
        if not self.quiet:
            click.echo(section)


class _Items(click.ParamType[list[str]]):
    """Names of kinds that a log allows: what is misspelt is asked for again."""

    name = "items"

    def __init__(self, given: Given, found: FoundLog, offered: list[Offer]) -> None:
        self.given = given
        self.found = found
        self.offered = offered

    def convert(self, value: Any, param: click.Parameter | None, context: Any) -> list[str]:
        try:
            return self.names(str(value))
        except UsageError as error:
            self.fail(str(error), param, context)

    def names(self, text: str) -> list[str]:
        """The names, each of a kind that the columns give."""
        names = [name.strip() for name in text.split(",") if name.strip()]
        check_kinds(self.found, kinds_of(self.items_per_user(names), self.basket(names)))
        return names

    def items_per_user(self, names: list[str]) -> dict[str, int]:
        """How many of a user count."""
        said = self.given["items_per_user"]
        if said:
            return items_per_user_from(said, names)
        return {name: default_items_per_user(name) for name in names}

    def basket(self, names: list[str]) -> str | None:
        """What is said, or what goes with the sets that were offered."""
        said: str | None = self.given["basket"]
        going = (each.basket for each in self.offered if each.items in names)
        return said or next(filter(None, going), None)


def _path_argument(path: str) -> str:
    """A path that is not taken for an option."""
    return f"./{path}" if path.startswith("-") else path


def _passed_on_options(given: Given) -> list[str]:
    """Options of reading that change nothing here."""
    said = []
    for name in ("keywords", "exclude_users", "max_entries_per_user", "limits"):
        if given[name] is not None:
            said += [f"--{name.replace('_', '-')}", str(given[name])]
    return said
