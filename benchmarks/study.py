"""`zealous study compare`, whole: time, and the most memory that its processes use together.

    python benchmarks/study.py [--users 500000] [--memory 4GB] [--study FILE] [-o DIR]

Runs the command with its default grid, or with that of --study, on a generated log of visitors,
prints what it says with the time, and at last a row of a Markdown table: users, processor time,
wall time, peak memory. `study_page.py` takes what it wrote into the documentation.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from zealous.synthetic import VISITORS, generate

PROGRAM = Path(sys.executable).with_name("zealous")
SEED = 7  # behaviour was fitted on others
_PAGE = os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    arguments = _arguments()
    path = Path(__file__).parent / "data" / f"visitors-{arguments.users}.parquet"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        generate(path, users=arguments.users, seed=SEED, behaviour=VISITORS)
    with tempfile.TemporaryDirectory() as folder:
        output = arguments.output or Path(folder) / "study"
        command = [PROGRAM, "study", "compare", path, "--memory", arguments.memory, "-o", output]
        command += ["--study", arguments.study] if arguments.study else []
        started = time.monotonic()
        process = subprocess.Popen(
            [str(each) for each in command],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        peak = [0]
        watch = threading.Thread(target=_watch, args=(process, peak), daemon=True)
        watch.start()
        assert process.stderr is not None
        for line in process.stderr:
            print(f"{time.monotonic() - started:7.1f} s  {line.rstrip()}", flush=True)
        assert process.wait() == 0
        seconds = time.monotonic() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    times = f"{(used.ru_utime + used.ru_stime) / 60:.1f} min | {seconds / 60:.1f} min"
    print(f"| {arguments.users:,} | {times} | {peak[0] / 1e9:.1f} GB |")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=500_000)
    parser.add_argument("--memory", default="4GB", help="for the engine")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--study", type=Path, metavar="FILE", help="another grid, as TOML")
    return parser.parse_args()


def _watch(process: subprocess.Popen[str], peak: list[int]) -> None:
    while process.poll() is None:
        peak[0] = max(peak[0], sum(_resident(each) for each in _family(process.pid)))
        time.sleep(0.5)


def _family(root: int) -> list[int]:
    """A process and its children."""
    children = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(each.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if parent == root:
            children.append(int(each.parent.name))
    return [root, *children]


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, ValueError):
        return 0


if __name__ == "__main__":
    main()
