"""Which build of the program made a release, and what an audit of its version found."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from zealous.record.codec import structure
from zealous.record.record import AuditFigures
from zealous.version import VERSION

_PACKAGE = Path(__file__).parents[1]
_SOURCES = (".py", ".j2")
AUDITED = Path(__file__).with_name("audited.json")  # written by tools/audited.py


@cache
def build_hash() -> str:
    """The SHA-256 over the names and contents of the installed sources, in order of name.

    The same sources give the same hash, from a wheel or a checkout
    (`docs/guide/after-the-release.md`).
    """
    found = hashlib.sha256()
    files = (path for path in _PACKAGE.rglob("*") if path.suffix in _SOURCES)
    for path in sorted(files, key=lambda each: each.relative_to(_PACKAGE).as_posix()):
        name = path.relative_to(_PACKAGE).as_posix()
        found.update(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n".encode())
    return found.hexdigest()


@cache
def audit_figures() -> AuditFigures | None:
    """The figures of the audit of this version; None where those that are here are of another."""
    found = json.loads(AUDITED.read_text(encoding="utf-8"))
    return structure(found["figures"], AuditFigures) if found["version"] == VERSION else None
