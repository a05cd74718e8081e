"""A place with no path that others could open: a table, a frame, the result of a query."""

from __future__ import annotations

import errno
import secrets
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from zealous.errors import Refused, ReleaseError
from zealous.files.places import Place, StoreError
from zealous.files.rows import Rows


@dataclass(frozen=True, kw_only=True)
class OnEngine:
    """A log that an engine alone can read, as a place that nobody else can look at."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def suffix(self) -> str:
        """That of a table whose columns have names and types."""
        return ".parquet"

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def parent(self) -> OnEngine:
        """Itself: there is no folder to look into."""
        return self

    @property
    def parents(self) -> Sequence[OnEngine]:
        """None."""
        return ()

    def __truediv__(self, name: str) -> OnEngine:
        """What is in it is not seen; see `is_file`."""
        return self

    def parts_below(self, folder: Place) -> tuple[str, ...]:
        """Its name."""
        return (self.name,)

    def resolve(self) -> OnEngine:
        """Itself."""
        return self

    def identity(self) -> bytes:
        """Its name, which may be one of several."""
        return self.name.encode()

    def local(self) -> Path | None:
        """It is not on this machine."""
        return None

    def is_file(self) -> bool:
        """Nobody can tell."""
        return False

    def is_symlink(self) -> bool:
        """Nobody can tell."""
        return False

    def find_files(self) -> tuple[bool, Sequence[OnEngine]]:
        """Itself: the engine finds what is there."""
        return False, [self]

    def files(self) -> Sequence[OnEngine]:
        """None that can be seen."""
        return ()

    def check_readable(self) -> None:
        """The engine says so when it reads it."""

    def open_file(self) -> AbstractContextManager[Any]:
        """Nobody else can read it."""
        self._refuse_to_look()

    def open_rows(self, lists: Sequence[str]) -> AbstractContextManager[Rows]:
        """Nobody else can read it."""
        self._refuse_to_look()

    def stream(self, codec: str | None, buffer: int) -> AbstractContextManager[Any]:
        """Nobody else can read it."""
        self._refuse_to_look()

    def read_bytes(self) -> bytes:
        """Nobody else can read it."""
        self._refuse_to_look()

    def _refuse_to_look(self) -> NoReturn:
        raise StoreError(errno.ENOTSUP, "only the engine that it is on can read it")

    def check_same(self) -> None:
        """Nobody can tell."""

    def version(self) -> list[Any]:
        """Never the same twice, as nobody can tell."""
        return [self.name, secrets.token_hex(8)]

    def reason_unreadable(self, error: Exception) -> str | None:
        """What the error says, if it is one of a place."""
        return str(error.strerror) if isinstance(error, StoreError) else None

    def folders(self) -> Sequence[OnEngine]:
        """Itself."""
        return (self,)

    def ledger_place(self) -> Place:
        """None: the same people could be read under another name, and charged elsewhere."""
        raise Refused(
            f"no ledger can be kept beside {self}, which may have several names: name a ledger "
            "(--ledger FILE), and always the same one for the same people"
        )

    def check_new(self) -> None:
        """Nothing is written there."""
        raise ReleaseError(f"nothing can be written to {self}: name a directory")

    def check_file_names(self, names: Iterable[str]) -> None:
        """Nothing is written there."""
        self.check_new()

    def new_folder(self, what: str, *, mode: int) -> AbstractContextManager[Path]:
        """Nothing is written there."""
        raise ReleaseError(f"the {what} cannot be written to {self}: name a directory")

    def discard(self, names: Iterable[str]) -> None:
        """Nothing was written there."""
