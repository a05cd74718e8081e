"""Whole processes of `zealous publish` over whole processes that count without privacy, in one run.

    python benchmarks/whole.py [--users 500000] [--rounds 5] [--only "four kinds" queries start]

The yardstick is a fresh Python process in which DuckDB runs `select item, count(distinct user) ...
group by item having ... >= tau` for the same kinds on the same file, with the same item expressions
and as many threads; that of `pooled` is `zealous publish` by `gaussian`; that of
Spark is the same count of queries on Spark, where only wall time says anything, since its Java
process is another. The two alternate. A ratio
is the median of the rounds' ratios; the lowest and the highest stand beside it. `start` is what
commands without a log take. Prints Markdown tables.

The log is a generated one without the note that says so, so that a ledger is charged and copies of
the log are looked for, as with any log.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import duckdb
from publish import log_file, race_options

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step, comma_separated, identifier, statement
from zealous.items import Kind
from zealous.logs.open_log import open_log

THREADS = 2
SMALL = 300  # users
PROGRAM = str(Path(sys.executable).with_name("zealous"))
FOLDER = "FOLDER"  # in a command: one of its own
COUNT = f"""
import sys, duckdb
with duckdb.connect(config={{"threads": {THREADS}, "memory_limit": sys.argv[1]}}) as connection:
    for each in open(sys.argv[2], encoding="utf-8").read().split(";\\n"):
        result = connection.sql(each)  # to ask whether it is true would run it once more
        if result is not None:
            print(result.to_arrow_table().num_rows)
"""
COPY = """
import sys, pyarrow.parquet as pq
pq.write_table(pq.read_table(sys.argv[1]).replace_schema_metadata(None), sys.argv[2])
"""
SPARK = {"spark.driver.memory": "6g", "spark.ui.enabled": "false"}
COUNT_ON_SPARK = f"""
import sys, zealous as z
from zealous.engines.spark import Spark
from zealous.engines.sql import Step
from zealous.logs.open_log import open_log
count = "select query, count(distinct user) as count from items group by query having count >= "
with Spark(master="local[{THREADS}]", conf={SPARK}) as engine:
    source = open_log(z.read_log(sys.argv[1]), engine)
    last = Step("counted", count + sys.argv[2])
    print(sum(map(len, engine.batches([*source.entries, *z.queries(1).steps(source), last]))))
