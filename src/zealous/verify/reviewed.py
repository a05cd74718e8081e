"""Is a filtered child what is left of its parent, and nothing else?"""

from __future__ import annotations

from pathlib import Path

from zealous.release.bundle import read_release, sha256
from zealous.release.text.readme import FILTERED, reviews
from zealous.verify.claim import About, Failed

_INHERITED = (
    "private",
    "period",
    "approved_plan",
    "ledger",
    "parameters_from",
    "selection_key",
    "columns",
    "cleaning",
    "planner",
    "plan",
)
_NUMBERS = ("epsilon", "delta", "exact", "users", "neighbors", "unit")


def check_review(about: About) -> str:
    """What a child says of its reviews can be so."""
    told = reviews(about["review"])
    for each in told:
        if list(each["removed"]) != list(about["files"]):
            raise Failed("the removed rows are not told for each table")
        if any(removed < 0 for removed in each["removed"].values()):
            raise Failed("a review that added rows is none")
    removed = sum(sum(each["removed"].values()) for each in told)
    return f"{removed:,} rows removed in {len(told)} review(s)"


def check_parent(path: Path, about: About, parent: Path) -> str:
    """The child is the parent without some rows.

    Args:
        path: The child, whose own tables were checked.
        about: Its release.json.
        parent: A release that was verified.
    """
    review, above = about["review"], read_release(parent)
    if sha256(parent / "release.json") != review["parent"]:
        raise Failed("this is not the parent: the SHA-256 of its release.json is another")
    if (review["parent_id"], review["earlier"]) != (above.about["id"], above.about["review"]):
        raise Failed("the parent has another id, or went through other reviews")
    changed = [name for name in _INHERITED if about.get(name) != above.about.get(name)]
    if any(about["guarantee"][name] != above.about["guarantee"][name] for name in _NUMBERS):
        changed.append("guarantee")
    if _declared(about) != _declared(above.about):
        changed.append("assumptions")
    if _files(about) != _files(above.about):
        changed.append("files")
    if changed:
        raise Failed(f"not as in the parent: {', '.join(changed)}")
    child = read_release(path)
    for kind, table in child.tables.items():
        before = above.tables[kind]
        if review["removed"][kind] != len(before) - len(table):
            raise Failed(f"{kind}: another number of rows was removed")
        rows = zip(*(column.to_pylist() for column in before.arrow.columns), strict=True)
        # `in` reads on from where it was, so this asks for the rows in the parent's order.
        if not all(
            row in rows
            for row in zip(*(column.to_pylist() for column in table.arrow.columns), strict=True)
        ):
            raise Failed(f"{kind}: there are rows that the parent does not hold")
    return f"{check_review(about)}; every row left stands in the parent, which was verified"


def _declared(about: About) -> list[str]:
    return [each for each in about["assumptions"] if each != FILTERED]


def _files(about: About) -> dict[str, tuple[str, str, list[str]]]:
    return {
        kind: (each["parquet"], each["csv"], each["columns"])
        for kind, each in about["files"].items()
    }
