"""What takes long: commands that run beside the server, each in a process of its own.

It is the same command that a terminal would run. It goes on when the page is closed, and also when
the workbench ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Literal

from zealous.errors import Refused

_MAIN = "from zealous.cli import main; main()"
_SHOWN = 200  # lines of progress
State = Literal["running", "done", "failed"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """A command that runs, or ran.

    Attributes:
        key: What it is about: two of the same do not run.
        command: Its arguments, after `zealous`.
        process: Its process.
        told: What it says, for its owner alone.
        started: When.
    """

    key: str
    command: tuple[str, ...]
    process: subprocess.Popen[bytes] = field(repr=False)
    told: IO[bytes] = field(repr=False)
    started: float

    @property
    def state(self) -> State:
        """What became of it."""
        code = self.process.poll()
        return "running" if code is None else "failed" if code else "done"

    def lines(self) -> list[str]:
        """What it said so far, the last lines of it."""
        size = os.fstat(self.told.fileno()).st_size
        text = os.pread(self.told.fileno(), size, 0).decode("utf-8", "replace")
        return [line.removeprefix("zealous: ") for line in text.splitlines()][-_SHOWN:]

    def seconds(self) -> int:
        """How long ago it was started."""
        return round(time.monotonic() - self.started)


class Jobs:
    """All commands that were started here."""

    def __init__(self) -> None:
        """Begin with none."""
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, key: str, command: Sequence[str], **environment: str) -> Job:
        """Start a command.

        Args:
            key: What it is about.
            command: The arguments, after `zealous`.
            environment: Variables that it has besides ours.

        Raises:
            Refused: One about the same runs, or is done.
        """
        with self._lock:
            before = self._jobs.get(key)
            if before is not None and before.state != "failed":
                done = "was done" if before.state == "done" else "is being done"
                raise Refused(f"this {done} already: nothing was started")
            if before is not None:
                before.told.close()
            told = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the workbench runs
            process = subprocess.Popen(  # noqa: S603
                # -P: else what is called json.py in the working directory would be imported.
                [sys.executable, "-P", "-c", _MAIN, *command],
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=told,
                env={**os.environ, "COLUMNS": "100", **environment},
                start_new_session=True,
            )
            made = Job(
                key=key,
                command=tuple(command),
                process=process,
                told=told,
                started=time.monotonic(),
            )
            self._jobs[key] = made
            return made

    def close(self) -> None:
        """Forget all of them; those that run go on."""
        for job in self._jobs.values():
            job.told.close()
            job.process.poll()
        self._jobs.clear()

    def find(self, key: str) -> Job | None:
        """The last command about something."""
        return self._jobs.get(key)
