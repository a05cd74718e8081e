"""Time and memory of a process with everything it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Seconds on the wall, processor seconds, the most bytes held at once, and how it ended."""

    seconds: float
    cpu: float
    peak: int
    ended: str  # "done", "time limit" or "failed"
    output: str


def measure(
    command: list[str], folder: Path, limit: float, environment: dict[str, str]
) -> Measured:
    """Run a command in a folder and a session of its own; what it leaves running is ended."""
    with (folder / "log").open("w+b") as output, (folder / "errors").open("wb") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=errors,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
        watch = _Watch(process.pid)
        reaped, seconds = 0, 0.0
        try:
            while not reaped and seconds < limit:
                watch.look()
                time.sleep(0.02 if seconds < 5 else 0.2)
                reaped, status, used = os.wait4(process.pid, os.WNOHANG)
                seconds = time.perf_counter() - started
        finally:
            watch.end()
        if reaped:
            process.returncode = os.waitstatus_to_exitcode(status)
        else:
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = -signal.SIGKILL
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Measured(
        seconds=seconds,
        cpu=max(watch.cpu(), used.ru_utime + used.ru_stime),
        peak=max(watch.peak, used.ru_maxrss * 1024),
        ended="time limit" if not reaped else "failed" if process.returncode else "done",
        output=text,
    )


class _Watch:
    """The processes of one session: the child, a JVM, its Python workers.

    Memory is the proportional share (PSS), so that pages which forked workers have in common count
    once. A peak between two looks is missed, except the child's own, which the system keeps.
    """

    def __init__(self, session: int) -> None:
        self._session = session
        self._ticks: dict[int, int] = {}
        self.peak = 0

    def look(self) -> list[int]:
        found, share = [], 0
        for entry in os.listdir("/proc"):
            if entry.isdigit() and (fields := _stat(entry)) and int(fields[3]) == self._session:
                found.append(int(entry))
                self._ticks[int(entry)] = int(fields[11]) + int(fields[12])
                share += _share(entry)
        self.peak = max(self.peak, share * 1024)
        return found

    def end(self) -> None:
        for process in self.look():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def cpu(self) -> float:
        return sum(self._ticks.values()) / TICKS


def _stat(process: str) -> list[str] | None:
    """Fields of /proc/PID/stat after the name, which may hold spaces."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _share(process: str) -> int:
    """Kilobytes resident, those shared with others divided among them."""
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        return 0
    return 0
