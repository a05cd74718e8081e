"""Groups of commands, one a file, each imported when it is used."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

import click

from zealous.errors import did_you_mean

_SUMMARY = re.compile(r'^_HELP = """(.+)$', re.MULTILINE)


class Commands(click.Group):
    """The commands of a package: NAME is the function of that name in its module NAME.

    A module with a `_HELP` is a command, and the first line of it is what `--help` of the group
    says. It is read from the source, since importing all commands takes long.
    """

    def __init__(
        self, *, package: str, sections: Mapping[str, Sequence[str]] | None = None, **settings: Any
    ) -> None:
        """A group.

        Args:
            package: Where the commands are.
            sections: Titles, and the names that come first under each; all others come last.
            settings: Those of `click.Group`.
        """
        super().__init__(**settings)
        self.package = package
        self._sections = sections or {}

    @cached_property
    def summaries(self) -> dict[str, str]:
        """What each command is for, by name."""
        found: dict[str, str] = {}
        for module in pkgutil.iter_modules(import_module(self.package).__path__):
            source = pkgutil.get_data(self.package, _file_name(module))
            if source and (first := _SUMMARY.search(source.decode())):
                found[module.name] = first[1]
        return found

    @cached_property
    def sections(self) -> dict[str, list[str]]:
        """The names under each title."""
        known = {name for names in self._sections.values() for name in names}
        others = [name for name in self.summaries if name not in known]
        sections = {title: list(names) for title, names in self._sections.items()}
        return {**sections, **({"Commands": others} if others else {})}

    def list_commands(self, _: click.Context) -> list[str]:
        """All names."""
        return [name for names in self.sections.values() for name in names]

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in self.summaries:
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
        for title, names in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", self.summaries[name]) for name in names])


def _file_name(module: pkgutil.ModuleInfo) -> str:
    return f"{module.name}/__init__.py" if module.ispkg else f"{module.name}.py"
