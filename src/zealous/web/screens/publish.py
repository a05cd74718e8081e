"""Publish an approved plan: what will be charged, the dataset's name typed, and the progress."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.errors import Refused, UsageError
from zealous.ledger import Ledger, ledger_path
from zealous.owner.start import command_line
from zealous.privacy.guarantee import format_number
from zealous.privacy.period import Period
from zealous.release.charging import charge_of_plan
from zealous.release.doubts import ASKS
from zealous.web import tour
from zealous.web.bench import Bench, form_of, see_other
from zealous.web.folders import NotThere
from zealous.web.jobs import Job
from zealous.web.plans import ShownPlan, plan_page


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def publish(request: Request) -> Response:
        def show(shown: ShownPlan) -> Response:
            job = bench.jobs.find(shown.sha256)
            if job is not None and (job.state != "failed" or request.query_params.get("job")):
                return bench.page(request, "job", title="Publish", **_progress(bench, shown))
            return bench.page(request, "publish", title="Publish", **_page(bench, shown))

        return plan_page(bench, request, "Publish", show)

    def start(request: Request) -> Response:
        form = form_of(request)
        shown = ShownPlan.read(bench, form.get("plan", ""))
        _check_approved(shown)
        log = bench.folders.path(form.get("log", ""))
        dataset = _dataset(shown, ledger_path([log]))
        if form.get("dataset", "").strip() != dataset:
            raise UsageError(f"type the name exactly to publish: {dataset}")
        folder = bench.folders.name_of(log.parent)
        output = bench.folders.new_path(folder, form.get("output", ""))
        command = _command(shown, form, log, output)
        bench.jobs.start(shown.sha256, command, **tour.environment(bench, output))
        return see_other("/publish", plan=shown.name, job="1")

    def go_on(request: Request) -> Response:
        form = form_of(request)
        shown = ShownPlan.read(bench, form.get("plan", ""))
        job = bench.jobs.find(shown.sha256)
        if job is None or not _asks(job):
            raise Refused("no publication of this plan waits for an answer")
        if not form.get("meant"):
            raise UsageError("tick that it is meant so, or leave it: nothing was charged")
        _check_approved(shown)
        output = _output(job)
        again = [*job.command, "--proceed"]
        bench.jobs.start(shown.sha256, again, **tour.environment(bench, output))
        return see_other("/publish", plan=shown.name, job="1")

    return [
        Route("/publish", publish),
        Route("/publish", start, methods=["POST"]),
        Route("/publish/go-on", go_on, methods=["POST"]),
    ]


def _check_approved(shown: ShownPlan) -> None:
    if shown.state not in ("approved", "published"):
        raise Refused("only an approved plan is published: approve it first")


def _asks(job: Job) -> bool:
    """Whether it stopped to ask if it is meant so, and charged nothing."""
    return job.state == "failed" and any(line.endswith(ASKS) for line in job.lines()[-1:])


def _told(job: Job) -> list[str]:
    """What it said, without the option that a page has a box for."""
    return [line.removesuffix(ASKS).rstrip() for line in job.lines()]


def _output(job: Job) -> Path:
    return Path(job.command[job.command.index("-o") + 1])


def _command(shown: ShownPlan, form: dict[str, str], log: Path, output: Path) -> list[str]:
    """What a terminal would run. Under the plan's own id a release is drawn once."""
    said = ["publish", str(log), "--plan", str(shown.path), "-o", str(output)]
    said += [f"--id={_release_id(shown, form.get('period', ''))}"]
    if form.get("by", "").strip():
        said += [f"--signed-by={form['by'].strip()}"]
    if form.get("period", "").strip():
        said += [f"--period={Period.parse(form['period'].strip())}"]
    if _publisher(log) is not None:
        said += [f"--publisher={_publisher(log)}"]
    people = shown.planned.log.people if shown.planned.log else None
    return [*said, f"--people={people}"] if people else said


def _publisher(log: Path) -> Path | None:
    """Who publishes and what for, where a publisher.toml beside the log says it."""
    path = log.parent / "publisher.toml"
    return path if path.is_file() and not path.is_symlink() else None


def _release_id(shown: ShownPlan, period: str) -> str:
    stem = shown.title.replace(" ", "-")
    return "-".join(filter(None, [stem, period.strip(), shown.sha256[:8]]))


def _dataset(shown: ShownPlan, ledger: Path) -> str:
    """The name to type: that of the people, or of the plan where nobody named them."""
    named = Ledger.open(ledger).book().dataset if ledger.exists() else None
    return named or shown.title


def _page(bench: Bench, shown: ShownPlan) -> dict[str, Any]:
    planned, failed = shown.planned, bench.jobs.find(shown.sha256)
    logs = bench.folders.look().logs
    near = [name for name in logs if bench.folders.path(name).parent == shown.path.parent]
    ledger = ledger_path([bench.folders.path(near[0])]) if near else None
    book = Ledger.open(ledger).book() if ledger and ledger.exists() else None
    return {
        "shown": shown,
        "planned": planned,
        "logs": near or list(logs),
        "ledger": _shown_ledger(bench, ledger) if ledger else None,
        "dataset": _dataset(shown, ledger) if ledger else "",
        "capped": bool(book and book.capped()),
        "before": book.standing() if book else None,
        "after": book.standing(charge_of_plan(planned)) if book else None,
        "epsilon": format_number(planned.goal.epsilon),
        "delta": format_number(planned.goal.delta),
        "output": f"{shown.title.replace(' ', '-')}-release",
        "publisher": bool(near) and _publisher(bench.folders.path(near[0])) is not None,
        "by": getpass.getuser(),
        "failed": failed and _told(failed),
        "asks": failed and _asks(failed),
    }


def _shown_ledger(bench: Bench, ledger: Path) -> str:
    """The ledger's name in the folders; its path where it is outside of them."""
    try:
        return bench.folders.name_of(ledger)
    except NotThere:
        return str(ledger)


def _progress(bench: Bench, shown: ShownPlan) -> dict[str, Any]:
    job = bench.jobs.find(shown.sha256)
    assert job is not None  # noqa: S101 - asked only where there is one
    output = _output(job)
    try:
        release = bench.folders.name_of(output) if output.is_dir() else None
    except NotThere:
        release = None
    return {
        "shown": shown,
        "job": job,
        "lines": _told(job),
        "asks": _asks(job),
        "release": release,
        "command": command_line(["zealous", *job.command]),
    }
