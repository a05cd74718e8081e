"""Time and memory to find substitutions for the 100,000 most frequent queries.

    python benchmarks/substitution.py [--users 500000] [--queries 100000] [--held-out]

Learns from the true query pairs of the log, and from what ZEALOUS would leave of them with m = 1
and a threshold of 10, and ranks both against each other. Counting the log is not timed. Prints a
Markdown table.

With --held-out it compares the ways to learn instead: each learns the true pairs from one half of
the people, and is asked what the other half asked next.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from publish import log_file

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.logs.open_log import open_log
from zealous.study.measures.jones import LEARNERS, ModelledSubstitutions
from zealous.study.measures.ranking import ranking_quality
from zealous.study.measures.substitution import learn
from zealous.study.releases.original_histogram import Ints, count_original, read_original

KINDS = (z.queries(1), z.query_pairs(1), z.phrase_pairs(1))
THRESHOLD = 10
SEED = 7


def main() -> None:
    arguments = _arguments()
    if arguments.counted:
        measure = _compare_learners if arguments.held_out else _rank
        measure(Path(arguments.counted), arguments.queries)
        return
    with tempfile.TemporaryDirectory() as folder:
        _count(log_file(arguments.users), Path(folder))
        # In a process of its own, so that its peak memory is not that of counting.
        number = str(arguments.queries)
        program = [sys.executable, __file__, "--queries", number, "--counted", folder]
        subprocess.run(program + ["--held-out"] * arguments.held_out, check=True)


def _count(log: Path, folder: Path) -> None:
    with DuckDB(threads=2) as engine:
        source = open_log(z.read_log(log), engine)
        for kind in KINDS:
            file = folder / "counted.parquet"
            count_original(kind, source, file, bounds=[1], key=7)
            found = read_original(kind, file, 1, [1])
            table = found.items.append_column("count", pa.array(found.users))
            pq.write_table(table, folder / f"{kind.name()}.parquet")
            left = found.kept[1] > THRESHOLD
            table = table.set_column(table.num_columns - 1, "count", pa.array(found.kept[1]))
            pq.write_table(table.filter(pa.array(left)), folder / f"{kind.name()}-left.parquet")


def _rank(folder: Path, number: int) -> None:
    queries, pairs = (pq.read_table(folder / f"{n}.parquet") for n in ("queries", "query-pairs"))
    asked = queries["query"].slice(0, number)
    print(f"{number:,} queries; peak memory after reading {_peak():.2f} GB\n")
    print("| learned from | pairs | learn | top 5 | measure | coverage | peak memory |")
    print("|---|---|---|---|---|---|---|")
    started = time.perf_counter()
    learned = learn(pairs, queries)
    middle = time.perf_counter()
    truth = learned.top(asked, 5)
    ended = time.perf_counter()
    print(
        f"| all query pairs | {len(pairs):,} | {middle - started:.1f} s | {ended - middle:.1f} s "
        f"| | | {_peak():.2f} GB |"
    )
    del learned, pairs, queries
    left = pq.read_table(folder / "queries-left.parquet")
    for kind in ("query-pairs", "phrase-pairs"):
        pairs = pq.read_table(folder / f"{kind}-left.parquet")
        times = [time.perf_counter()]
        learned = learn(pairs, left)
        times.append(time.perf_counter())
        found = learned.top(asked, 5)
        times.append(time.perf_counter())
        figures = list(ranking_quality(truth, found))
        times.append(time.perf_counter())
        coverage = next(each.value for each in figures if each.measure == "coverage")
        taken = " | ".join(f"{each:.2f} s" for each in np.diff(times))
        print(f"| frequent {kind} | {len(pairs):,} | {taken} | {coverage:.2f} | |")


def _compare_learners(folder: Path, number: int) -> None:
    """Each of `LEARNERS`, and its candidates ranked by the ratio, against the other half."""
    queries, pairs = (pq.read_table(folder / f"{n}.parquet") for n in ("queries", "query-pairs"))
    counts = pairs["count"].to_numpy()
    other = np.random.default_rng(SEED).binomial(counts, 0.5)
    at = pairs.schema.get_field_index("count")
    one = pairs.set_column(at, "count", pa.array(counts - other)).filter(pa.array(counts > other))
    asked = queries["query"].slice(0, number)
    following = _following(pairs, other, asked)
    print("| | queries with substitutions | first | among five | seconds |")
    print("|---|---|---|---|---|")
    for name, learn_by in LEARNERS.items():
        started = time.perf_counter()
        learned = learn_by(one, queries)
        rows = {f"`{name}`": learned}
        if isinstance(learned, ModelledSubstitutions):
            rows[f"the candidates of `{name}`, ranked by the ratio"] = replace(learned, model=None)
        for label, each in rows.items():
            found = each.top(asked, 5).table
            seconds, started = time.perf_counter() - started, time.perf_counter()
            covered, first, five = _hits(found, following)
            print(f"| {label} | {covered:,} | {first:.1%} | {five:.1%} | {seconds:.1f} |")


def _following(pairs: pa.Table, held_out: Ints, asked: pa.ChunkedArray) -> list[dict[str, int]]:
    """What the held out people asked next after each query, and how many of them."""
    places = {query: place for place, query in enumerate(asked.to_pylist())}
    found: list[dict[str, int]] = [{} for _ in places]
    texts = (pairs[name].to_pylist() for name in ("query", "next_query"))
    for query, after, people in zip(*texts, held_out.tolist(), strict=True):
        if people and query in places:
            found[places[query]][after] = people
    return found


def _hits(found: pa.Table, following: list[dict[str, int]]) -> tuple[int, float, float]:
    """Queries with substitutions; the share of their next queries that is first, and in five."""
    first = five = 0
    for row in found.to_pylist():
        people = following[row["place"]].get(row["candidate"], 0)
        five += people
        first += people if row["rank"] == 0 else 0
    covered = found["place"].unique().to_pylist()
    people = sum(sum(following[place].values()) for place in covered)
    return len(covered), first / max(1, people), five / max(1, people)


def _peak() -> float:
    # Not ru_maxrss: a child inherits it from the process that started it.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e9


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=500_000)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--held-out", action="store_true", help="compare the ways to learn")
    parser.add_argument("--counted", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
