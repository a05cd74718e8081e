"""How much of the package the tests run: `make coverage`, and a part of `make soak`.

Tests of Spark are left out: its workers are not followed. Arguments are passed on to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from paths import ROOT

# Percent of the lines, a little below what tests of 15 folders reach by themselves, without those
# of the audit, the study, the workbench and the project: 72.2 of all, 93.7 of what publishes.
FLOOR = 71
FLOOR_OF_PUBLISHING = 92
_NOT_PUBLISHING = ("audit", "cli", "study", "synthetic", "web")


def coverage(*arguments: str, data: Path) -> int:
    """Run coverage with its figures in a file of a folder; the exit code."""
    command = [sys.executable, "-m", "coverage", *arguments]
    env = os.environ | {"COVERAGE_FILE": str(data)}
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


def main(options: Sequence[str]) -> int:
    """Run the tests, then compare; 0 if they pass and the floor is kept."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "coverage"
        tests = ["-m", "not soak and not spark", "-n", "2", *options]
        failed = coverage("run", "-m", "pytest", *tests, data=data)
        failed = failed or coverage("combine", "--quiet", data=data)
        omitted = ",".join(f"*/zealous/{room}/*" for room in _NOT_PUBLISHING)
        publishing = (f"--omit={omitted}", f"--fail-under={FLOOR_OF_PUBLISHING}")
        failed = failed or coverage("report", f"--fail-under={FLOOR}", data=data)
        return failed or coverage("report", *publishing, data=data)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
