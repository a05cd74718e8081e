"""Ctrl-C and its like end a run wherever it is, so that it cleans up and leaves nothing behind.

Python handles a signal in its main thread, between two of its own steps. Where that thread waits
for a library that works in threads, or processes, of its own, these work on: whoever starts such
work names, by `calling_off`, what ends it. That is done in a thread which the signal wakes at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_AGAIN = 0.05  # seconds: by then Python is back from whatever it was letting go
_lock = threading.RLock()  # a block may end while Python lets go of what is in nobody's use
_ends: list[Callable[[], object]] = []
_raised = threading.Event()


def was_raised() -> bool:
    """Whether a signal interrupted this process: a library may make another error of that."""
    return _raised.is_set()


@contextmanager
def calling_off(end: Callable[[], object]) -> Iterator[None]:
    """Let an interrupt also call this, as long as the block lasts, from another thread.

    Where the block ended it is not being called, nor will it be. What it raises is ignored.
    """
    try:
        with _lock:
            _ends.append(end)
        yield
    finally:
        try:
            _forget(end)
        except KeyboardInterrupt:  # of which there is one: see `raise_on`
            _forget(end)
            raise


def _forget(end: Callable[[], object]) -> None:
    with _lock, suppress(ValueError):  # interrupted before it was there, or once it was not
        _ends.remove(end)


def raise_on(signals: Iterable[signal.Signals]) -> None:
    """From the main thread: let the first of some signals raise a KeyboardInterrupt.

    What is raised while Python lets a generator or another object go is told to a hook and then
    forgotten. An interrupt is raised again a moment later; of anything else nothing is shown, since
    its message could quote data. A signal that whoever started the process had ignored stays
    ignored, as `nohup` does with SIGHUP.
    """
    known = tuple(each for each in signals if signal.getsignal(each) is not signal.SIG_IGN)

    def interrupt(_: int, __: FrameType | None) -> None:
        for each in known:
            signal.signal(each, signal.SIG_IGN)  # once is enough: what follows is cleaning up
        _raised.set()
        raise KeyboardInterrupt

    def on_forgotten(forgotten: sys.UnraisableHookArgs) -> None:
        if known and issubclass(forgotten.exc_type, KeyboardInterrupt):
            signal.signal(known[0], interrupt)
            main, again = threading.main_thread().ident or 0, known[0]
            timer = threading.Timer(_AGAIN, signal.pthread_kill, (main, again))
            timer.daemon = True
            timer.start()

    _call_off_on(known)
    for each in known:
        signal.signal(each, interrupt)
    sys.unraisablehook = on_forgotten


def _call_off_on(signals: Collection[signal.Signals]) -> None:
    """Start the thread that a signal wakes, by a byte with its number."""
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)

    def wait() -> None:
        while number := os.read(woken, 1):
            if number[0] in signals:
                _call_off()

    threading.Thread(target=wait, daemon=True).start()


def _call_off() -> None:
    with _lock:
        for end in tuple(_ends):
            with suppress(Exception):
                end()
