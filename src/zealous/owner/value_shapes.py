"""What the values of a column look like, so that a file without a header can be explained.

Says of a column no more than "numbers", "times": no value, and no figure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Literal

Shape = Literal["time", "time of day", "number", "address", "id", "text", "empty"]

_MOST = 0.9  # of the values that a shape must fit
_DATES = ("%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y")
TIME_PATTERNS = (
    "%y%m%d%H%M%S",
    "%Y%m%d%H%M%S",
    *(date + time for date in _DATES[1:] for time in (" %H:%M:%S", " %H:%M")),
    *_DATES,
)
_EPOCHS = {"epoch": re.compile(r"1\d{9}"), "epoch-ms": re.compile(r"1\d{12}")}
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_TIME_OF_DAY = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d+)?)?")
_ADDRESS = re.compile(r"(https?://|www\.)\S+|[\w-]+(\.[\w-]+)+/\S*")
_ID = re.compile(r"(?=\S*\d)[^\s,;]{4,64}|[0-9a-fA-F-]{8,64}")

MISSING = ("null", "none", "nan", "na", "n/a", "\\n", "-", "undefined", "unknown", "anonymous")
"""What programs write for a missing value, in lower case."""


def shape_of(values: Sequence[str]) -> Shape:
    """What nearly all of some values look like."""
    some = [value.strip() for value in values if value.strip()]
    if not some:
        return "empty"
    if time_format_of(some) is not None:
        return "time"
    shapes: tuple[tuple[Shape, re.Pattern[str]], ...] = (
        ("time of day", _TIME_OF_DAY),  # which without a date is no moment, and nobody's id
        ("number", _NUMBER),
        ("address", _ADDRESS),
        ("id", _ID),
    )
    for shape, pattern in shapes:
        if _nearly_all(some, pattern.fullmatch):
            return shape
    return "text"


def time_format_of(values: Sequence[str]) -> str | None:
    """How nearly all of some values write times: `iso`, `epoch`, `epoch-ms` or a pattern.

    >>> time_format_of(["970916105432", "970916001949"])
    '%y%m%d%H%M%S'
    """
    some = [value.strip() for value in values if value.strip()]
    if not some:
        return None
    for name, epoch in _EPOCHS.items():
        if _nearly_all(some, epoch.fullmatch):
            return name
    if _nearly_all(some, _is_iso):
        return "iso"
    for pattern in TIME_PATTERNS:
        if _nearly_all(some, partial(_matches_pattern, pattern)):
            return pattern
    return None


def is_value(text: str) -> bool:
    """Whether a text can hardly be the name of a column.

    >>> is_value("17850.0"), is_value("diag_1"), is_value("2A9EABFB35F5B954")
    (True, False, True)
    """
    digits = sum(map(str.isdigit, text))
    if text.strip().lower() in MISSING or "@" in text:
        return True
    return shape_of([text]) in ("time", "time of day", "number", "address") or digits > max(
        2, len(text) / 3
    )


def _nearly_all(values: Sequence[str], fits: Callable[[str], object]) -> bool:
    return sum(bool(fits(value)) for value in values) >= _MOST * len(values)


def _is_iso(value: str) -> bool:
    try:
        return "-" in value and bool(datetime.fromisoformat(value))
    except ValueError:
        return False


def _matches_pattern(pattern: str, value: str) -> bool:
    try:
        time = datetime.strptime(value, pattern)
    except ValueError:
        return False
    return not value.isdigit() or time.strftime(pattern) == value
