"""zealous start: from a file to the one command that publishes it."""

from __future__ import annotations

import shlex
import sys
import textwrap
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from zealous.cli import terminal
from zealous.cli.help import JSON, command, options, options_of
from zealous.cli.option_values import NUMBER, items_per_user_from, path_option
from zealous.cli.options import Given
from zealous.cli.options.described_plan import plan_from
from zealous.cli.options.goal import DEFINITION_HELP, PARAMETERS, PRIVACY, epsilon_from
from zealous.cli.options.log import LOG, log_from, stated_from
from zealous.cli.publish import publish
from zealous.errors import UsageError
from zealous.items import default_items_per_user
from zealous.ledger import Ledger
from zealous.ledger.book import Book
from zealous.logs.column_names import Role
from zealous.logs.log import Log
from zealous.mechanisms.choose import MECHANISMS
from zealous.owner import start_text as text
from zealous.owner.draft import Draft, default_delta, kinds_of
from zealous.owner.start import (
    UNITS,
    USERS,
    FoundLog,
    Offer,
    check_kinds,
    column_with_word,
    command_line,
    default_offer,
    expected_items,
    first_offer,
    look_at_log,
    new_output_name,
    offers,
    reading_options,
    unnest_hint,
    with_values,
)
from zealous.planning.plan_file import check_new_plan, write_plan
from zealous.privacy.guarantee import DEFINITIONS, UNIT_PLURALS, Unit, exact_fraction
from zealous.privacy.levels import LEVELS
from zealous.release.account import Account

