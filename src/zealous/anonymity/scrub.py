"""scrub."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from zealous.anonymity.method import Changed, Method, Say
from zealous.source import Source


@dataclass(frozen=True, kw_only=True)
class Scrub(Method):
    """scrub."""

    name: ClassVar[str] = "scrub"
    promises: ClassVar[str] = ""
    lacks: ClassVar[str] = ""
    origin: ClassVar[str] = ""

    def apply(self, source: Source, say: Say = lambda _: None) -> list[Changed]:
        """Store `anonymous`."""
        raise NotImplementedError
