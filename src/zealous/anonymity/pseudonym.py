"""Random user ids: what AOL did in 2006."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import ClassVar

from zealous.anonymity.method import Changed, Method, Say, new_id
from zealous.engines.sql import Step
from zealous.items import has_word
from zealous.source import Source


@dataclass(frozen=True, kw_only=True)
class Pseudonym(Method):
    """Replace each user's id by a random one, and nothing else."""

    name: ClassVar[str] = "pseudonym"
    promises: ClassVar[str] = "the ids of the output cannot be traced back to those of the log."
    lacks: ClassVar[str] = (
        "whoever knows a few of a person's queries finds her whole history; whoever asked for her "
        "own name, address or account has signed it."
    )
    origin: ClassVar[str] = "AOL's release of 2006 (Barbaro and Zeller, The New York Times)"

    def apply(self, source: Source, say: Say = lambda _: None) -> list[Changed]:
        """Store (user, id, time, query), the queries as they were typed."""
        time = "time, " if "time" in source.roles else ""
        columns = f"user, {new_id(secrets.token_hex(32), 'user')} as id, {time}query"
        renamed = f"select {columns} from entries where {has_word('query')}"
        source.engine.store("anonymous", [*source.entries, Step("anonymous", renamed)])
        return []
