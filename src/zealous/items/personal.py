"""Text that looks like personal data, for a person to look at.

Patterns find what has a form: addresses, numbers, dates. They do not find names, and they flag
harmless things too. They help the person who reviews a release, and replace nobody.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import unquote_plus

# Repetitions are bounded: a text made to be slow to search must not stop a review.
_MOST = 2_000
_DIGIT = re.compile(r"\d")
_EMAIL = re.compile(
    r"[\w.+-]@[\w-]{1,63}\.[\w-]"
    r"|[\w.+-] ?(?:\(at\)|\[at\]) ?[\w-]"
    r"|\w at (?:gmail|yahoo|hotmail|outlook|aol|gmx|icloud|mail|proton\w{0,4})(?: dot |\.)[a-z]"
)
_NUMBER = re.compile(r"(?<![\w.])\+?\(?\d(?:[ ().\-/]{0,2}\d){5,40}(?!\w)")
_LOCAL_PHONE = re.compile(r"(?<![\d-])\d{3}-\d{4}(?![\d-])")
_IBAN = re.compile(r"(?<!\w)[a-z]{2}[0-9]{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?(?!\w)")
_NATIONAL = re.compile(
    r"(?<!\d)\d{3}[- ]\d{2}[- ]\d{4}(?!\d)"  # social security, United States
    r"|(?<!\w)[a-z]{2} ?\d{2} ?\d{2} ?\d{2} ?[a-d](?!\w)"  # national insurance, United Kingdom
    r"|(?<!\w)\d{8}[- ]?[a-z](?!\w)"  # Spain
    r"|(?<!\w)[a-z]{6}\d{2}[a-z]\d{2}[a-z]\d{3}[a-z](?!\w)"  # Italy
    r"|(?<!\d)\d{6}[-+]\d{4}(?!\d)"  # the Nordic countries
)
_LONG = re.compile(r"\d{7}")
_CODE = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")
_IP = re.compile(
    r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])|(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}"
)
_TOKEN = re.compile(
    r"[?&;](?:session(?:id)?|sid|token|auth|user(?:id|name)?|uid|e?mail|passw(?:or)?d|pw|key)="
    r"[^&]"
)
_STREET = re.compile(
    r"(?<!\w)\d{1,5}[a-z]? (?:[^\W\d]{1,30}\.? ){1,3}(?:street|road|avenue|lane|drive|boulevard|"
    r"court|terrace|crescent|(?:st|rd|ave|ln|dr|blvd|ct)(?=\.|,|$| apt| unit| \d))(?!\w)"
    r"|(?<![^\W\d])[^\W\d]{0,40}(?:strasse|gasse|weg|platz|allee|str\.?) \d{1,4} ?[a-z]?(?!\w)"
    r"|(?<!\w)\d{1,4},? (?:bis |ter )?(?:rue|avenue|boulevard|chemin|allée|impasse) [^\W\d]+"
    r"|(?<!\w)(?:calle|via|viale|rua|avenida|ulica|ul\.) [^\W\d]+[^\d]{0,30} \d{1,4}(?!\d)"
)
_DATE = re.compile(
    r"(?<![\d./-])(?:\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d{2}|(?:19|20)\d{2}-\d{1,2}-\d{1,2})"
    r"(?![\d./-])"
    r"|(?<!\w)(?:born|dob|birth ?da(?:y|te)|geboren|geb\.|né|née|nacid[oa])\b.{0,40}\d{2}"
)


def fold_text(text: str) -> str:
    """How texts are compared: compatible forms of a letter are one, and so are its cases."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def looks_personal(text: str) -> str | None:
    """What personal data a text looks like, if any.

    >>> looks_personal("Anna.Kern@mail.example"), looks_personal("call 020 7946 0958")
    ('e-mail address', 'telephone number')
    >>> looks_personal("4111 1111 1111 1111"), looks_personal("green tea 2024")
    ('payment card', None)
    """
    if len(text) > _MOST:
        return "very long text"
    for each in dict.fromkeys((fold_text(text), fold_text(unquote_plus(text)))):
        forms = _FORMS if _DIGIT.search(each) else _WORDED  # most texts have no digit
        for name, matches in forms.items():
            if matches(each):
                return name
    return None


def has_luhn_digit(digits: str) -> bool:
    """The check digit of payment cards.

    >>> has_luhn_digit("4111111111111111"), has_luhn_digit("4111111111111112")
    (True, False)
    """
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def has_iban_digits(text: str) -> bool:
    """The check digits of an international account number.

    >>> [has_iban_digits(f"{start} WEST 1234 5698 7654 32") for start in ("GB82", "GB83")]
    [True, False]
    """
    compact = text.replace(" ", "")
    return int("".join(str(int(each, 36)) for each in compact[4:] + compact[:4])) % 97 == 1


def _is_card(text: str) -> bool:
    numbers = (re.sub(r"\D", "", found.group()) for found in _NUMBER.finditer(text))
    return any(13 <= len(digits) <= 19 and has_luhn_digit(digits) for digits in numbers)


def _is_phone(text: str) -> bool:
    numbers = (re.sub(r"\D", "", found.group()) for found in _NUMBER.finditer(text))
    return any(9 <= len(digits) <= 15 for digits in numbers) or bool(_LOCAL_PHONE.search(text))


def _is_account(text: str) -> bool:
    return any(has_iban_digits(found.group()) for found in _IBAN.finditer(text))


def _has_ip(text: str) -> bool:
    return any(is_ip_address(found.group()) for found in _IP.finditer(text))


def is_ip_address(text: str) -> bool:
    """Whether a text is an address of the internet protocol."""
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


def _has_email(text: str) -> bool:
    return ("@" in text or "at" in text) and _EMAIL.search(text) is not None


# In this order: the first that fits gives the name.
_FORMS: dict[str, Callable[[str], object]] = {
    "e-mail address": _has_email,
    "payment card": _is_card,
    "bank account": _is_account,
    "national number": _NATIONAL.search,
    "IP address": _has_ip,
    "street address": _STREET.search,
    "full date, perhaps of birth": _DATE.search,
    "identifier": _CODE.search,
    "telephone number": _is_phone,
    "link with a personal token": _TOKEN.search,
    "long number": _LONG.search,
}
_WORDED = {
    name: _FORMS[name] for name in ("e-mail address", "identifier", "link with a personal token")
}
