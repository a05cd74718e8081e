"""The runs of the comparison: kept as JSON, shown as a table and a plot."""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.metadata import distributions
from pathlib import Path
from statistics import median
from typing import Any

from setting import DELTA, EPSILON, ITEMS_PER_USER

HERE = Path(__file__).parent
RESULTS, PLOT = HERE / "results.json", HERE / "speed.svg"
PACKAGES = (
    "duckdb",
    "opendp",
    "pipeline-dp",
    "polars",
    "pyspark",
    "python-dp",
    "smartnoise-sql",
    "tmlt.analytics",
    "tmlt.core",
    "zealous",
)
BOUNDS = {  # what bounds each user's items, as README.md explains
    "zealous": "5 random items",
    "zealous-spark": "5 random items",
    "opendp": "5 random items",
    "opendp-first": "4 items, first in the alphabet",
    "pipelinedp": "5 random items",
    "pipelinedp-spark": "5 random items",
    "smartnoise": "5 random rows",
    "tumult": "5 random items",
}


def load() -> dict[str, Any]:
    if RESULTS.exists():
        return dict(json.loads(RESULTS.read_text()))
    return {"runs": []}


def save(results: dict[str, Any], environments: Path) -> None:
    """Write results.json whole, with what made them."""
    runs = sorted(results["runs"], key=lambda run: (run["rows"], list(BOUNDS).index(run["entry"])))
    whole = {
        "setting": {"epsilon": EPSILON, "delta": DELTA, "items_per_user": ITEMS_PER_USER},
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "versions": _versions(environments),
        "runs": runs,
    }
    unfinished = RESULTS.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(whole, indent=1) + "\n")
    unfinished.rename(RESULTS)


def _versions(environments: Path) -> dict[str, dict[str, str]]:
    places = {"zealous": None} | {
        path.parent.name: path.parent for path in environments.glob("*/bin")
    }
    versions = {}
    for name, folder in sorted(places.items()):
        paths = [str(p) for p in folder.glob("lib/*/site-packages")] if folder else sys.path
        found = {d.metadata["Name"]: d.version for d in distributions(path=paths)}
        versions[name] = {k: v for k, v in sorted(found.items()) if k.lower() in PACKAGES}
    return versions


def report(results: dict[str, Any]) -> None:
    """Print the table, draw the plot."""
    for rows in sorted({run["rows"] for run in results["runs"]}):
        runs = [run for run in results["runs"] if run["rows"] == rows]
        print(f"\n{rows:,} rows\n")
        print(
            "| | items a user | time | over the count | processor time | over the count "
            "| peak memory | items released | runs |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        plain = f"{median(run['count_seconds'] for run in runs):.1f} s"
        busy = f"{median(run['count_cpu'] for run in runs):.1f} s"
        peak = f"{max(run['count_peak'] for run in runs) / 1e9:.2f} GB"
        print(
            f"| DuckDB, no privacy | all | {plain} | 1.0 | {busy} | 1.0 | {peak} | | {len(runs)} |"
        )
        for entry in BOUNDS:
            if own := [run for run in runs if run["entry"] == entry]:
                print(_row(entry, own))
    _draw(results["runs"])


def _row(entry: str, runs: list[dict[str, Any]]) -> str:
    peak = f"{max(run['peak'] for run in runs) / 1e9:.2f} GB"
    if any(run["ended"] != "done" for run in runs):
        ended = next(run["ended"] for run in runs if run["ended"] != "done")
        over = f"over {max(run['seconds'] for run in runs):.0f} s" if ended == "time limit" else ""
        return f"| {entry} | {BOUNDS[entry]} | {over} | {ended} | | | {peak} | | {len(runs)} |"
    seconds, ratio = _over(runs, "seconds")
    busy, busy_ratio = _over(runs, "cpu")
    items = median(run["items"] for run in runs)
    return (
        f"| {entry} | {BOUNDS[entry]} | {seconds:.1f} s | **{ratio:.1f}** "
        f"| {busy:.1f} s | {busy_ratio:.1f} | {peak} | {items:.0f} | {len(runs)} |"
    )


def _over(runs: list[dict[str, Any]], what: str) -> tuple[float, float]:
    """The median of a figure, and of its ratio to that of the count before."""
    return (
        median(run[what] for run in runs),
        median(run[what] / run[f"count_{what}"] for run in runs),
    )


def _draw(runs: list[dict[str, Any]]) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "peers"
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    done = [run for run in runs if run["ended"] == "done"]
    _line(axes, "DuckDB, no privacy", [(r["rows"], r["count_seconds"]) for r in runs], "k--o")
    for number, entry in enumerate(BOUNDS):
        points = [(run["rows"], run["seconds"]) for run in done if run["entry"] == entry]
        _line(axes, entry, points, f"C{number}-o")
    axes.set(
        xscale="log", yscale="log", xlabel="(user, item) rows", ylabel="seconds, whole process"
    )
    axes.grid(visible=True, which="both", alpha=0.25)
    figure.legend(loc="outside right center", frameon=False)
    figure.savefig(PLOT, metadata={"Date": None})


def _line(axes: Any, name: str, points: list[tuple[int, float]], style: str) -> None:
    sizes = sorted({rows for rows, _ in points})
    if sizes:
        times = [median(seconds for rows, seconds in points if rows == size) for size in sizes]
        axes.plot(sizes, times, style, label=name)
