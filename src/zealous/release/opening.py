"""A log, opened for counting: the last step at which a run can stop and nothing is charged.

Guarantee:
    No more users are counted than were declared, and what stops here has cost nothing.
"""

from __future__ import annotations

from zealous.engines.engine import Engine
from zealous.logs.open_log import open_log
from zealous.logs.source import Source
from zealous.release.checks import check_users
from zealous.release.progress import Say, report_skipped
from zealous.release.recognition import Recognition
from zealous.release.request import Request


def open_source(request: Request, engine: Engine, recognition: Recognition, say: Say) -> Source:
    """The entries of the period, and no more users than were declared.

    Raises:
        Refused: There are more.
    """
    say("reading the log")
    plan = request.plan
    extra = [name for kind in plan.kinds() for name in kind.extra_columns()]
    source = open_log(
        request.log,
        engine,
        extra,
        unit=plan.goal.unit,
        period=request.period,
        key=request.key,
        sketch_key=recognition.key,
    )
    report_skipped(source.skipped, say)
    check_users(source, plan.goal)
    return source
