"""JSON that every reader reads alike."""

from __future__ import annotations

import json
from typing import Any


def parse(text: str) -> Any:
    """JSON in which no key stands twice, where readers would differ in which one they see.

    Raises:
        ValueError: It is no such JSON, or holds half of a character.
    """
    found = json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
    if "\\u" in text:
        json.dumps(found, ensure_ascii=False).encode()
    return found


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(_: str) -> Any:
    raise ValueError("not a number")
