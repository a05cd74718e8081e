"""JSON lines: each line is an object, whose values are texts or lists of texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from zealous.files.lines import ByLine, Layout, Record


@dataclass(frozen=True, kw_only=True)
class JsonLines(Layout):
    """A JSON object on each line, which names its own columns."""

    title: ClassVar[str] = "JSON lines"

    def lists(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Any column may hold a list of texts."""
        return tuple(wanted)

    def splitter(self, fields: Sequence[str], names: Sequence[str], lists: Sequence[str]) -> ByLine:
        """Splits blocks of lines; see `Layout`."""
        return ByLine(_Objects(names, lists), "not a JSON object", names, lists)


class _Objects:
    """The wanted values of lines of which each is a JSON object."""

    def __init__(self, names: Sequence[str], lists: Sequence[str]) -> None:
        self.names = list(names)
        self.lists = frozenset(lists)
        # Numbers stay the text they are: 1e400 and 20-digit ids are somebody's data, not floats.
        self.decode = json.JSONDecoder(parse_int=str, parse_float=str).decode

    def __call__(self, line: bytes) -> Record | None:
        """The wanted values of an object; None where the line is none."""
        try:
            found = self.decode(line.decode())
            if b"\\u" in line:  # half a surrogate pair is an error, in whatever column it is
                json.dumps(found, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return None
        if not isinstance(found, dict):
            return None
        return [
            self._list(found.get(name)) if name in self.lists else self._text(found.get(name))
            for name in self.names
        ]

    def _text(self, value: object) -> str | None:
        if isinstance(value, bool):
            return "true" if value else "false"
        return value if isinstance(value, str) else None

    def _list(self, value: object) -> list[str]:
        values = value if isinstance(value, list) else [value]
        return [text for each in values if (text := self._text(each)) is not None]
