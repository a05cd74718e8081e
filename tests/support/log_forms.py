"""One small table in every form in which a log is read, and what is published of it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi as driver
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

import zealous as z
from zealous.engines.sql import Step
from zealous.logs.log import Log
from zealous.logs.open_log import open_log

SQL = 'select who as "user", q as query, asked as time from log'
GOAL = z.Indistinguishability(epsilon=2_000, delta="0.5")
ROWS = [
    (number % 60, f"Query  {number % 7}", f"2026-01-31 12:{number % 60:02}:00")
    for number in range(420)
]
PUBLISHED = {f"query {number}": 60 for number in range(7)}
COLUMNS = z.Columns(user="who", query="q", time="asked")


def fill_postgres(url: str, *more: str) -> None:
    """ROWS as the table `log` of a PostgreSQL database, and what else is to be there."""
    values = ", ".join(f"({who}, '{q}', '{at}')" for who, q, at in ROWS)
    table = "create table log (who int, q text, asked timestamp)"
    with driver.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in (table, f"insert into log values {values}", *more):
            cursor.execute(statement)


def sqlite_of(path: Path, rows: list[tuple[Any, ...]], types: str = "who int, q, asked") -> Path:
    """Rows as the table `log` of a new SQLite database."""
    with sqlite3.connect(path) as connection:
        connection.execute(f"create table log ({types})")
        connection.executemany("insert into log values (?, ?, ?)", rows)
    connection.close()
    return path


def local_forms(folder: Path, postgres: str) -> dict[str, Log]:
    """ROWS in every form but those of Spark."""
    table = arrow_table()
    pacsv.write_csv(table, folder / "log.csv")
    pq.write_table(table, folder / "log.parquet")
    with duckdb.connect(folder / "log.duckdb") as connection:
        connection.register("given", table)
        connection.sql("create table log as from given")
    given = {
        "csv": folder / "log.csv",
        "parquet": folder / "log.parquet",
        "pandas": table.to_pandas(),
        "objects": table.to_pandas().astype(object),
        "polars": pl.from_arrow(table),
        "arrow": table,
        "stream": table.to_reader(),
        "relation": duckdb.from_arrow(table),
    }
    queried: dict[str, str | Path] = {
        "duckdb": folder / "log.duckdb",
        "sqlite": sqlite_of(folder / "log.sqlite", ROWS),
        "postgresql": postgres,
    }
    return {name: z.read_log(each, columns=COLUMNS) for name, each in given.items()} | {
        name: z.read_log(each, sql=SQL) for name, each in queried.items()
    }


def arrow_table() -> pa.Table:
    """ROWS as an Arrow table."""
    return pa.Table.from_pylist(
        [dict(zip(("who", "q", "asked"), row, strict=True)) for row in ROWS]
    )


def published(log: Log) -> dict[Any, int]:
    """The queries of a log, with so little noise that it cannot be seen."""
    release = z.publish(log, GOAL, z.queries(7), account=None)
    return dict(release["queries"].items())


def entries(log: Log, *extra: str) -> list[tuple[Any, ...]]:
    """The entries of a log as they are understood."""
    with z.DuckDB(threads=1) as engine:
        source = open_log(log, engine, extra)
        return sorted(
            engine.rows([*source.entries, Step("all", "select * from entries")]), key=repr
        )
