"""Sessions as publishing has them: the log's own, or what lies between two long pauses."""

from __future__ import annotations

from zealous.engines.sql import Step
from zealous.items import asked, has_word
from zealous.source import Source


def sessions(source: Source, gap: int) -> list[Step]:
    """The steps from the entries to `sessions`: (user, session, time, query), one row a query.

    Entries of which nobody can tell the session are left out, and so are queries without a word.
    `session` tells the sessions of one user apart. `time` is there where the log has times.

    Args:
        source: The log.
        gap: Minutes without a query that end a session, where the log has no session ids.
    """
    time = ["time"] if "time" in source.roles else []
    columns = ", ".join(["user", *time, f"{asked(False)} as query"])
    if "session" in source.roles:
        known = f"session is not null and {has_word('query')}"
        return [Step("sessions", f"select session, {columns} from entries where {known}")]
    ordered = "over (partition by user order by time)"
    pause = f"time > lag(time) {ordered} + interval {gap} minute"
    timed = f"select {columns} from entries where time is not null and {has_word('query')}"
    return [
        Step("asked", timed),
        Step("paused", f"select *, coalesce(({pause})::integer, 1) as new from asked"),
        Step(
            "sessions",
            # Rows of the same moment belong together, whatever order the engine takes them in.
            "select user, time, query, sum(new) over (partition by user order by time "
            "range between unbounded preceding and current row) as session from paused",
        ),
    ]
