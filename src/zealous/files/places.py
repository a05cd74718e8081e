"""What a place is: a file or folder here or in an object store, a frame, a query, a table.

Each is a class in a file of its own: `files/local.py`, `files/object_store.py`, `files/frames.py`,
and for what Spark alone can look at `engines/on_cluster.py`. Whoever has a place asks it, and not
which it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from zealous.errors import UsageError, reason
from zealous.files.rows import Rows
from zealous.registry import Registry

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


class StoreError(OSError):
    """What a place elsewhere could not do, in words that quote nothing it answered."""


@runtime_checkable
class Place(Protocol):
    """A file or a folder, named as a `Path` is. What goes wrong with it is an `OSError`."""

    @property
    def name(self) -> str:
        """The last part."""

    @property
    def suffix(self) -> str:
        """The ending of the name."""

    @property
    def stem(self) -> str:
        """The name without its ending."""

    @property
    def parent(self) -> Place:
        """The folder it is in."""

    @property
    def parents(self) -> Sequence[Place]:
        """The folders above, the nearest first."""

    def __truediv__(self, name: str) -> Place:
        """A file of a folder."""

    def parts_below(self, folder: Place) -> tuple[str, ...]:
        """The parts of the name from a folder on."""

    def resolve(self) -> Place:
        """Where it really is, whatever links lead there."""

    def identity(self) -> bytes:
        """One name for the same place, however it is reached."""

    def local(self) -> Path | None:
        """Its path, if it is on this machine."""

    def is_file(self) -> bool:
        """Whether there is such a file."""

    def is_symlink(self) -> bool:
        """Whether it is a link to another place."""

    def find_files(self) -> tuple[bool, Sequence[Place]]:
        """The files of a file, a folder or a pattern, in order, and whether it is a folder."""

    def files(self) -> Sequence[Place]:
        """The files in a folder and those below it; none where there is no such folder."""

    def check_readable(self) -> None:
        """Raise if it is known already that it cannot be read."""

    def open_file(self) -> AbstractContextManager[Any]:
        """What Arrow reads a file from."""

    def open_rows(self, lists: Sequence[str]) -> AbstractContextManager[Rows]:
        """Its rows, if their columns have names and types.

        Args:
            lists: The columns that are lists of texts, where each value has a type of its own.
        """

    def stream(self, codec: str | None, buffer: int) -> AbstractContextManager[Any]:
        """The file, to be read from its beginning, unpacked.

        Args:
            codec: How it is packed; None for not at all.
            buffer: How much is asked for at once.
        """

    def read_bytes(self) -> bytes:
        """All of it."""

    def check_same(self) -> None:
        """Raise if it is no longer the file that was found."""

    def version(self) -> list[Any]:
        """What changes when the file does."""

    def reason_unreadable(self, error: Exception) -> str | None:
        """Why it could not be read, if the error tells and it is not the contents."""

    def folders(self) -> Sequence[Place]:
        """The folder that it is, or is in, and those above that may be the whole of a log."""

    def ledger_place(self) -> Place:
        """By which place its ledger is found; `Refused` where it may have several names."""

    def check_new(self) -> None:
        """Nothing is ever overwritten."""

    def check_file_names(self, names: Iterable[str]) -> None:
        """Raise if files of these names could not be written to a new folder here."""

    def new_folder(self, what: str, *, mode: int) -> AbstractContextManager[Path]:
        """A private directory of this machine, which takes this name once all of it is there.

        Args:
            what: What is written, for the message where it cannot be.
            mode: Who may look into it.
        """

    def discard(self, names: Iterable[str]) -> None:
        """Remove a folder that has files of these names, as far as possible."""


class Scheme(NamedTuple):
    """What a URL begins with, and the place that such a URL names.

    Attributes:
        name: Without `://`.
        make: The place of a URL, or of a text without any scheme.
    """

    name: str
    make: Callable[[str], Place]


SCHEMES: Registry[Scheme] = Registry("zealous.files", key=lambda scheme: scheme.name)
register = SCHEMES.register


def place_of(given: str | Path | Place) -> Place:
    """The place that a path or a URL names."""
    if isinstance(given, Path):
        scheme, colon, _ = (given.parts or ("",))[0].partition(":")
        if colon and scheme in SCHEMES:
            raise UsageError("give a URL as a text: a Path loses one of its slashes")
        given = str(given)
    elif not isinstance(given, str):
        return given
    found = SCHEME.match(given)
    name = found[1].lower() if found else "file"
    if name not in SCHEMES:
        raise UsageError(
            f"{name}:// cannot be read or written from here: "
            f"{', '.join(f'{each}://' for each in SCHEMES)} can. For others name an engine that "
            "knows them, by --engine"
        )
    return SCHEMES[name].make(given)


def file_in_folder(folder: Place, name: object) -> Place:
    """A file of a folder whose name somebody else chose: in that folder, and nowhere else.

    Raises:
        ValueError: The name leads out of the folder, or is no name of a file.
    """
    if not isinstance(name, str) or name in ("", ".", "..") or set(name) & set("/\\\0"):
        raise ValueError("not the name of a file in that folder")
    name.encode()  # half of a character raises one too
    place = folder / name
    if place.is_symlink():
        raise ValueError("not a file of that folder's own")
    return place


def absolute_name(place: Place) -> str:
    """Where something is, from whatever folder it was named."""
    local = place.local()
    return str(local.resolve() if local is not None else place)


def error_text(error: OSError) -> str:
    """What went wrong, without any name that the system's own message quotes."""
    return str(error.strerror) if isinstance(error, StoreError) else reason(error)
