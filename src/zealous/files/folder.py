"""A new directory, written whole or not at all, wherever it is."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from zealous.files.places import Place, place_of


def check_new(target: str | Path | Place) -> None:
    """Nothing is ever overwritten."""
    place_of(target).check_new()


def new_folder(
    target: str | Path | Place, what: str, *, mode: int = 0o755
) -> AbstractContextManager[Path]:
    """A private directory to write into, which takes its name once all of it is there.

    Args:
        target: The name; must not exist yet.
        what: What is written, for the message where it cannot be.
        mode: Who may look into it.
    """
    return place_of(target).new_folder(what, mode=mode)
