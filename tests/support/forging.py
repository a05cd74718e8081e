"""Forgeries: copies of sound releases, changed by somebody who makes all hashes right again."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import to_builtins

from zealous.errors import ReleaseError
from zealous.planning.from_record import guarantee_from_record
from zealous.planning.part import figures
from zealous.planning.plan import Plan
from zealous.record.codec import decode
from zealous.record.record import Record
from zealous.release.bundle import TEXTS, _write_csv, text_files
from zealous.release.derived.files import derived_files
from zealous.release.table import INTERVAL, sorted_table, with_intervals, write_parquet
from zealous.verification import claimed_guarantee

About = dict[str, Any]
Tables = dict[str, pa.Table]
FIXTURES = Path(__file__).parents[1] / "fixtures" / "0.1.0"


def forge(path: Path, change: Callable[[About], object]) -> None:
    """Change release.json as somebody would who knows the program: hashes and texts agree again."""
    about = json.loads((path / "release.json").read_text())
    change(about)
    rehash(path, about)
    try:
        for name, text in text_files(record_in(about)).items():
            if name in about["sha256"]:  # 0.1.0 wrote fewer
                (path / name).write_text(text)
    except (KeyError, TypeError, ValueError, ZeroDivisionError, ReleaseError):
        pass  # what cannot be told in words is left as it was
    rehash(path, about)
    (path / "release.json").write_text(json.dumps(about))


def restate(about: About) -> None:
    """Everything that follows from the parameters, said anew: a forgery without a contradiction."""
    record = record_in(about)
    goal = guarantee_from_record(record.guarantee, record.guarantee.definition)
    about["guarantee"] = to_builtins(claimed_guarantee.stated_guarantee(goal, record, goal.theorem))
    for part, again in zip(about["plan"], Plan.from_record(record).parts, strict=True):
        part.update(figures(again))
    record = record_in(about)
    about["also_guaranteed"] = to_builtins(claimed_guarantee.stated_other_guarantee(record))
    about["assumptions"] = list(claimed_guarantee.stated_assumptions(record))


def record_in(about: About) -> Record:
    """The record that such a release.json holds."""
    return decode(json.dumps(about))


def rehash(path: Path, about: About) -> None:
    for name in about["sha256"]:
        about["sha256"][name] = hashlib.sha256((path / name).read_bytes()).hexdigest()


def forged(
    source: Path,
    target: Path,
    change: Callable[[About, Tables], object],
    edit: Callable[[Path], object] = lambda _: None,
) -> Path:
    """A changed copy: sorted, counted, with what follows from its tables, and hashed.

    Args:
        source: A sound release.
        target: Where the copy goes.
        change: Changes release.json and the tables.
        edit: Changes files of the copy before they are hashed.
    """
    shutil.copytree(source, target)
    about = json.loads((target / "release.json").read_text())
    tables = {
        kind: pq.read_table(target / names["parquet"]) for kind, names in about["files"].items()
    }
    with_interval = {kind for kind, each in tables.items() if INTERVAL[0] in each.column_names}
    tables |= {kind: tables[kind].drop_columns(list(INTERVAL)) for kind in with_interval}
    change(about, tables)
    kept = set(TEXTS) & about["sha256"].keys()
    for kind, names in about["files"].items():
        table = sorted_table(tables[kind], tuple(names["columns"])).arrow
        tables[kind] = table
        names["rows"] = table.num_rows
        written = as_written(about, kind, table) if kind in with_interval else table
        write_parquet(written, target / names["parquet"])
        _write_csv(written, target / names["csv"])
        kept |= {names["parquet"], names["csv"]}
    try:
        for each in derived_files(record_in(about)):
            _write_csv(each.make(tables), target / each.file)
            kept.add(each.file)
    except (KeyError, ValueError, ReleaseError):
        pass  # what does not follow is left as it was
    kept |= {path.name for path in target.glob("*.excel.csv")}
    edit(target)
    for path in target.iterdir():
        if path.name not in {*kept, "release.json"}:
            path.unlink()
    about["sha256"] = dict.fromkeys(sorted(kept), "")
    (target / "release.json").write_text(json.dumps(about))
    forge(target, lambda _: None)
    return target


def as_written(about: About, kind: str, table: pa.Table) -> pa.Table:
    """A table with the intervals that follow from its counts; those of before where none do."""
    try:
        (found,) = (each for each in record_in(about).plan if each.kind == kind)
        return with_intervals(table, found)
    except (KeyError, ValueError, ZeroDivisionError, ReleaseError):
        return table.append_column(INTERVAL[0], table["count"]).append_column(
            INTERVAL[1], table["count"]
        )


def part(about: About, kind: str) -> About:
    """What release.json says of one table."""
    (found,) = (each for each in about["plan"] if each["kind"] == kind)
    return found


def drop(about: About, *kinds: str) -> None:
    """Without some tables."""
    about["plan"] = [each for each in about["plan"] if each["kind"] not in kinds]
    about["files"] = {kind: each for kind, each in about["files"].items() if kind not in kinds}


def reorder(about: About, *kinds: str) -> None:
    """The tables in another order."""
    about["plan"] = [part(about, kind) for kind in kinds]
    about["files"] = {kind: about["files"][kind] for kind in kinds}


def add(tables: Tables, kind: str, *row: object) -> None:
    """One row more."""
    table = tables[kind]
    more = {name: [value] for name, value in zip(table.column_names, row, strict=True)}
    tables[kind] = pa.concat_tables([table, pa.table(more, schema=table.schema)])
