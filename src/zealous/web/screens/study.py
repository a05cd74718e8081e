"""Internal: true figures of a log, for its owner alone. Only with --internal, framed red."""

from __future__ import annotations

import shlex

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.logs.log import read_log
from zealous.owner.inspection import inspect
from zealous.web.bench import Bench


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def study(request: Request) -> Response:
        logs = bench.folders.look().logs
        name = request.query_params.get("log")
        found = inspect(read_log(str(bench.folders.path(name)))) if name else None
        path = shlex.quote(str(bench.folders.path(name))) if name else "LOG"
        return bench.page(
            request, "study", title="Study", logs=logs, name=name, found=found, path=path
        )

    return [Route("/study", study)]
