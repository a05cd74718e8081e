"""The result of an SQL query as a log: read only, in batches, and staged as any other table is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from zealous.errors import LogError, UsageError
from zealous.files.on_engine import OnEngine
from zealous.files.places import SCHEME, Place, place_of
from zealous.files.rows import Rows
from zealous.logs.person_sql import PersonQuery
from zealous.registry import Registry


class Database(Protocol):
    """Where queries are answered. Its name holds no credentials, and neither does an error."""

    @property
    def name(self) -> str:
        """What it is called in messages and records."""

    def ledger_place(self) -> Place | None:
        """By which place its ledger is found; None where it may have several names."""

    def open_rows(self, query: PersonQuery, lists: Sequence[str]) -> AbstractContextManager[Rows]:
        """The rows of a query; see `Place.open_rows`. No value of a row ends it."""


class DatabaseKind(NamedTuple):
    """A kind of database.

    Attributes:
        name: What its URLs begin with, without `://`.
        dialect: That of its SQL, as sqlglot calls it.
        open: The database of a URL or a path.
        magic: What files begin with that are such a database, and at which byte; None for others.
    """

    name: str
    dialect: str
    open: Callable[[str], Database]
    magic: tuple[int, bytes] | None = None


DATABASES: Registry[DatabaseKind] = Registry("zealous.logs.databases", key=lambda each: each.name)
register = DATABASES.register


@dataclass(frozen=True, kw_only=True, eq=False)
class Query(OnEngine):
    """The result of a query."""

    database: Database = field(repr=False)
    checked: PersonQuery = field(repr=False)

    def ledger_place(self) -> Place:
        """That of the database, if it is a file."""
        return self.database.ledger_place() or super().ledger_place()

    @contextmanager
    def open_rows(self, lists: Sequence[str]) -> Iterator[Rows]:
        """Its rows."""
        try:
            with self.database.open_rows(self.checked, lists) as rows:
                yield rows
        except ModuleNotFoundError as error:
            package = str(error.name).partition(".")[0].replace("_", "-")
            raise UsageError(f"{self.name} needs {package}: pip install {package}") from None
        except (LogError, UsageError, MemoryError):
            raise
        except Exception as error:  # what a database says may quote rows, and where it is
            raise LogError(
                f"{self.name} did not answer the query ({_cause(error)}): check the connection, "
                "the names of tables and columns, and that each constant is of its column's type"
            ) from None


# What the codes of PostgreSQL and the errors of DuckDB mean, in words that quote nothing.
_MEANINGS = {
    "42703": "no such column",
    "42P01": "no such table",
    "3F000": "no such schema",
    "42501": "this account may not read it",
    "22P02": "a constant is not of its column's type",
    "57014": "it was cancelled",
    "BinderException": "no such column, or a constant is not of its column's type",
    "CatalogException": "no such table",
    "ConversionException": "a constant is not of its column's type",
}


def _cause(error: Exception) -> str:
    """What an error means, or its code: neither quotes anything."""
    code = getattr(error, "sqlstate", None) or getattr(error, "sqlite_errorname", None)
    name = type(error).__name__
    return _MEANINGS.get(str(code or name), f"{name}, {code}" if code else name)


def query(given: object, sql: str) -> Query:
    """The log that a query of a database returns.

    Args:
        given: The URL of a database, or the path of a file that is one.
        sql: The query.
    """
    if not isinstance(given, str):
        given = str(given)
    kind = _kind_of(given)
    checked = PersonQuery(sql, kind.dialect)
    database = kind.open(given)
    return Query(name=database.name, database=database, checked=checked)


def _kind_of(given: str) -> DatabaseKind:
    found = SCHEME.match(given)
    if found is not None and found[1].lower() != "file":
        scheme = {"postgres": "postgresql"}.get(found[1].lower(), found[1].lower())
        if scheme in DATABASES:
            return DATABASES[scheme]
        raise UsageError(
            f"--sql is for databases, and {scheme}:// is none that is known: "
            f"{', '.join(f'{each}://' for each in DATABASES)} are"
        )
    path = place_of(given).local()
    try:
        beginning = b"" if path is None else _first_bytes(path)
    except OSError:
        raise LogError("the database cannot be found or read: name its file, or a URL") from None
    for kind in DATABASES.values():
        if kind.magic is not None and beginning[kind.magic[0] :].startswith(kind.magic[1]):
            return kind
    raise UsageError(f"{path} is neither an SQLite nor a DuckDB database: leave out --sql")


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(64)


def is_database(given: object) -> bool:
    """Whether a log is named that only a query can read."""
    found = SCHEME.match(given) if isinstance(given, str) else None
    return found is not None and found[1].lower() in (*DATABASES, "postgres")
