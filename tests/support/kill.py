"""Publish again and again in processes of their own, and kill each at a random moment.

The moment is one of the run's own processor time: what else the machine does changes nothing.

Run by test_killed.py as a program, so that it forks from a process that has started no threads.
Arguments: the log, the folder for ledger and releases, the first run's number, how many runs.
Prints one JSON object.
"""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import duckdb  # noqa: F401  all this is imported before the fork, so that a run is short
import pandas  # noqa: F401  pyarrow looks for it
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet  # noqa: F401

import zealous as z
import zealous.noise
from zealous.release.account import Account
from zealous.release.text.statement import template

module = import_module("zealous.release.publish")

GOAL = z.ProbabilisticDP(epsilon=20, delta="0.01", users=200)


def run(log: Path, folder: Path, name: str, drawing: int) -> NoReturn:
    """One run; says on a pipe when it is about to draw noise."""
    draw = module.draw

    def watched(*arguments: object, **options: object) -> object:
        os.write(drawing, f"{name}\n".encode())
        return draw(*arguments, **options)

    vars(module)["draw"] = watched
    module.publish(
        z.read_log(log),
        GOAL,
        [z.queries(1)],
        account=Account(ledger=folder / "ledger.sqlite", id=name),
        output=folder / name,
        engine=z.DuckDB(memory="1GB", threads=1),
    )
    os._exit(0)


def main() -> None:
    log, folder = Path(sys.argv[1]), Path(sys.argv[2])
    first, runs = int(sys.argv[3]), int(sys.argv[4])
    template()
    gc.freeze()  # so that forks do not touch what they share
    reader, writer = os.pipe()
    chance = random.Random()
    lasted: list[float] = []
    for number in range(runs):
        spared = number < 3 or number % 11 == 10  # to see how long a run takes
        moment = 0 if spared else chance.uniform(0.001, 1.15 * sorted(lasted[-3:])[1])
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends it at once, as SIGKILL would
            signal.setitimer(signal.ITIMER_PROF, moment)  # 0 is never
            try:
                run(log, folder, f"run-{first + number}", writer)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        _, status, used = os.wait4(child, 0)
        if spared:
            assert status == 0
            lasted.append(used.ru_utime + used.ru_stime)
    os.close(writer)
    with open(reader) as pipe:
        drew = pipe.read().split()
    print(json.dumps({"drew": drew, "spared": len(lasted)}))


if __name__ == "__main__":
    main()
