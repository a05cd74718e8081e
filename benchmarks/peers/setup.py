"""An environment for each peer, and the tables they count: everything that run.py needs.

    python benchmarks/peers/setup.py [--only mlxtend opendp pipelinedp smartnoise tumult]

Environments stand in benchmarks/data/peers/, which git ignores; one whose requirements have not
changed is left as it is, unless --rebuild is given. Tumult and PipelineDP on Spark need Java 17.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from data import FOLDER, ROWS, table

REQUIREMENTS = Path(__file__).parent / "requirements"


def main() -> None:
    names = sorted(path.stem for path in REQUIREMENTS.glob("*.txt"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--rebuild", action="store_true")
    arguments = parser.parse_args()
    if not shutil.which("java"):
        print("java is not on the path: Tumult and PipelineDP on Spark will fail")
    failed = [name for name in arguments.only if not _install(name, arguments.rebuild)]
    for rows in ROWS:
        print(f"table of {rows:,} rows: {table(rows).name}", flush=True)
    if failed:
        sys.exit(f"not installed: {', '.join(failed)}; the messages of pip stand above")


def _install(name: str, rebuild: bool) -> bool:
    """Whether the environment now holds what its requirements ask for."""
    wanted = (REQUIREMENTS / f"{name}.txt").read_text()
    folder = FOLDER / name
    stamp = folder / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted and not rebuild:
        print(f"{name}: there already", flush=True)
        return True
    print(f"{name}: installing", flush=True)
    venv.create(folder, clear=True, with_pip=True)
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "-r"]
    done = subprocess.run([*command, str(REQUIREMENTS / f"{name}.txt")], check=False)
    if done.returncode == 0:
        stamp.write_text(wanted)
    return done.returncode == 0


if __name__ == "__main__":
    main()
