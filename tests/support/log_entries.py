"""Logs of tests, and the entries that they hold."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from zealous.logs.log import Log

Entries = Callable[..., list[tuple[Any, ...]]]
NOON = datetime(2006, 3, 1, 12)


def roles(log: Log) -> dict[str, str]:
    return log.columns.assigned()


ROWS: list[dict[str, Any]] = [
    {"user": "ann", "query": "tea", "time": "2006-03-01 12:00:00", "url": "http://a.example"},
    {"user": "bob", "query": "größe, 鞋", "time": "2006-03-01T12:00:00", "url": ""},
]


def written(path: Path) -> Path:
    """ROWS in the format and compression that the path's name says."""
    names = list(ROWS[0])
    kind = path.name.split(".")[1].lower()
    if kind in ("parquet", "pq"):
        pq.write_table(pa.Table.from_pylist(ROWS), path)
        return path
    if kind in ("jsonl", "ndjson", "json"):
        text = "".join(json.dumps(row) + "\n" for row in ROWS)
    else:
        mark = {"csv": ",", "tsv": "\t"}[kind]
        cells = [names, *([row[name] for name in names] for row in ROWS)]
        quoted = [[f'"{cell}"' if mark in cell else cell for cell in line] for line in cells]
        text = "".join(mark.join(line) + "\n" for line in quoted)
    if path.suffix.lower() == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif path.suffix in (".bz2", ".zst"):
        with pa.CompressedOutputStream(
            str(path), {".bz2": "bz2", ".zst": "zstd"}[path.suffix]
        ) as f:
            f.write(text.encode())
    else:
        path.write_text(text, encoding="utf-8")
    return path
