"""The tour: the whole way on a generated log, in a folder that is gone when the workbench ends."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.errors import UsageError
from zealous.web.bench import Bench, see_other
from zealous.web.plans import plan_states

NAME = "tour"
_LOG = f"{NAME}/searches.parquet"
_USERS, _SEED = 20_000, 7


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def look(request: Request) -> Response:
        begun = NAME in bench.folders.names
        return bench.page(
            request, "tour", title="Tour", begun=begun, steps_done=_steps(bench) if begun else []
        )

    def begin(request: Request) -> Response:
        if bench.scratch is None or NAME in bench.folders.names:
            raise UsageError("the tour has begun already")
        folder = bench.scratch / NAME
        folder.mkdir()
        made = ["generate", "-o", str(folder / Path(_LOG).name), "--users", str(_USERS)]
        job = bench.jobs.start(NAME, [*made, "--seed", str(_SEED), "--no-figures"])
        if job.process.wait():
            raise UsageError("the log of the tour could not be made: is there room on the disk?")
        bench.folders.add(NAME, folder)
        return see_other("/tour")

    return [Route("/tour", look), Route("/tour", begin, methods=["POST"])]


def environment(bench: Bench, output: Path) -> dict[str, str]:
    """What a publication of the tour runs with: it leaves no trace among those of real logs."""
    folder = bench.scratch / NAME if bench.scratch else None
    inside = folder is not None and output.is_relative_to(folder.resolve())
    return {"XDG_STATE_HOME": str(folder / ".state")} if inside and folder else {}


def _steps(bench: Bench) -> list[tuple[str, str, str, bool]]:
    """Each step: what to do, what to see there, where, and whether it is done."""
    found = bench.folders.look()
    ledgers = [name for name in found.ledgers if name.startswith(f"{NAME}/")]
    plans = [name for name in found.plans if name.startswith(f"{NAME}/")]
    releases = [name for name in found.releases if name.startswith(f"{NAME}/")]
    states = plan_states(bench, tuple(plans))
    plan, release = (each[0] if each else "" for each in (plans, releases))
    reviewed = [name for name in releases if name.endswith("-reviewed")]
    first = next((name for name in releases if name not in reviewed), release)
    asked = {"log": _LOG, "users": "20,000"}
    return [
        (
            "Begin a ledger in the folder tour",
            "How much all releases together may reveal: 12 allows six releases of epsilon 2.",
            "/ledger",
            bool(ledgers),
        ),
        (
            "Plan a release",
            "Move the slider: more protection, and an item needs more people to appear.",
            f"/plan?{urlencode(asked)}",
            bool(plans),
        ),
        (
            "Approve the plan",
            "What it assumes is ticked one by one; the budget is shown before and after.",
            f"/approve?{urlencode({'plan': plan})}",
            "approved" in states.values(),
        ),
        (
            "Publish it",
            "Type the name of the dataset; you may close the page while it runs.",
            f"/publish?{urlencode({'plan': plan})}",
            bool(releases),
        ),
        (
            "Explore what was published",
            "Personal queries of the log are missing, common ones have an interval.",
            f"/explore?{urlencode({'release': first})}",
            bool(releases),
        ),
        (
            "Review it",
            "Take out a row that should not leave, and see what the promise becomes.",
            f"/review?{urlencode({'release': first})}",
            bool(reviewed),
        ),
        (
            "Verify and sign",
            "Everything that the release says of itself is recomputed.",
            f"/sign?{urlencode({'release': reviewed[0] if reviewed else first})}",
            False,
        ),
    ]
