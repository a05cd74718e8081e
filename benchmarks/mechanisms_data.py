"""The tables of mechanisms.py: generated logs, and real tables where they are available."""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from publish import log_file

import zealous as z
from zealous.items import Kind
from zealous.logs.log import Log

REAL = Path(__file__).resolve().parents[2] / "shared" / "data"
DESIGN = "pooled rounds were designed on it"
LIMITS = "pooled rounds were not designed on it, but the limits of auto were tried on it"
UNSEEN = "nothing was designed on it"


@dataclass(frozen=True, kw_only=True)
class Table:
    """People and things.

    Attributes:
        name: What it is called in the results.
        log: Where it is.
        used: What of the mechanisms was designed on it.
        items: The column that is counted; queries where not given.
        large: Whether a draw takes many seconds, so that fewer settings are tried.
    """

    name: str
    log: Log
    used: str
    items: str | None = None
    large: bool = False

    def kind(self, items_per_user: int) -> Kind:
        """What is counted."""
        if self.items is None:
            return z.queries(items_per_user)
        return z.columns(self.items, items_per_user=items_per_user)


def table_options(
    description: str | None, *, users: Sequence[int] = (), draws: int
) -> argparse.ArgumentParser:
    """The options of a program that measures on these tables."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--real", nargs="*", choices=list(REAL_TABLES), default=list(REAL_TABLES))
    parser.add_argument("--tables", nargs="*", default=[], metavar="FILE:USER:COLUMN")
    parser.add_argument("--users", type=int, nargs="*", default=users, help="of generated logs")
    parser.add_argument("--draws", type=int, default=draws)
    return parser


def chosen_tables(arguments: argparse.Namespace, folder: Path) -> Iterator[Table]:
    """The tables that these options choose; real ones where they are available."""
    for name in arguments.real if REAL.exists() else ():
        yield from REAL_TABLES[name](folder)
    yield from map(given, arguments.tables)
    yield from map(generated, arguments.users)


def generated_log(users: int, seed: int = 7) -> Log:
    """A search log; other people of the same kind with another seed."""
    return z.read_log(log_file(users, seed))


def generated(users: int) -> Table:
    """A search log."""
    name = f"generated, {users:,} users"
    return Table(name=name, log=generated_log(users), used=DESIGN, large=users > 100_000)


def visits(folder: Path) -> Iterator[Table]:
    """Areas of a site that visitors saw."""
    seen, visitor = [], ""
    with gzip.open(REAL / "anonymous-msweb.csv.gz", "rt", encoding="latin-1", newline="") as file:
        for line in csv.reader(file):
            if line[:1] == ["C"]:
                visitor = line[2]
            elif line[:1] == ["V"]:
                seen.append((visitor, line[1]))
    users, items = zip(*seen, strict=True)
    log = _written(folder, "visits", pa.table({"user": users, "item": items}))
    yield Table(name="page visits", log=log, used=DESIGN, items="item")


def shop(folder: Path) -> Iterator[Table]:
    """Articles that customers bought."""
    sql = "select CustomerID as user, StockCode as item from rows where CustomerID is not null"
    log = _selected(folder, "shop", "online_retail.csv.gz", sql)
    yield Table(name="online_retail", log=log, used=DESIGN, items="item")


def diagnoses(folder: Path) -> Iterator[Table]:
    """First diagnoses of patients, and all three of each encounter."""
    source = "patient_diagnoses.csv.gz"
    first = "select patient as user, diag_1 as item from rows"
    log = _selected(folder, "diag_1", source, first)
    yield Table(name="patient_diagnoses, diag_1", log=log, used=LIMITS, items="item")
    all_three = "select patient as user, unnest([diag_1, diag_2, diag_3]) as item from rows"
    log = _selected(folder, "diagnoses", source, all_three)
    yield Table(name="patient_diagnoses", log=log, used=DESIGN, items="item")


REAL_TABLES: dict[str, Callable[[Path], Iterator[Table]]] = {
    "visits": visits,
    "shop": shop,
    "diagnoses": diagnoses,
}


def given(text: str) -> Table:
    """A table of the caller's: FILE:USER:COLUMN."""
    path, user, column = text.rsplit(":", 2)
    log = z.read_log(path, columns=z.Columns(user=user))
    return Table(name=Path(path).name, log=log, used=UNSEEN, items=column)


def _selected(folder: Path, name: str, source: str, sql: str) -> Log:
    with duckdb.connect() as connection:
        connection.execute(
            f"create view rows as select * from read_csv('{REAL / source}', all_varchar = true)"
        )
        return _written(folder, name, connection.sql(sql).to_arrow_table().drop_null())


def _written(folder: Path, name: str, table: pa.Table) -> Log:
    path = folder / f"{name}.parquet"
    pq.write_table(table, path)
    return z.read_log(path)
