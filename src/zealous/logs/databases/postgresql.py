"""PostgreSQL, through ADBC: Arrow's own drivers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

from zealous.engines.sql import comma_separated, identifier
from zealous.errors import LogError
from zealous.files.frames import arrow_rows, stored_rows
from zealous.files.passwords import without_password
from zealous.files.rows import LONGEST, Rows
from zealous.libraries import LazyModule, pa
from zealous.logs.person_sql import PersonQuery
from zealous.logs.query import DatabaseKind, register

_driver = LazyModule("adbc_driver_postgresql.dbapi")
_BATCH = {"adbc.postgresql.batch_size_hint_bytes": str(1 << 22)}
_SESSION = (
    "set transaction isolation level repeatable read, read only",
    "set local standard_conforming_strings = on",  # a backslash in a text is one
    "set local datestyle = 'ISO, YMD'",
    "set local timezone = 'UTC'",
    # Texts come as they are stored: one that the server could not convert would end the query.
    "set local client_encoding = 'SQL_ASCII'",
)
_ENCODINGS = ("UTF8", "SQL_ASCII")


class PostgreSQL:
    """A PostgreSQL database. No dataclass: its URL may hold a password, which no field tells."""

    def __init__(self, *, url: str) -> None:
        """A database.

        Args:
            url: How to connect to it.
        """
        self._url = url

    @property
    def name(self) -> str:
        """Its host and its name, without anything that tells who connects."""
        try:
            found = urlsplit(self._url)
            port = f":{found.port}" if found.port else ""
        except ValueError:
            return "postgresql://"
        if "@" in unquote(found.path + found.query + found.fragment):
            return "postgresql://"  # what was split may be a password with a / or a ? in it
        return without_password(f"postgresql://{found.hostname or ''}{port}{found.path}")

    def __repr__(self) -> str:
        return f"PostgreSQL({self.name})"

    def ledger_place(self) -> None:
        """None: one database has many names."""

    @contextmanager
    def open_rows(self, query: PersonQuery, lists: Sequence[str]) -> Iterator[Rows]:
        """The rows of a query. The server makes texts of all values, of which each is one."""
        sql = query.sql()
        with closing(_driver.connect(self._url)) as connection:  # one transaction, to its end
            for setting in _SESSION:
                _run(connection, setting)
            self._check_encoding(connection)
            kinds = _kinds(connection, sql)

            def batches(wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
                columns = comma_separated(_as_text(name, kinds[name]) for name in wanted)
                with connection.cursor(adbc_stmt_kwargs=_BATCH) as cursor:
                    cursor.execute(f"select {columns} from ({sql}) as log")
                    rows = stored_rows(arrow_rows(cursor.fetch_record_batch()), self.name)
                    yield from rows.batches(wanted)

            types = {True: pa.list_(pa.string()), False: pa.string()}
            yield Rows(pa.schema([(name, types[kind]) for name, kind in kinds.items()]), batches)

    def _check_encoding(self, connection: Any) -> None:
        ((found,),) = _run(connection, "select current_setting('server_encoding')")
        if found not in _ENCODINGS:
            raise LogError(
                f"{self.name} has the encoding {found}, in which one text could stop the run: "
                "copy the table to a database in UTF8"
            )


def _run(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall()) if sql.startswith("select") else []


def _kinds(connection: Any, sql: str) -> dict[str, bool]:
    """The columns of a query's result, and whether each is an array; no row is read."""
    with connection.cursor() as cursor:
        found = cursor.adbc_execute_schema(sql)
    if len(set(found.names)) < len(found.names):
        raise LogError("--sql returns two columns of one name: name them apart with as")
    return {each.name: pa.types.is_list(each.type) for each in found}


def _as_text(name: str, is_array: bool) -> str:
    """SQL: a value as text, if it is of bounded size; of an array, of however many dimensions."""
    column = identifier(name)
    if is_array:
        texts = f"array(select each::text from unnest({column}) as each)"
        value, size = texts, f"octet_length(array_to_string({texts}, ''))"
        value = f"case when {column} is not null then {value} end"
    else:
        value = f"{column}::text"
        size = f"octet_length({value})"
    return f"case when {size} <= {LONGEST} then {value} end as {column}"


def _of_url(given: str) -> PostgreSQL:
    return PostgreSQL(url=given)


register(DatabaseKind(name="postgresql", dialect="postgres", open=_of_url))
