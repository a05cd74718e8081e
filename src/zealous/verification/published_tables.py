"""The tables of a release: each by itself, and what follows from one of them for another."""

from __future__ import annotations

import codecs
import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from zealous.errors import ReleaseError
from zealous.files.csv_cells import write_rows
from zealous.libraries import pa, pc, pq
from zealous.planning.part import Part
from zealous.planning.plan import PLANNER, Plan
from zealous.record.record import PartRecord, Record, TableFiles
from zealous.release.bundle import excel_name, needs_excel_file
from zealous.release.derived.files import derived_files
from zealous.release.table import (
    INTERVAL,
    counted_schema,
    sorted_table,
    with_intervals,
    write_parquet,
    written_schema,
)
from zealous.verification.claimed_guarantee import CheckFailed, Unchecked
from zealous.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_MORE = "a Parquet file holds more than the table"
_ARROW = re.compile(r"parquet-cpp-arrow version \d+\.\d+\.\d+")
_FRAME = 12  # bytes of a Parquet file that are neither columns nor metadata
_UNREADABLE = "the table cannot be read"
_LONGEST_NUMBER = 128  # bytes of a number or a time, written out


def check_tables(path: Path, record: Record) -> str:
    """Each table is as release.json says, and its rows are such as its mechanism publishes."""
    if [part.kind for part in record.plan] != list(record.files):
        raise CheckFailed("the plan and the tables do not name the same kinds")
    rows, unlike = 0, False
    for part in record.plan:
        try:
            rows += _check_table(path, part, record)
            unlike |= not _written_alike(path / record.files[part.kind].parquet)
        except (pa.ArrowException, UnicodeError):
            raise CheckFailed(f"{part.kind}: {_UNREADABLE}") from None
        except CheckFailed as why:
            raise CheckFailed(f"{part.kind}: {why}") from None
    told = f"{rows:,} rows, sorted, all above their threshold, the same in Parquet and CSV"
    if unlike:
        raise Unchecked(
            f"{told}; another version of Arrow wrote the Parquet files, so whether they hold bytes "
            "beside these rows was not checked"
        )
    return told


def _check_table(path: Path, part: PartRecord, record: Record) -> int:
    names = record.files[part.kind]
    table = pq.read_table(path / names.parquet)
    columns, ours = list(names.columns), record.software.version == VERSION
    known = [written_schema(columns), *([] if ours else [counted_schema(columns)])]
    if not columns or table.schema not in known:
        raise CheckFailed("the columns are not those that release.json names")
    if table.schema.metadata or any(field.metadata for field in table.schema):
        raise CheckFailed(_MORE)
    if table.num_rows != names.rows:
        raise CheckFailed("release.json states another number of rows")
    if any(column.null_count for column in table.columns):
        raise CheckFailed("there are empty cells")
    if table.num_rows:
        least = part.tau_prime
        if least is not None and pc.min(table["count"]).as_py() <= least:
            raise CheckFailed("there are counts at or below the threshold tau'")
        if table.group_by(columns).aggregate([]).num_rows < table.num_rows:
            raise CheckFailed("an item stands there twice")
    counted = _without_interval(table, names)
    if not sorted_table(counted, tuple(columns)).arrow.equals(counted):
        raise CheckFailed("rows are not sorted by count, then by item")
    ours = ours or record.planner_number() == PLANNER  # another one's intervals may be others
    if ours and table != counted and not with_intervals(counted, part).equals(table):
        raise CheckFailed("count_low or count_high is not what follows from count")
    # Version 0.1.0, which named no planner, left what follows a semicolon as it is.
    semicolons = (True,) if record.planner is not None else (True, False)
    written = [_as_csv(table, semicolons=each).encode() for each in semicolons]
    if (path / names.csv).read_bytes() not in written:
        raise CheckFailed("CSV and Parquet do not hold the same rows")
    return int(table.num_rows)


