"""Names of places as they may be shown: without what may be a password."""

from __future__ import annotations

import re
from urllib.parse import unquote

_SCHEME = re.compile(r"(?:jdbc:)?[\w+.-]+:[/\\]+")
_OPTION = re.compile(r"[\s?&;]*\w*(?:password|passwd|pwd)\s*=", re.IGNORECASE)
_KEY = re.compile(r"password|passwd|pwd", re.IGNORECASE)


def is_address(place: str) -> bool:
    """Whether a name is an address, with a scheme, and none of a file or folder.

    >>> is_address("postgresql:/ann@host/db"), is_address("runs/10:00"), is_address("C:/runs")
    (True, False, False)
    """
    scheme = _SCHEME.match(place)
    return scheme is not None and place.index(":") > 1


def without_password(place: str) -> str:
    """A path or a URL as it may be shown. It may be mistyped: rather too much is left out.

    >>> without_password("postgresql://ann:secret@host/db?password=secret&x=1")
    'postgresql://ann@host/db?x=1'
    >>> without_password("host=h password='my secret'")
    'host=h'
    """
    head, mark, options = _without_user_password(place).partition("?")
    kept = [each for each in options.split("&") if not _KEY.search(unquote(each.partition("=")[0]))]
    shown = head + mark * any(kept) + "&".join(kept)
    plain = unquote(shown)
    found = _OPTION.search(plain)
    if found is not None:
        return _without_user_password(plain[: found.start()])
    return shown if _without_user_password(plain) == plain else _without_user_password(plain)


def _without_user_password(place: str) -> str:
    """All between the first colon after the scheme and the last @ may be one."""
    scheme = _SCHEME.match(place)
    start = scheme.end() if scheme else 0
    return place[:start] + re.sub(r":.*@", "@", place[start:], flags=re.DOTALL)
