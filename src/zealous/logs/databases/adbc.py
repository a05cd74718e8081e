"""Servers that are reached through ADBC: Arrow's own drivers.

Snowflake, BigQuery and Flight SQL are not tested against a server of theirs; PostgreSQL, which has
a file of its own, is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from zealous.errors import LogError
from zealous.files.frames import arrow_rows, stored_rows
from zealous.files.passwords import without_password
from zealous.files.places import Place
from zealous.files.rows import Rows
from zealous.libraries import pa
from zealous.logs.person_sql import PersonQuery
from zealous.logs.query import DatabaseKind, register


class AdbcServer(ABC):
    """A server. No dataclass: its URL may hold a password, which no field tells."""

    scheme: ClassVar[str]  # what its URLs begin with
    driver: ClassVar[str]  # the module that connects

    def __init__(self, url: str) -> None:
        """A database."""
        self._url = url

    @property
    def name(self) -> str:
        """Its host and its name, without anything that tells who connects."""
        try:
            found = urlsplit(self._url)
            port = f":{found.port}" if found.port else ""
        except ValueError:
            return f"{self.scheme}://"
        if "@" in unquote(found.path + found.query + found.fragment):
            return f"{self.scheme}://"  # what was split may be a password with a / or a ? in it
        return without_password(f"{self.scheme}://{found.hostname or ''}{port}{found.path}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    def ledger_place(self) -> Place | None:
        """None: one database has many names."""
        return None

    @abstractmethod
    def _connect(self) -> Any:
        """A new connection; whatever goes wrong is raised."""

    def _driver(self) -> Any:
        return import_module(self.driver)

    def new_connection(self) -> Any:
        """A new connection.

        Raises:
            LogError: There is none, for a reason that the driver's own words may tell too well.
        """
        try:
            return self._connect()
        except (ModuleNotFoundError, MemoryError):
            raise
        except Exception:  # which may say who connects, and how
            raise LogError(
                f"{self.name} cannot be connected to: check its host, port and name, the account "
                "and the password"
            ) from None

    @contextmanager
    def open_rows(self, query: PersonQuery, lists: Sequence[str]) -> Iterator[Rows]:
        """The rows of a query, in the types that the driver gives them."""
        sql = query.sql()
        with closing(self.new_connection()) as connection:

            def rows_of(text: str) -> Iterator[Rows]:
                with connection.cursor() as cursor:
                    cursor.execute(text)
                    yield stored_rows(arrow_rows(cursor.fetch_record_batch()), self.name)

            def batches(wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
                for rows in rows_of(sql):
                    yield from rows.batches(wanted)

            (empty,) = rows_of(f"select * from ({sql}) as nobody where 1 = 0")
            yield Rows(empty.schema, batches)


class Snowflake(AdbcServer):
    """`snowflake://user:password@account/database/schema?warehouse=...`."""

    scheme = "snowflake"
    driver = "adbc_driver_snowflake.dbapi"

    def _connect(self) -> Any:
        return self._driver().connect(self._url.partition("://")[2], autocommit=True)


class BigQuery(AdbcServer):
    """`bigquery://project/dataset`, as whoever the environment says."""

    scheme = "bigquery"
    driver = "adbc_driver_bigquery.dbapi"

    def _connect(self) -> Any:
        project, _, dataset = self._url.partition("://")[2].strip("/").partition("/")
        named = {"project_id": project, "dataset_id": dataset}
        options = {f"adbc.bigquery.sql.{key}": each for key, each in named.items() if each}
        return self._driver().connect(options, autocommit=True)


class FlightSQL(AdbcServer):
    """`flightsql://user:password@host:port`, encrypted."""

    scheme = "flightsql"
    driver = "adbc_driver_flightsql.dbapi"

    def _connect(self) -> Any:
        found = urlsplit(self._url)
        said = {"username": found.username, "password": found.password}
        options = {key: unquote(each) for key, each in said.items() if each}
        place = found.netloc.rpartition("@")[2]
        return self._driver().connect(f"grpc+tls://{place}", db_kwargs=options, autocommit=True)


# How each converts what is compared is for `person_sql` to know. Whose SQL a Flight SQL server has,
# nobody can tell: it is read as sqlglot's own.
register(DatabaseKind(name=Snowflake.scheme, dialect="snowflake", open=Snowflake))
register(DatabaseKind(name=BigQuery.scheme, dialect="bigquery", open=BigQuery))
register(DatabaseKind(name=FlightSQL.scheme, dialect="", open=FlightSQL))
