"""For commands that do more than count: asked to run on Spark, they say so."""

from __future__ import annotations

import click

from zealous.errors import UsageError


def _refuse(context: click.Context, _: click.Parameter, given: tuple[str, ...]) -> None:
    if any(each != "duckdb" for each in given):
        raise UsageError(
            f"{context.info_name} does more than count, and does not run on Spark: give it a log "
            "on this machine, such as a sample of the users. inspect, publish, study evaluate and "
            "study compare run on Spark"
        )


# Hidden, since it offers nothing; eager, so that this is told before anything else is asked for.
ONE_MACHINE = (
    click.option(
        "--engine",
        "--spark-master",
        "--spark-conf",
        hidden=True,
        multiple=True,
        expose_value=False,
        is_eager=True,
        callback=_refuse,
    ),
)
