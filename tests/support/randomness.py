"""Where random bytes come from while tests run.

A test either states the chance that it fails for a sound program, with the marker `false_alarm`,
and gets the operating system's bytes; or it gets a stream that is the same in every run, and one
thread of the engine, so that noise meets rows in the same order.

Loaded before the package, by conftest.py and by fork_server.py: functions keep the source that they
find. Programs that a test starts afresh get a stream as well (`fresh/sitecustomize.py`); only noise
that executors of Spark draw is always the operating system's.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from fresh.sitecustomize import NAME, pass_on

_system = os.urandom
_processors = os.cpu_count


class _Stream:
    """Bytes that follow from a name; a fork goes on with bytes of its own."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.forks = 0
        self.lock = threading.Lock()
        seed = hashlib.sha256(name.encode()).digest()
        self.generator = np.random.Generator(np.random.PCG64(int.from_bytes(seed)))

    def read(self, size: int) -> bytes:
        with self.lock:
            return self.generator.bytes(size)


_stream: _Stream | None = None


class _Read:
    """What stands for os.urandom here; sent to an executor of Spark, it is os.urandom there."""

    def __call__(self, size: int, /) -> bytes:
        return _stream.read(size) if _stream else _system(size)

    def __reduce__(self) -> tuple[object, ...]:
        return eval, ("__import__('os').urandom",)


def _count() -> int | None:
    return 1 if _stream else _processors()


def _forking() -> None:
    if _stream:
        _stream.forks += 1


def _forked() -> None:
    if _stream:
        fix(f"{_stream.name}/{_stream.forks}")


def fix(name: str | None) -> None:
    """Take bytes from the stream of that name from now on; from the system where None."""
    global _stream
    _stream = _Stream(name) if name is not None else None
    pass_on(os.environ, None if name is None else f"{name}/spawned")


@contextlib.contextmanager
def fixed(name: str | None) -> Iterator[None]:
    """Take bytes from the stream of that name, and then again from where they came before."""
    global _stream
    before, environment = _stream, os.environ.get(NAME)
    fix(name)
    try:
        yield
    finally:
        _stream = before
        pass_on(os.environ, environment)


def next_name() -> str | None:
    """A name for the stream of one more process; None where the system is asked."""
    _forking()
    return f"{_stream.name}/{_stream.forks}" if _stream else None


def _starting(event: str, arguments: tuple[Any, ...]) -> None:
    """A process from scratch gets a stream of its own."""
    if event == "subprocess.Popen":
        pass_on(os.environ if arguments[3] is None else arguments[3], next_name())


if os.urandom is _system:  # also where a module is loaded under two names
    os.urandom = _Read()
    vars(random)["_urandom"] = os.urandom
    os.cpu_count = _count
    sys.addaudithook(_starting)
    os.register_at_fork(before=_forking, after_in_child=_forked)
