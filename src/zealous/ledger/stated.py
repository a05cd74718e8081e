"""What a ledger compares of a release: a few keys of release.json, whatever version wrote it."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from zealous.errors import ReleaseError
from zealous.files.places import Place, place_of
from zealous.files.strict_json import parse
from zealous.record.codec import structure

RELEASE = "release.json"


class StatedEntry(Struct, frozen=True, kw_only=True):
    """The entry that a release says paid for it."""

    tracked: bool = False
    ledger: str | None = None
    entry: int | None = None
    hash: str | None = None


class StatedBudget(Struct, frozen=True, kw_only=True):
    """Epsilon and delta as fractions."""

    epsilon: str
    delta: str


class StatedClaim(Struct, frozen=True, kw_only=True):
    """The guarantee."""

    definition: str
    neighbors: str
    unit: str
    exact: StatedBudget


class StatedReview(Struct, frozen=True, kw_only=True):
    """What a filtered child was made from."""

    parent: str
    parent_id: str
    earlier: StatedReview | None = None

    def first_review(self) -> StatedReview:
        """The review of the release that was charged."""
        found = self
        while found.earlier is not None:
            found = found.earlier
        return found


class StatedRelease(Struct, frozen=True, kw_only=True):
    """What a release says of itself, as far as a ledger looks. It may say more."""

    id: str
    ledger: StatedEntry
    guarantee: StatedClaim
    period: str | None = None
    approved_plan: str | None = None
    review: StatedReview | None = None
    assumptions: tuple[str, ...] = ()


def read_stated(directory: str | Path | Place) -> StatedRelease | None:
    """What the release in a directory says; None where none can be read."""
    try:
        return structure(
            parse((place_of(directory) / RELEASE).read_bytes().decode()), StatedRelease
        )
    except (OSError, ValueError, RecursionError, ReleaseError):
        return None
