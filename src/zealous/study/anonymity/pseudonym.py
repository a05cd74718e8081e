"""Random user ids: what AOL did in 2006."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from zealous.engines.sql import Step
from zealous.items import has_word
from zealous.logs.source import Source
from zealous.study.anonymity.method import Changed, Method, Say, Shows, new_id, new_secret, register


@register
@dataclass(frozen=True, kw_only=True)
class Pseudonym(Method):
    """Replace each user's id by a random one, and nothing else."""

    name: ClassVar[str] = "pseudonym"
    summary: ClassVar[str] = "random user ids (AOL)"
    shows: ClassVar[Shows | None] = "words"
    promises: ClassVar[str] = "the ids of the output cannot be traced back to those of the log."
    lacks: ClassVar[str] = (
        "whoever knows a few of a person's queries finds her whole history; whoever asked for her "
        "own name, address or account has signed it."
    )
    origin: ClassVar[str] = "AOL's release of 2006 (Barbaro and Zeller, The New York Times)"
    counting: ClassVar[bool] = True

    @classmethod
    def public_rule(cls) -> Callable[[str], str | None] | None:
        """A query stays as it is."""
        return str

    def apply(self, source: Source, say: Say = lambda _: None) -> list[Changed]:
        """Store (user, id, time, query), the queries as they were typed."""
        replace_user_ids(source, [], "query")
        return count_suppressed(source)


def replace_user_ids(source: Source, before: list[Step], query: str) -> None:
    """Store `anonymous` (user, id, time, query): each user under a random id.

    Args:
        source: The log.
        before: Steps from `entries` whose last yields what `query` needs; none where it needs the
            entries alone.
        query: SQL: what becomes of the query; NULL where nothing does.
    """
    time = "time, " if "time" in source.roles else ""
    columns = f"user, {new_id(new_secret(), 'user')} as id, {time}{query} as query"
    table = before[-1].name if before else "entries"
    named = Step("named", f"select {columns} from {table} where {has_word('query')}")
    kept = Step("anonymous", "select * from named where query is not null")
    source.engine.append_rows("anonymous", [*source.entries, *before, named, kept])


def count_suppressed(source: Source) -> list[Changed]:
    """How many users and queries of the log `anonymous` does not have.

    An entry without a letter or digit asks nothing: no method keeps it, and it is counted apart.
    """
    asked = f"count(*) filter (where {has_word('query')})"
    there = Step("there", f"select count(distinct user), count(*), {asked} from entries")
    users, entries, queries = source.engine.rows([*source.entries, there])[0]
    kept = Step("kept", "select count(distinct user), count(*) from anonymous")
    kept_users, kept_queries = source.engine.rows([kept])[0]
    return [
        Changed(what="users suppressed", number=users - kept_users, of=users),
        Changed(what="queries suppressed", number=queries - kept_queries, of=queries),
        Changed(what="entries without a word", number=entries - queries, of=entries),
    ]
