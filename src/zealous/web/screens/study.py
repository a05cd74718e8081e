"""Internal: true figures of a log and the study of it, for its owner alone. Only with --internal.

Guarantee:
    Nothing of this is served without --internal. What is served are figures, the report.html of a
    folder that `zealous study compare` wrote and the picture of one that `zealous study attack`
    wrote: no row of a log.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.errors import UsageError
from zealous.logs.column_names import Role
from zealous.logs.log import Columns, Log, read_log
from zealous.owner.inspection import inspect
from zealous.owner.start import FoundLog, default_output, with_values
from zealous.web.bench import Bench, form_of, see_other
from zealous.web.folders import NotThere
from zealous.web.log_reading import COLUMNS, Reading, column_field, columns_from_fields, fingerprint
from zealous.web.security import DOCUMENT_POLICY

# By command of the study: what it is called, what it shows, and the file beside which that stands.
_STUDIES: Mapping[str, tuple[str, str, str]] = {
    "compare": ("What is still useful, method by method", "report.html", "findings.json"),
    "attack": ("What attackers learn", "attacks.svg", "attacks.json"),
}
_TYPES = {"report.html": "text/html", "attacks.svg": "image/svg+xml"}
_SEARCHES: tuple[Role, ...] = ("user", "query", "time")  # columns that the page asks for
_FIELDS = tuple(f"{role} column" for role in _SEARCHES)
_ROLES = {"compare": (*_SEARCHES, "url", "session"), "attack": _SEARCHES}


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def study(request: Request) -> Response:
        asked = request.query_params
        page = _page(bench, asked, asked["log"]) if asked.get("log") else {}
        return bench.page(
            request,
            "study",
            title="Study",
            logs=bench.folders.look().logs,
            name=asked.get("log"),
            **{
                "found": None,
                "columns": {},
                "columns_of": "",
                "roles": {},
                "person": None,
                "studies": [],
                **page,
            },
        )

    def start(request: Request) -> Response:
        form = form_of(request)
        what, name = form.get("study", ""), form.get("log", "")
        if what not in _STUDIES:
            raise UsageError(f"a study is one of {', '.join(_STUDIES)}")
        log = bench.folders.path(name)
        bench.jobs.start(_key(what, name), _command(what, log, _look(form, name, log)))
        return see_other("/study", **{field: form.get(field, "") for field in ("log", *_FIELDS)})

    def shown(request: Request) -> Response:
        """What a study wrote, without scripts, forms or ways out of its frame."""
        what, name = (request.query_params.get(each, "") for each in ("study", "log"))
        path = _study_pages(what, bench.folders.path(name))
        if path is None:
            raise NotThere("there is no such study")
        return Response(
            path.read_bytes(),
            media_type=_TYPES[path.name],
            headers={"content-security-policy": DOCUMENT_POLICY},
        )

    return [
        Route("/study", study),
        Route("/study", start, methods=["POST"]),
        Route("/study/shown", shown),
    ]


def _look(asked: Mapping[str, str], name: str, log: Path) -> FoundLog:
    reading = Reading()
    columns = reading.look(log, {}).format.columns
    return reading.look(log, columns_from_fields(asked, columns, name))


def _page(bench: Bench, asked: Mapping[str, str], name: str) -> dict[str, Any]:
    log = bench.folders.path(name)
    found = _look(asked, name, log)
    person = found.column("user")
    return {
        "found": inspect(_open(log, found)) if person else None,
        "columns": {each: column_field(each) for each in found.format.columns},
        "columns_of": fingerprint(found.format.columns, name),
        "roles": {role: (COLUMNS[role], found.column(role)) for role in _SEARCHES},
        "person": person,
        "studies": [_study(bench, what, name, found) for what in _STUDIES]
        if "query" in found.roles() and person
        else [],
    }


def _study(bench: Bench, what: str, name: str, found: FoundLog) -> dict[str, Any]:
    """How far a study of a log is."""
    log, job = bench.folders.path(name), bench.jobs.find(_key(what, name))
    return {
        "name": what,
        "words": _STUDIES[what][0],
        "written": _study_pages(what, log) is not None,
        "job": job,
        "command": shlex.join(["zealous", *_command(what, log, found)]),
    }


def _open(log: Path, found: FoundLog) -> Log:
    """The log as its first lines show it."""
    form, roles = found.format, found.roles()
    return read_log(
        str(log),
        form.format,
        columns=Columns(**roles),
        names=() if form.has_header else form.columns,
        delimiter=form.delimiter,
        encoding=form.encoding,
        time_format=form.time_formats.get(roles.get("time", "")),
    )


def _command(what: str, log: Path, found: FoundLog) -> list[str]:
    roles = found.roles()
    columns = [
        part for role in _ROLES[what] if role in roles for part in (f"--{role}", roles[role])
    ]
    options = [*Reading().options(found, roles.get("time")), *with_values(columns)]
    return ["study", what, str(log), *options, "-o", str(_folder(what, log))]


def _folder(what: str, log: Path) -> Path:
    """Where a study of a log is written."""
    stem = default_output(log.name).removesuffix("-release")
    return log.with_name(f"{stem}-internal-{what}")


def _study_pages(what: str, log: Path) -> Path | None:
    """What a study wrote that a page can show, if it is there."""
    if what not in _STUDIES:
        return None
    _, shown, beside = _STUDIES[what]
    folder = _folder(what, log)
    files = [folder, folder / shown, folder / beside]
    if any(each.is_symlink() or not each.exists() for each in files):
        return None
    return folder / shown


def _key(what: str, log: str) -> str:
    return f"study {what} {log}"
