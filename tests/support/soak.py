"""What takes too long for every run: `make soak`.

Parts run one after another, until the time is up. Which of them comes first, and with which test
each begins, follows from the commit: what one run does not reach, a run of another commit does.
Noise that is fixed in other tests follows from the commit, too, so that a failure can be repeated.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

ROOT = Path(__file__).parents[2]
SHORTEST = 60  # seconds: a part that has less is not begun
TO_END = 60  # seconds that a part has to end once it is asked to
T = TypeVar("T")


class Part(NamedTuple):
    """Some tests.

    Attributes:
        name: What it is called.
        options: Which tests, and how, as options of pytest.
        minutes: After which it is ended, so that others have their turn.
        program: What takes the options: pytest, or what runs it.
    """

    name: str
    options: tuple[str, ...]
    minutes: float
    program: tuple[str, ...] = ("-m", "pytest", "-n", "2")


class Result(NamedTuple):
    """How a part went.

    Attributes:
        name: The part.
        verdict: `passed`, `failed`, `not finished` or `not reached`.
        seconds: How long it took.
        tests: How many of its tests passed, failed or were skipped.
    """

    name: str
    verdict: str
    seconds: float = 0
    tests: Mapping[str, int] = MappingProxyType({})


Command = Callable[[Part, Path], Sequence[str]]  # to run a part, its outcomes told to a file

_NAMED = {"kills": "killed", "hostile": "hostile", "audit": "million_trials"}
_OTHER = " and ".join(f"not {word}" for word in (*_NAMED.values(), "planted_bug"))
_DRAWN = "false_alarm and not soak and not extended and not spark"
_VERDICTS = "verdict_on"
# Of these each repetition starts programs; the rules that they are judged by are repeated above.
_PROGRAMS = "the_command_prints or extending"
_KILLED = ("tests/files", "tests/ledger", "tests/release", "tests/series", "tests/spark")
# Where a part names folders, the tests of others are not even collected.
PARTS = (
    Part(
        "kills",
        ("-m", "soak", "-k", _NAMED["kills"], *_KILLED),
        6,
    ),
    Part("hostile", ("-m", "soak", "-k", _NAMED["hostile"], "tests/files", "tests/spark"), 28),
    Part("audit", ("-m", "soak", "-k", _NAMED["audit"], "tests/audit"), 12),
    Part(
        "planted",
        ("-m", "", "-k", "planted_bug", "--stream", "{commit}", "tests/planted", "tests/audit"),
        10,
    ),
    Part("spark", ("-m", "soak and spark", "-k", _OTHER), 10),
    Part("rest", ("-m", "soak and not spark", "-k", _OTHER), 10),
    Part(
        "statistics",
        ("-m", _DRAWN, "-k", f"not ({_VERDICTS} or {_PROGRAMS})", "--times", "200"),
        4,
    ),
    # In one process: what verdicts share is drawn once in each.
    Part(
        "verdicts",
        ("-n", "0", "-m", "false_alarm and not spark", "-k", _VERDICTS, "--times", "200"),
        18,
    ),
    Part("examples", ("-m", "hypothesis", "--hypothesis-profile=free"), 8),
    Part("noise", ("-m", "not soak and not spark", "--stream", "{commit}"), 15),
    Part("coverage", (), 15, program=("tests/support/coverage_floor.py",)),
)


def chosen(names: Sequence[str], parts: Sequence[Part] = PARTS) -> list[Part]:
    """The parts of some names; all where none is given."""
    return [part for part in parts if part.name in names or not names]


def rotated(things: Sequence[T], commit: str) -> list[T]:
    """The same, beginning with another one at another commit."""
    first = int(commit, 16) % max(1, len(things))
    return [*things[first:], *things[:first]]


def run(part: Part, command: Command, seconds: float) -> Result:
    """Run a part for so many seconds at most."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told"
        told.touch()
        process = subprocess.Popen(command(part, told), cwd=ROOT, start_new_session=True)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
        tests = Counter(line.split()[0] for line in told.read_text().splitlines())
    return Result(part.name, _verdict(code, tests), time.monotonic() - begun, tests)


def _verdict(code: int | None, tests: Counter[str]) -> str:
    if tests["failed"]:
        return "failed"
    if code is None:
        return "not finished"
    return "failed" if code else "passed"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt it as a person would, so that it tidies up; then end all that is left of it."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def soak(parts: Sequence[Part], minutes: float, command: Command) -> list[Result]:
    """Run parts in their order until the time is up."""
    deadline = time.monotonic() + 60 * minutes
    results = []
    for part in parts:
        seconds = min(60 * part.minutes, deadline - time.monotonic() - TO_END)
        if seconds < min(SHORTEST, 60 * part.minutes):
            results.append(Result(part.name, "not reached"))
        else:
            print(f"\n== {part.name}: at most {seconds / 60:.0f} minutes", flush=True)
            results.append(run(part, command, seconds))
    return results


def table(results: Sequence[Result]) -> str:
    """What went how, one line a part."""
    lines = [f"{'part':<12}{'verdict':<14}{'seconds':>8}  tests"]
    for name, verdict, seconds, tests in results:
        counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(tests.items()))
        lines.append(f"{name:<12}{verdict:<14}{seconds:>8.0f}  {counts}".rstrip())
    return "\n".join(lines)


@cache
def checked_out() -> str:
    """The hash of what is checked out; 0 where that is no repository."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "0"


def main() -> int:
    """Run what is asked for; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(p.name for p in PARTS))
    parser.add_argument("--minutes", type=float, default=40, help="when to stop (default: 40)")
    asked = parser.parse_args()
    if unknown := set(asked.parts) - {part.name for part in PARTS}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    commit = checked_out()

    def command(part: Part, told: Path) -> list[str]:
        options = [option.format(commit=commit) for option in part.options]
        # As one argument each: a file that stands alone would be taken for a test.
        options += [f"--begin={commit}", f"--tell={told}"]
        return [sys.executable, *part.program, *options]

    results = soak(rotated(chosen(asked.parts), commit), asked.minutes, command)
    print(f"\ncommit {commit[:12]}\n{table(results)}")
    return int(any(result.verdict == "failed" for result in results))


if __name__ == "__main__":
    sys.exit(main())
