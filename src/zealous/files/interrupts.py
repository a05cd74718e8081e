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
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_AGAIN = 0.1  # seconds
_NONE = (None, (None, None, None))  # as Python 3.12 says it, and as 3.11 does
_lock = threading.RLock()  # a block may end while Python lets go of what is in nobody's use
_ends: list[Callable[[], object]] = []
_heeded: list[signal.Signals] = []
_raised = False
_handler: Callable[[int, FrameType | None], None] | None = None  # the last one that was set


def was_raised() -> bool:
    """Whether a signal interrupted this process: a library may make another error of that."""
    return _raised


def ignore_more() -> None:
    """Whoever caught the interrupt, or is about to end, says so: until then it is raised again."""
    for each in _heeded:
        signal.signal(each, signal.SIG_IGN)


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
        except KeyboardInterrupt:
            _forget(end)
            raise


def _forget(end: Callable[[], object]) -> None:
    with _lock, suppress(ValueError):  # interrupted before it was there, or once it was not
        _ends.remove(end)


def raise_on(signals: Iterable[signal.Signals]) -> None:
    """From the main thread: let some signals raise a KeyboardInterrupt, until it is heeded.

    Libraries may forget what is raised while they call Python: those that look whether pandas is
    there take an interrupted import for a missing one. So does Python while it lets an object go.
    Therefore it is raised again where no exception is being handled: whoever handles one is
    cleaning up. Of anything else that is forgotten nothing is shown, since its message could quote
    data. A signal that whoever started the process had ignored stays ignored, as `nohup` does with
    SIGHUP.
    """
    global _raised, _handler
    _raised = False
    _heeded[:] = (each for each in signals if signal.getsignal(each) is not signal.SIG_IGN)

    def interrupt(_: int, __: FrameType | None) -> None:
        global _raised
        if _raised and sys.exception():
            return
        _raised = True
        raise KeyboardInterrupt

    with _lock:
        _handler = interrupt
    _wake_on(tuple(_heeded), interrupt)
    for each in _heeded:
        signal.signal(each, interrupt)
    sys.unraisablehook = lambda _: None


def _wake_on(signals: Collection[signal.Signals], interrupt: Callable[..., None]) -> None:
    """Start the thread that a signal wakes, by a byte with its number."""
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    main = threading.main_thread().ident or 0

    def wait() -> None:
        while number := os.read(woken, 1):
            if number[0] in signals:
                _call_off(interrupt)
                again(number[0])

    def again(number: int) -> None:
        while True:
            time.sleep(_AGAIN)
            if signal.getsignal(number) is not interrupt:  # but nobody's, or such as a server's
                return
            if _raised and sys._current_exceptions().get(main) in _NONE:
                _call_off(interrupt)
                with _lock:  # so that none comes after another handler was set with this lock
                    if signal.getsignal(number) is interrupt:
                        signal.pthread_kill(main, number)

    threading.Thread(target=wait, daemon=True).start()


def _call_off(handler: Callable[..., None] | None) -> None:
    """Call off what is at work, unless another handler was set since: that is not what it ended."""
    with _lock:
        for end in tuple(_ends) if handler is _handler else ():
            with suppress(Exception):
                end()
