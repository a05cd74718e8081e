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

FLOOR = 70  # percent of the lines; to be raised to a little below what a whole run reaches


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
        return failed or coverage("report", f"--fail-under={FLOOR}", data=data)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
