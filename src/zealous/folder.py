"""A new directory, written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zealous.errors import ReleaseError, reason
from zealous.ledger.store import sync


def check_new(target: Path) -> None:
    """Nothing is ever overwritten."""
    if os.path.lexists(target):
        raise ReleaseError(f"{target} exists already: name a directory that does not")
    if not target.parent.is_dir():
        raise ReleaseError(f"{target.parent} is not a directory: make it first")


@contextmanager
def new_folder(target: Path, what: str, *, mode: int = 0o755) -> Iterator[Path]:
    """A private directory to write into, which takes its name once all of it is on the disk.

    Args:
        target: The name; must not exist yet.
        what: What is written, for the message where it cannot be.
        mode: Who may look into it.
    """
    check_new(target)
    partial = None
    try:
        # A stranger's umask must not decide what a half-written bundle shows: mkdtemp is 0700.
        partial = Path(tempfile.mkdtemp(prefix=".zealous-", dir=target.parent))
        yield partial
        partial.chmod(mode)
        for each in (*partial.iterdir(), partial):
            sync(each)
        check_new(target)
        partial.rename(target)
    except OSError as error:
        why = reason(error)
        raise ReleaseError(
            f"the {what} cannot be written to {target}: {why}; nothing was left behind"
        ) from None
    finally:
        if partial is not None:
            shutil.rmtree(partial, ignore_errors=True)
    with suppress(OSError):  # it is there; some file systems sync no directories
        sync(target.parent)
