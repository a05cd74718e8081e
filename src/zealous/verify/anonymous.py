"""The output of an anonymity method: its files can be as they were written, and never private."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from zealous import schema
from zealous.anonymity import METHODS
from zealous.anonymity.bundle import ABOUT
from zealous.log import NOT_PRIVATE
from zealous.release import hashes
from zealous.verify.claim import Failed


def holds_anonymized(path: Path) -> bool:
    """Whether a directory says that it is the output of an anonymity method, and no release."""
    return (path / ABOUT).is_file() and not (path / "release.json").exists()


def check_private(path: Path) -> str:
    """There is no guarantee to check."""
    method = None
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
        method = schema.parse((path / ABOUT).read_text(encoding="utf-8"))["method"]
    known = method if isinstance(method, str) and method in METHODS else "an anonymity method"
    raise Failed(
        f"{NOT_PRIVATE}: the output of {known}, which promises nothing against an attacker who "
        "knows something of a person or has accounts of her own"
    )


def check_files(path: Path) -> str:
    """Each file is as it was written, and there is no other."""
    try:
        listed = dict(schema.parse((path / ABOUT).read_text(encoding="utf-8"))["sha256"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise Failed(f"there is no readable {ABOUT}") from None
    if any(each.is_symlink() or not each.is_file() for each in path.iterdir()):
        raise Failed("not everything there is a file of its own")
    found = {name: value for name, value in hashes(path).items() if name != ABOUT}
    if found.keys() != listed.keys():
        raise Failed(f"the files are not those that {ABOUT} lists")
    changed = [name for name, value in found.items() if listed[name] != value]
    if changed:
        raise Failed(f"changed since they were written: {', '.join(changed)}")
    return f"{len(found)} files, each with its SHA-256, and no other"
