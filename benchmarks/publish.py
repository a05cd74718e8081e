"""Time to the thresholded histogram over the time of the non-private count, in one run.

    python benchmarks/publish.py [--users 500000] [--rounds 5] [--items-per-user 5]

The yardstick is DuckDB's `select item, count(distinct user) ... group by item having ... >= tau` on
the same file with the same item expression. Rounds are interleaved and medians are compared, since
machines are noisy; where others use the machine too, the ratio of processor time says more. Noise
and writing are timed apart. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import duckdb
import pyarrow as pa
from msgspec.structs import replace

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.items import Kind
from zealous.logs.open_log import open_log
from zealous.logs.source import Source
from zealous.planning.part import Part
from zealous.record.record import Record
from zealous.release import bundle
from zealous.release.provenance import table_files
from zealous.release.table import sorted_table
from zealous.synthetic import generate

DATA = Path(__file__).parent / "data"
THREADS = 2


def main() -> None:
    arguments = race_options(__doc__).parse_args()
    path = log_file(arguments.users)
    m = arguments.items_per_user
    kinds = [z.queries(m), z.clicks(m), z.keywords(m), z.query_pairs(m)]
    goal = z.ProbabilisticDP(epsilon=2, delta="0.001", users=arguments.users)
    print(f"DuckDB {duckdb.__version__}, {THREADS} threads, m = {m}, {arguments.rounds} rounds\n")
    print("| kind | non-private count | zealous | ratio | of processor time | noise | writing |")
    print("|---|---|---|---|---|---|---|")
    with DuckDB(memory=arguments.memory, threads=THREADS) as engine:
        source = open_log(z.read_log(path), engine)
        for kind in kinds:
            (part,) = z.plan(goal, [kind]).parts
            plain, private = _race(kind, part, source, arguments.rounds)
            noise, writing = _rest(part, source)
            print(
                f"| {kind.name()} | {plain.wall:.2f} s | {private.wall:.2f} s "
                f"| **{private.wall / plain.wall:.2f}** | {private.cpu / plain.cpu:.2f} "
                f"| {noise.wall:.2f} s | {writing.wall:.2f} s |",
                flush=True,
            )
        users = _timed(lambda: engine.rows([*source.entries, Step("n", _USERS)]))
        print(f"\nChecking the number of users, once a release: {users.wall:.2f} s")


_USERS = "select count(distinct user) from entries"


class Seconds(NamedTuple):
    """Time that passed, and time that all threads worked."""

    wall: float
    cpu: float


def race_options(description: str | None) -> argparse.ArgumentParser:
    """The options of a program that times runs on a generated log."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--users", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--items-per-user", type=int, default=5)
    parser.add_argument("--memory", default="8GB")
    return parser


def log_file(users: int, seed: int = 7) -> Path:
    """A generated search log; other people of the same kind with another seed."""
    path = DATA / (f"log-{users}.parquet" if seed == 7 else f"log-{users}-{seed}.parquet")
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        print(f"generating {path.name} (once)")
        generate(path, users=users, seed=seed)
    return path


def _race(kind: Kind, part: Part, source: Source, rounds: int) -> tuple[Seconds, Seconds]:
    item = comma_separated(identifier(name) for name in kind.columns())
    tau = part.mechanism.tau
    sql = f"select {item}, count(distinct user) as count from items group by {item}"
    plain = [*source.entries, *kind.steps(source), Step("n", f"{sql} having count >= {tau}")]
    times: dict[str, list[Seconds]] = {"plain": [], "private": []}
    for _ in range(rounds):
        times["plain"].append(_timed(lambda: _drain(source.engine.batches(plain))))
        times["private"].append(_timed(lambda: _drain(_count(part, source))))
    return _median(times["plain"]), _median(times["private"])


def _median(times: list[Seconds]) -> Seconds:
    return Seconds(*map(statistics.median, zip(*times, strict=True)))


def _count(part: Part, source: Source) -> Iterable[pa.RecordBatch]:
    m, tau = part.mechanism.items_per_user, part.mechanism.tau
    return histogram(part.kind, source, bound=m, at_least=tau, select="random", key=1)


def _drain(batches: Iterable[pa.RecordBatch]) -> list[pa.RecordBatch]:
    return list(batches)


def _rest(part: Part, source: Source) -> tuple[Seconds, Seconds]:
    """Noise on the counted rows, and writing what survives."""
    counted = _drain(_count(part, source))
    published: list[pa.RecordBatch] = []

    def count(**_: object) -> list[pa.RecordBatch]:
        return counted

    noise = _timed(lambda: published.extend(part.mechanism.release(count, os.urandom)))
    columns = part.kind.columns()
    schema = pa.schema([*((name, pa.string()) for name in columns), ("count", pa.int64())])
    table = sorted_table(pa.Table.from_batches(published, schema), columns)
    with tempfile.TemporaryDirectory() as folder:
        record = _record(Path(folder) / "log.csv")
        record = replace(record, private=True, plan=(), files=table_files({"t": table}))
        release = bundle.Release(record=record, tables={"t": table})
        # Only the tables are timed.
        with mock.patch.object(bundle, "text_files", return_value={}):
            writing = _timed(lambda: release.write(Path(folder) / "out"))
    return noise, writing


def _record(path: Path) -> Record:
    """What some release says of itself."""
    path.write_text("user,query\na,b\n", encoding="utf-8")
    goal = z.Indistinguishability(epsilon=1, delta="0.1")
    return z.publish(z.read_log(path), goal, [z.queries(1)], seed=0).record


def _timed(work: Callable[[], object]) -> Seconds:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu)


if __name__ == "__main__":
    main()
