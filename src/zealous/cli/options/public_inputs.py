"""Public files that a release is made with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click

from zealous.cli.help import options_of
from zealous.cli.option_values import by_kind
from zealous.cli.options import Given
from zealous.items import Kind
from zealous.mechanisms.protocol import PublicInput
from zealous.planning.declared import served_kinds

_option = options_of("Public files")

FILES = (
    _option(
        "--domain",
        multiple=True,
        metavar="FILE",
        help="A public list of the items: all of them are published, and no others. "
        "KIND=FILE where there are several kinds.",
    ),
    _option(
        "--prior",
        multiple=True,
        metavar="FILE",
        help="A public list with frequencies, or an earlier release: which items of "
        "a user count depends on it. KIND=FILE where there are several kinds.",
    ),
    _option(
        "--results",
        multiple=True,
        metavar="FILE",
        help="A public list of query, url and perhaps rank: clicks on these documents of "
        "published queries are published, for queries,query-clicks.",
    ),
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
        for use in get_args(PublicInput)
    }
