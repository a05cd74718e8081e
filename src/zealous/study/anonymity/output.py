"""The directory an anonymity method leaves: a log, its histograms, and a warning on all of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from zealous.errors import ReleaseError, UsageError
from zealous.files.csv_cells import write_rows
from zealous.files.places import file_in_folder, place_of
from zealous.files.strict_json import parse
from zealous.items import kind_by_name
from zealous.logs.log import ANONYMIZED, NOT_PRIVATE
from zealous.record.codec import structure
from zealous.record.record import Software
from zealous.release.bundle import file_hashes, file_names
from zealous.release.provenance import software, today
from zealous.release.table import Table, sorted_table
from zealous.study.anonymity.method import Method

FORMAT: Literal[1] = 1
ABOUT = ANONYMIZED
_LOG: Literal["log.parquet"] = "log.parquet"
# What a recipient can count in any output, so that all methods are measured alike.
KINDS = {
    name: kind_by_name(name, 1).columns()
    for name in ("keywords", "queries", "clicks", "query-pairs")
}
WARNING = (
    f"{NOT_PRIVATE}. This was made by an anonymity method, which promises nothing "
    "against an attacker who knows something of a person or has accounts of his own. No budget "
    "pays for it, and what it tells of a person adds to every release of the same log. It is "
    "meant for comparison: hand it to nobody who may not see the log."
)


class _Strict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of anonymized.json: an object with these keys and no others."""


class HistogramFiles(_Strict, frozen=True, kw_only=True):
    """The files of a histogram, and the columns of its items."""

    parquet: str
    csv: str
    columns: tuple[str, ...]


class LogFile(_Strict, frozen=True, kw_only=True):
    """The anonymised log."""

    file: Literal["log.parquet"]
    columns: tuple[str, ...]
    an_id_is: Literal["a session", "a user"]


class AnonymizedRecord(_Strict, frozen=True, kw_only=True):
    """What anonymized.json holds, in the order in which it is written.

    Attributes:
        log: None where the method gives a histogram alone.
        gives: The kinds that the method gives; all kinds have files, which may be empty.
        sha256: The SHA-256 of each other file; empty until they are written.
    """

    format: Literal[1]
    differentially_private: bool
    warning: str
    method: str
    settings: dict[str, bool | int | float | str | tuple[str, ...] | None]
    promises: str
    lacks: str
    origin: str
    log: LogFile | None
    counts: str
    gives: tuple[str, ...]
    files: dict[str, HistogramFiles]
    software: Software
    created: str
    sha256: dict[str, str]

    def __post_init__(self) -> None:
        # An earlier version wrote no file of clicks.
        known = KINDS.keys() >= self.files.keys() >= set(self.gives)
        if self.differentially_private or not known:
            raise ValueError("not what an anonymity method leaves")


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """What a method left, read back.

    Attributes:
        record: What anonymized.json holds.
        tables: For each kind its histogram: in how many ids of the output an item is. Empty where
            the method gives no such items.
        directory: Where it was read from.
    """

    record: AnonymizedRecord
    tables: Mapping[str, Table]
    directory: Path

    def __getitem__(self, kind: str) -> Table:
        return self.tables[kind]

    def log_file(self) -> LogFile:
        """Where the rows of the log are.

        Raises:
            UsageError: The method gives a histogram alone.
        """
        if self.record.log is None:
            raise UsageError(f"{self.record.method} gives no log")
        return self.record.log

    def log(self) -> pa.Table | None:
        """The rows of the log; None where the method gives a histogram alone."""
        if self.record.log is None:
            return None
        return pq.read_table(self.directory / self.record.log.file)


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
    files: dict[str, HistogramFiles] = {}
    for kind, base in file_names(list(KINDS)).items():
        item = KINDS[kind]
        fields = [*((name, pa.string()) for name in item), ("count", pa.int64())]
        schema = pa.schema(fields, metadata=metadata(method))
        rows = counted.get(kind)
        table = sorted_table(schema.empty_table() if rows is None else rows.cast(schema), item)
        written = HistogramFiles(parquet=f"{base}.parquet", csv=f"{base}.csv", columns=item)
        files[kind] = written
        pq.write_table(table.arrow, directory / written.parquet, compression="zstd")
        with (directory / written.csv).open("w", encoding="utf-8", newline="") as file:
            write_rows(table.arrow, file)
    record = AnonymizedRecord(
        format=FORMAT,
        differentially_private=False,
        warning=WARNING,
        method=method.name,
        settings=dict(method.settings()),
        promises=method.promises,
        lacks=method.lacks,
        origin=method.origin,
        log=LogFile(
            file=_LOG,
            columns=columns,
            an_id_is="a session" if method.session_ids else "a user",
        )
        if columns
        else None,
        counts="ids of the log that hold the item" if columns else "users who hold the item",
        gives=tuple(kind for kind in KINDS if kind in counted),
        files=files,
        software=software(),
        created=today(),
        sha256={},
    )
    (directory / "README.md").write_text(_readme(record), encoding="utf-8")
    whole = to_builtins(replace(record, sha256=file_hashes(directory)))
    text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    (directory / ABOUT).write_text(text, encoding="utf-8")


def read_bundle(directory: str | Path) -> Bundle:
    """Read back what a method left."""
    path = Path(directory)
    try:
        found = parse((path / ABOUT).read_text(encoding="utf-8"))
        record = structure(found, AnonymizedRecord)
        tables = {}
        for kind, item in KINDS.items():
            wanted = pa.schema([*((name, pa.string()) for name in item), ("count", pa.int64())])
            table = wanted.empty_table()
            if kind in record.files:
                table = pq.read_table(file_in_folder(place_of(path), record.files[kind].parquet))
            if not table.schema.equals(wanted) or any(each.null_count for each in table.columns):
                raise ValueError
            tables[kind] = Table(arrow=table)
    except (OSError, ValueError, RecursionError, ReleaseError, pa.ArrowException):
        raise ReleaseError(
            f"{path} holds no readable output of `zealous study anonymize` that this version knows"
        ) from None
    return Bundle(record=record, tables=tables, directory=path)


def _readme(record: AnonymizedRecord) -> str:
    settings = ", ".join(f"{name} = {value}" for name, value in record.settings.items())
    log = record.log
    absent = [kind for kind in record.files if kind not in record.gives]
    rows = [
        *([f"| `{log.file}` | {', '.join(log.columns)}; an id is {log.an_id_is} |"] if log else []),
        *(
            f"| `{files.parquet}`, `{files.csv}` | {', '.join(files.columns)}, count |"
            for files in record.files.values()
        ),
    ]
    return "\n".join(
        [
            f"# A log anonymised by {record.method}",
            "",
            f"**{record.warning}**",
            "",
            f"- Method: {record.method}{f' ({settings})' if settings else ''}, after "
            f"{record.origin}",
            f"- What it promises: {record.promises}",
            f"- But: {record.lacks}",
            "",
            "| file | columns |",
            "|---|---|",
            *rows,
            "",
            f"A count is the number of {record.counts}."
            + (f" This method gives no {' and no '.join(absent)}." if absent else ""),
            "",
            f"Made by zealous {record.software.version} on {record.created}.",
            "",
        ]
    )
