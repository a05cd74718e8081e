"""The first page: what lies in the folders, and what to do next."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.ledger.signatures import signature_file
from zealous.web.bench import Bench
from zealous.web.folders import FolderContents
from zealous.web.plans import plan_states, records


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
            next_step=None if bench.reading else _next_step(bench, found, states),
        )

    return [Route("/", home)]


def _next_step(bench: Bench, found: FolderContents, states: dict[str, str]) -> tuple[str, str]:
    """What to do now: its words, and where."""
    if not found.logs and not found.releases:
        return "Take the tour: no log is in the folders yet", "/tour"
    if not found.ledgers:
        return "Begin a ledger, with a limit for all releases together", "/ledger"
    for state, words, path in (
        ("waiting", "Read {}, and approve or return it", "/approve"),
        ("approved", "Publish {}", "/publish"),
    ):
        for name in (name for name, each in states.items() if each == state):
            return words.format(name), f"{path}?{urlencode({'plan': name})}"
    known = records(bench)
    reviewed = {record.review.parent_id for record in known.values() if record.review}
    for name, record in known.items():
        signed = signature_file(bench.folders.path(name)).exists()
        asked = urlencode({"release": name})
        if record.review is None and record.id not in reviewed and not signed:
            return f"Review {name} before it leaves", f"/review?{asked}"
        if record.review is not None and record.id not in reviewed and not signed:
            return f"Verify {name}, and sign it", f"/sign?{asked}"
    return "Plan the next release", "/plan"
