"""The changes between two releases as files: a table and a picture."""

from __future__ import annotations

from pathlib import Path

from zealous.files.csv_cells import write_rows
from zealous.files.folder import new_folder
from zealous.series.changes import Changes
from zealous.series.changes_picture import picture


def write_changes(found: Changes, output: Path) -> None:
    """Write changes.csv and changes.svg into a new directory."""
    with new_folder(output, "changes") as folder:
        with (folder / "changes.csv").open("w", encoding="utf-8", newline="") as file:
            write_rows(found.to_arrow(), file)
        (folder / "changes.svg").write_text(picture(found), encoding="utf-8")
