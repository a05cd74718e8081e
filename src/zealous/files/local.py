"""A file or folder on this machine. A new folder is written whole or not at all."""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path, PosixPath
from typing import Any

from zealous.errors import ReleaseError, reason
from zealous.files.parquet import open_parquet
from zealous.files.passwords import is_address
from zealous.files.places import Place, Scheme, register
from zealous.files.rows import Rows
from zealous.files.scratch import working_directory
from zealous.libraries import pa


class LocalPath(PosixPath):
    """A path of this machine, with all that a place has; see `Place`."""

    __slots__ = ()

    def parts_below(self, folder: Place) -> tuple[str, ...]:
        return self.relative_to(str(folder)).parts

    def identity(self) -> bytes:
        """One name for the same place, once links were followed."""
        return os.fsencode(self)

    def local(self) -> Path:
        """Its path."""
        return self

    def find_files(self) -> tuple[bool, Sequence[LocalPath]]:
        if self.is_dir():
            return True, self.files()
        if self.exists():
            return False, [self]
        return False, [LocalPath(each) for each in sorted(glob.glob(str(self), recursive=True))]

    def files(self) -> Sequence[LocalPath]:
        """The files in a folder and those below it."""
        return [each for each in sorted(self.rglob("*")) if each.is_file()]

    def check_readable(self) -> None:
        """Raise if it cannot be opened."""
        with self.open("rb"):
            pass

    def open_file(self) -> AbstractContextManager[Any]:
        """Arrow reads it by its name."""
        return nullcontext(self)

    def open_rows(self, lists: Sequence[str]) -> AbstractContextManager[Rows]:
        """Those of a Parquet file."""
        return open_parquet(self)

    def stream(self, codec: str | None, buffer: int) -> AbstractContextManager[Any]:
        if codec is None:  # nothing to unpack: Arrow need not be loaded
            return self.open("rb")
        return pa.input_stream(str(self), compression=codec)  # type: ignore[no-any-return]

    def check_same(self) -> None:
        """Files of this machine are read in one go."""

    def version(self) -> list[Any]:
        found = self.stat()
        return [str(self), found.st_size, found.st_mtime_ns]

    def reason_unreadable(self, error: Exception) -> str | None:
        return "no permission" if isinstance(error, PermissionError) else None

    def folders(self) -> Sequence[LocalPath]:
        """The folder that it is, or is in, and those above but for the whole disk."""
        real = self.resolve()
        above = (real, *real.parents) if real.is_dir() else tuple(real.parents)
        return [each for each in above if each != each.parent]

    def ledger_place(self) -> LocalPath:
        """Its ledger is beside it, or above."""
        return self

    def check_new(self) -> None:
        if is_address(str(self)):  # which may hold a password
            raise ReleaseError("an address is no directory to write to: name a directory")
        if os.path.lexists(self):
            raise ReleaseError(f"{self} exists already: name a directory that does not")
        if not self.parent.is_dir():
            raise ReleaseError(f"{self.parent} is not a directory: make it first")

    def check_file_names(self, names: Iterable[str]) -> None:
        self.check_new()
        try:
            str(self).encode()
        except UnicodeEncodeError:
            raise ReleaseError("the name of the output is not UTF-8: choose another") from None
        try:
            longest = os.pathconf(self.parent, "PC_NAME_MAX")
        except OSError as error:
            raise ReleaseError(
                f"nothing can be written to {self.parent}: {reason(error)}"
            ) from None
        if any(len(os.fsencode(name)) > longest for name in (self.name, *names)):
            raise too_long(longest)

    @contextmanager
    def new_folder(self, what: str, *, mode: int) -> Iterator[Path]:
        """A private directory beside it, which is renamed once all of it is on the disk."""
        self.check_new()
        try:
            with working_directory(self.parent, hidden=True) as partial:
                yield partial
                partial.chmod(mode)
                for each in (*partial.iterdir(), partial):
                    sync(each)
                self.check_new()
                partial.rename(self)
        except OSError as error:
            raise ReleaseError(
                f"the {what} cannot be written to {self}: {reason(error)}; nothing was left behind"
            ) from None
        with suppress(OSError):  # it is there; some file systems sync no directories
            sync(self.parent)

    def discard(self, names: Iterable[str]) -> None:
        """Remove the folder as far as possible, whatever is in it."""
        shutil.rmtree(self, ignore_errors=True)


def too_long(longest: int) -> ReleaseError:
    """What to do where a file's name would be too long."""
    return ReleaseError(
        f"a file name would be longer than the {longest} bytes that are possible here: choose a "
        "shorter output directory or rename the column"
    )


def sync(path: Path) -> None:
    """Have a file or a directory's list of files on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _local_path(text: str) -> LocalPath:
    return LocalPath(re.sub(r"^[Ff][Ii][Ll][Ee]://[^/?]*/?", "/", text))


register(Scheme("file", _local_path))
