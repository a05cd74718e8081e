"""The bundle: rows, guarantee and provenance, written whole or not at all, and read back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, overload

from msgspec.structs import replace

from zealous.errors import Refused, ReleaseError
from zealous.files.csv_cells import write_rows
from zealous.files.folder import new_folder
from zealous.files.places import Place, StoreError, error_text, file_in_folder, place_of
from zealous.libraries import pa, pq
from zealous.planning.from_record import kind_from_record
from zealous.record.codec import encode
from zealous.record.record import PartRecord, Record
from zealous.release.derived.associations import association_files, associations
from zealous.release.derived.rates import FILE as RATES
from zealous.release.derived.rates import click_rates, has_click_rates
from zealous.release.schema import read_record
from zealous.release.text.readme import handout
from zealous.release.text.registry_entry import registry
from zealous.release.text.statement import statement

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class Table:
    """The published rows of one kind: the item's columns and `count`."""

    arrow: pa.Table

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame."""
        return self.arrow.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The rows as a Polars frame."""
        import polars as pl

        frame = pl.from_arrow(self.arrow)
        assert isinstance(frame, pl.DataFrame)  # noqa: S101
        return frame

    def __len__(self) -> int:
        return int(self.arrow.num_rows)


@dataclass(frozen=True, kw_only=True)
class Release:
    """What may leave: for each kind its table, and all that a recipient must know.

    Attributes:
        record: What release.json holds. No figure in it depends on the log but through the
            mechanism. Its `sha256` is empty until the release is written.
        tables: The published rows by name of kind.
        on_written: Called once the bundle is on the disk under its name, with the directory and the
            SHA-256 of its release.json.
        directory: Where it was read from.
    """

    record: Record
    tables: Mapping[str, Table]
    on_written: Callable[[Place, str], None] | None = field(default=None, compare=False, repr=False)
    directory: Place | None = field(default=None, compare=False, repr=False)

    def __getitem__(self, kind: str) -> Table:
        return self.tables[kind]

    @overload
    def write(self, directory: Path, *, not_private: bool = False) -> Path: ...

    @overload
    def write(self, directory: str | Place, *, not_private: bool = False) -> Place: ...

    def write(self, directory: str | Path | Place, *, not_private: bool = False) -> Path | Place:
        """Write the bundle into a new directory, all of it or nothing.

        Args:
            directory: Must not exist yet; also a URL in an object store, where release.json is
                written last and nothing without it is a release.
            not_private: Confirms that a release made with a fixed seed, whose noise anybody can
                subtract, is meant to be written; it stays marked.
        """
        target = place_of(directory)
        if not self.record.private and not not_private:
            raise Refused(
                "this release was made with a fixed noise seed and protects nobody: it is written "
                "only when marked as not private (not_private=True)"
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
        return target

    def _write_files(self, directory: Path) -> str:
        """Write the tables, then what speaks of them, then release.json; give its SHA-256."""
        for kind, files in self.record.files.items():
            table = self.tables[kind].arrow
            pq.write_table(table, directory / files.parquet, compression="zstd")
            _write_csv(table, directory / files.csv)
        tables = {kind: table.arrow for kind, table in self.tables.items()}
        for name, made in derived_files(self.record).items():
            _write_csv(made(tables), directory / name)
        record = replace(self.record, sha256=file_hashes(directory))
        for name, text in text_files(record).items():
            (directory / name).write_bytes(text.encode())
        content = encode(replace(record, sha256=file_hashes(directory)))
        (directory / "release.json").write_bytes(content)
        return hashlib.sha256(content).hexdigest()


def derived_files(record: Record) -> dict[str, Callable[[Mapping[str, pa.Table]], pa.Table]]:
    """What follows from the tables alone, by file name: how to make it from them."""
    found: dict[str, Callable[[Mapping[str, pa.Table]], pa.Table]] = {}
    if has_click_rates(record):
        found[RATES] = partial(click_rates, record)
    for family, name in association_files(record).items():
        found[name] = partial(associations, record, family=family)
    return found


def text_files(record: Record) -> dict[str, str]:
    """The texts of a bundle by file name, each made from the record and nothing else.

    They may name the hashes of the tables, and not those of each other.
    """
    return {
        "README.md": handout(record),
        "statement.html": statement(record),
        "registry.yaml": registry(record),
    }


def file_hashes(directory: Path) -> dict[str, str]:
    """The SHA-256 of each file but release.json, which holds them."""
    names = sorted(path.name for path in directory.iterdir() if path.name != "release.json")
    return {name: sha256(directory / name) for name in names}


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_release(directory: str | Path | Place) -> Release:
    """Read a release back, from a directory or from a URL in an object store.

    It may be a stranger's: what does not have the shape of a release, or leads out of its
    directory, is refused. `verify` says whether it also holds what it promises.

    Raises:
        ReleaseError: There is no release, or not one that this version can read.
    """
    path = place_of(directory)
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


def _read_table(directory: Place, part: PartRecord, record: Record) -> Table:
    """The rows of one kind, with the columns that such items have."""
    files = record.files[part.kind]
    wanted = pa.schema([*((name, pa.string()) for name in files.columns), ("count", pa.int64())])
    try:
        kind_from_record(part, files.columns)
        with file_in_folder(directory, files.parquet).open_file() as file:
            table = pq.read_table(file)
        if not table.schema.equals(wanted) or any(each.null_count for each in table.columns):
            raise ValueError
    except (OSError, ValueError, ReleaseError, pa.ArrowException):
        raise ReleaseError(f"a table of the release in {directory} is missing or damaged") from None
    return Table(arrow=table)


def _no_release_error(path: Place) -> ReleaseError:
    return ReleaseError(f"{path} holds no release: it has no readable release.json")


def check_writable(target: Path | Place, kinds: list[str]) -> None:
    """Find out before the budget is spent whether a release can be written."""
    place_of(target).check_file_names([f"{name}.parquet" for name in file_names(kinds).values()])


def sorted_table(table: pa.Table, columns: tuple[str, ...]) -> Table:
    """Rows by count from the top, then by item: an order that tells no more than the rows do."""
    keys = [("count", "descending"), *((name, "ascending") for name in columns)]
    return Table(arrow=table.sort_by(keys).combine_chunks())


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
    with path.open("w", encoding="utf-8", newline="") as file:
        write_rows(table, file)
