"""What stands in the directory of a release: the one that an entry paid for, or another."""

from __future__ import annotations

import hashlib
from pathlib import Path

from zealous.errors import LedgerError
from zealous.files.places import Place, StoreError, error_text, place_of
from zealous.ledger.entries import Entry
from zealous.ledger.stated import RELEASE, read_stated


def fingerprint(directory: str | Path | Place) -> str:
    """The SHA-256 of a release's release.json, which holds those of its other files."""
    try:
        return hashlib.sha256((place_of(directory) / RELEASE).read_bytes()).hexdigest()
    except OSError:
        raise LedgerError(f"{place_of(directory)} holds no readable {RELEASE}") from None


def holds_release_of(directory: str | Path | Place, entry: Entry) -> bool:
    """Whether a directory holds the release of an entry, and not a child of it."""
    said = read_stated(directory)
    return (
        said is not None
        and said.ledger.hash == entry.hash
        and said.id == entry.release
        and said.review is None
    )


def is_still_there(entry: Entry) -> bool:
    """Whether it is where it was written; not to know is no answer."""
    if entry.directory is None:
        return False
    try:
        content = (place_of(entry.directory) / RELEASE).read_bytes()
    except FileNotFoundError:
        return False
    except StoreError as error:
        raise LedgerError(f"{entry.directory} cannot be looked at: {error_text(error)}") from None
    except OSError:
        return False
    return hashlib.sha256(content).hexdigest() == entry.sha256
