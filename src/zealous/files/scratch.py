"""Private working directories: removed at their end, or by the next run if that never came.

What is in them can be a whole log. A run that is killed removes nothing, so whoever makes the next
working directory in the same place looks for those of the dead:

    zealous-k3x9f_2a/         owner alone (0700)
        zealous.lock          held by flock for as long as the run lives
        files/                what the run works with

A lock ends with its process and not with a number that another process may have by then; it holds
between containers that share the place. What has no such file, is somebody else's or is reached
through a symbolic link stays as it is.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "zealous-"
_LOCK, _FILES = "zealous.lock", "files"


@contextmanager
def working_directory(parent: Path | None = None, *, hidden: bool = False) -> Iterator[Path]:
    """A new directory that nobody else can look into; gone at the end of the block.

    Args:
        parent: Where it is made; the system's temporary directory where not given.
        hidden: Whether its name begins with a dot.

    Raises:
        OSError: It cannot be made.
    """
    place = Path(tempfile.gettempdir() if parent is None else parent)
    _remove_abandoned(place)
    outer, lock = _make(place, f".{_PREFIX}" if hidden else _PREFIX)
    try:
        (outer / _FILES).mkdir(mode=0o700)
        yield outer / _FILES
    finally:
        _remove(outer)
        os.close(lock)


def _make(place: Path, prefix: str) -> tuple[Path, int]:
    """A directory and its lock, held."""
    while True:
        outer = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        outer.chmod(0o700)  # whatever the umask takes away
        lock = os.open(outer / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # somebody took it for abandoned just before
            os.close(lock)
            continue
        except OSError:  # no locks here: without the file nobody takes it for abandoned
            (outer / _LOCK).unlink()
        else:
            if not (outer / _LOCK).exists():
                os.close(lock)
                continue
        return outer, lock


def _remove_abandoned(place: Path) -> None:
    """Remove the working directories of this user whose processes are gone."""
    with suppress(OSError), os.scandir(place) as found:
        for each in found:
            if each.name.lstrip(".").startswith(_PREFIX):
                with suppress(OSError):
                    _remove_if_abandoned(place / each.name)


def _remove_if_abandoned(outer: Path) -> None:
    seen = outer.lstat()
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid():
        return
    lock = os.open(outer / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        held = os.fstat(lock)
        if stat.S_ISREG(held.st_mode) and held.st_uid == os.geteuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(outer)
    finally:
        os.close(lock)


def _remove(outer: Path) -> None:
    """The lock last: whatever stops this, the next run goes on with it."""
    shutil.rmtree(outer / _FILES, ignore_errors=True)
    with suppress(OSError):
        if not os.path.lexists(outer / _FILES):
            (outer / _LOCK).unlink(missing_ok=True)
        outer.rmdir()
