"""Time to anonymise a log over the time of the non-private count, in one run.

    python benchmarks/anonymize.py [--users 500000] [--rounds 3] [-k 10]

The yardstick is DuckDB's `select item, count(distinct user) ... group by item` on the same file
with the same item expression. `apply` is the method alone; the whole also writes the log and
counts what a recipient can count in it. Rounds are interleaved and medians are compared. Prints a
Markdown table.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

import duckdb
from publish import _timed, log_file

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.items import Kind
from zealous.logs.open_log import open_log
from zealous.study.anonymity import KKeyword, KQuery, Method, anonymize

THREADS = 2


def main() -> None:
    arguments = _arguments()
    path = log_file(arguments.users)
    k, rounds, memory = arguments.k, arguments.rounds, arguments.memory
    methods: list[tuple[Method, Kind]] = [
        (KQuery(k=k), z.queries(1)),
        (KKeyword(k=k), z.keywords(1)),
    ]
    print(f"DuckDB {duckdb.__version__}, {THREADS} threads, k = {k}, {rounds} rounds\n")
    print("| method | non-private count | apply | ratio | whole | ratio |")
    print("|---|---|---|---|---|---|")
    for method, kind in methods:
        works = (_count, _apply, _whole)
        times: list[list[float]] = [[] for _ in works]
        for _ in range(rounds):
            for work, taken in zip(works, times, strict=True):
                taken.append(work(path, method, kind, memory))
        plain, applied, whole = map(statistics.median, times)
        print(
            f"| {method.name} | {plain:.2f} s | {applied:.2f} s | **{applied / plain:.2f}** "
            f"| {whole:.2f} s | **{whole / plain:.2f}** |",
            flush=True,
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--memory", default="8GB")
    return parser.parse_args()


def _count(path: Path, _: Method, kind: Kind, memory: str) -> float:
    item = comma_separated(identifier(name) for name in kind.columns())
    sql = f"select {item}, count(distinct user) as count from items group by {item}"
    with DuckDB(memory=memory, threads=THREADS) as engine:
        source = open_log(z.read_log(path), engine)
        steps = [*source.entries, *kind.steps(source), Step("n", sql)]
        return _timed(lambda: sum(len(batch) for batch in engine.batches(steps))).wall


def _apply(path: Path, method: Method, _: Kind, memory: str) -> float:
    with DuckDB(memory=memory, threads=THREADS) as engine:
        source = open_log(z.read_log(path), engine)
        return _timed(lambda: method.apply(source)).wall


def _whole(path: Path, method: Method, _: Kind, memory: str) -> float:
    engine = DuckDB(memory=memory, threads=THREADS)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out"
        return _timed(lambda: anonymize(target, z.read_log(path), method, engine=engine)).wall


if __name__ == "__main__":
    main()
