"""Review a release before it leaves: rows with what they look like, and which of them go."""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.errors import UsageError
from zealous.verification.review import FlaggedRow, ReviewResult, review
from zealous.web.bench import Bench, form_of, number, see_other
from zealous.web.releases import ShownRelease
from zealous.web.table_pages import Item

_ROWS = 100  # of a page
_LONGEST_SEARCH = 200


@dataclass(frozen=True)
class Marks:
    """What was decided about items: True for those that go."""

    goes: dict[Item, bool] = field(default_factory=dict)


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def look(request: Request) -> Response:
        def show(name: str) -> Response:
            return bench.page(request, "review", title="Review", **_page(bench, request, name))

        return bench.release_page(request, "Review", show)

    def mark(request: Request) -> Response:
        form = form_of(request)
        release = ShownRelease(bench, form.get("release", ""))
        marks = _marks(bench, release)
        gone = set(request.state.form.get("goes", []))
        for text in request.state.form.get("row", []):
            marks.goes[_item(text)] = text in gone
        if form.get("then") != "write":
            asked = {key: form.get(key, "") for key in ("release", "table", "show", "search")}
            return see_other("/review", **asked, page=form.get("then", "1"))
        output = bench.folders.new_path(
            bench.folders.name_of(release.path.parent), form.get("output", "")
        )
        _write(bench, release, output)
        return see_other("/sign", release=bench.folders.name_of(output))

    return [Route("/review", look), Route("/review", mark, methods=["POST"])]


def _marks(bench: Bench, release: ShownRelease) -> Marks:
    """What was decided so far; kept while the workbench runs."""
    found: Marks = bench.seen.setdefault(f"marks {release.path}", Marks())
    return found


def _item(text: str) -> Item:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise UsageError("a row of the form cannot be read: open the page again")
    return tuple(found)


def _flagged(release: ShownRelease) -> list[FlaggedRow]:
    """What the patterns for personal data find, looked for once; nothing is written."""
    files = [release.path / "release.json"]
    found: list[FlaggedRow] = release.cached(
        "flagged", files, lambda: review(release.path, flag_pii=True).flagged
    )
    return found


def _page(bench: Bench, request: Request, name: str) -> dict[str, Any]:
    asked = request.query_params
    release = ShownRelease(bench, name)
    part = release.part(asked.get("table"))
    release.checked_file(release.record.files[part.kind].parquet)
    caught, marks = _flagged(release), _marks(bench, release)
    flagged = Counter(each.kind for each in caught)
    why = {each.item: each.why for each in caught}
    show = asked.get("show", "flagged" if flagged[part.kind] else "all")
    search = asked.get("search", "")[:_LONGEST_SEARCH]
    page = number(asked.get("page"), "page", least=1, most=10**9, usual=1) - 1
    doubtful = {*why, *(item for item, goes in marks.goes.items() if goes)}
    found = release.find_rows(
        part,
        search=search,
        sort="most",
        page=page,
        size=_ROWS,
        among=None if show == "all" else doubtful,
    )
    gone = _removed_items(why, marks)
    return {
        "release": release,
        "record": release.record,
        "part": part,
        "columns": release.record.files[part.kind].columns,
        "rows": [
            (json.dumps(item), item, count, why.get(item), item in gone)
            for item, count in found.rows
        ],
        "found": found.found,
        "flagged": flagged,
        "gone": len(gone),
        "show": show,
        "search": search,
        "page": page,
        "pages": max(-(-found.found // _ROWS), 1),
        "output": f"{release.path.name}-reviewed",
        "command": f"zealous review {shlex.quote(str(release.path))} --flag-pii --remove "
        "removed.txt --allow kept.txt -o reviewed",
    }


def _removed_items(why: dict[Item, str], marks: Marks) -> set[Item]:
    """The items that go: those that a pattern caught, and those that a person says, or not."""
    chosen = {key for key, goes in marks.goes.items() if goes}
    return chosen | {key for key in why if marks.goes.get(key, True)}


def _write(bench: Bench, release: ShownRelease, output: Path) -> None:
    """Write the reviewed release, and beside it the lists of what was decided."""
    marks = _marks(bench, release)
    caught = {each.item for each in _flagged(release)}
    removed = [key for key, goes in marks.goes.items() if goes and key not in caught]
    kept = [key for key in caught if not marks.goes.get(key, True)]
    lists = {"remove": removed, "allow": kept}
    written: dict[str, Path] = {}
    try:
        for rule, items in lists.items():
            if items:
                path = output.with_name(f"{output.name}.{rule}.txt")
                written[rule] = _write_list(path, items)
        made = review(
            release.path,
            remove=written.get("remove"),
            allow=written.get("allow"),
            flag_pii=True,
        )
        _check_gone(made, _removed_items(dict.fromkeys(caught, ""), marks))
        made.release.write(output)
    except BaseException:
        for path in written.values():
            path.unlink()
        raise


def _check_gone(made: ReviewResult, gone: set[Item]) -> None:
    """Refuse a result that holds what was to go: lists take several spellings for one item."""
    for table in made.release.values():
        *item, _ = (column.to_pylist() for column in table.arrow.columns)
        if not gone.isdisjoint(zip(*item, strict=True)):
            raise UsageError(
                "an item that is to go would stay: another spelling of it is kept, or it begins or "
                "ends with an empty column. Let all of its spellings go, or use --block"
            )


def _write_list(path: Path, items: list[Item]) -> Path:
    """A list as `review` reads it: an item a line, its columns separated by tabs."""
    lines = []
    for item in sorted(items):
        line = "\t".join(item)
        if not line.replace("\t", " ").isprintable() or any("\t" in each for each in item):
            raise UsageError("an item with characters that cannot be seen must go by --block")
        lines.append(f"\\{line}" if line.startswith("#") else line)
    # What must not leave stands in it: it is for its owner alone.
    new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(new, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, ""]))
    return path
