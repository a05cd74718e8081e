"""How near a log comes to the one in the paper: a few figures of the whole log.

They are exact and hence for the owner of a log alone, never for a release.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

# A pair is two subsequent, different queries of a user within 30 minutes. Items are compared by
# 64-bit hashes: 30 million distinct ones collide with a chance of 1 in 40,000, in a third of the
# memory that texts take.
_STEPS = {
    "entries": """
        select user, time, urls,
            regexp_replace(trim(lower(query)), '\\s+', ' ', 'g') as query
        from read_parquet($path)
    """,
    "keywords": """
        select hash(unnest(regexp_extract_all(query, '[\\p{L}\\p{M}\\p{N}]+'))) as item from entries
    """,
    "queries": "select hash(query) as item from entries",
    "clicks": "select hash(unnest(urls)) as item from entries",
    "query_pairs": """
        select hash(query, next_query) as item
        from (
            select hash(query) as query, time,
                lead(hash(query)) over following as next_query,
                lead(time) over following as next_time
            from entries window following as (partition by user order by time)
        )
        where query <> next_query and next_time - time <= interval 30 minutes
    """,
}
KINDS = ("keywords", "queries", "clicks", "query_pairs")


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a log holds.

    Attributes:
        users: Users with at least one entry.
        entries: Queries asked, each with its clicks.
        kinds: For each kind of item, how often a user holds one on average, repetitions counted,
            and how many distinct ones the log has.
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


def figures(path: Path, *, memory: str = "2GB") -> Figures:
    """The figures of a generated log, computed in bounded memory.

    Args:
        path: A Parquet file that `generate` wrote.
        memory: What the computation may take before it turns to the disk.
    """
    with tempfile.TemporaryDirectory() as spill, duckdb.connect() as connection:
        connection.execute(f"set memory_limit = '{memory}'; set temp_directory = '{spill}'")
        connection.execute("set preserve_insertion_order = false")
        source = str(path).replace("'", "''")
        for name, step in _STEPS.items():
            text = step.replace("$path", f"'{source}'")
            connection.execute(f"create temp view {name} as {text}")
        one = connection.execute("select count(distinct user), count(*) from entries").fetchone()
        users, entries = one or (0, 0)
        kinds = {}
        for kind in KINDS:
            found = connection.execute(
                f"select count(*), count(distinct item) from {kind}"
            ).fetchone()
            occurrences, distinct = found or (0, 0)
            kinds[kind] = (occurrences / max(users, 1), distinct)
    return Figures(users=users, entries=entries, kinds=kinds)
