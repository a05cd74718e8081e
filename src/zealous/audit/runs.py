"""Runs of the real `zealous publish`, and what they left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from zealous.record.codec import decode
from zealous.record.record import Record
from zealous.release.table import INTERVAL

_COMMAND = "from zealous.cli import main\n\nmain()\n"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of `zealous publish`: what it printed and what it wrote.

    Attributes:
        log: The log that was published, in a folder of its own.
        code: The exit code.
        stdout: What was printed.
        directory: The release.
    """

    log: Path
    code: int
    stdout: str
    directory: Path

    def record(self) -> Record:
        """What release.json holds."""
        return decode((self.directory / "release.json").read_text(encoding="utf-8"))

    def table(self, kind: str) -> list[tuple[Any, ...]]:
        """The published items and counts of a kind, in the order of the file."""
        table = self.written(kind).drop_columns(list(INTERVAL))
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def written(self, kind: str) -> pa.Table:
        """The published table of a kind as its Parquet file has it."""
        return pq.read_table(self.directory / self.record().files[kind].parquet)


def publish_arguments(log: Path, options: Sequence[str]) -> list[str]:
    """The command line of a run. What a log holds stops none: that would be seen from outside."""
    return ["publish", log.name, *options, "--unattended", "-o", "release"]


def start_run(log: Path, options: Sequence[str]) -> Callable[[], Run]:
    """Begin to publish a log, in its own folder, so that every run is told the same names."""
    # A file, since libraries take a program without one for a conversation with a person.
    (log.parent / "command.py").write_text(_COMMAND, encoding="utf-8")
    process = subprocess.Popen(  # noqa: S603
        # -P: else what is called json.py in the folder would be imported.
        [sys.executable, "-P", "command.py", *publish_arguments(log, options)],
        cwd=log.parent,
        # Else the owner's next log would be compared with these.
        env=os.environ | {"XDG_STATE_HOME": str(log.parent.with_name("state"))},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )

    def finish() -> Run:
        stdout, _ = process.communicate()
        return Run(
            log=log, code=process.returncode, stdout=stdout, directory=log.with_name("release")
        )

    return finish
