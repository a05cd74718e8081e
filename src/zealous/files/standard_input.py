"""Standard input as a log: a pipe can be read once, so it is kept until the process ends."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from zealous.files.local import LocalPath
from zealous.files.on_engine import OnEngine
from zealous.files.rows import Rows
from zealous.files.scratch import working_directory
from zealous.files.staging import staging_error

NAME = "-"
_AT_ONCE = 1 << 20  # bytes


@dataclass(frozen=True, kw_only=True, eq=False)
class StandardInput(OnEngine):
    """What is piped into the command.

    Attributes:
        temporary: Where it is kept meanwhile; the system's own place where not given.
    """

    name: str = "standard input"
    temporary: Path | None = field(default=None, repr=False)

    @property
    def suffix(self) -> str:
        """None: nothing tells the format."""
        return ""

    def open_file(self) -> AbstractContextManager[Any]:
        return _private_copy(self.temporary).open_file()

    def open_rows(self, lists: Sequence[str]) -> AbstractContextManager[Rows]:
        """Its rows, if it is a Parquet file."""
        return _private_copy(self.temporary).open_rows(lists)

    def stream(self, codec: str | None, buffer: int) -> AbstractContextManager[Any]:
        """It, from its beginning."""
        return _private_copy(self.temporary).stream(codec, buffer)

    def read_bytes(self) -> bytes:
        return _private_copy(self.temporary).read_bytes()


@cache  # whoever asks again has the same bytes
def _private_copy(temporary: Path | None) -> LocalPath:
    """A private file with all of it, which is removed at the end of this process."""
    opened, process = ExitStack(), os.getpid()
    try:
        target = LocalPath(opened.enter_context(working_directory(temporary)) / "standard-input")
        atexit.register(lambda: opened.close() if os.getpid() == process else None)
        target.touch(mode=0o600)  # whatever the umask: it holds the log
        with target.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, _AT_ONCE)
    except OSError as error:
        raise staging_error(error) from None
    return target
