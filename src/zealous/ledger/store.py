"""The file: an append-only table of events in SQLite, each hashed together with the one before.

Guarantee:
    Events are appended whole or not at all, and none is changed or lost without its being found.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from zealous.errors import LedgerError, reason
from zealous.files.local import sync

APPLICATION = 0x5A4C4447  # "ZLDG", in the header of the file
BACKUP = 0x5A4C424B  # "ZLBK": the same contents, to which nothing is charged
# 2: events upgraded, bypassed, moved, restored. A ledger of format 1 is read as it is; the first
# event that is added to it says that it is of format 2 now, which earlier versions do not know:
# also one that opened the file before that refuses to add to it.
FORMAT = 2
_READABLE = (1, FORMAT)
WAIT_SECONDS = 120
TRIGGERS = {
    f"no_{change}": f"CREATE TRIGGER no_{change} before {change} on events "
    "begin select raise(abort, 'a ledger is append-only'); end"
    for change in ("update", "delete")
}
# AUTOINCREMENT remembers the largest number ever given: a missing last event shows.
_SCHEMA = (
    "create table events "
    "(seq integer primary key autoincrement, body text not null, hash text not null)",
    *TRIGGERS.values(),
    f"pragma application_id = {APPLICATION}",
    f"pragma user_version = {FORMAT}",
)


class Row(NamedTuple):
    """One event as it is stored."""

    seq: int
    body: str
    hash: str


def canonical_json(body: Mapping[str, Any]) -> str:
    """The one way to write an event."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def event_hash(previous: str, body: str) -> str:
    """The hash of an event: it vouches for every event before it."""
    return hashlib.sha256((previous + body).encode()).hexdigest()


def opening_event(opened: Mapping[str, Any]) -> Row:
    """The first event of a new ledger."""
    ledger = secrets.token_hex(16)
    text = canonical_json({**opened, "event": "opened", "ledger": ledger})
    return Row(1, text, event_hash(ledger, text))


def next_event(body: Mapping[str, Any], after: Row) -> Row:
    """The event after another."""
    text = canonical_json(body)
    return Row(after.seq + 1, text, event_hash(after.hash, text))


def create(path: Path, opened: Mapping[str, Any]) -> bool:
    """Make a ledger with its first event; False if one was there first.

    The file is made whole under another name and then linked: whoever comes at the same time finds
    either no ledger or a complete one, and a crash leaves none. An empty file is thus never a new
    ledger, and emptying one does not reset a budget.
    """
    with _new_file(path) as made:
        with closing(_connect(made.partial, "rwc")) as connection:
            connection.execute("pragma journal_mode = wal")
            with _transaction(connection):
                for statement in _SCHEMA:
                    connection.execute(statement)
                _insert(connection, opening_event(opened))
        made.place()
    return made.placed


def copy(
    source: Path,
    target: Path,
    *,
    backup: bool = False,
    more: Sequence[Mapping[str, Any]] = (),
    replacing: bool = False,
) -> Row:
    """Copy a ledger to a new file, of one moment, whoever writes to it; gives its last event.

    Args:
        source: The ledger, or a backup.
        target: Where nothing is yet, if `replacing` does not say otherwise.
        backup: Whether the copy is a backup, to which nothing can be charged.
        more: Events that the copy has after those of the source.
        replacing: Takes the place of a file that is there, at once.
    """
    with reading(source) as original, _new_file(target) as made:
        with closing(_connect(made.partial, "rwc")) as connection:
            original.backup(connection)
            last = read_rows(connection)[-1]
            with _transaction(connection):
                connection.execute(f"pragma application_id = {BACKUP if backup else APPLICATION}")
                for body in more:
                    last = append_event(connection, body, after=last)
        made.place(replacing=replacing)
        if not made.placed:
            raise LedgerError(f"{target} exists already: name a file that does not")
    return last


class _NewFile:
    """A file that is made whole under another name, and then linked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        self.placed = False

    def place(self, *, replacing: bool = False) -> None:
        """Give it its name, unless something has it."""
        sync(self.partial)
        try:
            (os.replace if replacing else os.link)(self.partial, self.path)
        except FileExistsError:
            return
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
                raise
            raise _unusable_error(self.path, "this disk has no links", new=True) from None
        sync(self.path.parent)
        self.placed = True


@contextmanager
def _new_file(path: Path) -> Iterator[_NewFile]:
    made = _NewFile(path)
    try:
        with _explaining_errors(path, new=True):
            yield made
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                os.unlink(f"{made.partial}{end}")


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that changes nothing, also where nothing may be written."""
    with _explaining_errors(path):
        _check_ledger_file(path)
        try:
            connection = _connect_checked(path, "rw")
        except sqlite3.OperationalError as error:
            # SQLite writes beside a ledger to read it. Where that is not possible nobody else
            # writes either; if the ledger was closed cleanly, the file alone is all there is.
            unable = error.sqlite_errorcode & 0xFF in (
                sqlite3.SQLITE_CANTOPEN,
                sqlite3.SQLITE_READONLY,
            )
            wal = Path(f"{path}-wal")
            if not unable or (wal.exists() and wal.stat().st_size):
                raise
            connection = _connect_checked(path, "ro&immutable=1")
        with closing(connection):
            connection.execute("pragma query_only = on")
            connection.execute("begin")  # all that is read is of one moment, whoever writes
            yield connection


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """A transaction that nobody else can be in; on the disk when the block ends."""
    with _explaining_errors(path):
        _check_ledger_file(path)
        with closing(_connect_checked(path, "rw")) as connection, _transaction(connection):
            check_no_backup(connection, path)
            yield connection


