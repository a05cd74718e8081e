"""Names and numbers cut out of the queries, as Jones, Kumar, Pang and Tomkins tried."""

from __future__ import annotations

import errno
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote_plus

import pyarrow as pa
import pyarrow.parquet as pq

from zealous.engines.engine import require_local
from zealous.engines.sql import Step
from zealous.errors import ZealousError, reason
from zealous.items import has_word
from zealous.items.personal import fold_text, looks_personal
from zealous.logs.source import Source
from zealous.study.anonymity.forms import Cut, find_identifiers
from zealous.study.anonymity.method import Changed, Method, Say, Shows, register
from zealous.study.anonymity.names import (
    ABBREVIATED,
    FIRST,
    GIVEN,
    GIVEN_WORDS,
    PLACES,
    SURNAME_WORDS,
    SURNAMES,
    TITLES,
)
from zealous.study.anonymity.pseudonym import count_suppressed, replace_user_ids

_MOST = 2_000  # characters; a longer text is personal data, as for a review
# A cut may bring together what must be cut in turn. What takes longer than this is dropped.
_ROUNDS = 20

_SURE = GIVEN | SURNAMES
_UNSURE = GIVEN_WORDS | SURNAME_WORDS
_KNOWN = _SURE | _UNSURE
_REASONS = _SURE | FIRST | TITLES  # without one of these nothing is a name

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*'?")


@register
@dataclass(frozen=True, kw_only=True)
class Scrub(Method):
    """Cut names, ages, postal codes and other identifiers out of the queries; random user ids."""

    name: ClassVar[str] = "scrub"
    summary: ClassVar[str] = "names, ages, zip codes and other identifiers removed (Jones et al.)"
    shows: ClassVar[Shows | None] = "words"
    promises: ClassVar[str] = (
        "no query of the output has the form of personal data that zealous knows, such as an "
        "e-mail address or a telephone number, nor an age or a postal code in the usual forms, nor "
        "one of the commonest names of the United States, unless that is also an everyday word or "
        "a place; and its ids cannot be traced back to those of the log."
    )
    lacks: ClassVar[str] = (
        "rare names, places and whatever has no known form are left, and each is worth more to an "
        "attacker than a common one; all queries of a person are under one id, and together tell "
        "who she is: from what was left Jones and others still told gender, age and region."
    )
    origin: ClassVar[str] = (
        'Jones, Kumar, Pang and Tomkins, "I know what you did last summer": query logs and user '
        "privacy, CIKM 2007"
    )

    @classmethod
    def public_rule(cls) -> Callable[[str], str | None] | None:
        """Everybody can scrub a query."""
        return scrub_text

    def apply(self, source: Source, say: Say = lambda _: None) -> list[Changed]:
        """Store (user, id, time, query), a query being what is left of it."""
        say("scrubbing each different query once")
        engine = require_local(source.engine, "scrub reads each query in Python")
        path = engine.directory / "scrubbed.parquet"
        _write_scrubbed(source, path)
        engine.open("scrubbed", [path])
        time = "time, " if "time" in source.roles else ""
        together = "entries left join scrubbed on entries.query = scrubbed.typed"
        joined = f"select user, {time}query, lost, rest from {together}"
        left = f"case when lost is null then query when {has_word('rest')} then rest end"
        # (user, time, query, lost, rest): lost and rest only where the query does not stay
        replace_user_ids(source, [Step("joined", joined)], left)
        changed = count_suppressed(source)
        asked = next(each.of for each in changed if each.what == "queries suppressed")
        return [*changed, *_count_shortened(source, asked)]


def scrub_text(text: str) -> str | None:
    """Cut whatever identifies a person out of a text; the rest stays as typed.

    >>> scrub_text("Rash on 34 year old"), scrub_text("mary smith")
    ('Rash on', None)

    Returns:
        What is left, which scrubbed again is the same; None where that is no query.
    """
    return _scrub(text, set())


def _scrub(text: str, lost: set[str]) -> str | None:
    """What is left; the kinds of what was found go into `lost`."""
    for _ in range(_ROUNDS):
        if len(text) > _MOST:
            lost.add("very long text")
            return None
        form = fold_text(text)
        if cuts := _find_identifying(form):
            lost.update(kind for _, _, kind in cuts)
            rest = _cut_out(text, form, cuts)
            if rest is None or not any(map(str.isalnum, rest)):
                return None
            text = rest
            continue
        personal, loose = looks_personal(text), unquote_plus(text)
        if not personal and (loose == text or not _find_identifying(fold_text(loose))):
            return text
        if loose == text:
            lost.add(personal or "identifier")
            return None
        text = loose  # a link writes letters as numbers, and what is written so cannot be cut
    return None


