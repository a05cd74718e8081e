"""Queries that at least k users asked, in sessions that nothing ties together."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import ClassVar

from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.items import has_word, normalized_query
from zealous.logs.source import Source, count_users
from zealous.study.anonymity.method import (
    BySession,
    Changed,
    Say,
    Shows,
    new_id,
    new_secret,
    register,
)
from zealous.study.anonymity.session_steps import candidate_step, cut_sessions, lacks_session
from zealous.study.curve_look import Look


@register
@dataclass(frozen=True, kw_only=True)
class KQuery(BySession):
    """Drop the queries of fewer than k users and give each session an id of its own.

    Attributes:
        clicks: Whether the addresses that were clicked for the queries that stay are kept.
    """

    clicks: bool = False
    name: ClassVar[str] = "k-query"
    summary: ClassVar[str] = "queries of fewer than k users dropped, new ids by session (Adar)"
    shows: ClassVar[Shows | None] = "frequent queries"
    look: ClassVar[Look | None] = Look("#D55E00", "s", "--")
    promises: ClassVar[str] = (
        "each query of the output was asked by at least k users of the log, and "
        "the ids, one a session, neither can be traced back nor tell which sessions are one user's."
    )
    lacks: ClassVar[str] = (
        "whoever has k - 1 accounts asks a query from each and sees whether somebody else asked it "
        "too; a session of frequent queries may be the only one of its kind, and whoever knows "
        "a part of it, or its times, reads the rest. Where clicks are kept, an address "
        "that one person alone clicked stays."
    )
    origin: ClassVar[str] = (
        'Adar, "User 4XXXXX9: Anonymizing Query Logs", Query Log Analysis workshop at WWW 2007'
    )
    counting: ClassVar[bool] = True

    @classmethod
    def public_rule(cls) -> Callable[[str], str | None] | None:
        """A query stays as it is, or is dropped."""
        return str

    def published_columns(self, roles: Collection[str]) -> tuple[str, ...]:
        """The columns of the log it gives."""
        return (*super().published_columns(roles), *(["url"] if self.clicks else []))

    def check(self, roles: Collection[str]) -> None:
        """Refuse a log whose columns do not allow the method."""
        super().check(roles)
        if self.clicks and "url" not in roles:
            raise UsageError("to keep clicks takes a column with them: say --url COLUMN")

    def apply(self, source: Source, say: Say = lambda _: None) -> list[Changed]:
        """Store (user, id, time, query, url), the queries normalised."""
        engine = source.engine
        also = ["url"] if self.clicks else []
        try:
            engine.append_rows("asked", [*source.entries, candidate_step(source, also)])
            held = Step("held", "select distinct user, query from asked")
            count = f"select query, count(*) >= {self.k} as kept from held group by query"
            engine.append_rows("counted", [held, Step("counted", count)])
            # The pauses of all queries cut the sessions, but only the text of those kept is sorted.
            kept = Step("kept", "select query from counted where kept")
            text = "a.query as asked" if self.by_similarity else "null as asked"
            columns = f"a.* exclude (query), kept.query as query, {text}"
            marked = f"select {columns} from asked a left join kept on a.query = kept.query"
            cut = cut_sessions(
                source,
                self.session_gap,
                "marked",
                also,
                similar_in="asked" if self.by_similarity else None,
            )
            engine.append_rows("in_sessions", [kept, Step("marked", marked), *cut])
            session = new_id(new_secret(), "user", "session")
            time = ["time"] if "time" in source.roles else []
            columns = ", ".join(("user", f"{session} as id", *time, "query", *also))
            published = f"select {columns} from in_sessions where query is not null"
            engine.append_rows("anonymous", [Step("published", published)])
            return _count_changes(source)
        finally:
            for table in ("asked", "counted", "in_sessions"):
                engine.drop(table)


def _count_changes(source: Source) -> list[Changed]:
    """What is missing from `anonymous`, of what the log has."""
    each = Step("each", "select user, session, count(query) as kept from in_sessions group by all")
    numbers = "select count(*), count(*) filter (kept = 0), count(distinct user) filter (kept > 0)"
    ((cut_off, lost, users),) = source.engine.rows([each, Step("n", f"{numbers} from each")])
    rows, left, texts, texts_left = (
        source.engine.rows([Step("n", f"select count(*) from {which}")])[0][0]
        for which in ("asked", "anonymous", "counted", "counted where kept")
    )
    unknown, unseen = _count_without_session(source)
    everybody = count_users(source)
    return [
        Changed(what="users suppressed", number=everybody - users, of=everybody),
        Changed(what="sessions suppressed", number=lost, of=cut_off),
        Changed(what="queries suppressed", number=rows + unknown - left, of=rows + unknown),
        Changed(
            what="distinct queries suppressed",
            number=texts + unseen - texts_left,
            of=texts + unseen,
        ),
    ]


def _count_without_session(source: Source) -> tuple[int, int]:
    """How many queries nobody can tell the session of, and how many different ones only there."""
    query = f"select {normalized_query(False)} as query from entries"
    where = f"({lacks_session(source)}) and {has_word('query')}"
    unseen = "count(distinct unknown.query) filter (where known.query is null)"
    together = "unknown left join counted known on unknown.query = known.query"
    steps = [
        Step("unknown", f"{query} where {where}"),
        Step("n", f"select count(*), {unseen} from {together}"),
    ]
    return source.engine.rows([*source.entries, *steps])[0]
