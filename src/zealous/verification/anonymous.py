"""The output of an anonymity method: its files can be as they were written, and never private."""

from __future__ import annotations

from pathlib import Path

from zealous.files.strict_json import parse
from zealous.logs.log import ANONYMIZED, NOT_PRIVATE
from zealous.release.bundle import file_hashes
from zealous.verification.claimed_guarantee import CheckFailed


def holds_anonymized(path: Path) -> bool:
    """Whether a directory says that it is the output of an anonymity method, and no release."""
    return (path / ANONYMIZED).is_file() and not (path / "release.json").exists()


def fail_as_not_private() -> str:
    """There is no guarantee to check."""
    raise CheckFailed(
        f"{NOT_PRIVATE}: the output of an anonymity method, which promises nothing against an "
        "attacker who knows something of a person or has accounts of his own"
    )


def check_anonymized_files(path: Path) -> str:
    """Each file is as it was written, and there is no other."""
    try:
        listed = dict(parse((path / ANONYMIZED).read_text(encoding="utf-8"))["sha256"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise CheckFailed(f"there is no readable {ANONYMIZED}") from None
    if any(each.is_symlink() or not each.is_file() for each in path.iterdir()):
        raise CheckFailed("not everything there is a file of its own")
    found = {name: value for name, value in file_hashes(path).items() if name != ANONYMIZED}
    if found.keys() != listed.keys():
        raise CheckFailed(f"the files are not those that {ANONYMIZED} lists")
    changed = [name for name, value in found.items() if listed[name] != value]
    if changed:
        raise CheckFailed(f"changed since they were written: {', '.join(changed)}")
    return f"{len(found)} files, each with its SHA-256, and no other"
