"""Catch a ledger lying: against itself, and against the releases that were charged to it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zealous.errors import LedgerError
from zealous.files.places import Place, StoreError, error_text, place_of
from zealous.ledger import store
from zealous.ledger.book import Book, read_book
from zealous.ledger.stated import RELEASE, read_stated


def verify(path: Path, releases: Sequence[str | Path | Place] = ()) -> list[str]:
    """What is wrong; nothing, if all is well.

    The chain shows that no event was changed, inserted or removed, as long as its end is the true
    one. Somebody who writes the whole chain anew, or cuts its end, is found by the releases: each
    carries the hash of its entry, which vouches for all that was charged before.

    Args:
        path: The ledger.
        releases: Directories of releases, or folders that hold some.
    """
    try:
        with store.reading(path) as connection:
            problems = _sqlite_problems(connection)
            book = read_book(store.read_rows(connection))
    except LedgerError as error:
        return [str(error)]
    problems += book.problems
    for each in releases:
        place = place_of(each)
        try:
            found = sorted(_find_releases(place), key=str)
        except StoreError as error:
            problems.append(f"{place}: {error_text(error)}")
            continue
        if not found:
            problems.append(f"{place}: no release here")
        for directory in found:
            problems += [f"{directory}: {problem}" for problem in _disagreements(book, directory)]
    return problems


def fingerprint(directory: str | Path | Place) -> str:
    """The SHA-256 of a release's release.json, which holds those of its other files."""
    try:
        return hashlib.sha256((place_of(directory) / RELEASE).read_bytes()).hexdigest()
    except OSError:
        raise LedgerError(f"{place_of(directory)} holds no readable {RELEASE}") from None


def _sqlite_problems(connection: Any) -> list[str]:
    """What SQLite knows."""
    problems = [
        f"the file is damaged: {text}"
        for (text,) in connection.execute("pragma integrity_check(3)")
        if text != "ok"
    ]
    there = dict(connection.execute("select name, sql from sqlite_master where type = 'trigger'"))
    if there.items() ^ store.TRIGGERS.items():
        problems.append("what keeps events from being changed was removed or replaced")
    return problems + store.truncation_problems(connection)


def _find_releases(folder: Place) -> Iterator[Place]:
    if (folder / RELEASE).is_file():
        yield folder
    else:
        yield from (each.parent for each in folder.files() if each.name == RELEASE)


def _disagreements(book: Book, directory: Place) -> list[str]:
    """Where a release and the ledger do not say the same."""
    said = read_stated(directory)
    if said is None:
        return [f"its {RELEASE} cannot be read"]
    stamp, claim, seq = said.ledger, said.guarantee, said.ledger.entry
    if not stamp.tracked:
        return ["its budget was not tracked"]
    if stamp.ledger != book.id:
        return ["it was charged to another ledger, or this one was made anew"]
    entry = book.entries.get(seq) if seq is not None else None
    if entry is None or entry.hash != stamp.hash:
        return [f"its entry {seq} is not in the ledger: the ledger was rewritten or cut"]
    # A filtered child costs nothing: it answers for the release it was made from first.
    review, charge = said.review.first_review() if said.review else None, entry.charge
    compared = [
        ("id", review.parent_id if review else said.id, entry.release),
        ("epsilon", claim.exact.epsilon, str(charge.epsilon)),
        ("delta", claim.exact.delta, str(charge.delta)),
        ("unit", claim.unit, charge.unit),
        ("neighbors", claim.neighbors, charge.neighbors),
        ("period", said.period, str(charge.period) if charge.period else None),
        (
            "kind of sessions",
            charge.sessions if charge.sessions in said.assumptions else None,
            charge.sessions,
        ),
    ]
    if review is None:  # a child claims indistinguishability, whatever its parent was charged as
        compared.append(("definition", claim.definition, charge.definition))
    problems = [
        f"its {name} is not the one charged in entry {seq}"
        for name, told, charged in compared
        if told != charged
    ]
    if entry.state == "voided":
        problems.append(f"entry {seq} was voided because nobody saw it, and here it is")
    elif entry.state == "reserved":
        problems.append(
            f"entry {seq} is not marked as released: a crash, or the end of the ledger was cut"
        )
    released = review.parent if review else fingerprint(directory)
    if entry.sha256 not in (None, released):
        of = "the parent it names" if review else f"its {RELEASE}"
        problems.append(f"{of} is not the one that entry {seq} released")
    return problems
