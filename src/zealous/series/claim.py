"""One run of a series at a time.

Guarantee:
    Of all runs that see the same folder, one at a time goes on. A run that is killed leaves its
    place at once: the system holds the lock, and not a file that says so.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zealous.errors import Refused, UsageError, reason

_NAME = ".series.lock"


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Be the only run of a series, of all that write to its folder.

    Raises:
        Refused: Another run is at work.
        UsageError: The folder cannot be written to, or its file system has no locks.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written to: {reason(error)}") from None
    try:
        _lock(lock, folder)
        yield
    finally:
        os.close(lock)


def _lock(file: int, folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refused("another run of this series is at work: nothing was done") from None
    except OSError as error:
        raise UsageError(f"{folder} cannot be locked: {reason(error)}") from None
