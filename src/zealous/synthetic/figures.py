"""How near a log comes to the one in the paper: a few figures of the whole log.

They are exact, and hence for the owner of a log alone, never for a release.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from zealous.engines.sql import literal
from zealous.files.scratch import working_directory
from zealous.items import normalized_query, words
from zealous.privacy.guarantee import SESSION_GAP

# Items are compared by 64-bit hashes, which take far less memory than the texts: among the 42
# million urls of five million users, the chance that any two collide is 1 in 20,000.
_ITEMS = {
    "keywords": f"select hash(unnest({words('query')})) as item from entries",
    "queries": "select hash(query) as item from entries",
    "clicks": "select hash(unnest(urls)) as item from entries",
    "query_pairs": f"""
        select hash(query, next_query) as item
        from (
            select query, time, lead(query) over w as next_query, lead(time) over w as next_time
            from (select user, time, hash(query) as query from entries)
            window w as (partition by user order by time)
        )
        where query <> next_query and next_time <= time + interval {SESSION_GAP} minute
    """,
}


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a log holds.

    Attributes:
        users: Users with at least one entry.
        entries: Queries asked, each with its clicks.
        kinds: For each kind of item, how many a user has on average, repetitions counted, and how
            many distinct ones the log has.
    """

    users: int
    entries: int
    kinds: Mapping[str, tuple[float, int]]


PAPER = Figures(
    users=500_000,
    entries=10_000_000,
    kinds={
        "keywords": (56.0, 1_000_000),
        "queries": (20.0, 3_000_000),
        "clicks": (14.0, 4_500_000),
        "query_pairs": (7.0, 3_000_000),
    },
)


def figures(path: Path) -> Figures:
    """The figures of a generated log.

    Args:
        path: A Parquet file that `generate` wrote.
    """
    query = normalized_query(fold=False)
    entries = f"select user, time, urls, {query} as query from {literal(str(path))}"
    with working_directory() as folder, duckdb.connect() as connection:
        connection.execute("set memory_limit = '2GB'")
        connection.execute(f"set temp_directory = {literal(str(folder))}")
        connection.execute("set preserve_insertion_order = false")
        connection.execute(f"create temp view entries as {entries}")
        rows, users = _count(connection, "select user as item from entries")
        found = {kind: _count(connection, items) for kind, items in _ITEMS.items()}
    kinds = {kind: (count / max(users, 1), distinct) for kind, (count, distinct) in found.items()}
    return Figures(users=users, entries=rows, kinds=kinds)


def _count(connection: duckdb.DuckDBPyConnection, items: str) -> tuple[int, int]:
    """How many items there are, and how many distinct ones."""
    grouped = f"select count(*) as n from ({items}) where item is not null group by item"
    row = connection.execute(f"select sum(n)::bigint, count(*) from ({grouped})").fetchone()
    count, distinct = row or (0, 0)
    return count or 0, distinct
