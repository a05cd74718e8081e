"""SQLite, through Python's own module: each value of a column has a type of its own there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from urllib.parse import quote

from zealous.engines.sql import comma_separated, identifier
from zealous.errors import LogError
from zealous.files.local import LocalPath
from zealous.files.rows import AT_ONCE, LONGEST, Rows
from zealous.files.single_values import column_of, column_type
from zealous.libraries import pa
from zealous.logs.databases.database_file import DatabaseFile, check_names
from zealous.logs.person_sql import PersonQuery
from zealous.logs.query import DatabaseKind, register


@dataclass(frozen=True, kw_only=True)
class SqliteFile(DatabaseFile):
    """A file that is an SQLite database."""

    scheme = "sqlite"

    @contextmanager
    def open_rows(self, query: PersonQuery, lists: Sequence[str]) -> Iterator[Rows]:
        """The rows of a query, whose values become texts one by one."""
        sql = query.sql()
        self.check_file()
        with closing(_connect(self.path)) as connection:
            _check_columns(connection, query)
            found = connection.execute(f"{sql} limit 0")
            names = [each[0] for each in found.description]
            check_names(names)

            def batches(wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
                columns = comma_separated(_bounded_column(identifier(each)) for each in wanted)
                cursor = connection.execute(f"select {columns} from ({sql})")
                while rows := cursor.fetchmany(AT_ONCE):
                    found = zip(wanted, zip(*rows, strict=True), strict=True)
                    made = [column_of(values, is_list=name in lists) for name, values in found]
                    yield pa.RecordBatch.from_arrays(made, names=list(wanted))

            types = [(each, column_type(is_list=each in lists)) for each in names]
            yield Rows(pa.schema(types), batches)


def _connect(path: LocalPath) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)
    connection.execute("pragma query_only = on")
    connection.execute("pragma trusted_schema = off")  # a view calls no function that does more
    connection.text_factory = _decoded
    return connection


def _check_columns(connection: sqlite3.Connection, query: PersonQuery) -> None:
    """Raise if a column does not exist: in double quotes, SQLite would take it for a text."""
    found = connection.execute(f"{query.whole_table()} limit 0")
    misspelt = query.misspelt_column([each[0] for each in found.description])
    if misspelt is not None:
        raise LogError(f"--sql: the table has no column {misspelt!r}")


def _decoded(text: bytes) -> str | None:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


def _bounded_column(column: str) -> str:
    """SQL: a value, if it is a number or a text of bounded size."""
    numbers = f"when typeof({column}) in ('integer', 'real') then {column}"
    size = f"length(cast({column} as blob))"
    return (
        f"case {numbers} when typeof({column}) = 'text' and {size} <= {LONGEST} then {column} end"
    )


register(
    DatabaseKind(
        name="sqlite", dialect="sqlite", open=SqliteFile.of_url, magic=(0, b"SQLite format 3\0")
    )
)
