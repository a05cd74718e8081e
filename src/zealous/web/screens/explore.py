"""Explore a release: search, sort, intervals, what absence means, download, code."""

from __future__ import annotations

import shlex
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from zealous.errors import UsageError
from zealous.privacy.promise import promise
from zealous.release.text.claims import leading_claim
from zealous.release.text.method_wording import count_interval, noise_at_most
from zealous.release.text.readme import prominent_notes
from zealous.web.bench import Bench, number
from zealous.web.charts import interval_bar
from zealous.web.releases import PAGE, ShownRelease
from zealous.web.table_pages import SORTS

_LONGEST_SEARCH = 200


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def explore(request: Request) -> Response:
        def show(name: str) -> Response:
            return bench.page(request, "explore", **_explored(bench, request, name))

        return bench.release_page(request, "Explore", show)

    def file(request: Request) -> Response:
        release = ShownRelease(bench, request.query_params.get("release", ""))
        path = release.checked_file(request.query_params.get("file", ""))
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    return [Route("/explore", explore), Route("/explore/file", file)]


def _explored(bench: Bench, request: Request, name: str) -> dict[str, Any]:
    asked = request.query_params
    search, sort = asked.get("search", "")[:_LONGEST_SEARCH], asked.get("sort", "most")
    if sort not in SORTS:
        raise UsageError(f"rows are sorted by one of {', '.join(SORTS)}")
    page = number(asked.get("page"), "page", least=1, most=10**9, usual=1) - 1
    release = ShownRelease(bench, name)
    part = release.part(asked.get("table"))
    shown = release.rows(part, search=search, sort=sort, page=page)
    threshold = count_interval(part).threshold
    record = release.record
    return {
        "title": "Explore",
        "release": release,
        "record": record,
        "part": part,
        "columns": record.files[part.kind].columns,
        "shown": shown,
        "bars": [
            interval_bar(row.count, row.low, row.high, highest=shown.highest, threshold=threshold)
            for row in shown.rows
        ],
        "threshold": threshold,
        "noise": noise_at_most(part),
        "absence": release.absence(part),
        "promise": promise(leading_claim(record)),
        "stamps": prominent_notes(record),
        "search": search,
        "sort": sort,
        "page": page,
        "pages": max(-(-shown.found // PAGE), 1),
        "readme": release.checked_file("README.md").read_text(encoding="utf-8", errors="replace"),
        "path_in_python": repr(str(release.path)),
        "path_in_shell": shlex.quote(str(release.path)),
        "kind_in_python": repr(part.kind),
        "files": ["release.json", *sorted(record.sha256)],
    }
