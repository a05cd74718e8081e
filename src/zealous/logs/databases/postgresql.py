"""PostgreSQL, through ADBC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from zealous.engines.sql import comma_separated, identifier
from zealous.errors import LogError
from zealous.files.frames import arrow_rows, stored_rows, unreadable_type
from zealous.files.rows import LONGEST, Rows
from zealous.libraries import pa
from zealous.logs.databases.adbc import AdbcServer
from zealous.logs.person_sql import PersonQuery
from zealous.logs.query import DatabaseKind, register

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
_AS_THEY_ARE = {
    "bool": "bool_",
    "int2": "int16",
    "int4": "int32",
    "int8": "int64",
    "float4": "float32",
    "float8": "float64",
}
# Of pg_type: boolean, date and time, enum, network address, number, text, time span. Each has a
# text that is not much longer than the value.
_CATEGORIES = "BDEINST"
_OTHERS = ("uuid", "macaddr")
_TYPES = """select each.place, found.typname::text, found.typcategory::text, held.oid <> found.oid
from (select 1) as one left join ({sql}) as log on false
cross join lateral (values {types}) as each(place, kind)
join pg_catalog.pg_type as held on held.oid = each.kind
join pg_catalog.pg_type as found
    on found.oid = case when held.typcategory = 'A' then held.typelem else held.oid end
"""


class PostgreSQL(AdbcServer):
    """A PostgreSQL database."""

    scheme = "postgresql"
    driver = "adbc_driver_postgresql.dbapi"

    def _connect(self) -> Any:
        return self._driver().connect(self._url)

    @contextmanager
    def open_rows(self, query: PersonQuery, lists: Sequence[str]) -> Iterator[Rows]:
        """The rows of a query; the server makes texts of values that Arrow could not all hold."""
        sql = query.sql()
        with closing(self.new_connection()) as connection:  # one transaction, to its end
            for setting in _SESSION:
                _run(connection, setting)
            self._check_encoding(connection)
            kinds = _kinds(connection, sql)

            def batches(wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
                columns = comma_separated(kinds[name].value(name) for name in wanted)
                with connection.cursor(adbc_stmt_kwargs=_BATCH) as cursor:
                    cursor.execute(f"select {columns} from ({sql}) as log")
                    rows = stored_rows(arrow_rows(cursor.fetch_record_batch()), self.name)
                    yield from rows.batches(wanted)

            types = [(name, kind.arrow_type()) for name, kind in kinds.items()]
            yield Rows(pa.schema(types), batches)

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


class _Kind(NamedTuple):
    """The type of a column, or of an array's elements, as pg_type has it."""

    name: str
    category: str
    is_array: bool

    def arrow_type(self) -> Any:
        if self.is_array:
            return pa.list_(pa.string())
        return getattr(pa, _AS_THEY_ARE.get(self.name, "string"))()

    def value(self, column: str) -> str:
        """SQL: a value of the column, if it is of bounded size. No value makes it fail.

        A small value of other types, such as jsonb, may have a text that the server cannot hold.
        """
        if self.category not in _CATEGORIES and self.name not in _OTHERS:
            raise unreadable_type(column, self.name)
        name = identifier(column)
        if self.is_array:
            each = self._text("each")
            size = f"select sum(coalesce(octet_length({each}), 0) + 1) from unnest({name}) as each"
            few = f"case when cardinality({name}) <= {LONGEST} then coalesce(({size}), 0) end"
            found = f"array(select {each} from unnest({name}) as each)"
            return f"case when ({few}) <= {LONGEST} then {found} end as {name}"
        if self.name in _AS_THEY_ARE:
            return name
        text = self._text(name)
        return f"case when octet_length({text}) <= {LONGEST} then {text} end as {name}"

    def _text(self, name: str) -> str:
        """SQL: the text of a value as other inputs would have it."""
        if self.category == "I":  # 10.0.0.1, where ::text is 10.0.0.1/32
            return f"case when {name} is not null then format('%s', {name}) end"
        if self.category == "N":  # as a text, NaN would be somebody's id
            no_number = "('NaN', 'Infinity', '-Infinity')"
            return f"case when {name}::text not in {no_number} then {name}::text end"
        return f"{name}::text"


def _kinds(connection: Any, sql: str) -> dict[str, _Kind]:
    """The columns of a query's result; no row is read."""
    with connection.cursor() as cursor:
        names = cursor.adbc_execute_schema(sql).names
    if len(set(names)) < len(names):
        raise LogError("--sql returns two columns of one name: name them apart with as")
    types = (f"({place}, pg_typeof({identifier(name)}))" for place, name in enumerate(names))
    found = _run(connection, _TYPES.format(sql=sql, types=comma_separated(types)))
    return dict(zip(names, (_Kind(*each) for _, *each in sorted(found)), strict=True))


register(DatabaseKind(name=PostgreSQL.scheme, dialect="postgres", open=PostgreSQL))
