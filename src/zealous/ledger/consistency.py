"""Catch a ledger lying: against itself, and against the releases that were charged to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zealous.errors import LedgerError, Refused
from zealous.files.places import Place, StoreError, error_text, place_of
from zealous.ledger import store
from zealous.ledger.approvals import signature_problems
from zealous.ledger.book import Book
from zealous.ledger.budgets import Caps, Compose
from zealous.ledger.entries import Entry
from zealous.ledger.reading import read_book
from zealous.ledger.refusals import check_caps
from zealous.ledger.signatures import NoSigningProgram
from zealous.ledger.stated import RELEASE, read_stated
from zealous.ledger.written import fingerprint

# Between two of these the accounts only grow: where caps hold at the end, every charge kept them.
_LOWERING = ("caps", "voided")


def verify(path: Path, releases: Sequence[str | Path | Place] = ()) -> list[str]:
    """What is wrong; nothing, if all is well.

    The chain shows that no event was changed, inserted or removed, as long as its end is the true
    one. Somebody who writes the whole chain anew, or cuts its end, is found by the releases: each
    carries the hash of its entry, which vouches for all that was charged before.

    Args:
        path: The ledger.
        releases: Directories of releases, or folders that hold some.

    Raises:
        NoSigningProgram: Nothing else is wrong, and signatures cannot be verified here.
    """
    try:
        with store.reading(path) as connection:
            problems = _sqlite_problems(connection)
            rows = store.read_rows(connection)
            book = read_book(rows)
    except LedgerError as error:
        return [str(error)]
    problems += book.problems or _charges_against_rules(rows)
    unverified: NoSigningProgram | None = None
    try:
        problems += [] if book.problems else signature_problems(rows)
    except NoSigningProgram as error:
        unverified = error
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
    if unverified is not None and not problems:
        raise unverified
    return problems


def _charges_against_rules(rows: Sequence[store.Row]) -> list[str]:
    """What was charged against the rules: more than a cap allowed, or less than a release cost."""
    problems, book, fits, charged = [], Book(), True, False
    for row in rows:
        kind = json.loads(row.body)["event"]
        if kind in _LOWERING and charged:
            fits, charged = fits and book.fits_caps(), False
        was = (book.fixed_currency(), book.caps_so_far(), book.ended) if kind == "caps" else None
        book.apply(row)
        if was is not None:
            problems += _changed_currency(*was, book)
        elif kind == "reserved":
            charged = True
            problems += _costs_less(book.entries[row.seq])
    if charged:
        fits = fits and book.fits_caps()
    return problems + ([] if fits else _over_caps(rows))


def _costs_less(entry: Entry) -> list[str]:
    charge, losses = entry.charge, entry.charge.losses
    if losses is None or charge.replaced in (None, 2 * charge.epsilon):
        return []
    if losses.allow_replaced(charge.replaced, charge.delta):
        return []
    return [f"entry {entry.number} counts less than its losses cost"]


def _over_caps(rows: Sequence[store.Row]) -> list[str]:
    """Each charge against the caps and charges before it: slow, for a ledger with a fault."""
    problems, book = [], Book()
    for row in rows:
        before = replace(book, entries=dict(book.entries), events=list(book.events))
        book.apply(row)
        entry = book.entries.get(row.seq)
        if entry is None:
            continue
        try:
            check_caps(before, entry.charge)
        except Refused:
            problems.append(f"entry {entry.number} was charged although a cap did not allow it")
    return problems


def _changed_currency(
    was: Compose | None, caps: Caps, ended: tuple[Caps, ...], after: Book
) -> list[str]:
    """Caps that limit something else than before, after releases, end a promise: is it told?"""
    if was in (None, after.fixed_currency()):
        return []
    event = after.events[-1]
    if after.ended == (*ended, replace(caps, compose=was)) and event.reason is not None:
        return []
    return [f"event {event.seq} changed what the caps limit and does not say that a promise ended"]


def _sqlite_problems(connection: Any) -> list[str]:
    """What SQLite knows."""
    problems = [
        f"the file is damaged: {text}"
        for (text,) in connection.execute("pragma integrity_check(3)")
        if text != "ok"
    ]
    return problems + store.tampering_problems(connection)


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
    stamp, claim, told = said.ledger, said.guarantee, said.ledger.entry
    if not stamp.tracked:
        return ["its budget was not tracked"]
    if stamp.ledger != book.id:
        return ["it was charged to another ledger, or this one was made anew"]
    entry = book.entry_hashed(stamp.hash)
    # Releases of 0.1.0 name the number of the entry's event.
    if entry is None or told not in (entry.number, entry.seq):
        return [f"its entry {told} is not in the ledger: the ledger was rewritten or cut"]
    number = entry.number
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
    if entry.plan is not None:
        compared.append(("approved plan", said.approved_plan, entry.plan))
    if review is None:  # a child claims indistinguishability, whatever its parent was charged as
        compared.append(("definition", claim.definition, charge.definition))
    problems = [
        f"its {name} is not the one charged in entry {number}"
        for name, claimed, charged in compared
        if claimed != charged
    ]
    if entry.state == "voided":
        problems.append(f"entry {number} was voided because nobody saw it, and here it is")
    elif entry.state == "reserved":
        problems.append(
            f"entry {number} is not marked as released: a crash, or the end of the ledger was cut"
        )
    released = review.parent if review else fingerprint(directory)
    if entry.sha256 not in (None, released):
        of = "the parent it names" if review else f"its {RELEASE}"
        problems.append(f"{of} is not the one that entry {number} released")
    return problems