_HELP = """Find out how to read a file, propose a plan, and print the command that publishes it.

In a terminal it asks, and Enter accepts the proposal; in a pipe it prints. It reads the first lines
to find the format and the names of the columns, shows no row, and spends no budget. No number in
the plan is taken from the log.

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
_ROLES: tuple[Role, ...] = ("user", "query", "time", "url", "session", "keywords")


@command(help=_HELP)
@PRIVACY
@_decide("--epsilon", metavar="E", help="Any other epsilon, in total.")
@_decide("--users", type=NUMBER, metavar="U", help="A public upper bound on the people.")
@_decide("--unit", type=click.Choice(UNITS), help="What is protected: a user, a day or a session.")
@_what("--items", metavar="KIND,..", help="What to publish.")
@_decide("--items-per-user", metavar="M", help="The most items of a user that count.")
@_what("--basket", metavar="COLUMN", help="The column that says which things belong together.")
@_decide(
    "--guarantee",
    type=click.Choice(list(DEFINITIONS)),
    default="probabilistic",
    show_default=True,
    help=DEFINITION_HELP,
)
@_what(
    "--mechanism",
    type=click.Choice(["auto", *MECHANISMS]),
    metavar="NAME",
    help="The mechanism; auto to have it chosen.",
)
@PARAMETERS
@click.option(
    "--look", is_flag=True, help="Also count this log. The plan then states that you did."
)
@path_option("-o", "--output", metavar="FILE", help="Write the plan to a file for approval.")
@click.option("--header/--no-header", default=None, help="Whether the first line names columns.")
@options(LOG)
@JSON
def start(as_json: bool, **given: Any) -> None:
    """Find out how to read a file, propose a plan, and print the command that publishes it."""
    if given["sql"]:
        raise UsageError("start looks at files: look at a query's result by `zealous inspect`")
    if given["output"] is not None:
        check_new_plan(given["output"])
    guide = _Guide(given, quiet=as_json)
    found = guide.find_log()
    offered = offers(found)
    draft = guide.make_draft(found, offered)
    result = {**draft.figures(), **guide.finish(found, draft)}
    if as_json:
        terminal.as_json({**found.figures(), "offered": [each.items for each in offered], **result})


class _Guide:
    """Asks in a terminal, takes what is proposed elsewhere, and prints what it found."""

    def __init__(self, given: Given, *, quiet: bool) -> None:
        self.given = given
        self.quiet = quiet
        self.asks = not quiet and _in_terminal()
        self.answered = False
        self.page = text.Page(terminal.width())
        self.epsilon = epsilon_from(given)

    def find_log(self) -> FoundLog:
        """The log, with names for its columns, one of which is the person."""
        given = self.given
        found = self._look_at()
        shown = text.columns_section(self.page, found, asks=self.asks)
        self._say(shown)
        if self.asks and not found.format.has_header and not given["names"]:
            if given["header"] is None:
                question = "Does the first line of the file name the columns"
                given["header"] = self._confirm(question)
                found = self._look_at()
            if not given["header"]:
                names = found.format.columns
                question = "Names of all columns with commas between them (Enter: as above)"
                given["names"] = self._ask(
                    question, ",".join(names), _Names(len(names)), shows=False
                )
                found = self._look_at()
            if (changed := text.columns_section(self.page, found, asks=True)) != shown:
                self._say(changed)
        person = found.column("user")
        if self.asks and not given["user"]:
            columns = click.Choice([each.column for each in found.guesses if each.role != "object"])
            given["user"] = self._ask("One person is one value of which column", person, columns)
            return self._look_at()
        if person is None:
            raise UsageError(
                "which column is the person? No name says so. Try\n  zealous start "
                f"{shlex.join(found.paths)} --user COLUMN{_in_objects(found)}"
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
        found.check_unit(unit)
        self._say(text.unit_section(self.page, found, unit))
        items, basket = self._items(found, offered)
        users = self._users(unit) if given["users"] is None else given["users"]
        goal = DEFINITIONS[given["guarantee"]](
            epsilon=LEVELS[_EXAMPLE] if self.epsilon is None else self.epsilon,
            delta=default_delta(given["guarantee"], users),
            users=users,
            unit=unit,
        )
        draft = Draft(goal=goal, items=items, basket=basket, mechanism=given["mechanism"])
        told = bool(self.asks or given["items"] or default_offer(found))
        self._say(text.items_section(self.page, draft, [] if self.asks else offered, told))
        self._say(text.ladder_section(self.page, draft, bool(self.epsilon) or self.asks))
        if self.epsilon is None and self.asks:  # a decision, never made by Enter alone
            levels = ", ".join(LEVELS)
            question = f"Privacy: {levels} or an epsilon (there is no default)"
            self.epsilon = self._ask(question, None, _Epsilon())
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
        else:
            self._note("These columns allow, one or several with commas between them:")
            for each in offered:
                self._note(f"  {each.items}")
            proposed = default_offer(found)
            if proposed is None and not self.asks:
                proposed = first_offer(found)
            if proposed is None and not self.asks:
                raise UsageError(
                    "what is to be published? No column looks like it. Try\n  zealous "
                    f"start {shlex.join(found.paths)} --items columns:NAME"
                )
            names = self._ask("Publish", proposed and proposed.items, kind)
        return kind.items_per_user(names), kind.basket(names)

    def _users(self, unit: Unit) -> int:
        self._note("A bound known without counting the log; rather too large than too small.")
        number: int = self._ask(f"At most how many {UNIT_PLURALS[unit]}", f"{USERS:,}", NUMBER)
        return number

    def finish(self, found: FoundLog, draft: Draft) -> dict[str, Any]:
        """Check that the command would be carried out, then print it; write the plan if asked."""
        given, plan = self.given, self.given["output"]
        options = [
            *reading_options(found, draft, given["time_format"]),
            *_passed_on_options(given),
        ]
        reading = [*map(_path_argument, found.paths), *with_values(options)]
        source = self._parameters_from()
        stated = [] if source == "unstated" else ["--parameters-from", source]
        wish = with_values([*draft.options(), *stated])
        output = ["-o", new_output_name(found, Path.cwd())]
        parsed = publish.make_context("publish", [*reading, *wish, *output]).params
        log = log_from(parsed)
        planned = plan_from(parsed["items"], parsed, log)
        for part in planned.parts:
            part.check(log.columns.assigned())
        looked: dict[str, Any] = {}
        if given["look"]:
            drafts = [draft.with_epsilon(each.epsilon) for each in draft.ladder()]
            users, expected = expected_items(log, drafts)
            self._say(text.look_section(self.page, users, drafts, expected))
            looked = {"this_log": {"users": users, "expected_items": expected}}
        self._say(text.promise_section(self.page, draft))
        book = _book_of(log)
        if plan:
            write_plan(planned.for_people(book.dataset), plan)
            wish = with_values(["--plan", str(plan)])
        command = ["zealous", "publish", *reading, *wish, *output]
        decided = self.epsilon is not None
        line = command_line(command, self.page.width - 2)
        self._say(
            text.command_section(
                self.page,
                line,
                decided=decided,
                stated=bool(stated),
                plan=plan,
                approved=book.approvers is not None,
            )
        )
        return {
            "internal": given["look"],
            **looked,
            "decided": decided,
            "parameters_from": source,
            "plan": str(plan) if plan else None,
            "command": command,
        }

    def _parameters_from(self) -> str:
        """What the owner says; where nobody can be asked, nothing is said in her name."""
        said: str = self.given["parameters_from"]
        if self.given["look"]:
            if said not in ("this-log", "unstated"):
                raise UsageError("with --look the parameters are from this log")
            return "this-log"
        if not self.asks or said != "unstated":
            return said
        question = "Were these numbers chosen without looking at this log"
        return "public-facts" if self._confirm(question) else "this-log"

    def _confirm(self, question: str) -> bool:
        self.answered = True
        return click.confirm(question, default=None, err=True)

    def _ask(self, question: str, proposed: Any, kind: Any = None, *, shows: bool = True) -> Any:
        if not self.asks:
            return kind.convert(proposed, None, None) if kind else proposed
        choices = "".join(f"{each}, " for each in getattr(kind, "choices", ()))
        few = len(f"{question} ({choices}) [{proposed}]: ") <= self.page.width
        self.answered = True
        return click.prompt(
            question, default=proposed, type=kind, err=True, show_choices=few, show_default=shows
        )

    def _note(self, said: str) -> None:
        if self.asks:
            terminal.note(said)

    def _say(self, section: str) -> None:
        if not self.quiet:
            click.echo(f"\n{section}" if self.answered else section)
            self.answered = False


def _in_objects(found: FoundLog) -> str:
    """What to do where the person's id may be in an object."""
    nested = [each for each in found.format.columns if each in found.format.nested]
    return f"\nIf an object holds it, {unnest_hint(nested[-1])}" if nested else ""