def _written_alike(file: Path) -> bool:
    """Whether a Parquet file is, byte for byte, what this program writes of its rows.

    Else another version of Arrow, or of its compression, must have written it, and as far as its
    metadata goes there must be nothing else in it.
    """
    again = pa.BufferOutputStream()
    write_parquet(pq.read_table(file), again)
    wanted = again.getvalue()
    if file.read_bytes() == wanted:
        return True
    found, ours = pq.read_metadata(file), pq.read_metadata(pa.BufferReader(wanted))
    groups = [found.row_group(number) for number in range(found.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    held = sum(chunk.total_compressed_size for chunk in chunks) + found.serialized_size
    if (
        not _ARROW.fullmatch(found.created_by)
        or found.metadata.keys() != {b"ARROW:schema"}
        or [group.num_rows for group in groups]
        != [ours.row_group(number).num_rows for number in range(ours.num_row_groups)]
        or file.stat().st_size != held + _FRAME
        or (found.created_by == ours.created_by and _contents(found) != _contents(ours))
    ):
        raise CheckFailed(_MORE)
    return False


def _contents(metadata: pq.FileMetaData) -> list[object]:
    """What metadata says of the columns, whatever compresses them."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return [
        {
            name: value
            for name, value in group.column(number).to_dict().items()
            if not name.endswith(("_offset", "total_compressed_size"))
        }
        for group in groups
        for number in range(group.num_columns)
    ]


def _without_interval(table: pa.Table, names: TableFiles) -> pa.Table:
    """The item's columns and `count`, from which all else follows."""
    ends = [name for name in INTERVAL if name in table.column_names and name not in names.columns]
    return table.drop_columns(ends)


def check_excel_files(path: Path, record: Record, csvs: Sequence[str]) -> None:
    """What spreadsheets read is the CSV file with a byte order mark; it is there where needed."""
    for name in csvs:
        content, second = (path / name).read_bytes(), excel_name(name)
        if second not in record.sha256:
            if record.software.version == VERSION and needs_excel_file(content):
                raise CheckFailed(f"missing: {second}")
        elif (path / second).read_bytes() != codecs.BOM_UTF8 + content:
            raise CheckFailed(f"{second} is not {name} with a byte order mark")


def check_rows(path: Path, record: Record, *, by_parent: bool) -> str:
    """Rows agree with what they are made from: larger sets, facts, clicks, rates, associations.

    A review may have taken out rows that others were made of. What was made of these cannot be
    judged without the parent, which holds them.

    Args:
        path: The release.
        record: Its release.json.
        by_parent: Whether it is compared with its parent too.
    """
    parts = Plan.from_record(record).parts
    try:
        tables = {
            kind: _without_interval(pq.read_table(path / names.parquet), names)
            for kind, names in record.files.items()
        }
        removed, ours = _removed_rows(record), record.planner_number() == PLANNER
        unjudged = [part.name() for part in parts if any(map(removed.get, _origin_kinds(part)))]
        for part in parts:
            _check_items(part, tables[part.name()], record)
            if part.name() not in unjudged:
                _check_origin(part, tables, whole=not removed[part.name()], ours=ours)
        _check_derived(path, record, tables)
    except pa.ArrowException:
        raise CheckFailed(_UNREADABLE) from None
    except UnicodeError:
        raise CheckFailed("a file of rates or associations cannot be read") from None
    if not unjudged:
        return "items are well-formed; those made from other tables or public lists agree with them"
    told = f"a review took out rows of what {', '.join(unjudged)} are made of"
    if not by_parent:
        raise Unchecked(f"{told}: compare with the parent (--parent DIR); all else agrees")
    return f"{told}, which are compared with the parent's; all else agrees"


def _check_items(part: Part, table: pa.Table, record: Record) -> None:
    """The items are written as they are made of a log, within its limits; 0.1.0 had none."""
    limits = record.cleaning.limits
    if limits is None or not {*part.kind.columns()} <= {*table.column_names}:  # see _check_table
        return
    try:
        # Small letters can have one byte more, and numbers and times are no texts in the log.
        part.kind.check_items(table, max(2 * limits.text, _LONGEST_NUMBER))
    except ReleaseError as why:
        raise CheckFailed(f"{part.name()}: {why}") from None


def _removed_rows(record: Record) -> dict[str, int]:
    """How many rows all reviews together took out of each table."""
    return {
        kind: sum(each.removed.get(kind, 0) for each in record.reviews()) for kind in record.files
    }


def _origin_kinds(part: Part) -> list[str]:
    """The tables whose rows tell which rows a table can have."""
    follows = part.mechanism.required_kind(part.kind)
    return [*part.kind.made_of(), *([follows] if follows is not None else [])]


def _check_origin(part: Part, tables: Mapping[str, pa.Table], *, whole: bool, ours: bool) -> None:
    """The rows are among those that can be, given what was published before."""
    kind, follows = part.kind, part.mechanism.required_kind(part.kind)
    missing = {*kind.builds_on(), *([follows] if follows is not None else [])} - set(tables)
    if missing:
        raise CheckFailed(f"{part.name()}: {', '.join(sorted(missing))} must be published before")
    kind = kind.with_inputs(tables)
    mechanism = part.mechanism.with_inputs(kind.known_items())
    first = tables[follows] if follows is not None else None
    try:
        mechanism.check_rows(kind.as_counted(tables[part.name()]), first, whole=whole)
        if ours:
            mechanism.check_derived(first)
    except ReleaseError as why:
        raise CheckFailed(f"{part.name()}: {why}") from None


def _check_derived(path: Path, record: Record, tables: Mapping[str, pa.Table]) -> None:
    """Click rates, associations and the like are what the tables give.

    Another planner's releases may have other intervals, and rows in another order.
    """
    ours = record.planner_number() == PLANNER
    for each in derived_files(record):
        wanted, found = _as_csv(each.make(tables)), (path / each.file).read_bytes().decode()
        same = wanted == found if ours else _without_intervals(wanted) == _without_intervals(found)
        if not same:
            raise CheckFailed(f"{each.file} is not what the tables give")


def _without_intervals(text: str) -> list[list[str]]:
    """The rows of a CSV without its intervals, in the order of their texts."""
    names, *rows = csv.reader(io.StringIO(text, newline=""))
    kept = [number for number, name in enumerate(names) if not _is_interval_end(name)]
    return [names, *sorted([row[number] for number in kept] for row in rows)]


def _is_interval_end(column: str) -> bool:
    return column in ("low", "high") or column.endswith(("_low", "_high"))


def _as_csv(table: pa.Table, *, semicolons: bool = True) -> str:
    text = io.StringIO(newline="")
    write_rows(table, text, semicolons=semicolons)
    return text.getvalue()
