"""The engine that counts, and how much of the machine it may use."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli.help import options_of
from zealous.cli.option_values import ENGINE_NAME
from zealous.cli.options import Given
from zealous.engines.duckdb import DuckDB
from zealous.engines.engine import ENGINES, Engine
from zealous.errors import UsageError

DEFAULT_ENGINE = DuckDB.name
_option = options_of("Machine")

ENGINE = (
    _option("--memory", metavar="SIZE", help="The most memory to use: 4GB. [default: half]"),
    _option("--threads", type=click.IntRange(min=1), metavar="N", help="[default: all cores]"),
    _option(
        "--temporary",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Where to make the private working directory, which holds a copy of the log "
        "and what does not fit in memory. [default: TMPDIR, or /tmp]",
    ),
)
ANY_ENGINE = (
    *ENGINE,
    _option(
        "--engine",
        type=ENGINE_NAME,
        default=DEFAULT_ENGINE,
        show_default=True,
        help=" ".join(filter(None, (each.summary for each in ENGINES.values()))),
    ),
    *(
        _option(f"--{each.name}", metavar=each.metavar, help=each.help, multiple=each.repeated)
        for engine in ENGINES.values()
        for each in engine.options
    ),
)


def engine_from(given: Given) -> Engine:
    """The engine that ANY_ENGINE options ask for, or the embedded one by ENGINE options."""
    chosen = ENGINES[given.get("engine", DEFAULT_ENGINE)]
    for other in ENGINES.values():
        names = [each.name for each in other.options]
        if other is not chosen and any(given.get(name.replace("-", "_")) for name in names):
            options = " and ".join(f"--{name}" for name in names)
            raise UsageError(f"{options} go with --engine {other.name}")
    return chosen.from_options(given)


def embedded_from(given: Given) -> DuckDB:
    """The embedded engine as ENGINE options ask for it."""
    return DuckDB.from_options(given)
