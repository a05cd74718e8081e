"""The help of a command: its options in groups, the first two at once, all with --help-all."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

import click

from zealous.errors import speaking_options

F = TypeVar("F", bound=Callable[..., Any])
Option = Callable[[Any], Any]

GROUPS = (  # in the order of the help
    "Decide",
    "What to publish",
    "Budget and approval",
    "Public files",
    "The log",
    "Machine",
)
_SHOWN = 2  # groups of a command that --help lists
_ALL = f"{__name__}.all"


class _GroupedOption(click.Option):
    """An option that is listed in a group."""

    def __init__(self, *names: Any, group: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.group = group


class SpeakingOptions(click.Command):
    """A command whose errors name options, also where it is run by itself."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Take the arguments; of a misspelt option, the nearest alone is named."""
        try:
            return super().parse_args(context, arguments)
        except click.NoSuchOption as error:
            name = error.option_name
            near = difflib.get_close_matches(name, error.possibilities or (), n=1)
            raise click.NoSuchOption(name, possibilities=near, ctx=error.ctx) from None

    def main(self, *arguments: Any, **settings: Any) -> Any:
        """Run it."""
        with speaking_options():
            return super().main(*arguments, **settings)


class _GroupedCommand(SpeakingOptions):
    """A command whose own options come first, and then its groups."""

    def __init__(self, *names: Any, **settings: Any) -> None:
        super().__init__(*names, **settings)
        if len(self._groups()) > _SHOWN:
            self.params.append(_help_all())

    def _groups(self) -> list[str]:
        found = {each.group for each in self.params if isinstance(each, _GroupedOption)}
        return [group for group in GROUPS if group in found]

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups; of those that are left out, their titles."""
        rows: dict[str, list[tuple[str, str]]] = {"Options": []}
        rows |= {group: [] for group in self._groups()}
        for option in self.get_params(context):
            row = option.get_help_record(context)
            if row is not None and isinstance(option, click.Option):
                rows[getattr(option, "group", "Options")].append(row)
        listed = [group for group in rows if rows[group]]
        if not context.meta.get(_ALL):
            listed = listed[: _SHOWN + 1]
        for group in listed:
            with formatter.section(group):
                formatter.write_dl(rows[group])
        others = [group for group in rows if rows[group] and group not in listed]
        if others:
            formatter.write_paragraph()
            formatter.write_text(f"More options with --help-all: {', '.join(others)}.")


def command(help: str) -> Callable[[Callable[..., Any]], click.Command]:  # noqa: A002
    """A click command whose help lists its options in groups."""
    return click.command(cls=_GroupedCommand, help=help)


def options_of(group: str) -> Callable[..., Option]:
    """click.option for the options of a group."""
    return partial(click.option, cls=_GroupedOption, group=group)


def options(*groups: Iterable[Option]) -> Callable[[F], F]:
    """Give a command several tuples of options."""

    def decorate(command: F) -> F:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return decorate


def names_of(*groups: Iterable[Option]) -> list[str]:
    """What the values of such options are called."""

    @click.command()
    @options(*groups)
    def command(**_: Any) -> None:
        """Nothing is done."""

    return [option.name or "" for option in command.params]


def show_all(context: click.Context) -> None:
    """Let the help of a command, and of those below it, list all options."""
    context.meta[_ALL] = True


def _help_all() -> click.Option:
    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_help,
        help="Show all options and exit.",
    )


def _print_help(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        show_all(context)
        click.echo(context.get_help(), color=context.color)
        context.exit()


JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
