"""Small random search logs, and what the pipeline counts in them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from oracle import Entry, Item

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines.duckdb import DuckDB
from zealous.items import Kind
from zealous.logs.open_log import open_log
from zealous.privacy.units import Select

# Letters whose case the engine and Python both know, blanks, marks, scripts without blanks.
ALPHABET = "abA Bé\u0301ñ ß日本ก\u0e33 \t\u00a0\u3000-'\"=\\%_🙂١"
texts = st.text(ALPHABET, max_size=6)
entries = st.lists(
    st.builds(
        Entry,
        user=st.sampled_from(["u1", "u2", "u3", "U3", "7", "", " "]),
        query=texts,
        time=st.none() | st.integers(0, 6).map(lambda t: t * 700),
        urls=st.lists(st.sampled_from(["a", "b", " a", "", "c d"]), max_size=3).map(tuple),
    ),
    max_size=14,
)


def write(path: Path, rows: list[Entry]) -> Path:
    table = pa.table(
        {
            "user": pa.array([row.user for row in rows], pa.string()),
            "query": pa.array([row.query for row in rows], pa.string()),
            "time": pa.array(
                [None if row.time is None else row.time * 10**6 for row in rows],
                pa.timestamp("us"),
            ),
            "urls": pa.array([list(row.urls) for row in rows], pa.list_(pa.string())),
        }
    )
    pq.write_table(table, path)
    return path


def counted(
    engine: DuckDB,
    path: Path,
    kind: Kind,
    *,
    m: int,
    select: Select = "random",
    key: int = 5,
    columns: z.Columns | None = None,
) -> Counter[Item]:
    source = open_log(z.read_log(path, columns=columns), engine, kind.extra_columns())
    found: Counter[Item] = Counter()
    batches = histogram(kind, source, bound=m, at_least=1, select=select, key=key)
    for batch in batches:
        for row in batch.to_pylist():
            count = row.pop("count")
            item = tuple(row.values())
            assert item not in found
            found[item] = count
    return found
