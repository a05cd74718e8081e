"""Catch a ledger lying: against itself, and against the releases that were charged to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zealous.errors import LedgerError
from zealous.files.places import Place, StoreError, place_of, why
from zealous.ledger import store
from zealous.ledger.book import Book, read

_ABOUT = "release.json"


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
            problems = _damage(connection)
            book = read(store.rows(connection))
    except LedgerError as error:
        return [str(error)]
    problems += book.problems
    for each in releases:
        place = place_of(each)
        try:
            found = sorted(_releases(place), key=str)
        except StoreError as error:
            problems.append(f"{place}: {why(error)}")
            continue
        if not found:
            problems.append(f"{place}: no release here")
        for directory in found:
            problems += [f"{directory}: {problem}" for problem in _disagreements(book, directory)]
    return problems


def fingerprint(directory: str | Path | Place) -> str:
    """The SHA-256 of a release's release.json, which holds those of its other files."""
    try:
        return hashlib.sha256((place_of(directory) / _ABOUT).read_bytes()).hexdigest()
    except OSError:
        raise LedgerError(f"{place_of(directory)} holds no readable {_ABOUT}") from None


def ledger_of(directory: str | Path | Place) -> dict[str, Any]:
    """What a release says about its entry; empty if there is no release or it says nothing."""
    return _part(about_of(directory), "ledger")


def _part(about: dict[str, Any], name: str) -> dict[str, Any]:
    part = about.get(name)
    return part if isinstance(part, dict) else {}


def about_of(directory: str | Path | Place) -> dict[str, Any]:
    """What a release says about itself; empty if there is no release."""
    try:
        about = json.loads((place_of(directory) / _ABOUT).read_bytes().decode())
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


def _damage(connection: Any) -> list[str]:
    """What SQLite knows."""
    problems = [
        f"the file is damaged: {text}"
        for (text,) in connection.execute("pragma integrity_check(3)")
        if text != "ok"
    ]
    there = dict(connection.execute("select name, sql from sqlite_master where type = 'trigger'"))
    if there.items() ^ store.TRIGGERS.items():
        problems.append("what keeps events from being changed was removed or replaced")
    return problems + store.cut(connection)


def _releases(folder: Place) -> Iterator[Place]:
    if (folder / _ABOUT).is_file():
        yield folder
    else:
        yield from (each.parent for each in folder.files() if each.name == _ABOUT)


def _disagreements(book: Book, directory: Place) -> list[str]:
    """Where a release and the ledger do not say the same."""
    about, stamp = about_of(directory), ledger_of(directory)
    if not stamp.get("tracked"):
        return ["its budget was not tracked"]
    if stamp.get("ledger") != book.id:
        return ["it was charged to another ledger, or this one was made anew"]
    seq = stamp.get("entry")
    entry = book.entries.get(seq) if isinstance(seq, int) else None
    if entry is None or entry.hash != stamp.get("hash"):
        return [f"its entry {seq} is not in the ledger: the ledger was rewritten or cut"]
    # A filtered child costs nothing: it answers for the release it was made from first.
    review, claim = _part(about, "review"), _part(about, "guarantee")
    while _part(review, "earlier"):
        review = _part(review, "earlier")
    exact, charge = _part(claim, "exact"), entry.charge
    assumed = about["assumptions"] if isinstance(about.get("assumptions"), list) else []
    compared = [
        ("id", review.get("parent_id") if review else about.get("id"), entry.release),
        ("epsilon", exact.get("epsilon"), str(charge.epsilon)),
        ("delta", exact.get("delta"), str(charge.delta)),
        ("unit", claim.get("unit"), charge.unit),
        ("neighbors", claim.get("neighbors"), charge.neighbors),
        ("period", about.get("period"), str(charge.period) if charge.period else None),
        (
            "kind of sessions",
            charge.sessions if charge.sessions in assumed else None,
            charge.sessions,
        ),
    ]
    if not review:  # a child claims indistinguishability, whatever its parent was charged as
        compared.append(("definition", claim.get("definition"), charge.definition))
    problems = [
        f"its {name} is not the one charged in entry {seq}"
        for name, said, charged in compared
        if said != charged
    ]
    if entry.state == "voided":
        problems.append(f"entry {seq} was voided because nobody saw it, and here it is")
    elif entry.state == "reserved":
        problems.append(
            f"entry {seq} is not marked as released: a crash, or the end of the ledger was cut"
        )
    released = review.get("parent") if review else fingerprint(directory)
    if entry.sha256 not in (None, released):
        of = "the parent it names" if review else f"its {_ABOUT}"
        problems.append(f"{of} is not the one that entry {seq} released")
    return problems
