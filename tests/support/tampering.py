"""What somebody with a database tool can do to a ledger."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

from zealous.ledger.store import event_hash


def tampered(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    """What somebody with a database tool does."""
    connection = sqlite3.connect(path)
    kept = connection.execute("select name, sql from sqlite_master where type='trigger'").fetchall()
    for name, _ in kept:
        connection.execute(f"drop trigger {name}")
    change(connection)
    for _, sql in kept:
        connection.execute(sql)
    connection.commit()
    connection.close()


def rewrite(connection: sqlite3.Connection, old: str, new: str) -> None:
    """Change events, make the chain fit again, and everything that names a hash."""
    previous, renamed = "", {old: new}
    rows = connection.execute("select seq, body, hash from events order by seq").fetchall()
    for seq, body, was in rows:
        for before, after in renamed.items():
            body = body.replace(before, after)
        previous = event_hash(previous or json.loads(body)["ledger"], body)
        renamed[was] = previous
        connection.execute("update events set body=?, hash=? where seq=?", (body, previous, seq))