def _find_identifying(form: str) -> list[Cut]:
    """What identifies a person in a text in its plain form; names where there is nothing else."""
    form = form.replace("\u2019", "'").replace("\u02bc", "'")
    # What stands beside a name may be one: beside an address, of which a name is part, it is not.
    return find_identifiers(form) or _find_names(form)


def _cut_out(text: str, form: str, cuts: list[Cut]) -> str | None:
    """The text without the cuts, which are places in its plain form."""
    place: list[int] | None = None
    if not text.isascii():
        # Letters may have become others, or several, or one: find out which came from which.
        for typed in (text, unicodedata.normalize("NFKC", text), form):
            pieces = [fold_text(letter) for letter in typed]
            if "".join(pieces) == form:
                text = typed
                place = [at for at, piece in enumerate(pieces) for _ in piece]
                break
        else:
            return None
    kept, end = [], 0
    for start, stop, _ in sorted(cuts):
        if place is not None:
            start, stop = place[start], place[stop - 1] + 1
        if start > end:
            kept.append(text[end:start].strip())
        end = max(end, stop)
    kept.append(text[end:].strip())
    return " ".join(piece for piece in kept if piece)


def _find_names(form: str) -> list[Cut]:
    """Names, as whole words: the common ones, and those that only stand where a name does."""
    if form.isascii() and "'" not in form and _REASONS.isdisjoint(_ASCII_WORD.findall(form)):
        return []  # nearly all texts
    found = list(_WORD.finditer(form))
    words = [_bare_word(each.group()) for each in found]
    names = {at for at, word in enumerate(words) if word in _SURE or _is_part(found[at].group())}
    places: set[int] = set()
    for at, pair in enumerate(pairwise(words)):
        word, following = pair
        titled = word in TITLES and (word not in ABBREVIATED or form[found[at].end()] == ".")
        if pair in PLACES and _SURE.isdisjoint(words[at + 2 : at + 3]):  # no more of a name
            places |= {at, at + 1}
        elif (word in FIRST and following in SURNAME_WORDS) or (titled and following in _KNOWN):
            names |= {at, at + 1}
    names -= places
    for order in (range(1, len(words)), range(len(words) - 2, -1, -1)):
        for at in order:  # what stands beside a name, and could be one, is one
            beside = at - order.step
            if beside in names and words[at] in _UNSURE and at not in places:
                names.add(at)
    # With what stands between it and the name before: a comma, a dot.
    return [
        (found[at - 1].end() if at - 1 in names else found[at].start(), found[at].end(), "name")
        for at in names
    ]


def _bare_word(word: str) -> str:
    """A word without accents, apostrophes and the ending of a possessive."""
    return _unaccented(word).removesuffix("'s").replace("'", "")


def _is_part(word: str) -> bool:
    """Whether a name is what stands before or after an apostrophe: john'll."""
    parts = _unaccented(word).split("'")
    return len(parts) > 1 and not _SURE.isdisjoint(parts)


def _unaccented(word: str) -> str:
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFKD", word)
    return "".join(part for part in parts if not unicodedata.combining(part))


def _write_scrubbed(source: Source, path: Path) -> None:
    """Write (typed, rest, lost) for each different query that does not stay as it is."""
    text = pa.string()
    schema = pa.schema([("typed", text), ("rest", text), ("lost", pa.list_(text))])
    asked = Step("asked", f"select distinct query from entries where {has_word('query')}")
    try:
        with pq.ParquetWriter(path, schema) as writer:
            for batch in source.engine.batches([*source.entries, asked]):
                columns = list(zip(*_changed_queries(batch.column(0).to_pylist()), strict=True))
                writer.write_table(pa.table(list(map(list, columns or [()] * 3)), schema=schema))
    except OSError as error:  # of the working directory, not of the output
        why = reason(error)
        if error.errno == errno.ENOSPC:
            why = "no space left on the disk"
        raise ZealousError(f"{why}: name another directory by --temporary") from None


def _changed_queries(asked: list[str]) -> Iterator[tuple[str, str | None, list[str]]]:
    """(typed, rest, lost) for each query that does not stay as it is."""
    for typed in asked:
        lost: set[str] = set()
        rest = _scrub(typed, lost)
        if rest != typed:
            yield typed, rest, sorted(lost)


def _count_shortened(source: Source, asked: int) -> list[Changed]:
    """How many of the queries asked were shortened, and in how many what was found."""
    count = f"select lost, {has_word('rest')}, count(*) from scrubbed join entries on query = typed"
    counted = Step("counted", f"{count} group by all")
    shortened, losing = 0, Counter[str]()
    for lost, left, number in source.engine.rows([*source.entries, counted]):
        shortened += number if left else 0
        losing.update(dict.fromkeys(lost, number))
    return [
        Changed(what="queries shortened", number=shortened, of=asked),
        *(
            Changed(what=f"queries in which this was found: {kind}", number=number, of=asked)
            for kind, number in sorted(losing.items())
        ),
    ]