def _book_of(log: Log) -> Book:
    """What the ledger of a log, which the command charges, says so far."""
    path = Account().charged_to(log.paths)
    return Ledger.open(path).book() if path.exists() else Book()


class _Names(click.ParamType[str]):
    """Names for all columns in order: what cannot be that is asked for again."""

    name = "names"

    def __init__(self, number: int) -> None:
        self.number = number

    def convert(self, value: Any, param: click.Parameter | None, context: Any) -> str:
        names = [name.strip() for name in str(value).split(",")]
        if len(names) != self.number or not all(names) or len({*names}) < len(names):
            self.fail(
                f"give {self.number} different names with commas between them", param, context
            )
        return ",".join(names)


class _Epsilon(click.ParamType[Fraction]):
    """A level of privacy by its name, or any epsilon above 0."""

    name = "epsilon"

    def convert(self, value: Any, param: click.Parameter | None, context: Any) -> Fraction:
        try:
            epsilon = LEVELS.get(value) or exact_fraction(value, "epsilon")
        except UsageError:
            epsilon = Fraction(0)
        if epsilon <= 0:
            self.fail(f"say {', '.join(LEVELS)} or a number above 0", param, context)
        return epsilon


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
            wrapped = textwrap.fill(f"Error: {error}", terminal.width(), break_long_words=False)
            self.fail(wrapped.removeprefix("Error: "), param, context)

    def names(self, text: str) -> list[str]:
        """The names, each of a kind that the columns give."""
        names = [name.strip() for name in text.split(",") if name.strip()]
        for name in names:
            self._check_name(name)
        check_kinds(self.found, kinds_of(self.items_per_user(names), self.basket(names)))
        return names

    def _check_name(self, name: str) -> None:
        """Of one that is no kind, propose the column that has it in its name."""
        try:
            default_items_per_user(name)
        except UsageError as error:
            near = "" if str(error).endswith("?") else column_with_word(self.found, name)
            raise UsageError(f"{error}{near}") from None

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


def _in_terminal() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _path_argument(path: str) -> str:
    """A path that is not taken for an option."""
    return f"./{path}" if path.startswith("-") else path


def _passed_on_options(given: Given) -> list[str]:
    """Options of reading that change nothing here."""
    said = []
    for name in ("exclude_users", "max_entries_per_user", "limits"):
        if given[name] is not None:
            said += [f"--{name.replace('_', '-')}", str(given[name])]
    return said