"""
KINDS: dict[str, Callable[[int], Kind]] = {
    "queries": z.queries,
    "clicks": z.clicks,
    "keywords": z.keywords,
    "query-pairs": z.query_pairs,
}
STRICT = ("--guarantee", "indistinguishable", "--epsilon", "1", "--delta", "1e-6", "--accept-delta")
DELTA = ("--delta", "0.001")
START = {
    "import zealous": [sys.executable, "-c", "import zealous"],
    "zealous --help": [PROGRAM, "--help"],
    "zealous plan": [PROGRAM, "plan", "--items", "queries", "--items-per-user", "5", "--users",
                     "500000", "--epsilon", "2", "--delta", "0.001"],
}  # fmt: skip


class Race(NamedTuple):
    """What is measured, and by what."""

    yardstick: list[str]
    command: list[str]


class Used(NamedTuple):
    """What a process took: seconds, processor seconds, and bytes at its peak."""

    wall: float
    cpu: float
    memory: float


def main() -> None:
    parser = race_options(__doc__)
    parser.add_argument("--only", nargs="+", help="names of the first column, or start")
    arguments = parser.parse_args()
    rounds, only = arguments.rounds, arguments.only
    print(f"DuckDB {duckdb.__version__}, {THREADS} threads, {rounds} rounds\n")
    print(
        "| whole process | yardstick | zealous | ratio | lowest to highest | "
        "of processor time | peak memory |"
    )
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, make in _races(arguments, Path(folder)).items():
            if not only or name in only:
                race = make()
                pairs = [(_run(race.yardstick), _run(race.command)) for _ in range(rounds)]
                print(_row(name, pairs), flush=True)
    if not only or "start" in only:
        print("\n| command | processor time |\n|---|---|")
        for name, command in START.items():
            print(f"| {name} | {_median([_run(command) for _ in range(rounds)]).cpu:.2f} s |")


def _row(name: str, pairs: Sequence[tuple[Used, Used]]) -> str:
    plain, own = (_median(each) for each in zip(*pairs, strict=True))
    walls = [one.wall / other.wall for other, one in pairs]
    cpu = statistics.median(one.cpu / other.cpu for other, one in pairs)
    return (
        f"| {name} | {plain.wall:.2f} s | {own.wall:.2f} s | **{statistics.median(walls):.2f}** "
        f"| {min(walls):.2f} to {max(walls):.2f} | {cpu:.2f} | {own.memory / 1e9:.2f} GB |"
    )


def _median(used: Sequence[Used]) -> Used:
    return Used(*map(statistics.median, zip(*used, strict=True)))


def _races(arguments: argparse.Namespace, folder: Path) -> dict[str, Callable[[], Race]]:
    """All that is measured."""
    parquet = _unlabelled(log_file(arguments.users))

    def publish(log: Path, kinds: Sequence[str], *how: str) -> list[str]:
        return [
            PROGRAM, "publish", str(log), "--items", ",".join(kinds), *how,
            "--items-per-user", str(arguments.items_per_user), "--users", str(arguments.users),
            "--memory", arguments.memory, "--threads", str(THREADS), "--temporary", FOLDER,
            "--ledger", f"{FOLDER}/ledger.db", "--proceed", "-o", f"{FOLDER}/out",
        ]  # fmt: skip

    def over_count(kinds: Sequence[str], suffix: str = ".parquet") -> Race:
        log = _as_csv(parquet, suffix) if suffix != ".parquet" else parquet
        statements = folder / f"{','.join(kinds)}{suffix}.sql"
        statements.write_text(";\n".join(_counts(log, kinds, arguments)), encoding="utf-8")
        count = [sys.executable, "-c", COUNT, arguments.memory, str(statements)]
        return Race(count, publish(log, kinds, "--epsilon", "2", *DELTA))

    def over_gaussian(mechanism: str) -> Race:
        both = ("gaussian", mechanism)
        return Race(*(publish(parquet, ["queries"], *STRICT, "--mechanism", each) for each in both))

    def on_spark() -> Race:
        conf = [word for key in SPARK for word in ("--spark-conf", f"{key}={SPARK[key]}")]
        spark = ("--engine", "spark", "--spark-master", f"local[{THREADS}]", *conf)
        command = publish(parquet, ["queries"], *spark, "--epsilon", "2", *DELTA)
        place = command.index("--memory")  # to --temporary: they are of DuckDB
        tau = str(_planned(["queries"], arguments).parts[0].mechanism.tau)
        count = [sys.executable, "-c", COUNT_ON_SPARK, str(parquet), tau]
        return Race(count, [*command[:place], *command[place + 6 :]])

    return {
        "four kinds": partial(over_count, [*KINDS]),
        **{kind: partial(over_count, [kind]) for kind in KINDS},
        "pooled over gaussian": partial(over_gaussian, "pooled"),
        "CSV": partial(over_count, ["queries"], ".csv"),
        "gz": partial(over_count, ["queries"], ".csv.gz"),
        "Spark": on_spark,
    }


def _counts(log: Path, kinds: Sequence[str], arguments: argparse.Namespace) -> list[str]:
    """The statements of the yardstick: the first says where the log is."""
    planned = _planned(kinds, arguments)
    read, alike = f"read_parquet('{log}')", log_file(SMALL)  # the same columns, and opened at once
    if log.suffix != ".parquet":
        read, alike = f"read_csv('{log}', all_varchar = true)", _as_csv(alike, ".csv")
    found = [f"create temp view source as select * from {read}"]
    with DuckDB(threads=THREADS) as engine:
        source = open_log(z.read_log(alike), engine)
        for part in planned.parts:
            item = comma_separated(identifier(name) for name in part.kind.columns())
            count = f"select {item}, count(distinct user) as count from items group by {item}"
            last = Step("counted", f"{count} having count >= {part.mechanism.tau}")
            found.append(statement([*source.entries, *part.kind.steps(source), last]))
    return found


def _planned(kinds: Sequence[str], arguments: argparse.Namespace) -> z.Plan:
    goal = z.ProbabilisticDP(epsilon=2, delta="0.001", users=arguments.users)
    return z.plan(goal, [KINDS[kind](arguments.items_per_user) for kind in kinds])


def _unlabelled(path: Path) -> Path:
    """A copy that does not say that it was generated."""
    copy = path.with_name(f"plain-{path.name}")
    if not copy.exists():
        # In another process: a child's peak memory begins with what its parent holds.
        subprocess.run([sys.executable, "-c", COPY, str(path), str(copy)], check=True)
    return copy


def _as_csv(path: Path, suffix: str) -> Path:
    copy = path.with_suffix(suffix)
    if not copy.exists():
        rows = duckdb.read_parquet(str(path)).select("user", "query", "time")  # no lists
        rows.write_csv(
            str(copy), header=True, compression="gzip" if suffix.endswith("gz") else "none"
        )
    return copy


def _run(command: Sequence[str]) -> Used:
    """Run it in an environment whose home is empty."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        own = [each.replace(FOLDER, folder) for each in command]
        environment = os.environ | {"HOME": folder, "XDG_STATE_HOME": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed is compiled
        started = time.perf_counter()
        running = subprocess.Popen(own, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        _, status, used = os.wait4(running.pid, 0)
        seconds = time.perf_counter() - started
        running.returncode = os.waitstatus_to_exitcode(status)
        if running.returncode:
            errors.seek(0)
            sys.exit(errors.read().decode() or "failed")
    return Used(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


if __name__ == "__main__":
    main()
