"""What a publisher adds to a release that is out and has a fault: ERRATA.md, in plain words.

It is no part of the release, whose files stay as they are, and is not hashed in it: whoever holds
the release can have got it from anybody.
"""

from __future__ import annotations

from pathlib import Path

ERRATA = "ERRATA.md"
_SHOWN = 500  # characters


def errata(directory: Path) -> str | None:
    """What the errata of a release say, on one line and not too long; None where there are none."""
    path = directory / ERRATA
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        text = " ".join(file.read(8 * _SHOWN).decode(errors="replace").split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
