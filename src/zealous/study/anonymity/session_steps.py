"""Sessions as publishing has them: the log's own, or what lies between two long pauses."""

from __future__ import annotations

from collections.abc import Sequence

from zealous.engines.sql import Step
from zealous.items import has_word, is_visible, normalized_query
from zealous.logs.source import Source


def session_steps(source: Source, gap: int) -> list[Step]:
    """The steps from the entries to `sessions`: (user, session, time, query), one row a query.

    Entries of which nobody can tell the session are left out, and so are queries without a word.
    `session` tells the sessions of one user apart. `time` is there where the log has times.

    Args:
        source: The log.
        gap: Minutes without a query that end a session, where the log has no session ids.
    """
    return [candidate_step(source), *cut_sessions(source, gap, "candidates")]


def candidate_step(source: Source, also: Sequence[str] = ()) -> Step:
    """The step from the entries to `candidates`: (user, session, time, query), normalised.

    `session` and `time` are there where the log has them.

    Args:
        source: The log.
        also: More columns of the entries, which stay as they are.
    """
    roles = (role for role in ("session", "time") if role in source.roles)
    columns = ["user", *roles, *also]
    known = f"not ({lacks_session(source)}) and {has_word('query')}"
    columns.append(f"{normalized_query(False)} as query")
    select = f"select {', '.join(columns)} from entries where {known}"
    return Step("candidates", select)


def cut_sessions(source: Source, gap: int, table: str, also: Sequence[str] = ()) -> list[Step]:
    """The steps from a table of candidates to `sessions`, which has the column `session`."""
    if "session" in source.roles:
        return [Step("sessions", f"select * from {table}")]
    columns = ", ".join(("user", "time", "query", *also))
    ordered = "over (partition by user order by time)"
    pause = f"time > lag(time) {ordered} + interval {gap} minute"
    return [
        Step("paused", f"select *, coalesce(({pause})::integer, 1) as new from {table}"),
        Step(
            "sessions",
            # Rows of the same moment belong together, whatever order the engine takes them in.
            f"select {columns}, sum(new) over (partition by user order by time "
            "range between unbounded preceding and current row)::bigint as session from paused",
        ),
    ]


def lacks_session(source: Source) -> str:
    """SQL: nobody can tell the session of an entry; a blank session id is none."""
    if "session" in source.roles:
        return f"session is null or not {is_visible('session')}"
    return "time is null"
