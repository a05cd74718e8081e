"""Write docs/reference/commands.md from the commands' own help."""

import argparse
from pathlib import Path

import click

from zealous.cli import cli
from zealous.cli.command_groups import Commands
from zealous.cli.help import show_all

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "commands.md"


def sections_of(group: Commands, parent: click.Context) -> list[str]:
    """What each command of a group says of itself, and each of a group within it."""
    sections = []
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        assert command is not None  # noqa: S101
        context = click.Context(command, info_name=name, parent=parent)
        text = command.get_help(context)
        sections.append(f"## {context.command_path}\n\n```text\n{text}\n```")
        if isinstance(command, Commands):
            sections += sections_of(command, context)
    return sections


def page() -> str:
    """The reference page."""
    sections = [
        "# Commands",
        "Made from `--help-all` by `python tools/commands.py`; a test keeps it true.",
    ]
    settings = {**cli.context_settings, "max_content_width": 80}
    parent = click.Context(cli, info_name="zealous", **settings)
    show_all(parent)
    return "\n\n".join([*sections, *sections_of(cli, parent)]) + "\n"


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    PAGE.write_text(page())
