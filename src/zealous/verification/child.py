"""Checks of a child, a release that a review took rows out of: is it the rest of its parent?"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from zealous.record.record import Record, ReviewRecord, TableFiles
from zealous.release.bundle import read_release, sha256
from zealous.release.text.readme import FILTERED
from zealous.verification.claimed_guarantee import CheckFailed

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
    "publisher",
)
_NUMBERS = ("epsilon", "delta", "exact", "users", "neighbors", "unit")


def check_review(record: Record) -> str:
    """What a child says of its reviews can be so."""
    told = record.reviews()
    for each in told:
        if list(each.removed) != list(record.files):
            raise CheckFailed("the removed rows are not told for each table")
        if any(removed < 0 for removed in each.removed.values()):
            raise CheckFailed("a review that added rows is none")
    removed = sum(sum(each.removed.values()) for each in told)
    return f"{removed:,} rows removed in {len(told)} review(s)"


def check_parent(path: Path, record: Record, review: ReviewRecord, parent: Path) -> str:
    """The child is the parent without some rows.

    Args:
        path: The child, whose own tables were checked.
        record: Its record.
        review: What it says of its last review.
        parent: A release that was verified.
    """
    above = read_release(parent)
    if sha256(parent / "release.json") != review.parent:
        raise CheckFailed("this is not the parent: the SHA-256 of its release.json is another")
    if (review.parent_id, review.earlier) != (above.record.id, above.record.review):
        raise CheckFailed("the parent has another id, or went through other reviews")
    changed = [name for name in _INHERITED if getattr(record, name) != getattr(above.record, name)]
    claim, before = record.guarantee, above.record.guarantee
    if any(getattr(claim, name) != getattr(before, name) for name in _NUMBERS):
        changed.append("guarantee")
    if _assumptions_of_publisher(record) != _assumptions_of_publisher(above.record):
        changed.append("assumptions")
    if _files_without_row_counts(record) != _files_without_row_counts(above.record):
        changed.append("files")
    if changed:
        raise CheckFailed(f"not as in the parent: {', '.join(changed)}")
    child = read_release(path)
    for kind, table in child.tables.items():
        whole = above.tables[kind]
        if review.removed[kind] != len(whole) - len(table):
            raise CheckFailed(f"{kind}: another number of rows was removed")
        rows = zip(*(column.to_pylist() for column in whole.arrow.columns), strict=True)
        # `in` reads on from where it was, so this asks for the rows in the parent's order.
        if not all(
            row in rows
            for row in zip(*(column.to_pylist() for column in table.arrow.columns), strict=True)
        ):
            raise CheckFailed(f"{kind}: there are rows that the parent does not hold")
    return f"{check_review(record)}; every row left stands in the parent, which was verified"


def _assumptions_of_publisher(record: Record) -> list[str]:
    return [each for each in record.assumptions if each != FILTERED]


def _files_without_row_counts(record: Record) -> dict[str, TableFiles]:
    """The files, whatever the number of their rows."""
    return {kind: replace(each, rows=0) for kind, each in record.files.items()}
