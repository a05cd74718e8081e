"""Which user of this machine is at the other end of a connection, where Linux tells it.

Browsers send a cookie to every port of 127.0.0.1, so a server of another user can come to know it.
It is of no use to that user if the workbench answers only its owner.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from starlette.types import Scope

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
# What stands before an address of four bytes in one of sixteen.
_MAPPED = f"{0:016X}{int.from_bytes(bytes([0, 0, 255, 255]), sys.byteorder):08X}"
_ROOT = 0  # can do everything anyway; also what a closed socket says, and what relays run as
_LOCAL, _REMOTE, _USER = 1, 2, 7  # fields of a line


def is_another_user(scope: Scope) -> bool:
    """Whether it is known that another user of this machine sent a request."""
    client, server = scope.get("client"), scope.get("server")
    if not client or not server or not hasattr(os, "getuid"):
        return False
    return user_at(client, server) not in (None, _ROOT, os.getuid())


def user_at(client: tuple[str, int], server: tuple[str, int | None]) -> int | None:
    """The user whose socket is connected from one place to the other; None if nobody tells.

    Args:
        client: Its address and port.
        server: Ours.
    """
    try:
        ends = [_as_in_tables(*client), _as_in_tables(server[0], server[1] or 0)]
    except ValueError:  # no address of four numbers
        return None
    for table in _TABLES:
        with suppress(OSError):
            for line in table.read_text("ascii").splitlines()[1:]:
                fields = line.split()
                found = [fields[place].removeprefix(_MAPPED) for place in (_LOCAL, _REMOTE)]
                if found == ends:
                    return int(fields[_USER])
    return None


def _as_in_tables(address: str, port: int) -> str:
    """An end of a connection as the tables write it: the bytes as a number of this machine."""
    numbers = bytes(int(each) for each in address.split("."))
    if len(numbers) != 4:
        raise ValueError
    return f"{int.from_bytes(numbers, sys.byteorder):08X}:{port:04X}"
