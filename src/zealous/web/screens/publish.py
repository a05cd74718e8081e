"""Publish an approved plan: what will be charged, the dataset's name typed, and the progress."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.errors import Refused, UsageError, ZealousError
from zealous.ledger import Ledger, ledger_path
from zealous.logs.column_names import ROLES
from zealous.owner.start import FoundLog, command_line
from zealous.privacy.guarantee import format_number
from zealous.privacy.period import Period
from zealous.release.charging import charge_of_plan
from zealous.web import tour
from zealous.web.bench import Bench, form_of, see_other
from zealous.web.folders import NotThere
from zealous.web.jobs import Job
from zealous.web.log_reading import Reading, form_in_words
from zealous.web.plans import ShownPlan, plan_page
from zealous.web.publication_steps import steps_of, stopped_to_ask, warnings_of, without_option
from zealous.web.publisher_form import FIELDS, publisher_file, read_fields, write_fields
from zealous.web.releases import ShownRelease

_NOT = "It cannot be read as planned"


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
        _look(shown, log)  # what cannot be read as planned is said here
        write_fields(log, form)
        command = _command(shown, form, log, output)
        bench.jobs.start(shown.sha256, command, **tour.environment(bench, output))
        return see_other("/publish", plan=shown.name, job="1")

    def go_on(request: Request) -> Response:
        form = form_of(request)
        shown = ShownPlan.read(bench, form.get("plan", ""))
        job = bench.jobs.find(shown.sha256)
        if job is None or not stopped_to_ask(job.lines(), job.state):
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


def _shown_line(job: Job) -> list[str]:
    """What it said, without the option that a page has a box for."""
    return [without_option(line) for line in job.lines()]


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
    if publisher := publisher_file(log):
        said += [f"--publisher={publisher}"]
    said += _reading_options(shown, log)
    people = shown.planned.log.people if shown.planned.log else None
    return [*said, f"--people={people}"] if people else said


def _reading_options(shown: ShownPlan, log: Path) -> list[str]:
    """How the log is read: as its first lines show, or as was said when the plan was written."""
    reading, found = _look(shown, log)
    columns = shown.planned.log.columns if shown.planned.log else None
    return reading.options(found, columns.time if columns else None)


def _look(shown: ShownPlan, log: Path) -> tuple[Reading, FoundLog]:
    reading = Reading.of_plan(shown.path)
    roles = shown.planned.log.columns.assigned() if shown.planned.log else {}
    return reading, reading.look(log, {role: roles[role] for role in ROLES if role in roles})


def _read_as(shown: ShownPlan, log: Path) -> str:
    """How a log is read, in words, or why it cannot be."""
    try:
        reading, found = _look(shown, log)
    except ZealousError as error:
        return f"{_NOT}: {error}"
    form = reading.time_format
    times = f", times such as {form_in_words(form)}" if form else ""
    return f"Read as {found.format.describe()}{times}."


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
    paths = {name: bench.folders.path(name) for name in logs}
    near = [name for name, path in paths.items() if path.parent == shown.path.parent]
    planned_for = Reading.of_plan(shown.path).file
    read_as = {name: _read_as(shown, paths[name]) for name in near or logs}
    near.sort(key=lambda name: (paths[name].name != planned_for, read_as[name].startswith(_NOT)))
    ledger = ledger_path([bench.folders.path(near[0])]) if near else None
    book = Ledger.open(ledger).book() if ledger and ledger.exists() else None
    return {
        "shown": shown,
        "planned": planned,
        "logs": {name: read_as[name] for name in near or logs},
        "ledger": _shown_ledger(bench, ledger) if ledger else None,
        "dataset": _dataset(shown, ledger) if ledger else "",
        "capped": bool(book and book.capped()),
        "before": book.standing() if book else None,
        "after": book.standing(charge_of_plan(planned)) if book else None,
        "epsilon": format_number(planned.goal.epsilon),
        "delta": format_number(planned.goal.delta),
        "dated": planned.log is None or planned.log.columns.time is not None,
        "output": f"{shown.title.replace(' ', '-')}-release",
        "publisher": read_fields(bench.folders.path(near[0])) if near else {},
        "publisher_fields": FIELDS,
        "by": getpass.getuser(),
        "failed": failed and _shown_line(failed),
        "asks": failed and stopped_to_ask(failed.lines(), failed.state),
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
        "lines": _shown_line(job),
        "steps_of_job": steps_of(job.lines(), job.state),
        "warnings": warnings_of(job.lines()),
        "asks": stopped_to_ask(job.lines(), job.state),
        "release": release,
        "tables": ShownRelease(bench, release).record.files if release else {},
        "command": command_line(["zealous", *job.command]),
    }
