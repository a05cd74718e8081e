"""Straight lines through the runs of spark.json, and what they say of a log of internet scale.

    python benchmarks/spark_fit.py [--users 1e9] [--entries 1e11]

Prints the tables of docs/guide/scale.md. Costs of reading and of a user's distinct items grow with
the entries, and those of counting with the items that users keep, so each stage has its own
measure.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import zealous as z

RESULTS = Path(__file__).with_name("spark.json")
M = 5
CORES, GIGABITS = 16, 10  # of the node that hours are reckoned in
# An m7g.large of AWS in us-east-1, on demand, in June 2026: dollars an hour, and its cores.
PRICE, PRICED_CORES = 0.0816, 2
TEXTS_SCAN = "long texts: scan"
USERS_SCAN, USERS_COUNT = "users: scan, distinct", "users: distinct, count"
IDS_SCAN, IDS_COUNT = "ids: scan", "ids: what they look like"
ITEMS_SCAN = "scan, items, distinct"
DISTINCT, KEEP, COUNT = "distinct, m a user", "m a user, count", "count, tau, noise"
STAGES = (
    *(TEXTS_SCAN, USERS_SCAN, USERS_COUNT, IDS_SCAN, IDS_COUNT),
    *(ITEMS_SCAN, DISTINCT, KEEP, COUNT),
)
BEFORE = {
    USERS_COUNT: USERS_SCAN,
    IDS_COUNT: IDS_SCAN,
    DISTINCT: ITEMS_SCAN,
    KEEP: DISTINCT,
    COUNT: KEEP,
}
Run = dict[str, Any]


class Line(NamedTuple):
    """A cost as a straight line over a size, and how far each run is off it, in proportion."""

    start: float
    slope: float
    off: list[float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=float, default=1e9)
    parser.add_argument("--entries", type=float, default=1e11)
    arguments = parser.parse_args()
    runs = json.loads(RESULTS.read_text())["runs"]
    for line in [*_fitted(runs), "", *_on_paper(runs, int(arguments.users), arguments.entries)]:
        print(line)


def _stage(run: Run, name: str) -> dict[str, float]:
    (found,) = [each for each in run["stages"] if each["stage"] == name]
    return found


def _is_measured(runs: dict[str, Run], name: str) -> bool:
    """Whether each run has the stage: a small log is looked at in fewer."""
    return all(any(each["stage"] == name for each in run["stages"]) for run in runs.values())


def fit(sizes: list[float], values: list[float]) -> Line:
    """Errors count in proportion to the size, so that the largest run does not decide alone."""
    x, y = np.array(sizes), np.array(values)
    if len(x) < 2:
        return Line(0.0, float(y[0] / x[0]), [0.0])
    slope, start = np.polyfit(x, y, 1, w=1 / x)
    return Line(float(start), float(slope), [float(each) for each in y / (start + slope * x) - 1])


def _entries(runs: dict[str, Run]) -> list[float]:
    return [float(each) for each in runs]


def _rows_in(runs: dict[str, Run], name: str) -> list[float]:
    """What a stage works on: entries, or the rows that the stage before it sent."""
    if name not in BEFORE:
        return _entries(runs)
    return [_stage(run, BEFORE[name])["rows_sent"] for run in runs.values()]


def _line(runs: dict[str, Run], name: str, figure: str) -> Line:
    return fit(_rows_in(runs, name), [_stage(run, name)[figure] for run in runs.values()])


def _bytes_a_row(runs: dict[str, Run], name: str) -> Line:
    stages = [_stage(run, name) for run in runs.values()]
    return fit([each["rows_sent"] for each in stages], [each["sent"] for each in stages])


def _fitted(runs: dict[str, Run]) -> Iterator[str]:
    sizes = ", ".join(f"{each / 1e6:.0f}M" for each in _entries(runs))
    yield f"Each stage over the rows that it takes in; how far the runs ({sizes}) are off the line."
    yield ""
    yield "| stage | CPU, s a million rows | off by | bytes a row sent | off by |"
    yield "|---|---|---|---|---|"
    for name in filter(partial(_is_measured, runs), STAGES):
        cpu = _line(runs, name, "cpu")
        sent = "| – | |"
        if name in BEFORE.values():
            row = _bytes_a_row(runs, name)
            sent = f"| {row.slope:.1f} | {_percent(row)} |"
        yield f"| {name} | {cpu.slope * 1e6:.2f} | {_percent(cpu)} {sent}"
    for engine in ("spark", "duckdb"):
        wall = fit(_entries(runs), [run[engine]["seconds"] for run in runs.values()])
        yield (
            f"| {engine}, whole process, wall | {wall.slope * 1e6:.2f}, and {wall.start:.0f} s "
            f"| {_percent(wall)} | | |"
        )


def _percent(line: Line) -> str:
    return ", ".join(f"{100 * each:+.0f} %" for each in line.off)


def _on_paper(runs: dict[str, Run], users: int, entries: float) -> Iterator[str]:
    """Upper figures: a user's entries all differ, and no two rows that are alike meet in a task."""
    goal = z.ProbabilisticDP(epsilon=2, delta="0.001", users=users)
    (part,) = z.plan(goal, [z.queries(M)]).parts
    kept = min(float(users * M), entries)
    work = [
        (TEXTS_SCAN, entries, 0.0),
        (USERS_SCAN, entries, entries),
        (USERS_COUNT, entries, 0.0),
        (IDS_SCAN, entries, entries),
        (IDS_COUNT, entries, 0.0),
        (ITEMS_SCAN, entries, entries),
        (DISTINCT, entries, entries),
        (KEEP, entries, kept),
        (COUNT, kept, 0.0),
    ]
    yield f"{users:.0e} users, {entries:.0e} entries, m = {M}, epsilon = 2, delta = 0.001."
    yield ""
    yield "| stage | rows in | rows sent | bytes sent | CPU hours |"
    yield "|---|---|---|---|---|"
    hours = sent = 0.0
    for name, rows_in, rows_sent in work:
        if not _is_measured(runs, name):
            continue
        cpu = _line(runs, name, "cpu").slope * rows_in / 3600
        size = _bytes_a_row(runs, name).slope * rows_sent if rows_sent else 0.0
        hours, sent = hours + cpu, sent + size
        yield f"| {name} | {rows_in:.1e} | {rows_sent:.1e} | {_size(size)} | {cpu:,.0f} |"
    yield f"| together | | | {_size(sent)} | {hours:,.0f} |"
    yield ""
    most = users * M / part.mechanism.tau
    yield f"Counted items, at most U m / tau = {users:.0e} x {M} / {part.mechanism.tau}: {most:.1e}"
    seen = _survivors(part.mechanism, users)
    yield f"Rows to the driver, expected at most: {seen:.1e}"
    node_hours = hours / CORES
    network = sent * 8 / (GIGABITS * 1e9) / 3600
    price = hours / PRICED_CORES * PRICE
    yield f"Cores at {PRICE} USD an hour for {PRICED_CORES} of them: {price:.2f} USD"
    yield f"Node-hours of {CORES} cores: {node_hours:,.0f}; entries a node-hour: " + (
        f"{entries / node_hours:.1e}; node-hours of a {GIGABITS} Gbit/s network: {network:,.0f}"
    )


def _survivors(mechanism: Any, users: int) -> float:
    """The most items that pass both thresholds in expectation, however users' items fall.

    All users' m items are shared out over items of c users each, for the worst c.
    """
    scale, tau_prime = float(mechanism.scale), mechanism.tau_prime
    passes: Callable[[int], float] = lambda c: _above(tau_prime - c, scale)  # noqa: E731
    worst = max(passes(c) / c for c in range(mechanism.tau, 3 * tau_prime))
    return users * M * worst


def _above(gap: int, scale: float) -> float:
    """The chance that discrete Laplace noise is above a whole number."""
    ratio = math.exp(-1 / scale)
    if gap >= 0:
        return ratio ** (gap + 1) / (1 + ratio)
    return 1 - ratio ** (-gap) / (1 + ratio)


def _size(size: float) -> str:
    return f"{size / 1e12:,.2f} TB" if size >= 1e11 else f"{size / 1e9:,.1f} GB"


if __name__ == "__main__":
    main()
