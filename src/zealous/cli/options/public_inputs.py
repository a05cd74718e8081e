"""Public files that a release is made with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from zealous.cli.help import options_of
from zealous.cli.option_values import by_kind
from zealous.cli.options import Given
from zealous.items import Kind
from zealous.mechanisms.protocol import public_inputs
from zealous.planning.declared import served_kinds

_option = options_of("Public files")

FILES = tuple(
    _option(
        f"--{each.name}",
        multiple=True,
        metavar="FILE",
        help=each.help,
    )
    for each in public_inputs().values()
)
DOCUMENTS = _option(
    "--documents",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Columns keyword and documents: in how many documents each keyword is. "
    "[default: a synthetic corpus]",
)


def files_from(given: Given, kinds: Sequence[Kind]) -> dict[str, Any]:
    """The public files of FILES options, by what they are for and by name of kind."""
    by_name = {kind.name(): kind for kind in kinds}
    return {
        use: by_kind(given[use], served_kinds(by_name, use), f"--{use}") if given[use] else {}
        for use in public_inputs()
    }
