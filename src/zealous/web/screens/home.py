"""The first page: what lies in the folders, and what to do next."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.web.bench import Bench
from zealous.web.folders import Found
from zealous.web.plans import plan_states


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def home(request: Request) -> Response:
        found = bench.folders.look()
        states = {} if bench.reading else plan_states(bench, found.plans)
        return bench.page(
            request,
            "home",
            title="Start",
            found=found,
            states=states,
            next_step=None if bench.reading else _next_step(found, states),
        )

    return [Route("/", home)]


def _next_step(found: Found, states: dict[str, str]) -> tuple[str, str]:
    """What to do now: its words, and where."""
    if not found.logs and not found.releases:
        return "Take the tour: no log is in the folders yet", "/tour"
    if not found.ledgers:
        return "Begin a ledger, with a limit on what one person may lose", "/ledger"
    waiting = [name for name, state in states.items() if state == "waiting"]
    approved = [name for name, state in states.items() if state == "approved"]
    if waiting:
        return (
            f"Read {waiting[0]}, and approve or return it",
            f"/approve?{urlencode({'plan': waiting[0]})}",
        )
    if approved and len(approved) > len(found.releases):
        return f"Publish {approved[0]}", f"/publish?{urlencode({'plan': approved[0]})}"
    if found.releases:
        last = found.releases[-1]
        return (
            f"Review {last} before it leaves, then sign",
            f"/review?{urlencode({'release': last})}",
        )
    return "Plan a release", "/plan"
