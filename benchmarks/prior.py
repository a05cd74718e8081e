"""What a public prior yields: pooled rounds with and without the release of an earlier table.

    python benchmarks/prior.py [--users 50000] [--real visits shop diagnoses] [--draws 3]

The prior is what pooled rounds publish, at the same guarantee, of other people or earlier months:
generated logs of other seeds, half of the visitors and patients, purchases before July. At epsilon
1 and delta 1e-6, add-remove. Real releases with real noise, thrown away. Prints a Markdown table.
Real tables stand in ../shared/data where available.
"""

from __future__ import annotations

import argparse
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
from mechanisms_data import REAL, REAL_TABLES, generated_log

import zealous as z
from zealous.counting.log_count import LogCount
from zealous.engines.duckdb import DuckDB
from zealous.items import Kind
from zealous.logs.open_log import open_log
from zealous.mechanisms.pooled import Pooled
from zealous.mechanisms.prior import Prior
from zealous.study.mechanism_comparison import measure_draw
from zealous.study.releases.encoded_log import CachedCounting, encode

GOAL = z.Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
COUNTED = {"visits": 5, "shop": 20, "diagnoses": 5}


class Halves(NamedTuple):
    """An earlier table and a later one."""

    name: str
    earlier: z.Log
    later: z.Log
    kind: Kind


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, nargs="*", default=[50_000])
    parser.add_argument("--real", nargs="*", choices=list(REAL_TABLES), default=list(REAL_TABLES))
    parser.add_argument("--draws", type=int, default=3)
    arguments = parser.parse_args()
    print("| table | items in the prior | pooled | prior |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for halves in _tables(arguments, Path(folder)):
            print(_row(halves, arguments.draws), flush=True)


def _tables(arguments: argparse.Namespace, folder: Path) -> Iterator[Halves]:
    for name in arguments.real if REAL.exists() else ():
        *_, table = REAL_TABLES[name](folder)
        kind = table.kind(COUNTED[name])
        if name == "shop":
            rows = (
                "select CustomerID as user, StockCode as item, InvoiceDate < '2011-07-01' as early "
                f"from read_csv('{REAL / 'online_retail.csv.gz'}', all_varchar = true) "
                "where CustomerID is not null"
            )
        else:
            rows = f"select *, hash(user) % 2 = 0 as early from '{table.log.paths[0]}'"
        with duckdb.connect() as connection:
            early, late = (
                connection.sql(f"select user, item from ({rows}) where early = {early}")
                .to_arrow_table()
                .drop_null()
                for early in (True, False)
            )
        yield Halves(table.name, z.read_log(early), z.read_log(late), kind)
    for users in arguments.users:
        logs = generated_log(users, 8), generated_log(users)
        yield Halves(f"generated, {users:,} users", *logs, z.queries(10))


def _row(halves: Halves, draws: int) -> str:
    kind, m = halves.kind, halves.kind.items_per_user
    pooled = Pooled.calibrate(GOAL, m)
    with DuckDB() as engine:
        source = open_log(halves.earlier, engine, kind.extra_columns())
        key = secrets.randbits(64)
        batches = pooled.release(LogCount(kind=kind, source=source, select="random", key=key))
    columns = {name: pa.array([], pa.string()) for name in kind.columns()}
    empty = pa.table({**columns, "count": pa.array([], pa.int64())})
    prior = pa.Table.from_batches(batches) if batches else empty
    with DuckDB() as engine:
        source = open_log(halves.later, engine, kind.extra_columns())
        coded, tables = encode(kind, source, {"prior": prior})
        counting = CachedCounting(coded)
        means = [
            sum(
                measure_draw(each, counting, secrets.randbits(64))["items"] or 0
                for _ in range(draws)
            )
            / draws
            for each in (pooled, Prior.calibrate(GOAL, m).with_inputs(tables["prior"]))
        ]
    return f"| {halves.name} | {prior.num_rows:,} | {means[0]:,.0f} | {means[1]:,.0f} |"


if __name__ == "__main__":
    main()
