"""What identifies a person by its form: addresses, numbers, ages, postal codes, dates."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from zealous.items.personal import has_iban_digits, is_ip_address
from zealous.study.anonymity.names import AREAS

Cut = tuple[int, int, str]  # from, to, kind


def find_identifiers(form: str) -> list[Cut]:
    """What identifies by its form in a text in its plain form."""
    cuts: list[Cut] = []
    if _HINT.search(form):  # in most texts there is none
        for kind, pattern, sure in _FORMS if _DIGIT.search(form) else _WORDED:
            for found in pattern.finditer(form):
                if sure(found.group()):
                    cuts.append((*found.span(found.lastindex or 0), kind))
    return cuts


_DIGIT = re.compile(r"\d")
_HINT = re.compile(r"[\d@=]| at |[(\[]at[)\]]|[a-f]{8}")  # no form does without all of these
_START, _GAP, _END = r"(?<![^\W_])", r"[\W_]*", r"(?![^\W_])"  # of words, at any sign between
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
            rf"{_START}(?:\d{{1,3}}[.,/])?\d{{1,3}}{_GAP}"
            rf"(?:(?:year|yr|y|month|mo)(?:{_GAP}s)?{_GAP}olds?"
            rf"|y{_GAP}o|(?:years|yrs){_GAP}of{_GAP}age){_END}"
            rf"|{_START}age[ds]?{_GAP}(?:of{_GAP})?\d{{1,3}}{_END}"
        ),
    ),
    _Form(
        "postal code",
        re.compile(
            rf"{_START}\d{{5}}(?:-\d{{4}})?{_END}"
            rf"|{_START}(?:{'|'.join(sorted(AREAS))})\d[0-9a-z]?{_GAP}"
            rf"\d[abd-hjlnp-uw-z]{{2}}{_END}"
            rf"|{_START}[abceghj-nprstvxy]\d[a-z]{_GAP}\d[a-z]\d{_END}"
        ),
    ),
    _Form(  # telephones, payment cards, social security, accounts
        "number",
        re.compile(r"[+(]{0,2}\d(?:[ ().\-+/]{0,2}\d){8,}|\d{6,}|(?<!\d)\d{3}[-.]\d{4}(?!\d)"),
    ),
    _Form(
        "bank account",
        re.compile(r"(?<!\w)[a-z]{2}[0-9]{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?(?!\w)"),
        sure=has_iban_digits,
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
        sure=is_ip_address,
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
