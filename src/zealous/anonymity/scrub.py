"""Names and numbers cut out of the queries, as Jones, Kumar, Pang and Tomkins tried."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, NamedTuple
from urllib.parse import unquote_plus

from zealous.anonymity.method import Changed, Method, Say
from zealous.anonymity.names import (
    GIVEN,
    GIVEN_WORDS,
    NO_NAMES,
    POLITE,
    SURNAME_WORDS,
    SURNAMES,
    TITLES,
)
from zealous.anonymity.pseudonym import rename, suppressed
from zealous.engines.sql import Step
from zealous.items import has_word
from zealous.personal import iban, looks_personal, plain
from zealous.source import Source

_MOST = 2_000  # characters; a longer text is personal data, as for a review
# A cut may bring together what must be cut in turn. What takes longer than this is dropped.
_ROUNDS = 20

Cut = tuple[int, int, str]  # from, to, kind


@dataclass(frozen=True, kw_only=True)
class Scrub(Method):
    """Cut names, ages, postal codes and other identifiers out of the queries; random user ids."""

    name: ClassVar[str] = "scrub"
    promises: ClassVar[str] = (
        "no query of the output has the form of personal data that zealous knows, such as an "
        "e-mail address or a telephone number, nor an age or a postal code in the usual forms, nor "
        "one of the commonest names of the United States, unless that is also an everyday word; "
        "and its ids cannot be traced back to those of the log."
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

    def apply(self, source: Source, say: Say = lambda _: None) -> list[Changed]:
        """Store (user, id, time, query), a query being what is left of it."""
        say("scrubbing each different query once")
        path = source.engine.directory / "scrubbed.parquet"
        _write_scrubbed(source, path)
        source.engine.open("scrubbed", [path])
        time = "time, " if "time" in source.roles else ""
        together = "entries left join scrubbed on entries.query = scrubbed.typed"
        joined = f"select user, {time}query, lost, rest from {together}"
        left = f"case when lost is null then query when {has_word('rest')} then rest end"
        # (user, time, query, lost, rest): lost and rest only where the query does not stay
        rename(source, [Step("joined", joined)], left)
        changed = suppressed(source)
        asked = next(each.of for each in changed if each.what == "queries suppressed")
        return [*changed, *_lost(source, asked)]


def scrubbed(text: str) -> str | None:
    """Cut whatever identifies a person out of a text; the rest stays as typed.

    >>> scrubbed("Rash on 34 year old"), scrubbed("mary smith")
    ('Rash on', None)

    Returns:
        What is left, which scrubbed again is the same; None where that is no query.
    """
    return _scrubbed(text, set())


def _scrubbed(text: str, lost: set[str]) -> str | None:
    """What is left; the kinds of what was found go into `lost`."""
    for _ in range(_ROUNDS):
        if len(text) > _MOST:
            lost.add("very long text")
            return None
        form = plain(text)
        if cuts := _identifying(form):
            lost.update(kind for _, _, kind in cuts)
            rest = _without(text, form, cuts)
            if rest is None or not any(map(str.isalnum, rest)):
                return None
            text = rest
            continue
        personal, loose = looks_personal(text), unquote_plus(text)
        if not personal and (loose == text or not _identifying(plain(loose))):
            return text
        if loose == text:
            lost.add(personal or "identifier")
            return None
        text = loose  # a link writes letters as numbers, and what is written so cannot be cut
    return None


def _identifying(form: str) -> list[Cut]:
    """What identifies a person in a text in its plain form."""
    cuts = _named(form)
    if _HINT.search(form):  # in most texts there is none
        for kind, pattern, sure in _FORMS if _DIGIT.search(form) else _WORDED:
            for found in pattern.finditer(form):
                if sure(found.group()):
                    cuts.append((*found.span(found.lastindex or 0), kind))
    return cuts


def _without(text: str, form: str, cuts: list[Cut]) -> str | None:
    """The text without the cuts, which are places in its plain form."""
    place: list[int] | None = None
    if not text.isascii():
        # Letters may have become others, or several, or one: find out which came from which.
        for typed in (text, unicodedata.normalize("NFKC", text), form):
            pieces = [plain(letter) for letter in typed]
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


def _named(form: str) -> list[Cut]:
    """Names, as whole words: the common ones, and those that only stand where a name does."""
    if form.isascii() and "'" not in form and _NAMES.isdisjoint(_ASCII_WORD.findall(form)):
        return []  # nearly all texts
    found = list(_WORD.finditer(form))
    words = [_bare(each.group()) for each in found]
    names = {at for at, word in enumerate(words) if word in _SURE}
    for at, (word, following) in enumerate(pairwise(words)):
        if (
            (word in GIVEN_WORDS and following in SURNAME_WORDS)
            or (word in TITLES and following.isalpha() and following not in NO_NAMES)
            or (word in POLITE and following in _UNSURE)
        ):
            names |= {at, at + 1}
    for order in (range(1, len(words)), range(len(words) - 2, -1, -1)):
        for at in order:  # what stands beside a name, and could be one, is one
            beside = at - order.step
            if beside in names and words[at] in _UNSURE:
                names.add(at)
    # With what stands between it and the name before: a comma, a dot.
    return [
        (found[at - 1].end() if at - 1 in names else found[at].start(), found[at].end(), "name")
        for at in names
    ]


def _bare(word: str) -> str:
    """A word without accents, apostrophes and the ending of a possessive."""
    if not word.isascii():
        parts = unicodedata.normalize("NFKD", word.replace("\u2019", "'"))
        word = "".join(part for part in parts if not unicodedata.combining(part))
    return word.removesuffix("'s").replace("'", "")


def _write_scrubbed(source: Source, path: Path) -> None:
    """Write (typed, rest, lost) for each different query that does not stay as it is."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.string()
    schema = pa.schema([("typed", text), ("rest", text), ("lost", pa.list_(text))])
    asked = Step("asked", f"select distinct query from entries where {has_word('query')}")
    with pq.ParquetWriter(path, schema) as writer:
        for batch in source.engine.batches([*source.entries, asked]):
            rows: list[tuple[str, str | None, list[str]]] = []
            for typed in batch.column(0).to_pylist():
                lost: set[str] = set()
                rest = _scrubbed(typed, lost)
                if rest != typed:
                    rows.append((typed, rest, sorted(lost)))
            columns = list(zip(*rows, strict=True)) or [(), (), ()]
            writer.write_table(pa.table(list(map(list, columns)), schema=schema))


