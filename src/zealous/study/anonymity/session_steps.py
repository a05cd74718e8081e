"""Sessions as publishing has them: the log's own, or what lies between two long pauses.

For the study they can also end where a query has no word in common with what the user asked the
moment before: by reformulation, as the third method of Jansen, Spink, Blakely and Koshman,
"Defining a session on Web search engines", JASIST 58(6), 862-871, 2007, which has no pauses.
"""

from __future__ import annotations

from collections.abc import Sequence

from zealous.engines.sql import Step
from zealous.items import has_word, is_visible, normalized_query, words
from zealous.logs.source import Source


def session_steps(source: Source, gap: int, *, by_similarity: bool = False) -> list[Step]:
    """The steps from the entries to `sessions`: (user, session, time, query), one row a query.

    Entries of which nobody can tell the session are left out, and so are queries without a word.
    `session` tells the sessions of one user apart. `time` is there where the log has times.

    Args:
        source: The log.
        gap: Minutes without a query that end a session, where the log has no session ids.
        by_similarity: Whether a query without a word in common with the last ones ends it too.
    """
    similar_in = "query" if by_similarity else None
    return [
        candidate_step(source),
        *cut_sessions(source, gap, "candidates", similar_in=similar_in),
    ]


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


def cut_sessions(
    source: Source,
    gap: int,
    table: str,
    also: Sequence[str] = (),
    *,
    similar_in: str | None = None,
) -> list[Step]:
    """The steps from a table of candidates to `sessions`, which has the column `session`.

    Args:
        source: The log.
        gap: Minutes without a query that end a session, where the log has no session ids.
        table: The candidates.
        also: More of their columns, which stay.
        similar_in: The column with the queries, where one without a word in common with the last
            ones ends a session too.
    """
    if "session" in source.roles:
        return [Step("sessions", f"select * from {table}")]
    if similar_in is not None:
        return _cut_by_similarity(gap, table, also, similar_in)
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


def _cut_by_similarity(gap: int, table: str, also: Sequence[str], text: str) -> list[Step]:
    """The same, where also a moment ends a session whose queries share no word with the last one's.

    What a user asks at one moment is of one session.
    """
    columns = ", ".join(f"asked.{name}" for name in ("user", "time", "query", *also))
    ordered = "over (partition by user order by time)"
    pause = f"time > lag(time) {ordered} + interval {gap} minute"
    alike = "one.user = prior.user and one.word = prior.word and one.moment = prior.moment + 1"
    same = "alike.user = paused.user and alike.moment = paused.moment"
    return [
        Step("times", f"select distinct user, time from {table}"),
        Step(
            "paused",
            f"select *, row_number() {ordered} as moment, coalesce({pause}, true) as pause "
            "from times",
        ),
        Step(
            "each_word",
            f"select asked.user, paused.moment, unnest({words(f'asked.{text}')}) as word "
            f"from {table} as asked join paused using (user, time)",
        ),
        Step("moment_words", "select distinct user, moment, word from each_word"),
        Step(
            "alike",
            "select distinct one.user, one.moment from moment_words as one "
            f"join moment_words as prior on {alike}",
        ),
        Step(
            "begun",
            "select paused.user, paused.time, case when paused.pause or alike.moment is null "
            f"then 1 else 0 end as new from paused left join alike on {same}",
        ),
        Step(
            "moment_sessions",
            f"select user, time, sum(new) {ordered}::bigint as session from begun",
        ),
        Step(
            "sessions",
            f"select {columns}, session from {table} as asked "
            "join moment_sessions using (user, time)",
        ),
    ]


def lacks_session(source: Source) -> str:
    """SQL: nobody can tell the session of an entry; a blank session id is none."""
    if "session" in source.roles:
        return f"session is null or not {is_visible('session')}"
    return "time is null"
