"""Where an unfinished study keeps what it has, so that it can be taken up again."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from zealous.errors import ReleaseError, reason
from zealous.files.folder import check_new
from zealous.logs.log import INTERNAL, inside_release
from zealous.study.grid.candidates import Setting

_UNFINISHED = "unfinished"
_MARK = "true figures of a log, and noise that can be repeated: not for publication"


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """A directory that becomes the result of a study, with a folder for what is not finished."""

    directory: Path

    @property
    def folder(self) -> Path:
        """What is kept until the study is finished: true counts of the log."""
        return self.directory / _UNFINISHED

    def histogram(self, kind: str) -> Path:
        """The file of a kind's true histogram."""
        return self.folder / f"{kind}.parquet"

    def has(self, setting: Setting) -> bool:
        """Whether a setting was measured before."""
        return self._rows(setting).exists()

    def rows(self, setting: Setting) -> pa.Table | None:
        """The figures of a setting, if it was measured before."""
        return pq.read_table(self._rows(setting)) if self.has(setting) else None

    def keep(self, setting: Setting, rows: pa.Table) -> None:
        """Keep the figures of a setting: whole or not at all."""
        path = self._rows(setting)
        partial = path.with_suffix(f".{os.getpid()}")  # another process keeps figures too
        pq.write_table(rows, partial)
        partial.rename(path)

    @contextmanager
    def removed_on_failure(self) -> Iterator[None]:
        """Leave nothing behind where it fails before anything was counted."""
        try:
            yield
        except BaseException:
            if not any(self.folder.iterdir()):
                shutil.rmtree(self.directory)
            raise

    def finish(self) -> None:
        """Forget what is no longer needed: the results are written."""
        shutil.rmtree(self.folder)

    def _rows(self, setting: Setting) -> Path:
        digest = hashlib.sha256(repr(setting).encode()).hexdigest()  # every digit of it
        return self.folder / f"rows-{digest[:16]}.parquet"


def workspace(directory: Path, identity: Mapping[str, Any]) -> Workspace:
    """A new directory for a study, or one in which the same study was broken off.

    Raises:
        ReleaseError: The directory holds something else, or belongs to a release.
    """
    check_outside_release(directory)
    found = Workspace(directory=directory)
    text = _mark_text(identity)
    if os.path.lexists(found.folder):
        try:
            same = (directory / INTERNAL).read_text(encoding="utf-8") == text
        except (OSError, ValueError):
            same = False
        if not same:
            raise ReleaseError(
                f"{directory} holds an unfinished study of another log or with other settings: "
                "remove it or name another directory"
            )
        return found
    check_new(directory)
    try:
        directory.mkdir(mode=0o700)
        found.folder.mkdir(mode=0o700)
        mark_internal(directory, identity)
    except OSError as error:
        raise ReleaseError(f"{directory} cannot be written: {reason(error)}") from None
    return found


def mark_internal(directory: Path, identity: Mapping[str, Any]) -> None:
    """Say in a directory that it is internal, and what it is."""
    (directory / INTERNAL).write_text(_mark_text(identity), encoding="utf-8")


def _mark_text(identity: Mapping[str, Any]) -> str:
    return json.dumps({"internal": _MARK, **identity}, indent=2, default=str) + "\n"


def check_outside_release(directory: Path) -> None:
    """Refuse to write true figures where a release is: they would leave with it."""
    if inside_release(directory):
        raise ReleaseError(
            f"{directory} is inside a release: figures that compare with the truth are internal, "
            "and would leave with it. Name a directory elsewhere"
        )
