"""Runs of programs, each a fork of a process that has loaded what they need.

Loading numpy, pandas, pyarrow and DuckDB takes longer than most of what the tests ask of the
command. A fork is a process all the same, with its own folder, environment, signals and exit code.

Run as a program by conftest.py. Arguments: the modules to load. Reads a JSON object a line and
answers each with the exit code. It must start no threads of its own. A fork's random bytes follow
from the name of a stream where it is given one.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import runpy
import signal
import sys
import tempfile
from typing import Any

import randomness


def run(program: str, arguments: list[str], folder: str, env: dict[str, str], **files: str) -> None:
    """Become the program, as if started afresh; ends as it ends, clearing up included."""
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in enumerate(("stdout", "stderr"), start=1):
        os.dup2(os.open(files[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    tempfile.tempdir = None  # chosen by the environment
    sys.argv = [program, *arguments]
    beside = env.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [os.path.dirname(program), *filter(None, beside)]
    runpy.run_path(program, run_name="__main__")


def answer(asked: dict[str, Any]) -> int | None:
    """The exit code; None in the fork, where the program came to its end without one."""
    seconds, stream = asked.pop("timeout"), asked.pop("stream")
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    # What counts is its own time: a busy machine makes nothing fail.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    signal.alarm(10 * seconds)
    randomness.fix(stream)
    run(**asked)
    return None


def main() -> None:
    sys.path.pop(0)  # the folder of the tests
    for name in sys.argv[1:]:
        importlib.import_module(name)
    for line in sys.stdin:
        code = answer(json.loads(line))
        if code is None:
            return
        print(code, flush=True)


if __name__ == "__main__":
    main()