def _lost(source: Source, asked: int) -> list[Changed]:
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


def _is_ip(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


_SURE = GIVEN | SURNAMES
_UNSURE = GIVEN_WORDS | SURNAME_WORDS
_NAMES = _SURE | _UNSURE | TITLES

_DIGIT = re.compile(r"\d")
_HINT = re.compile(r"[\d@=]| at |[(\[]at[)\]]|[a-f]{8}")  # no form does without all of these
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*['\u2019]?")
_UK = (
    "ab|al|b|ba|bb|bd|bh|bl|bn|br|bs|bt|ca|cb|cf|ch|cm|co|cr|ct|cv|cw|da|dd|de|dg|dh|dl|dn|dt|dy|e|"
    "ec|eh|en|ex|fk|fy|g|gl|gu|gy|ha|hd|hg|hp|hr|hs|hu|hx|ig|im|ip|iv|je|ka|kt|kw|ky|l|la|ld|le|ll|"
    "ln|ls|lu|m|me|mk|ml|n|ne|ng|nn|np|nr|nw|ol|ox|pa|pe|ph|pl|po|pr|rg|rh|rm|s|sa|se|sg|sk|sl|sm|"
    "sn|so|sp|sr|ss|st|sw|sy|ta|td|tf|tn|tq|tr|ts|tw|ub|w|wa|wc|wd|wf|wn|wr|ws|wv|yo|ze"
)
_MAIL = r"gmail|yahoo|hotmail|outlook|aol|gmx|icloud|mail|proton\w{0,4}"
_FIELD = r"session(?:id)?|sid|token|auth|user(?:id|name)?|uid|e?mail|passw(?:or)?d|pw|key"
_BORN = r"born|dob|birth ?da(?:y|te)|geboren|geb\.|né|née|nacid[oa]"


class _Form(NamedTuple):
    """What identifies by its form.

    Attributes:
        kind: What it is called.
        pattern: How it is found. Its group is what is cut, where it has one.
        sure: Tells of a match whether it is one.
    """

    kind: str
    pattern: re.Pattern[str]
    sure: Callable[[str], bool] = bool


# At least what `looks_personal` finds, as far as it can be cut: where it still finds something the
# query is dropped. No pattern may take a time that grows faster than the text.
_WORDED = [
    _Form("e-mail address", re.compile(r"(?<!\S)[^\s@]*@\S*")),
    _Form(
        "e-mail address",
        re.compile(
            r"(?<!\S)\S+ ?(?:\(at\)|\[at\]) ?\S+"
            rf"|(?<!\S)\S+ at (?:{_MAIL})(?: dot |\.)\S+"
        ),
    ),
    _Form("link token", re.compile(rf"[?&;](?:{_FIELD})=\s?[^&\s]*")),
    _Form("identifier", re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12,}")),
]
_FORMS = [
    *_WORDED,
    _Form(
        "age",
        re.compile(
            r"(?<![\w.])\d{1,3}[ -]?(?:years?|yrs?|months?|mos?)[ -]?olds?(?!\w)"
            r"|(?<![\w.])\d{1,3} ?(?:y/?o|y\.o\.?|(?:years|yrs) of age)(?!\w)"
            r"|(?<!\w)age[ds]?:? ?(?:of )?\d{1,3}(?!\w)"
        ),
    ),
    _Form(
        "postal code",
        re.compile(
            r"(?<!\w)\d{5}(?:-\d{4})?(?!\w)"
            rf"|(?<!\w)(?:{_UK})\d[0-9a-z]? ?\d[abd-hjlnp-uw-z]{{2}}(?!\w)"
            r"|(?<!\w)[abceghj-nprstvxy]\d[a-z][ -]?\d[a-z]\d(?!\w)"
        ),
    ),
    _Form(  # telephones, payment cards, social security, accounts
        "number",
        re.compile(r"[+(]{0,2}\d(?:[ ().\-+/]{0,2}\d){8,}|\d{6,}|(?<!\d)\d{3}[-.]\d{4}(?!\d)"),
    ),
    _Form(
        "bank account",
        re.compile(r"(?<!\w)[a-z]{2}[0-9]{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?(?!\w)"),
        sure=iban,
    ),
    _Form(
        "national number",
        re.compile(
            r"(?<!\w)[a-z]{2} ?\d{2} ?\d{2} ?\d{2} ?[a-d](?!\w)"
            r"|(?<!\w)\d{8}[- ]?[a-z](?!\w)"
            r"|(?<!\w)[a-z]{6}\d{2}[a-z]\d{2}[a-z]\d{3}[a-z](?!\w)"
        ),
    ),
    _Form("IP address", re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")),
    _Form(
        "IP address",
        re.compile(r"(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}"),
        sure=_is_ip,
    ),
    _Form(
        "street address",
        re.compile(
            r"(?<!\w)\d{1,5}[a-z]? (?:[^\W\d]{1,30}\.? ){1,3}(?:street|road|avenue|lane|drive|"
            r"boulevard|court|terrace|crescent|(?:st|rd|ave|ln|dr|blvd|ct)(?=\.|,|$| apt| unit| \d)"
            r")(?!\w)(?:,? (?:apt|unit)\.? \w{1,5}(?!\w))?"
            r"|(?<![^\W\d])[^\W\d]{0,40}(?:strasse|gasse|weg|platz|allee|str\.?) \d{1,4} ?[a-z]?"
            r"(?!\w)"
            r"|(?<!\w)\d{1,4},? (?:bis |ter )?(?:rue|avenue|boulevard|chemin|allée|impasse) "
            r"[^\W\d]+"
            r"|(?<!\w)(?:calle|via|viale|rua|avenida|ulica|ul\.) [^\W\d]+[^\d]{0,30} \d{1,4}(?!\d)"
        ),
    ),
    _Form(
        "date",
        re.compile(
            r"(?<!\d)(?:\d{1,2}[./-]\d{1,2}[./-](?:19|20)?\d{2}|(?:19|20)\d{2}-\d{1,2}-\d{1,2})"
            r"(?!\d)"
            rf"|(?<!\w)(?:{_BORN})\b.{{0,40}}?(\d{{2,}}\w{{0,20}})"
        ),
    ),
]
