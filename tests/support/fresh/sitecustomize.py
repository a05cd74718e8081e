"""Random bytes of a Python that a test starts afresh: Python imports this file before all else.

`randomness` puts its folder on the path of such a process, with the name of a stream. Programs that
the process starts in turn get streams of their own. It loads as little as it can: tests look at
what a command loads.
"""

from __future__ import annotations

import os
import random
import sys
from typing import Any

NAME, FOLDER = "ZEALOUS_TEST_STREAM", os.path.dirname(__file__)


def pass_on(env: Any, name: str | None) -> None:
    """Let a process with that environment take its bytes from a stream; the system's where None."""
    if name is None:
        env.pop(NAME, None)
        return
    given = env.get("PYTHONPATH", "").split(os.pathsep)
    path = [FOLDER, *(each for each in given if each not in ("", FOLDER))]
    env |= {NAME: name, "PYTHONPATH": os.pathsep.join(path)}


def _fix(name: str) -> None:
    stream, started = random.Random(name), 0

    def forked() -> None:
        stream.seed(f"{name}/{started}")

    def starting(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal started
        if event in ("subprocess.Popen", "os.fork"):
            started += 1
        if event == "subprocess.Popen":
            pass_on(os.environ if arguments[3] is None else arguments[3], f"{name}/{started}")

    pass_on(os.environ, f"{name}/spawned")  # where no event tells that one is started
    os.urandom = stream.randbytes
    vars(random)["_urandom"] = stream.randbytes
    os.cpu_count = lambda: 1  # thread of the engine, so that noise meets rows in the same order
    os.register_at_fork(after_in_child=forked)
    sys.addaudithook(starting)


# Noise that executors of Spark draw is the system's: which of them draws what is never the same.
# The process that forks is told for each fork.
_OTHERS = ("pyspark", "fork_server")
if NAME in os.environ and not any(name in each for name in _OTHERS for each in sys.orig_argv):
    _fix(os.environ[NAME])
