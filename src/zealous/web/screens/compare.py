"""Compare two releases: what changed beyond noise."""

from __future__ import annotations

import shlex

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.release.bundle import read_release
from zealous.series.changes import Changes, change_row, changes
from zealous.series.changes_picture import picture
from zealous.web.bench import Bench
from zealous.web.releases import ShownRelease
from zealous.web.security import DOCUMENT_POLICY

_MOST = 200  # rows of a page


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def compare(request: Request) -> Response:
        old, new = (request.query_params.get(each, "") for each in ("old", "new"))
        names = bench.folders.look().releases
        asked = bool(old and new)
        found = _changes(bench, old, new) if asked else None
        paths = [str(bench.folders.path(each)) for each in (old, new)] if asked else ["", ""]
        return bench.page(
            request,
            "compare",
            title="Compare",
            names=names,
            old=old or (names[0] if names else None),
            new=new or (names[-1] if names else None),
            found=found,
            rows=[change_row(each) for each in (found or ())[:_MOST]],
            command=shlex.join(["zealous", "changes", *paths, "-o", "changes"]),
            python=f"import zealous as z\n\nz.changes({paths[0]!r}, {paths[1]!r})",
        )

    def drawn(request: Request) -> Response:
        names = (request.query_params.get(each, "") for each in ("old", "new"))
        return Response(
            picture(_changes(bench, *names)),
            media_type="image/svg+xml",
            headers={"content-security-policy": DOCUMENT_POLICY},
        )

    return [Route("/compare", compare), Route("/compare/picture.svg", drawn)]


def _changes(bench: Bench, old: str, new: str) -> Changes:
    """What changed between two releases whose tables are as they were written."""
    both = [ShownRelease(bench, name) for name in (old, new)]
    tables = [
        release.checked_file(files.parquet)
        for release in both
        for files in release.record.files.values()
    ]
    records = [release.path / "release.json" for release in both]
    found: Changes = both[0].cached(
        f"changes to {both[1].path} since",
        [*records, *tables],
        lambda: changes(*(read_release(release.path) for release in both)),
    )
    return found
