"""How much of the package the tests of what publishes run: `make coverage`, a part of `make soak`.

Tests of Spark are left out: its workers are not followed. So are those folders that take as long as
all others, and run lines that these have run. Arguments are passed on to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from paths import ROOT, TESTS

_LEFT_OUT = ("audit", "planted", "project", "spark", "study", "web")
# Percent of the lines, a little below what they reach: 72.2 of all, 93.7 of what publishes.
FLOOR = 71
FLOOR_OF_PUBLISHING = 92
_NOT_PUBLISHING = ("audit", "cli", "study", "synthetic", "web")


def coverage(*arguments: str, data: Path) -> int:
    """Run coverage with its figures in a file of a folder; the exit code."""
    command = [sys.executable, "-m", "coverage", *arguments]
    env = os.environ | {"COVERAGE_FILE": str(data)}
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


def folders() -> list[str]:
    """Of which the tests are run."""
    found = {path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")}
    return [str(TESTS / name) for name in sorted(found.difference(_LEFT_OUT))]


def main(options: Sequence[str]) -> int:
    """Run the tests, then compare; 0 if they pass and the floor is kept."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "coverage"
        tests = ["-m", "not soak and not extended and not spark", "-n", "2", *options]
        failed = coverage("run", "-m", "pytest", *folders(), *tests, data=data)
        failed = failed or coverage("combine", "--quiet", data=data)
        omitted = ",".join(f"*/zealous/{room}/*" for room in _NOT_PUBLISHING)
        publishing = (f"--omit={omitted}", f"--fail-under={FLOOR_OF_PUBLISHING}")
        failed = failed or coverage("report", f"--fail-under={FLOOR}", data=data)
        return failed or coverage("report", *publishing, data=data)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
