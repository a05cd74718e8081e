"""The tables of a release: each by itself, and what follows from one of them for another."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zealous.errors import ReleaseError
from zealous.files.csv_cells import write_rows
from zealous.planning.part import Part
from zealous.planning.plan import PLANNER, Plan
from zealous.record.record import PartRecord, Record
from zealous.release.bundle import derived_files, sorted_table
from zealous.verify.claim import Failed, Unchecked

if TYPE_CHECKING:
    from collections.abc import Mapping


_UNREADABLE = "the table cannot be read"


def check_tables(path: Path, record: Record) -> str:
    """Each table is as release.json says, and its rows are such as its mechanism publishes."""
    if [part.kind for part in record.plan] != list(record.files):
        raise Failed("the plan and the tables do not name the same kinds")
    rows = 0
    for part in record.plan:
        try:
            rows += _check_table(path, part, record)
        except (pa.ArrowException, UnicodeError):
            raise Failed(f"{part.kind}: {_UNREADABLE}") from None
        except Failed as why:
            raise Failed(f"{part.kind}: {why}") from None
    return f"{rows:,} rows, sorted, all above their threshold, the same in Parquet and CSV"


def _check_table(path: Path, part: PartRecord, record: Record) -> int:
    names = record.files[part.kind]
    table = pq.read_table(path / names.parquet)
    columns = list(names.columns)
    wanted = pa.schema([*((name, pa.string()) for name in columns), ("count", pa.int64())])
    if not columns or not table.schema.equals(wanted):
        raise Failed("the columns are not those that release.json names")
    if (pq.read_metadata(path / names.parquet).metadata or {}).keys() - {b"ARROW:schema"} or (
        table.schema.metadata or any(field.metadata for field in table.schema)
    ):
        raise Failed("a Parquet file holds more than the table")
    if table.num_rows != names.rows:
        raise Failed("release.json states another number of rows")
    if any(column.null_count for column in table.columns):
        raise Failed("there are empty cells")
    if table.num_rows:
        least = part.tau_prime
        if least is not None and pc.min(table["count"]).as_py() <= least:
            raise Failed("there are counts at or below the threshold tau'")
        if table.group_by(columns).aggregate([]).num_rows < table.num_rows:
            raise Failed("an item stands there twice")
    if not sorted_table(table, tuple(columns)).arrow.equals(table):
        raise Failed("rows are not sorted by count, then by item")
    # Version 0.1.0, which named no planner, left what follows a semicolon as it is.
    semicolons = (True,) if record.planner is not None else (True, False)
    written = [_as_csv(table, semicolons=each).encode() for each in semicolons]
    if (path / names.csv).read_bytes() not in written:
        raise Failed("CSV and Parquet do not hold the same rows")
    return int(table.num_rows)


def check_rows(path: Path, record: Record, *, by_parent: bool) -> str:
    """What follows from other tables does: larger sets, facts, clicks, rates, associations.

    A review may have taken out rows that others were made of. What was made of these cannot be
    judged without the parent, which holds them.

    Args:
        path: The release.
        record: Its release.json.
        by_parent: Whether it is compared with its parent too.
    """
    parts = Plan.from_record(record).parts
    try:
        tables = {kind: pq.read_table(path / names.parquet) for kind, names in record.files.items()}
        removed = _removed_rows(record)
        unjudged = [part.name() for part in parts if any(map(removed.get, _origin_kinds(part)))]
        for part in parts:
            if part.name() not in unjudged:
                _check_origin(part, tables, whole=not removed[part.name()])
        _check_derived(path, record, tables)
    except pa.ArrowException:
        raise Failed(_UNREADABLE) from None
    except UnicodeError:
        raise Failed("a file of rates or associations cannot be read") from None
    if not unjudged:
        return "all that follows from other tables, or from a public rule, does"
    told = f"a review took out rows of what {', '.join(unjudged)} are made of"
    if not by_parent:
        raise Unchecked(f"{told}: compare with the parent (--parent DIR); all else follows")
    return f"{told}, which are compared with the parent's; all else follows"


def _removed_rows(record: Record) -> dict[str, int]:
    """How many rows all reviews together took out of each table."""
    return {
        kind: sum(each.removed.get(kind, 0) for each in record.reviews()) for kind in record.files
    }


def _origin_kinds(part: Part) -> list[str]:
    """The tables whose rows tell which rows a table can have."""
    follows = part.mechanism.follows
    return [*part.kind.made_of(), *([follows] if follows is not None else [])]


def _check_origin(part: Part, tables: Mapping[str, pa.Table], *, whole: bool) -> None:
    """The rows are among those that can be, given what was published before."""
    kind, follows = part.kind, part.mechanism.follows
    missing = {*kind.builds_on(), *([follows] if follows is not None else [])} - set(tables)
    if missing:
        raise Failed(f"{part.name()}: {', '.join(sorted(missing))} must be published before")
    kind = kind.with_inputs(tables)
    mechanism = part.mechanism.with_inputs(kind.known_items())
    first = tables[follows] if follows is not None else None
    try:
        mechanism.check_rows(kind.as_counted(tables[part.name()]), first, whole=whole)
    except ReleaseError as why:
        raise Failed(f"{part.name()}: {why}") from None


def _check_derived(path: Path, record: Record, tables: Mapping[str, pa.Table]) -> None:
    """Rates and associations are what the tables give.

    Another planner's releases may have other intervals, and rows in another order.
    """
    ours = record.planner_number() == PLANNER
    for name, made in derived_files(record).items():
        wanted, found = _as_csv(made(tables)), (path / name).read_bytes().decode()
        same = wanted == found if ours else _without_intervals(wanted) == _without_intervals(found)
        if not same:
            raise Failed(f"{name} is not what the tables give")


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
