"""A second process for what takes long and needs little of the rest: two cores are not one.

What it measures it leaves in the workspace, where an unfinished study keeps its figures anyway.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError, ZealousError
from zealous.evaluate.study import Study
from zealous.evaluate.workspace import Workspace
from zealous.log import Log

_LEAST_MEMORY = 2 * 10**9
_STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True, kw_only=True)
class Job:
    """What the other process is told.

    Attributes:
        study: The settings.
        log: The log.
        documents: A file with document frequencies; None for the synthetic corpus.
        memory: What it may use, in bytes.
        threads: How many.
        temporary: Where its working directory is made.
    """

    study: Study
    log: Log
    documents: Path | None
    memory: int
    threads: int
    temporary: Path | None

    def engine(self) -> DuckDB:
        """Where it runs."""
        return DuckDB(memory=f"{self.memory}B", threads=self.threads, temporary=self.temporary)


def halved(engine: DuckDB) -> DuckDB | None:
    """An engine that leaves half of the memory to another; None where there is too little."""
    if engine.threads < 2 or engine.memory < _LEAST_MEMORY:
        return None
    return DuckDB(
        memory=f"{engine.memory // 2}B", threads=engine.threads, temporary=engine.temporary
    )


@contextmanager
def beside(job: Job, kept: Workspace) -> Iterator[Callable[[], None]]:
    """Start the other process; what is given waits for it, and raises what went wrong there.

    Its standard input holds the job and stays open. It ends when this process does, however that
    may be, and then the other one stops.
    """
    process = subprocess.Popen(  # noqa: S603
        # -P: else a json.py in the working directory would be imported, and run.
        [sys.executable, "-P", "-m", "zealous.evaluate.beside", str(kept.directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # an error of the engine could quote data
    )

    def finish() -> None:
        said = process.stdout.read() if process.stdout else b""  # `communicate` would end its input
        if process.wait():
            error = json.loads(said or b"{}")
            kind = UsageError if error.get("usage") else ZealousError
            raise kind(error.get("message", "the second process of the study was stopped"))

    try:
        if process.stdin is not None:
            with suppress(BrokenPipeError):  # `finish` says why it ended
                process.stdin.write(pickle.dumps(job))
                process.stdin.flush()
        yield finish
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def main(directory: Path) -> int:
    """Do what the other process was told."""
    for each in _STOPS:
        if each == signal.SIGTERM or signal.getsignal(each) != signal.SIG_IGN:  # not after nohup
            signal.signal(each, _interrupt)
    job: Job = pickle.load(sys.stdin.buffer)  # noqa: S301
    threading.Thread(target=_watch, daemon=True).start()
    try:
        from zealous.evaluate.run import measure_apart

        measure_apart(job, Workspace(directory=directory))
    except KeyboardInterrupt:
        return 1
    except ZealousError as error:
        usage = isinstance(error, UsageError)
        print(json.dumps({"usage": usage, "message": str(error)}))
        return 1
    return 0


def _interrupt(_: int, __: FrameType | None) -> None:
    for each in _STOPS:
        signal.signal(each, signal.SIG_IGN)  # a second one would break off the cleaning up
    raise KeyboardInterrupt


def _watch() -> None:
    """Stop this process when its input ends: then the one that started it is gone."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
