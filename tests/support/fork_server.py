"""Runs of programs, each a fork of a process that has loaded what they need.

Loading numpy, pandas, pyarrow and DuckDB takes longer than most of what the tests ask of the
command. A fork is a process all the same, with its own folder, environment, signals and exit code.

Run as a program by conftest.py. Arguments: the modules to load. Reads a JSON object a line and
answers each with the exit code. It must start no threads of its own. A fork's random bytes follow
from the name of a stream where it is given one.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import resource
import runpy
import signal
import sys
import tempfile
import threading
from typing import Any, NoReturn

import no_sync  # noqa: F401
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


def leave_as_a_process_does(code: int) -> NoReturn:
    """Wait for threads, call what is to be called at the end, flush; then leave at once.

    To take the interpreter apart, and with it all that is loaded, takes five times as long as a
    fork and a command that does little.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = 120  # as of Python
    os._exit(code & 0xFF)


def answer(asked: dict[str, Any]) -> int:
    """The exit code of the program, run in a fork."""
    seconds, stream = asked.pop("timeout"), asked.pop("stream")
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    # What counts is its own time: a busy machine makes nothing fail.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    signal.alarm(10 * seconds)
    randomness.fix(stream)
    try:
        run(**asked)
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        leave_as_a_process_does(end.code or 0)
    leave_as_a_process_does(0)


def main() -> None:
    for name in sys.argv[1:]:
        importlib.import_module(name)
    sys.path.pop(0)  # the folder of the tests
    gc.freeze()  # a collection in a fork would copy what it looks at
    for line in sys.stdin:
        print(answer(json.loads(line)), flush=True)
    leave_as_a_process_does(0)


if __name__ == "__main__":
    main()
