"""The directory an anonymity method leaves: a log, its histograms, and a warning on all of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from zealous.errors import ReleaseError
from zealous.files.csv_cells import write_rows
from zealous.files.places import member, place_of
from zealous.files.strict_json import parse
from zealous.logs.log import ANONYMIZED, NOT_PRIVATE
from zealous.release.bundle import Table, file_names, hashes, sorted_table
from zealous.release.schema import problems
from zealous.study.anonymity.method import Method
from zealous.version import VERSION

FORMAT = 1
ABOUT = ANONYMIZED
_LOG = "log.parquet"
# What a recipient can count in any output, so that all methods are measured alike.
KINDS: dict[str, tuple[str, ...]] = {
    "keywords": ("keyword",),
    "queries": ("query",),
    "query-pairs": ("query", "next_query"),
}
WARNING = (
    f"{NOT_PRIVATE}. This was made by an anonymity method, which promises nothing "
    "against an attacker who knows something of a person or has accounts of her own. No budget "
    "pays for it, and what it tells of a person adds to every release of the same log. It is "
    "meant for comparison: hand it to nobody who may not see the log."
)
_FILES = {"parquet": str, "csv": str, "columns": [str]}
_SHAPE = {
    "format": {FORMAT},
    "differentially_private": {False},
    "warning": str,
    "method": str,
    "settings": {"*": (None, bool, int, float, str, [str])},
    "promises": str,
    "lacks": str,
    "origin": str,
    "log": (None, {"file": {_LOG}, "columns": [str], "an_id_is": {"a session", "a user"}}),
    "counts": str,
    "gives": [set(KINDS)],
    "files": dict.fromkeys(KINDS, _FILES),
    "software": {"name": {"zealous"}, "version": str},
    "created": str,
    "sha256": {"*": str},
}


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """What a method left, read back.

    Attributes:
        about: The contents of anonymized.json.
        tables: For each kind its histogram: in how many ids of the output an item is. Empty where
            the method gives no such items.
        directory: Where it was read from.
    """

    about: Mapping[str, Any]
    tables: Mapping[str, Table]
    directory: Path

    def __getitem__(self, kind: str) -> Table:
        return self.tables[kind]

    def log(self) -> pa.Table | None:
        """The rows of the log; None where the method gives a histogram alone."""
        if self.about["log"] is None:
            return None
        return pq.read_table(self.directory / self.about["log"]["file"])


def metadata(method: Method) -> dict[str, str]:
    """What a Parquet file says of itself, wherever it is copied."""
    return {"zealous": f"{method.name}: {WARNING}"}


def write_bundle(
    directory: Path,
    method: Method,
    columns: tuple[str, ...],
    counted: Mapping[str, pa.Table],
) -> None:
    """Write the histograms, the texts and anonymized.json into a directory that has the log.

    Args:
        directory: Where to.
        method: What the log was anonymised by.
        columns: The columns of log.parquet; none where there is no log.
        counted: The histograms; a kind without rows may be left out.
    """
    files: dict[str, dict[str, Any]] = {}
    for kind, base in file_names(list(KINDS)).items():
        item = KINDS[kind]
        fields = [*((name, pa.string()) for name in item), ("count", pa.int64())]
        schema = pa.schema(fields, metadata=metadata(method))
        rows = counted.get(kind)
        table = sorted_table(schema.empty_table() if rows is None else rows.cast(schema), item)
        files[kind] = {"parquet": f"{base}.parquet", "csv": f"{base}.csv", "columns": [*item]}
        pq.write_table(table.arrow, directory / files[kind]["parquet"], compression="zstd")
        with (directory / files[kind]["csv"]).open("w", encoding="utf-8", newline="") as file:
            write_rows(table.arrow, file)
    about = {
        "format": FORMAT,
        "differentially_private": False,
        "warning": WARNING,
        "method": method.name,
        "settings": dict(method.settings()),
        "promises": method.promises,
        "lacks": method.lacks,
        "origin": method.origin,
        "log": {
            "file": _LOG,
            "columns": list(columns),
            "an_id_is": "a session" if method.session_ids else "a user",
        }
        if columns
        else None,
        "counts": "ids of the log that hold the item" if columns else "users who hold the item",
        "gives": [kind for kind in KINDS if kind in counted],
        "files": files,
        "software": {"name": "zealous", "version": VERSION},
        "created": datetime.now(UTC).date().isoformat(),
    }
    (directory / "README.md").write_text(_readme(about), encoding="utf-8")
    about["sha256"] = hashes(directory)
    text = json.dumps(about, indent=2, ensure_ascii=False) + "\n"
    (directory / ABOUT).write_text(text, encoding="utf-8")


def read_bundle(directory: str | Path) -> Bundle:
    """Read back what a method left."""
    path = Path(directory)
    try:
        about = parse((path / ABOUT).read_text(encoding="utf-8"))
        if any(problems(about, _SHAPE)):
            raise ValueError
        tables = {}
        for kind, item in KINDS.items():
            table = pq.read_table(member(place_of(path), about["files"][kind]["parquet"]))
            wanted = pa.schema([*((name, pa.string()) for name in item), ("count", pa.int64())])
            if not table.schema.equals(wanted) or any(each.null_count for each in table.columns):
                raise ValueError
            tables[kind] = Table(arrow=table)
    except (OSError, ValueError, RecursionError, pa.ArrowException):
        raise ReleaseError(
            f"{path} holds no readable output of `zealous study anonymize` that this version knows"
        ) from None
    return Bundle(about=about, tables=tables, directory=path)


def _readme(about: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{name} = {value}" for name, value in about["settings"].items())
    log = about["log"]
    absent = [kind for kind in about["files"] if kind not in about["gives"]]
    rows = [
        *(
            [f"| `{log['file']}` | {', '.join(log['columns'])}; an id is {log['an_id_is']} |"]
            if log
            else []
        ),
        *(
            f"| `{files['parquet']}`, `{files['csv']}` | {', '.join(files['columns'])}, count |"
            for files in about["files"].values()
        ),
    ]
    return "\n".join(
        [
            f"# A log anonymised by {about['method']}",
            "",
            f"**{about['warning']}**",
            "",
            f"- Method: {about['method']}{f' ({settings})' if settings else ''}, after "
            f"{about['origin']}",
            f"- What it promises: {about['promises']}",
            f"- But: {about['lacks']}",
            "",
            "| file | columns |",
            "|---|---|",
            *rows,
            "",
            f"A count is the number of {about['counts']}."
            + (f" This method gives no {' and no '.join(absent)}." if absent else ""),
            "",
            f"Made by zealous {about['software']['version']} on {about['created']}.",
            "",
        ]
    )
