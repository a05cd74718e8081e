"""The tables of mechanisms.py: a generated log, page visits and a shop."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import zealous as z
from zealous.items import Kind
from zealous.logs.log import Log
from zealous.synthetic import generate

DATA = Path(__file__).resolve().parent / "data"
REAL = Path(__file__).resolve().parents[2] / "shared" / "data"
FEW = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 80, 120)
SLOW = (8, 10, 15, 20)  # minutes each


@dataclass(frozen=True, kw_only=True)
class Table:
    """People and things.

    Attributes:
        name: What it is called in the results.
        log: Where it is.
        items: The column that is counted; queries where not given.
        earlier: A log of the same kind, from which a prior may come.
        bounds: Which numbers of items a user are tried where the best is asked for.
    """

    name: str
    log: Log
    items: str | None = None
    earlier: Log | None = None
    bounds: Sequence[int] = FEW

    def kind(self, items_per_user: int) -> Kind:
        """What is counted."""
        if self.items is None:
            return z.queries(items_per_user)
        return z.columns(self.items, items_per_user=items_per_user)


def generated(_: Path, users: int) -> Iterator[Table]:
    """A search log, and another with other people of the same kind."""
    paths = {7: DATA / f"log-{users}.parquet", 8: DATA / f"log-{users}-8.parquet"}
    DATA.mkdir(exist_ok=True)
    for seed, path in paths.items():
        if not path.exists():
            generate(path, users=users, seed=seed)
    now, earlier = (z.read_log(path) for path in paths.values())
    bounds = SLOW if users > 100_000 else FEW
    yield Table(name=f"generated, {users:,} users", log=now, earlier=earlier, bounds=bounds)


def visits(folder: Path, _: int) -> Iterator[Table]:
    """Areas of a site that visitors saw; half of the visitors stand for an earlier period."""
    path = REAL / "anonymous-msweb.csv.gz"
    if not path.exists():
        return
    seen, visitor = [], ""
    with gzip.open(path, "rt", encoding="latin-1", newline="") as file:
        for line in csv.reader(file):
            if line[:1] == ["C"]:
                visitor = line[2]
            elif line[:1] == ["V"]:
                seen.append((visitor, line[1]))
    users, items = zip(*seen, strict=True)
    table = pa.table({"user": users, "item": items})
    half = pa.array([int(user) % 2 == 0 for user in users])
    whole, now = (
        _written(folder, name, rows)
        for name, rows in (("visits", table), ("visits-now", table.filter(half)))
    )
    odd = pa.array([int(user) % 2 == 1 for user in users])
    yield Table(name="page visits", log=whole, items="item")
    yield Table(
        name="page visits, half of the visitors",
        log=now,
        items="item",
        earlier=_written(folder, "visits-earlier", table.filter(odd)),
    )


def shop(folder: Path, _: int) -> Iterator[Table]:
    """Articles that customers bought; the months before July 2011 are the earlier period."""
    path = REAL / "online_retail.csv.gz"
    if not path.exists():
        return
    with duckdb.connect() as connection:
        connection.execute(
            "create table bought as select CustomerID as user, StockCode as item, InvoiceDate as "
            "time from read_csv($1, all_varchar = true) where CustomerID is not null",
            [str(path)],
        )
        parts = {
            "shop": "true",
            "shop-now": "time >= '2011-07'",
            "shop-earlier": "time < '2011-07'",
        }
        whole, now, earlier = (
            _written(
                folder,
                name,
                connection.execute(f"select * from bought where {when}").to_arrow_table(),
            )
            for name, when in parts.items()
        )
    yield Table(name="shop", log=whole, items="item")
    yield Table(name="shop, from July", log=now, items="item", earlier=earlier)


def _written(folder: Path, name: str, table: pa.Table) -> Log:
    path = folder / f"{name}.parquet"
    pq.write_table(table, path)
    return z.read_log(path)
