"""A log as every attack takes it: one Parquet file of (user, time, query), ids as text."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import LogError, UsageError
from zealous.items import has_word
from zealous.logs.log import Log, read_log
from zealous.logs.open_log import open_log


def stage_log(log: Log, path: Path, engine: DuckDB | None = None) -> Log:
    """Write the entries that hold a query to a Parquet file, and read that as a log.

    Sessions and keywords of the log itself are ignored: what is planted has none. Sessions are
    then cut by pauses, and words taken from the queries.

    Args:
        log: Any log with users, times and queries.
        path: The file to write: it holds the log's data, so put it where nobody else can look.
        engine: Where to run; an embedded DuckDB where not given.
    """
    for role in ("query", "time"):
        if role not in log.columns.assigned():
            raise UsageError(f"the attacks need a column with the {role}: say --{role} COLUMN")
    schema = pa.schema(
        [("user", pa.string()), ("time", pa.timestamp("us")), ("query", pa.string())]
    )
    usable = f"time is not null and {has_word('query')}"
    sql = f"select user::varchar as user, time, query from entries where {usable}"
    written = 0
    with engine or DuckDB() as running, pq.ParquetWriter(path, schema) as writer:
        source = open_log(log, running)
        for batch in running.batches([*source.entries, Step("staged", f"{sql} order by all")]):
            writer.write_batch(batch.cast(schema))
            written += batch.num_rows
    if not written:
        raise LogError("no entry with a user id, a time and a query was understood")
    return read_log(path)


def split_users(log: Log, folder: Path, engine: DuckDB | None = None) -> tuple[Log, Log]:
    """Cut a staged log into the entries of two halves of its users.

    Args:
        log: What `stage_log` gave.
        folder: Where to write the two files.
        engine: Where to run; an embedded DuckDB where not given.
    """
    schema = pq.read_schema(log.paths[0])
    parts = []
    with engine or DuckDB() as running:
        source = open_log(log, running)
        for number in (0, 1):
            path = folder / f"half-{number}.parquet"
            half = source.bucket(number, 2)
            rows = Step("half", "select user, time, query from entries order by all")
            with pq.ParquetWriter(path, schema) as writer:
                for batch in running.batches([*half.entries, rows]):
                    writer.write_batch(batch.cast(schema))
            parts.append(read_log(path))
    return parts[0], parts[1]
