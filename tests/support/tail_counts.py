"""What the program counts of rare queries, table by table, on a small log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from tail_oracle import Entry, Tables, as_arrow, write

import zealous as z
from zealous.counting.histogram import histogram
from zealous.counting.restriction import InTable
from zealous.engines.duckdb import DuckDB
from zealous.items import Kind, tail
from zealous.logs.open_log import open_log
from zealous.logs.source import Source

NOBODY: dict[str, Mapping[str, int]] = {
    name: {} for name in ("queries", "keywords", "ngrams-2", "ngrams-3")
}
KINDS = {kind.name(): kind for kind in tail(99)}


def opened(engine: DuckDB, folder: Path, entries: Sequence[Entry], **how: Any) -> Source:
    return open_log(z.read_log(write(folder / "log.parquet", entries, **how)), engine)


def after(name: str, tables: Tables) -> Kind:
    return KINDS[name].with_inputs(as_arrow(tables))


def counted(
    source: Source, name: str, tables: Tables, *, bound: int = 0, listed: bool = False, **how: Any
) -> Counter[str]:
    kind = after(name, tables)
    bound = bound or kind.items_per_user
    how = {"select": "random", "key": 5, "at_least": 1, **how}
    known = kind.known_items()
    if listed and isinstance(known, pa.Table):
        how["only"] = [InTable(known)]
    found: Counter[str] = Counter()
    for batch in map(kind.as_published, histogram(kind, source, bound=bound, **how)):
        assert tuple(batch.schema.names) == (*kind.columns(), "count")
        for item, count in zip(batch[0].to_pylist(), batch["count"].to_pylist(), strict=True):
            assert item not in found
            found[item] = count
    return found
