"""The application: its screens behind the guard."""

from __future__ import annotations

import logging
import os
import traceback
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from zealous.errors import ZealousError
from zealous.web import tour
from zealous.web.bench import Bench
from zealous.web.folders import NotThere
from zealous.web.screens import (
    approve,
    compare,
    explore,
    home,
    ledger,
    plan,
    publish,
    review,
    sign,
    study,
)
from zealous.web.security import Guard, Sessions

_STATIC = {
    "style.css": "text/css",
    "workbench.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
_READING = (home, explore, compare, sign)
_ALL = (*_READING, plan, approve, publish, ledger, review, tour)


def application(bench: Bench, sessions: Sessions, hosts: frozenset[str]) -> ASGIApp:
    """All of it, for an ASGI server.

    Args:
        bench: What the screens share.
        sessions: Who is let in.
        hosts: What requests may name as their Host.
    """
    screens = _READING if bench.reading else (*_ALL, study) if bench.internal else _ALL
    routes = [
        Route("/static/{name}", _static),
        *(r for each in screens for r in each.routes(bench)),
    ]

    def failed(request: Request, error: Exception) -> Response:
        status, text = _error_text(error)
        return bench.page(request, "error", status, title="Error", text=text)

    app = Starlette(
        routes=routes,
        exception_handlers={ZealousError: failed, HTTPException: failed, Exception: failed},
    )
    return Guard(app, sessions=sessions, hosts=hosts)


def _error_text(error: Exception) -> tuple[int, str]:
    """What a page says of an error. As on the command line, an unforeseen one is not quoted."""
    if isinstance(error, ZealousError):
        return (404 if isinstance(error, NotThere) else 400), str(error)
    if isinstance(error, HTTPException):
        return error.status_code, "There is no such page."
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(where.filename)}:{where.lineno}"
    text = f"an unforeseen {type(error).__name__} at {place}; please report it"
    logging.getLogger(__name__).error(text)
    return 500, text


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    content = files("zealous.web").joinpath("static", name).read_bytes()
    return Response(content, media_type=_STATIC[name])
