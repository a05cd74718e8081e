"""Attack 4: people look up themselves and those they know. What of that is left to read?

A generated log tells which queries are about a person (`is_personal`), so the truth is known. A
real log does not: of such a log there is nothing to measure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.items import has_word, normalized_query, words
from zealous.logs.log import Columns, Log, read_log
from zealous.logs.open_log import open_log
from zealous.study.anonymity.output import Bundle
from zealous.study.attacks.rate import Rate
from zealous.synthetic import is_personal
from zealous.synthetic.words import FAMILY_ENDINGS

_FAMILY = rf"[a-z]+(?:{'|'.join(FAMILY_ENDINGS)})"
# What is looked for in each kind of query; how a query ends (?, .) is the slip of a finger.
_KINDS = {
    "name": rf"[a-z]+ (?P<part>{_FAMILY})",
    "name and a fact": rf"[a-z]+ (?P<part>{_FAMILY})(?: [a-z]+)+",
    "address": rf"\d+ (?P<part>{_FAMILY}) [a-z]+",
    "telephone number, its name": rf"[a-z]+ (?P<part>{_FAMILY}) \d{{3}} 555-01\d\d",
    "telephone number, its digits": rf"[a-z]+ {_FAMILY} (?P<part>\d{{3}} 555-01\d\d)",
    "account number": r"acct (?P<part>\d{9})",
}
_PATTERNS = {kind: re.compile(rf"{pattern}[.?]?") for kind, pattern in _KINDS.items()}
ASKERS = "users who asked for a person"
_MAYBE = "|".join((*FAMILY_ENDINGS, "acct", "555"))  # spares most queries the slower look


@dataclass(frozen=True, kw_only=True)
class ReadableShare:
    """How much of one kind can still be read.

    Attributes:
        kind: The kind of personal query; or the users who asked any, or all users.
        rate: Different queries of that kind whose identifying part (the family name, the account
            number, the telephone number) the output shows where the query stood; or users of whose
            personal queries it shows at least one such part.
    """

    kind: str
    rate: Rate


def personal_parts(query: str) -> list[tuple[str, str]]:
    """What a normalised personal query gives away: (kind, identifying part).

    >>> personal_parts("6305 hudiquist street")
    [('address', 'hudiquist')]
    >>> [part for _, part in personal_parts("percy hudiquist 249 555-0165")]
    ['hudiquist', '249 555-0165']
    """
    found = ((kind, pattern.fullmatch(query)) for kind, pattern in _PATTERNS.items())
    return [(kind, match["part"]) for kind, match in found if match]


def measure_personal_queries(
    log: Log, bundle: Bundle, *, engine: DuckDB | None = None
) -> list[ReadableShare]:
    """Measure what is left of the personal queries of a generated log.

    A query is compared with what the output shows of the same moment, so that a name left in one
    query does not count for another from which it was removed.

    Args:
        log: The generated log, with times, that the output was made of.
        bundle: The output of a method that keeps the times.
        engine: Where to run; an embedded DuckDB where not given.
    """
    rows = bundle.record.log
    if rows is None or not {"time", "query"} <= set(rows.columns):
        raise UsageError(
            f"{bundle.record.method} gives no log with times and queries, by which what is left "
            "of a query is found: measure `presence` instead"
        )
    with engine or DuckDB() as running:
        users = _store_personal_queries(log, running)
        published = read_log(bundle.directory / rows.file, columns=Columns(user="id"))
        source = open_log(published, running)
        text = (
            f"select time, {_with_spaces('query')} as text from entries where {has_word('query')}"
        )
        shown = f"contains(text, {_with_spaces('part')})"
        read = f"select personal.*, coalesce({shown}, false) as shown from personal left join text"
        steps = [Step("text", text), Step("read", f"{read} using (time)")]
        running.append_rows("read", [*source.entries, *steps])
        return _readable_shares(running, users)


def _with_spaces(text: str) -> str:
    """SQL: the words of a text with spaces around each, so that a part is found as whole words."""
    return f"' ' || array_to_string({words(text)}, ' ') || ' '"


def _store_personal_queries(log: Log, engine: DuckDB) -> int:
    """Store `personal` (user, time, query, kind, part); tell how many users the log has."""
    source = open_log(log, engine)
    columns = f"user, time, {normalized_query(False)} as query"
    typed = Step("typed", f"select {columns} from entries where {has_word('query')}")
    maybe = f"select distinct query from typed where regexp_matches(query, '{_MAYBE}')"
    found = (row[0] for row in engine.rows([*source.entries, typed, Step("maybe", maybe)]))
    engine.add_table("parts", _parts_table(query for query in found if is_personal(query)))
    personal = Step("personal", "select * from typed join parts using (query)")
    engine.append_rows("personal", [*source.entries, typed, personal])
    count = Step("counted", "select count(distinct user) from typed")
    return int(engine.rows([*source.entries, typed, count])[0][0])


def _parts_table(queries: Iterable[str]) -> pa.Table:
    rows = [(query, *found) for query in queries for found in personal_parts(query)]
    names = ("query", "kind", "part")
    columns = [pa.array([row[place] for row in rows], pa.string()) for place in range(len(names))]
    return pa.Table.from_arrays(columns, names=list(names))


def _readable_shares(engine: DuckDB, users: int) -> list[ReadableShare]:
    """From `read` (user, query, kind, shown)."""
    each = "select kind, query, bool_or(shown) as shown from read group by kind, query"
    count = "select kind, count(*) filter (where shown), count(*) from each group by kind"
    counted = engine.rows([Step("each", each), Step("counted", count)])
    by_kind = {kind: Rate(successes=shown, trials=there) for kind, shown, there in counted}
    hers = "select user, bool_or(shown) as shown from read group by user"
    count = "select count(*) filter (where shown), count(*) from hers"
    shown, there = engine.rows([Step("hers", hers), Step("counted", count)])[0]
    none = Rate(successes=0, trials=0)
    return [
        *(ReadableShare(kind=kind, rate=by_kind.get(kind, none)) for kind in _KINDS),
        ReadableShare(kind=ASKERS, rate=Rate(successes=shown, trials=there)),
        ReadableShare(kind="all users", rate=Rate(successes=shown, trials=users)),
    ]
