"""The bundle: rows, guarantee and provenance, written whole or not at all, and read back.

Guarantee:
    The files hold published rows and what release.json says, nothing else; a failed run leaves
    none.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, overload

from msgspec.structs import replace

from zealous.errors import NotPublished, Refused, ReleaseError, UsageError, did_you_mean
from zealous.files.csv_cells import write_rows
from zealous.files.folder import new_folder
from zealous.files.places import Place, StoreError, error_text, file_in_folder, place_of
from zealous.libraries import pa, pq
from zealous.notebook import block, caption, line, note
from zealous.planning.from_record import kind_from_record
from zealous.privacy.promise import promise
from zealous.record.codec import encode
from zealous.record.record import PartRecord, Record
from zealous.release.charged import Charged
from zealous.release.derived.files import derived_files
from zealous.release.schema import read_record
from zealous.release.table import Table, counted_schema, write_parquet, written_schema
from zealous.release.text.croissant import croissant
from zealous.release.text.data_package import data_package
from zealous.release.text.dataset_card import dataset_card
from zealous.release.text.readme import prominent_notes
from zealous.release.text.registry_entry import registry
from zealous.release.text.statement import statement

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


TEXTS: dict[str, Callable[[Record], str]] = {
    "README.md": dataset_card,
    "statement.html": statement,
    "registry.yaml": registry,
    "croissant.json": croissant,
    "datapackage.json": data_package,
}
FIRST_TEXTS = ("README.md", "statement.html", "registry.yaml")  # all that 0.1.0 wrote


@dataclass(frozen=True, kw_only=True, repr=False)
class Release(Mapping[str, Table]):
    """What may be handed out: a table for each kind, and everything that a recipient must know.

    A mapping: `release["queries"]` is a table. Iterating gives the kinds in the order of the plan.

    Attributes:
        record: The content of release.json. Its figures depend on the log only through the
            mechanism. Its `sha256` is empty until the release is written.
        tables: The published rows by name of kind.
        on_written: Called when the release is on disk under its name, with the directory and the
            SHA-256 of its release.json.
        directory: Where it was written to or read from; None while it is only in memory.
        internal: Whether it is only for the owner of the log: it is charged and recorded nowhere,
            and never written.
    """

    record: Record
    tables: Mapping[str, Table]
    on_written: Callable[[Place, str], None] | None = field(default=None, compare=False)
    directory: Place | None = field(default=None, compare=False)
    internal: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        """Tell each table how it was made."""
        parts = {part.kind: part for part in self.record.plan}
        made = ((kind, table.arrow, parts.get(kind)) for kind, table in self.tables.items())
        tables = {kind: Table(arrow=rows, part=part) for kind, rows, part in made}
        object.__setattr__(self, "tables", tables)

    def __getitem__(self, kind: str) -> Table:
        try:
            return self.tables[kind]
        except (KeyError, TypeError):
            near = did_you_mean(kind, self.tables) if isinstance(kind, str) else ""
            raise NotPublished(
                f"the release has no such table: it has {', '.join(self.tables)}{near}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def charged(self) -> Charged:
        """What it cost, and what is left of the caps of its ledger."""
        return Charged.from_record(self.record)

    @property
    def arrow(self) -> dict[str, pa.Table]:
        """The rows of each kind as an Arrow table."""
        return {kind: table.arrow for kind, table in self.items()}

    def to_pandas(self) -> dict[str, pd.DataFrame]:
        """The rows of each kind as a pandas frame."""
        return {kind: table.to_pandas() for kind, table in self.items()}

    def to_polars(self) -> dict[str, pl.DataFrame]:
        """The rows of each kind as a Polars frame."""
        return {kind: table.to_polars() for kind, table in self.items()}

    def __repr__(self) -> str:
        tables, where = ", ".join(each.title() for each in self.values()), self._place_text()
        return f"Release({tables}. {self.charged} {where})"

    def _repr_html_(self) -> str:
        tables = [caption(table.title()) + table.first_rows() for table in self.values()]
        return block(
            f"Release of {', '.join(self)}",
            *map(line, prominent_notes(self.record)),
            line(promise(self.record.guarantee)),
            line(str(self.charged)),
            *tables,
            note(self._place_text()),
        )

    def _place_text(self) -> str:
        if self.directory is None:
            return "In memory alone: release.write(DIRECTORY) writes it."
        return f"It is in {self.directory}."

    @overload
    def write(self, directory: Path, *, not_private: bool = False) -> Path: ...

    @overload
    def write(self, directory: str | Place, *, not_private: bool = False) -> Place: ...

    def write(self, directory: str | Path | Place, *, not_private: bool = False) -> Path | Place:
        """Write the release into a new directory, completely or not at all.

        Args:
            directory: A directory that does not exist yet; or a URL in an object store, where
                release.json is written last: a folder without it is not a release.
            not_private: Confirms that a release with a fixed seed should be written, although
                anybody can subtract its noise. It stays marked as not private.
        """
        target = place_of(directory)
        if not self.record.private and not not_private:
            raise Refused(
                "this release was made with a fixed noise seed and protects nobody: it is written "
                "only when marked as not private (not_private=True)"
            )
        if self.internal:
            raise Refused(
                "this release is internal: no ledger knows of it, so it is not written. Publish "
                "with an Account"
            )
        with new_folder(target, "release") as partial:
            digest = self._write_files(partial)
            names = [each.name for each in partial.iterdir()]
        if self.on_written is not None:
            try:
                self.on_written(target, digest)
            except Refused:  # voided meanwhile, as never seen: then it must never be
                target.discard(names)
                raise
        object.__setattr__(self, "directory", target)  # where it is, and no part of what it is
        return target

    def _write_files(self, directory: Path) -> str:
        """Write the tables, then what speaks of them, then release.json; give its SHA-256."""
        for kind, files in self.record.files.items():
            table = self.tables[kind].as_written()
            write_parquet(table, directory / files.parquet)
            _write_csv(table, directory / files.csv)
        for derived in derived_files(self.record):
            _write_csv(derived.make(self.arrow), directory / derived.file)
        record = replace(self.record, sha256=file_hashes(directory))
        for name, text in text_files(record).items():
            (directory / name).write_bytes(text.encode())
        content = encode(replace(record, sha256=file_hashes(directory)))
        (directory / "release.json").write_bytes(content)
        return hashlib.sha256(content).hexdigest()


def text_files(record: Record) -> dict[str, str]:
    """The texts of a bundle by file name, each made from the record and nothing else.

    They may name the hashes of the tables, and not those of each other.
    """
    return {name: make(record) for name, make in TEXTS.items()}


def file_hashes(directory: Path) -> dict[str, str]:
    """The SHA-256 of each file but release.json, which holds them."""
    names = sorted(path.name for path in directory.iterdir() if path.name != "release.json")
    return {name: sha256(directory / name) for name in names}


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_release(directory: str | Path | Place | Release) -> Release:
    """Read a release back, from a directory or from a URL in an object store.

    It may be a stranger's: what does not have the shape of a release, or leads out of its
    directory, is refused. `verify` says whether it also keeps what it promises.

    Args:
        directory: Where the release is.

    Raises:
        ReleaseError: There is no release, or not one that this version can read.
    """
    path = release_place(directory)
    try:
        record = read_record((path / "release.json").read_bytes().decode())
    except FileNotFoundError:
        raise _no_release_error(path) from None
    except ReleaseError as error:
        raise ReleaseError(
            f"release.json in {path} is damaged, or of a later version: {error}"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, StoreError):
            raise ReleaseError(f"{path} cannot be read: {error_text(error)}") from None
        raise _no_release_error(path) from None
    kinds = [part.kind for part in record.plan]
    if kinds != list(record.files) or len(set(kinds)) < len(kinds):
        raise ReleaseError(f"release.json in {path} is damaged: its plan and its tables differ")
    tables = {part.kind: _read_table(path, part, record) for part in record.plan}
    return Release(record=record, tables=tables, directory=path)


def release_place(given: str | Path | Place | Release) -> Place:
    """Where a release is that is named, or in hand.

    Raises:
        UsageError: It is in memory alone.
    """
    if not isinstance(given, Release):
        return place_of(given)
    if given.directory is None:
        raise UsageError("this release is in memory alone: release.write(DIRECTORY) first")
    return given.directory


def release_folder(given: str | Path | Place | Release) -> Path:
    """As `release_place`, for what looks at files of this machine alone.

    Raises:
        UsageError: It is in memory alone, or elsewhere.
    """
    place = release_place(given)
    local = place.local()
    if local is None:
        raise UsageError(f"{place} is not on this machine: copy the release to a folder here")
    return local


def _read_table(directory: Place, part: PartRecord, record: Record) -> Table:
    """The rows of one kind, with the columns that such items have."""
    files = record.files[part.kind]
    counted = counted_schema(files.columns)
    try:
        kind_from_record(part, files.columns)
        # `pq.read_table` would import pandas, and much else.
        with (
            file_in_folder(directory, files.parquet).open_file() as file,
            pq.ParquetFile(file) as parquet,
        ):
            table = parquet.read()
        known = (written_schema(files.columns), counted)  # 0.1.0 wrote no interval
        if table.schema not in known or any(each.null_count for each in table.columns):
            raise ValueError
        table = table.select(counted.names)
    except (OSError, ValueError, ReleaseError, pa.ArrowException):
        raise ReleaseError(f"a table of the release in {directory} is missing or damaged") from None
    return Table(arrow=table)


def _no_release_error(path: Place) -> ReleaseError:
    return ReleaseError(f"{path} holds no release: it has no readable release.json")


def check_writable(target: Path | Place, kinds: list[str]) -> None:
    """Find out before the budget is spent whether a release can be written."""
    longest = [excel_name(f"{name}.csv") for name in file_names(kinds).values()]
    place_of(target).check_file_names(longest)


def file_names(kinds: list[str]) -> dict[str, str]:
    """A file name for each kind: `columns:A+B` becomes `columns-A-B`."""
    names: dict[str, str] = {}
    for kind in kinds:
        base = re.sub(r"[^\w-]+", "-", kind).strip("-")
        # Some file systems take names that differ only in case for one.
        taken = sum(name.lower().split("~")[0] == base.lower() for name in names.values())
        names[kind] = f"{base}~{taken}" if taken else base
    return names


def _write_csv(table: pa.Table, path: Path) -> None:
    """Write a table, and a second time for spreadsheets where it has more than ASCII."""
    with path.open("w", encoding="utf-8", newline="") as file:
        write_rows(table, file)
    content = path.read_bytes()
    if needs_excel_file(content):
        path.with_name(excel_name(path.name)).write_bytes(codecs.BOM_UTF8 + content)


def excel_name(csv: str) -> str:
    """The file for spreadsheets beside a CSV file; no kind's file is called so.

    >>> excel_name("queries.csv")
    'queries.excel.csv'
    """
    return f"{csv.removesuffix('.csv')}.excel.csv"


def needs_excel_file(csv: bytes) -> bool:
    """Whether Excel shows a CSV file rightly only with a byte order mark."""
    return not csv.isascii()
