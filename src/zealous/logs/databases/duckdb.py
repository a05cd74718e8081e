"""A file that is a DuckDB database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from zealous.engines.duckdb import hide_progress_bar
from zealous.engines.sql import comma_separated, identifier
from zealous.files.frames import arrow_rows, stored_rows
from zealous.files.local import LocalPath
from zealous.files.rows import AT_ONCE, LONGEST, Rows
from zealous.libraries import duckdb, pa
from zealous.logs.databases.database_file import DatabaseFile, check_names
from zealous.logs.person_sql import PersonQuery
from zealous.logs.query import DatabaseKind, register

# Types whose values Arrow cannot all hold: they are read as texts.
_AS_TEXT = ("HUGEINT", "UHUGEINT", "BIGNUM", "VARINT", "UUID", "TIME WITH TIME ZONE", "INTERVAL")


@dataclass(frozen=True, kw_only=True)
class DuckDBFile(DatabaseFile):
    """A file that is a DuckDB database."""

    scheme = "duckdb"

    @contextmanager
    def open_rows(self, query: PersonQuery, lists: Sequence[str]) -> Iterator[Rows]:
        """The rows of a query."""
        sql = query.sql()
        self.check_file()
        with closing(_connect(self.path)) as connection:
            _check_constants(connection, query)
            described = connection.execute(f"describe {sql}").fetchall()
            types = {str(name): str(kind) for name, kind, *_ in described}
            check_names([str(name) for name, *_ in described])

            def rows_of(wanted: Sequence[str]) -> Rows:
                columns = comma_separated(_bounded_column(name, types[name]) for name in wanted)
                found = connection.sql(f"select {columns} from ({sql})")
                return stored_rows(arrow_rows(found.to_arrow_reader(AT_ONCE)), self.name)

            def batches(wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
                return rows_of(wanted).batches(wanted)

            nobody = f"select {comma_separated(_bounded_column(*each) for each in types.items())}"
            empty = connection.sql(f"{nobody} from ({sql}) limit 0").to_arrow_reader()
            yield Rows(stored_rows(arrow_rows(empty), self.name).schema, batches)


def _connect(path: LocalPath) -> Any:
    connection = duckdb.connect(str(path), read_only=True)
    connection.execute("set enable_external_access = false")  # no file, and no other database
    connection.execute("set TimeZone = 'UTC'")
    hide_progress_bar(connection)
    connection.execute("set python_enable_replacements = false")  # no variable is a table
    connection.execute("set lock_configuration = true")
    return connection


def _check_constants(connection: Any, query: PersonQuery) -> None:
    """Raise if a constant is not of its column's type: DuckDB would notice at the first row."""
    for column, constant in query.compared():
        ((_, kind, *_),) = connection.execute(f"describe {column}").fetchall()
        connection.execute(f"select cast({constant} as {kind})")


def _bounded_column(name: str, kind: str) -> str:
    """SQL: a column, in a type that Arrow has, without texts that are too long to be looked at."""
    column = identifier(name)
    if kind in _AS_TEXT:
        return f"{column}::varchar as {column}"
    if kind == "VARCHAR":
        return f"case when strlen({column}) <= {LONGEST} then {column} end as {column}"
    return column


register(DatabaseKind(name="duckdb", dialect="duckdb", open=DuckDBFile.of_url, magic=(8, b"DUCK")))
