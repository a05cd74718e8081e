"""For commands that do more than count: asked to run on a cluster, they say so."""

from __future__ import annotations

import click

from zealous.cli.options.machine import DEFAULT_ENGINE
from zealous.engines.engine import ENGINES
from zealous.errors import UsageError


def _refuse_engine(context: click.Context, _: click.Parameter, given: tuple[str, ...]) -> None:
    if any(each != DEFAULT_ENGINE for each in given):
        raise UsageError(
            f"{context.info_name} does more than count, and runs on this machine alone: give it a "
            "log on this machine, such as a sample of the users. inspect, publish, study evaluate "
            "and study compare run on other engines too"
        )


# Hidden, since it offers nothing; eager, so that this is told before anything else is asked for.
ONE_MACHINE = (
    click.option(
        "--engine",
        *(f"--{option.name}" for engine in ENGINES.values() for option in engine.options),
        hidden=True,
        multiple=True,
        expose_value=False,
        is_eager=True,
        callback=_refuse_engine,
    ),
)
