"""Values of which each has a type of its own: those of SQLite, and of a frame's `object` columns.

What becomes of a value depends on that value alone. A type that is worked out from all of them
would let one person's odd value change what becomes of the others, or stop the run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Integral, Real
from typing import Any
from uuid import UUID

from zealous.files.rows import LONGEST
from zealous.libraries import np, pa

_LONGEST_NUMBER = 1 << 10  # digits; no number that anybody means has more


def text_of(value: Any) -> str | None:
    """A value as text, as every other input would have it; None for what is no text or number."""
    try:
        found = None if value is None else _text_of(value)
    except Exception:  # half a character, pandas.NA, 5,000 digits, whatever a class of its own does
        return None
    return None if found is None or len(found) > LONGEST else found


def _text_of(value: Any) -> str | None:
    if isinstance(value, str):  # read past what a class of its own makes of it, as Enum does
        return _bounded_text(value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return _float_text(float(value))
    if isinstance(value, Decimal):
        return _decimal_text(value) if value.is_finite() else None
    if isinstance(value, datetime | date | time):
        return str(value) if value == value else None  # pandas.NaT is a datetime
    return str(value) if isinstance(value, UUID) else None


def _bounded_text(value: str) -> str | None:
    if str.__len__(value) > LONGEST:
        return None
    found = str.encode(value)
    return found.decode() if len(found) <= LONGEST else None


def _float_text(value: float) -> str | None:
    if not math.isfinite(value):
        return None
    if value == int(value) and abs(value) < 9e18:  # as in a column of numbers
        return str(int(value))
    if 1e-5 <= abs(value) < 1e16:
        return format(Decimal(repr(value)), "f")
    return re.sub(r"e([+]|(?=-))(-?)0*", r"e\2", repr(value).replace(".0e", "e"))


def _decimal_text(value: Decimal) -> str:
    if value.adjusted() > _LONGEST_NUMBER or -int(value.as_tuple().exponent) > _LONGEST_NUMBER:
        return str(value)
    return format(value, "f")


def list_of(value: Any) -> list[str] | None:
    """The texts of a list, or of one value as a list."""
    try:
        return None if value is None else _list_of(value)
    except Exception:  # whatever a class of its own does
        return None


def _list_of(value: Any) -> list[str] | None:
    several = hasattr(value, "tolist") or isinstance(value, list | tuple)
    found = map(text_of, value) if several and getattr(value, "ndim", 1) == 1 else [text_of(value)]
    texts, size = [], 0
    for text in found:
        if text is not None:
            texts.append(text)
            size += len(text.encode()) + 1
        if size > LONGEST:
            return None
    return texts


def column_of(values: Sequence[Any], *, is_list: bool) -> Any:
    """Values as a column of texts, or of lists of texts."""
    if is_list:
        return pa.array([list_of(each) for each in values], pa.list_(pa.string()))
    return pa.array([text_of(each) for each in values], pa.string())


def column_type(*, is_list: bool) -> pa.DataType:
    """The type of such a column."""
    return pa.list_(pa.string()) if is_list else pa.string()
