"""The first page: what lies in the folders, and what to do next."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.web.bench import Bench


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def home(request: Request) -> Response:
        return bench.page(request, "home", title="Start", found=bench.folders.look())

    return [Route("/", home)]
