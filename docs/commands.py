"""Write docs/commands.md from the commands' own help."""

from pathlib import Path

import click

from zealous.cli import COMMANDS, cli


def page() -> str:
    """The reference page."""
    sections = [
        "# Commands",
        "Made from `--help` by `python docs/commands.py`; a test keeps it true.",
    ]
    parent = click.Context(cli, info_name="zealous", **cli.context_settings)
    for name in sorted(COMMANDS):
        command = cli.get_command(parent, name)
        assert command is not None  # noqa: S101
        context = click.Context(command, info_name=name, parent=parent)
        sections.append(f"## zealous {name}\n\n```text\n{command.get_help(context)}\n```")
    return "\n\n".join(sections) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("commands.md").write_text(page())
