"""Execute the notebooks of the documentation and keep what they show.

    python tools/notebooks.py            # all of them, in place

Each runs in an empty folder of its own and makes what it needs.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def execute(notebook: Path, folder: Path) -> nbformat.NotebookNode:
    """What a notebook shows when its cells are run in a folder, from the first to the last."""
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # `zealous` is there
    content = nbformat.read(notebook, as_version=4)
    NotebookClient(
        content,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    ).execute(env={**os.environ, "PATH": tools, "LOGNAME": "owner"})
    return content


def without_traces(content: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """A notebook without colours of the terminal and names of this machine."""
    text = re.sub(r"\\u001b\[[0-9;]*m", "", nbformat.writes(content))
    return nbformat.reads(text.replace(f"{folder}/", "").replace(str(folder), "."), as_version=4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    chosen = parser.parse_args().notebooks or sorted(FOLDER.glob("*.ipynb"))
    for path in chosen:
        with tempfile.TemporaryDirectory() as empty:
            folder = Path(empty)
            nbformat.write(without_traces(execute(path, folder), folder), path)
