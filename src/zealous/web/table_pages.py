"""A page of a published table, by DuckDB on its Parquet file: the rest of it is never in memory."""

from __future__ import annotations

import glob
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from zealous.engines.sql import identifier
from zealous.libraries import duckdb, pa

SORTS = {"most": "count DESC", "least": "count ASC", "item": ""}
_MEMORY = "1GB"
Item = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FoundRows:
    """What a search finds.

    Attributes:
        rows: Those of the page: items with their counts.
        found: How many there are on all pages.
        least: The smallest count of the whole table; None if it is empty.
        most: The largest one.
    """

    rows: list[tuple[Item, int]]
    found: int
    least: int | None
    most: int | None


def find_rows(
    path: Path,
    columns: Sequence[str],
    *,
    search: str,
    sort: str,
    page: int,
    size: int,
    among: Collection[Item] | None = None,
) -> FoundRows:
    """Look rows up.

    Args:
        path: The table's Parquet file.
        columns: Those of its items.
        search: A text that one of the columns contains, in capitals or not; empty for all rows.
        sort: One of SORTS.
        page: Which page, from 0 on.
        size: Rows of a page.
        among: The items that are looked for; None for all.
    """
    names = [identifier(name) for name in columns]
    # No name is a pattern, and no folder user=x adds a column.
    rows_of = "read_parquet($path, hive_partitioning = false)"
    given: dict[str, object] = {"path": glob.escape(str(path))}
    wanted = []
    with duckdb.connect(config={"memory_limit": _MEMORY, "threads": 2}) as connection:
        whole = connection.execute(f"SELECT min(count), max(count) FROM {rows_of}", given)
        ((least, most),) = whole.fetchall()
        if search:
            given["search"] = search
            either = " OR ".join(f"contains(lower({name}), lower($search))" for name in names)
            wanted.append(f"({either})")
        if among is not None:
            connection.register("looked_for", _as_table(columns, among))
            wanted.append(f"({', '.join(names)}) IN (SELECT ({', '.join(names)}) FROM looked_for)")
        where = f"WHERE {' AND '.join(wanted)}" if wanted else ""
        counted = connection.execute(f"SELECT count(*) FROM {rows_of} {where}", given).fetchone()
        rows = connection.execute(
            f"SELECT {', '.join(names)}, count FROM {rows_of} {where} "
            f"ORDER BY {', '.join(filter(None, [SORTS[sort], *names]))} "
            f"LIMIT {size} OFFSET {page * size}",
            given,
        ).fetchall()
    assert counted is not None  # noqa: S101
    return FoundRows(
        rows=[(row[:-1], row[-1]) for row in rows], found=counted[0], least=least, most=most
    )


def _as_table(columns: Sequence[str], items: Collection[Item]) -> pa.Table:
    """The items that such columns can hold."""
    fitting = [item for item in items if len(item) == len(columns)]
    texts = [
        pa.array([item[place] for item in fitting], pa.string()) for place in range(len(columns))
    ]
    return pa.Table.from_arrays(texts, names=list(columns))
