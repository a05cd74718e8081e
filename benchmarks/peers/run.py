"""zealous and its peers on the same table: whole processes, beside the count without privacy.

    python benchmarks/peers/setup.py                   (once)
    python benchmarks/peers/run.py [--rows 2000000 10000000] [--only zealous opendp] [--rounds 3]
    python benchmarks/peers/run.py --report            (no runs: table and plot of those there are)

Run it with the Python that has zealous. Before each run of an entry DuckDB counts the same table,
and the ratio is to that count. An entry that took longer than --once-over seconds is not repeated;
one that reaches --limit is ended. results.json is written after every run, so a broken comparison
goes on with --resume, and one entry is measured anew with --only.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from data import FOLDER, ROWS, table
from measure import Measured, measure
from report import load, report, save
from setting import DELTA, EPSILON, ITEMS_PER_USER

HERE = Path(__file__).resolve().parent
ZEALOUS = [
    str(Path(sys.executable).with_name("zealous")),
    "publish",
    "INPUT",
    "-o",
    "OUTPUT",
    "--user",
    "user",
    "--items",
    "columns:item",
    "--items-per-user",
    str(ITEMS_PER_USER),
    "--guarantee",
    "indistinguishable",
    "--neighbors",
    "add-remove",
    "--epsilon",
    f"{EPSILON:g}",
    "--delta",
    f"{DELTA:g}",
    "--no-ledger",
]
PEERS = {  # entry: environment, script
    "opendp": ("opendp", "opendp_polars.py"),
    "opendp-first": ("opendp", "opendp_first.py"),
    "pipelinedp": ("pipelinedp", "pipelinedp_local.py"),
    "pipelinedp-spark": ("pipelinedp", "pipelinedp_spark.py"),
    "smartnoise": ("smartnoise", "smartnoise_sql.py"),
    "tumult": ("tumult", "tumult_analytics.py"),
}
YARDSTICK = [sys.executable, str(HERE / "duckdb_count.py"), "INPUT", "OUTPUT"]


def main() -> None:
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended with it
    results = load()
    if not arguments.report:
        for rows in arguments.rows:
            for entry in _turns(arguments, results, rows):
                run = _race(entry, rows, arguments.limit)
                results["runs"].append(run)
                save(results, FOLDER)
                print(_line(run), flush=True)
    report(results)


def _arguments() -> argparse.Namespace:
    names = ["zealous", "zealous-spark", *PEERS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--only", nargs="+", choices=names)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=900, help="seconds a run")
    parser.add_argument("--once-over", type=float, default=120, help="seconds")
    parser.add_argument("--resume", action="store_true", help="keep the runs that are there")
    parser.add_argument("--report", action="store_true", help="only draw the table and the plot")
    arguments = parser.parse_args()
    arguments.only = arguments.only or [name for name in names if _present(name)]
    return arguments


def _present(entry: str) -> bool:
    if entry in PEERS:
        found = (FOLDER / PEERS[entry][0] / "installed.txt").exists()
        hint = "python benchmarks/peers/setup.py"
    else:
        module = "zealous.engines.spark" if entry == "zealous-spark" else "zealous"
        found = importlib.util.find_spec(module) is not None
        hint = "pip install '.[spark]'"
    if not found:
        print(f"{entry} is left out: {hint}", file=sys.stderr)
    return found


def _turns(arguments: argparse.Namespace, results: dict[str, Any], rows: int) -> Iterator[str]:
    """Entries in turn, round after round; forgets their older runs unless these are resumed."""

    def done(entry: str) -> list[dict[str, Any]]:
        return [r for r in results["runs"] if r["entry"] == entry and r["rows"] == rows]

    if not arguments.resume:
        old = [run for entry in arguments.only for run in done(entry)]
        results["runs"] = [run for run in results["runs"] if run not in old]
    for number in range(arguments.rounds):
        for entry in arguments.only:
            runs = done(entry)
            slow = any(r["seconds"] > arguments.once_over or r["ended"] != "done" for r in runs)
            if len(runs) <= number and not slow:
                yield entry


def _race(entry: str, rows: int, limit: float) -> dict[str, Any]:
    """One run of an entry right after one of the yardstick."""
    plain, _ = _run(YARDSTICK, table(rows), limit)
    print(f"{entry}, {rows:,} rows ...", file=sys.stderr, flush=True)
    measured, items = _run(_command(entry), table(rows), limit)
    return {
        "entry": entry,
        "rows": rows,
        "date": f"{date.today()}",
        "ended": measured.ended,
        "items": items,
        "seconds": round(measured.seconds, 2),
        "cpu": round(measured.cpu, 2),
        "peak": measured.peak,
        "count_seconds": round(plain.seconds, 2),
        "count_cpu": round(plain.cpu, 2),
        "count_peak": plain.peak,
        "load": round(os.getloadavg()[0], 1),
    }


def _command(entry: str) -> list[str]:
    if entry == "zealous":
        return ZEALOUS
    if entry == "zealous-spark":
        return [*ZEALOUS, "--engine", "spark"]
    return [python_of(entry), str(HERE / PEERS[entry][1]), "INPUT", "OUTPUT"]


def python_of(entry: str) -> str:
    """The interpreter of an entry's environment."""
    return str(FOLDER / PEERS[entry][0] / "bin" / "python") if entry in PEERS else sys.executable


def _run(command: list[str], source: Path, limit: float) -> tuple[Measured, int | None]:
    """What a command took, and how many items it wrote, if it ended well."""
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=FOLDER))
    places = {"INPUT": str(source), "OUTPUT": str(folder / "output")}
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    environment |= {"TMPDIR": str(folder), "SPARK_LOCAL_DIRS": str(folder)}
    whole = [places.get(word, word) for word in command]
    try:
        measured = measure(whole, folder, limit, environment)
        if measured.ended == "failed":
            print((folder / "errors").read_text(errors="replace")[-2000:], file=sys.stderr)
        items = _items(folder / "output", measured) if measured.ended == "done" else None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return measured, items


def _items(output: Path, measured: Measured) -> int:
    if not output.is_dir():
        return int(measured.output.split()[-1])
    (written,) = output.glob("*.csv")
    return len(written.read_text().splitlines()) - 1


def _line(run: dict[str, Any]) -> str:
    ratio = run["seconds"] / run["count_seconds"]
    return (
        f"{run['entry']}, {run['rows']:,} rows: {run['ended']}, {run['seconds']:.1f} s, "
        f"{ratio:.1f} of the count, {run['peak'] / 1e9:.2f} GB, items {run['items']}"
    )


if __name__ == "__main__":
    main()
