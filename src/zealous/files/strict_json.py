"""JSON that every reader reads alike."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any


def parse(text: str) -> Any:
    """JSON in which no key stands twice, and no number has more digits than a float holds.

    Readers would differ in what they see.

    Raises:
        ValueError: It is no such JSON, or holds half of a character.
    """
    found = json.loads(
        text,
        object_pairs_hook=_without_duplicates,
        parse_constant=_no_constant,
        parse_float=_as_written,
    )
    if "\\u" in text:
        json.dumps(found, ensure_ascii=False).encode()
    return found


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _as_written(text: str) -> float:
    found = float(text)
    try:
        if Decimal(text) == Decimal(repr(found)):
            return found
    except InvalidOperation:  # an exponent beyond all others
        pass
    raise ValueError("more digits than a number holds")


def _no_constant(_: str) -> Any:
    raise ValueError("not a number")
