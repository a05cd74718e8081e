"""Whole publishing processes on logs of growing size, within a memory limit.

    python benchmarks/scale.py [--users 500000 5000000] [--memory 4GB]
        [-- --items queries --items-per-user 5 --epsilon 2 --delta 0.001]

For each size: wall time, peak memory of the process, peak size of its temporary directory, and how
the time compares with linear growth from the first. What stands behind `--` are options of
`zealous publish`, in place of those above. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
from publish import log_file

PROGRAM = Path(sys.executable).with_name("zealous")
OPTIONS = ["--items", "queries", "--items-per-user", "5", "--epsilon", "2", "--delta", "0.001"]


def main() -> None:
    arguments = _arguments()
    print(f"--memory {arguments.memory} {' '.join(arguments.options)}\n")
    print("| entries | time | over linear | peak memory | peak temporary files |")
    print("|---|---|---|---|---|")
    first: float | None = None
    for users in arguments.users:
        path = log_file(users)
        entries = pq.read_metadata(path).num_rows
        seconds, memory, spill = _publish(path, users, arguments)
        first = first or seconds / entries
        print(
            f"| {entries:,} | {seconds:.0f} s | {seconds / (first * entries):.2f} "
            f"| {memory / 1e9:.2f} GB | {spill / 1e9:.2f} GB |",
            flush=True,
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, nargs="+", default=[500_000, 5_000_000])
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("options", nargs="*", default=OPTIONS)
    return parser.parse_args()


def _publish(path: Path, users: int, arguments: argparse.Namespace) -> tuple[float, int, int]:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            PROGRAM, "publish", path, *arguments.options, "--users", users,
            "--memory", arguments.memory, "--threads", 2, "--temporary", folder,
            "--no-ledger", "-o", f"{folder}/out",
        ]  # fmt: skip
        started = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        memory = spill = 0
        while process.poll() is None:
            memory = max(memory, _resident(process.pid))
            spill = max(spill, _size(folder))
            time.sleep(0.1)
        seconds = time.perf_counter() - started
        if process.returncode:
            sys.exit(process.stderr.read().decode() if process.stderr else "failed")
    return seconds, memory, spill


def _resident(process: int) -> int:
    """The most memory the process has had resident."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        return 0


def _size(folder: str) -> int:
    total = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(directory, name)).st_blocks * 512
            except OSError:
                continue
    return total


if __name__ == "__main__":
    main()
