"""A second process for what takes long and needs little of the rest: two cores are not one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

from zealous.errors import ZealousError
from zealous.files import interrupts

_STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_STOPPED = "the second process of the study was stopped"


@contextmanager
def second_process(work: Callable[..., None], *arguments: Any) -> Iterator[Callable[[], None]]:
    """Start some work there; what is given waits for its end, and raises what went wrong.

    It stops when the block ends, and when this process does, however that may be.
    """
    context = multiprocessing.get_context("spawn")  # a fork would copy locks that threads hold
    theirs, ours = context.Pipe(duplex=False)
    with _safe_start():
        pool = ProcessPoolExecutor(1, context, _stop_with, (theirs,))
        running = pool.submit(_run, work, *arguments)

    def finish() -> None:
        try:
            error = running.result()
        except BrokenProcessPool:
            raise ZealousError(_STOPPED) from None
        if error is not None:
            raise error

    try:
        yield finish
    finally:
        if not running.done():
            ours.close()
        pool.shutdown()
        ours.close()
        theirs.close()


@contextmanager
def _safe_start() -> Iterator[None]:
    """A process that starts here imports nothing of the working directory: a json.py would run.

    Nor does it import the program that started it, as such processes do: one that publishes
    outside of `if __name__ == "__main__"` would publish again.
    """
    program, path = sys.modules["__main__"], sys.path
    safe = os.environ.get("PYTHONSAFEPATH")
    sys.modules["__main__"] = ModuleType("__main__")
    sys.path = [each for each in path if each]  # it gets a copy; an empty one means wherever we are
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        sys.modules["__main__"], sys.path = program, path
        del os.environ["PYTHONSAFEPATH"]
        if safe is not None:
            os.environ["PYTHONSAFEPATH"] = safe


def _run(work: Callable[..., None], *arguments: Any) -> ZealousError | None:
    try:
        work(*arguments)
    except KeyboardInterrupt:
        os._exit(1)  # what it worked with is removed; the pool would let it wait for another job
    except ZealousError as error:
        return error
    except Exception:  # its message could quote data
        return ZealousError(_STOPPED)
    return None


def _stop_with(first: Connection) -> None:
    """Stop this process when the first one is gone, or closes its end; it tells nobody else."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # an error of the engine could quote data
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # by which it is stopped, whatever was ignored
    interrupts.raise_on(_STOPS)

    def watch() -> None:
        wait([first])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
