"""Groups of commands, one a file, each imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from zealous.errors import did_you_mean


class Commands(click.Group):
    """The commands of a package: NAME is the function of that name in its module NAME.

    `sections` has a title and what --help says of each command, so that it need not be imported
    for that; a test compares them with the commands' own help.
    """

    def __init__(
        self, *, package: str, sections: Mapping[str, Mapping[str, str]], **settings: Any
    ) -> None:
        super().__init__(**settings)
        self.package = package
        self.sections = sections

    def list_commands(self, _: click.Context) -> list[str]:
        """All names."""
        return [name for section in self.sections.values() for name in section]

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if not any(name in section for section in self.sections.values()):
            return None
        command = getattr(import_module(f"{self.package}.{name}"), name)
        assert isinstance(command, click.Command)  # noqa: S101
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is asked for; of a misspelt one, the nearest is named."""
        try:
            return super().resolve_command(context, arguments)
        except click.UsageError as error:
            near = did_you_mean(arguments[0], self.list_commands(context))
            said = error.message.removesuffix(".") + (near or ".")
            raise click.UsageError(said, context) from None

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write their summaries, section by section, in columns that are alike."""
        width = max(map(len, self.list_commands(context)))
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", said) for name, said in section.items()])