def check_no_backup(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse to charge a backup."""
    if connection.execute("pragma application_id").fetchone() == (BACKUP,):
        raise LedgerError(
            f"{path} is a backup, and nothing is charged to one: put it in the place of a ledger "
            "with `zealous ledger restore`"
        )


def is_outdated(connection: sqlite3.Connection) -> bool:
    """Whether a ledger is of an earlier format."""
    return bool(connection.execute("pragma user_version").fetchone() != (FORMAT,))


def mark_upgraded(connection: sqlite3.Connection) -> None:
    """Keep earlier versions from a ledger, within the transaction that adds to it."""
    connection.execute(f"pragma user_version = {FORMAT}")


def read_rows(connection: sqlite3.Connection) -> list[Row]:
    """All events in order."""
    found = connection.execute("select seq, body, hash from events order by seq")
    return [Row(*each) for each in found]


def tampering_problems(connection: sqlite3.Connection) -> list[str]:
    """What shows that events could be changed, or that the last ones were removed."""
    there = dict(connection.execute("select name, sql from sqlite_master where type = 'trigger'"))
    problems = []
    if there != TRIGGERS:
        problems.append("what keeps events from being changed was removed or replaced")
    last = connection.execute("select max(seq) from events").fetchone()
    given = connection.execute("select seq from sqlite_sequence").fetchone()
    if given != last:
        problems.append("events are missing at its end")
    return problems


def append_event(connection: sqlite3.Connection, body: Mapping[str, Any], *, after: Row) -> Row:
    """Add an event, within a transaction."""
    row = next_event(body, after)
    _insert(connection, row)
    return row


def _insert(connection: sqlite3.Connection, row: Row) -> None:
    connection.execute("insert into events (seq, body, hash) values (?, ?, ?)", row)


def _check_ledger_file(path: Path) -> None:
    """What SQLite would take for a new database is a ledger that lost everything."""
    if not path.exists():
        raise LedgerError(f"there is no ledger at {path}: make one with `zealous ledger init`")
    if not path.is_file():
        raise LedgerError(f"{path} is not a file: name a ledger")
    if not path.stat().st_size:
        raise LedgerError(f"{path} is empty, and a ledger never is: restore it from a copy")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=WAIT_SECONDS,
        isolation_level=None,
    )
    connection.execute("pragma synchronous = full")
    connection.execute("pragma fullfsync = on")  # macOS: to the disk, not to its cache
    return connection


def _connect_checked(path: Path, mode: str) -> sqlite3.Connection:
    connection = _connect(path, mode)
    try:
        (application,) = connection.execute("pragma application_id").fetchone()
        (version,) = connection.execute("pragma user_version").fetchone()
        if application not in (APPLICATION, BACKUP):
            raise LedgerError(f"{path} is not a ledger: another program's database")
        if version not in _READABLE:
            raise LedgerError(f"{path} was written by a later version of zealous: use that one")
        connection.execute("select 1 from events limit 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):  # what went wrong first is what matters
                connection.execute("rollback")
        raise


_ADVICE = {
    sqlite3.SQLITE_READONLY: "it is read-only. Get permission to write to it and its folder",
    sqlite3.SQLITE_FULL: "the disk is full. Make room and try again",
    sqlite3.SQLITE_IOERR: "the disk refused (full, over a quota, or failing)",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened here. Check its permissions and its folder's, or "
    "name another with --ledger",
    sqlite3.SQLITE_PERM: "permission denied",
    sqlite3.SQLITE_AUTH: "permission denied",
    sqlite3.SQLITE_BUSY: "another program kept it locked too long. Try again",
    sqlite3.SQLITE_LOCKED: "another program kept it locked too long. Try again",
    sqlite3.SQLITE_PROTOCOL: "another program kept it locked too long. Try again",
    sqlite3.SQLITE_NOTADB: "it is not a ledger, or its beginning is damaged",
    sqlite3.SQLITE_CORRUPT: "it is damaged. Restore it from a copy",
}


@contextmanager
def _explaining_errors(path: Path, *, new: bool = False) -> Iterator[None]:
    """Whatever the disk does becomes one line."""
    try:
        yield
    except sqlite3.Error as error:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code == sqlite3.SQLITE_CANTOPEN and not os.access(path.parent, os.W_OK):
            code = sqlite3.SQLITE_READONLY
        why = _ADVICE.get(code, "SQLite failed, perhaps because the file is damaged")
        raise _unusable_error(path, why, new=new) from None
    except OSError as error:
        why = reason(error)
        raise _unusable_error(path, why, new=new) from None


def _unusable_error(path: Path, why: str, *, new: bool) -> LedgerError:
    if new:  # advice that would split the account of a ledger that exists
        return LedgerError(
            f"a new ledger cannot be made at {path}: {why}. --ledger FILE names another place"
        )
    return LedgerError(f"the ledger {path} cannot be used, and was not changed: {why}")
