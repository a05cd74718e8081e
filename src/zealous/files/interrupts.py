"""Ctrl-C and its like end a run wherever it is, so that it cleans up and leaves nothing behind."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterable
from types import FrameType

_AGAIN = 0.05  # seconds: by then Python is back from whatever it was letting go


def raise_on(signals: Iterable[signal.Signals]) -> None:
    """From the main thread: let the first of some signals raise a KeyboardInterrupt.

    What is raised while Python lets a generator or another object go is told to a hook and then
    forgotten. An interrupt is raised again a moment later; of anything else nothing is shown, since
    its message could quote data.
    """
    known = tuple(signals)

    def interrupt(_: int, __: FrameType | None) -> None:
        for each in known:
            signal.signal(each, signal.SIG_IGN)  # once is enough: what follows is cleaning up
        raise KeyboardInterrupt

    def on_forgotten(forgotten: sys.UnraisableHookArgs) -> None:
        if issubclass(forgotten.exc_type, KeyboardInterrupt):
            signal.signal(known[0], interrupt)
            main, again = threading.main_thread().ident or 0, known[0]
            timer = threading.Timer(_AGAIN, signal.pthread_kill, (main, again))
            timer.daemon = True
            timer.start()

    for each in known:
        signal.signal(each, interrupt)
    sys.unraisablehook = on_forgotten
