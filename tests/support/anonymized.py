"""A method of anonymity, applied to a few rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.logs.open_log import open_log
from zealous.study.anonymity import Changed, Method

Row = tuple[Any, ...]


def applied(
    engine: DuckDB, path: Path, method: Method, rows: Sequence[Row], columns: str
) -> tuple[list[Row], dict[str, tuple[int, int]]]:
    """The rows of `anonymous`, and what was changed."""
    names = columns.split()
    values = list(zip(*rows, strict=True)) or [()] * len(names)
    types = {"time": pa.timestamp("us")}
    arrays = [
        pa.array(column, types.get(name, pa.int64() if name == "number" else pa.string()))
        for name, column in zip(names, values, strict=True)
    ]
    pq.write_table(pa.table(dict(zip(names, arrays, strict=True))), path)
    source = open_log(z.read_log(path), engine)
    engine.drop("anonymous")
    changed: list[Changed] = method.apply(source)
    kept = ", ".join(["user", *method.published_columns(source.roles)])
    found = engine.rows([Step("all", f"select {kept} from anonymous")])
    return found, {each.what: (each.number, each.of) for each in changed}
