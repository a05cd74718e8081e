"""Which build of the program made a release: the hash of what is installed."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_SOURCES = (".py", ".j2")


@cache
def build_hash() -> str:
    """The SHA-256 over the names and contents of the installed sources, in order of name.

    The same sources give the same hash, from a wheel or a checkout (`docs/after-the-release.md`).
    """
    found = hashlib.sha256()
    files = (path for path in _PACKAGE.rglob("*") if path.suffix in _SOURCES)
    for path in sorted(files, key=lambda each: each.relative_to(_PACKAGE).as_posix()):
        name = path.relative_to(_PACKAGE).as_posix()
        found.update(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n".encode())
    return found.hexdigest()
