"""Mechanisms, rivals and peers, each at its best setting: what mechanisms.py and keys.py share.

Every setting is drawn once. The one that published most is drawn anew, and the means of these
draws are kept, so that no setting is judged by the draw that chose it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mechanisms_data import Table, chosen_tables

from zealous.engines.duckdb import DuckDB
from zealous.logs.open_log import open_log
from zealous.study.releases.encoded_log import EncodedLog, encode

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE / "data" / "peers"
CHECKOUT = ENVIRONMENTS / "google-research"  # for what is no package; see peers/README.md
EPSILON, DELTA = 1, "1e-6"
FIGURES = ("items", "covered", "error", "relative_error")

Figures = dict[str, float | None]
Draw = Callable[[], Figures]
Row = dict[str, Any]
Rows = Callable[[Table, EncodedLog, argparse.Namespace, Path], list[Row]]


class Peer(NamedTuple):
    """A package, or a published program, in an environment beside.

    Attributes:
        name: What it is called in the results.
        environment: See peers/setup.py.
        script: In peers/; see peers/best_bound.py.
    """

    name: str
    environment: str
    script: str

    def draws(
        self, pairs: Path, folder: Path, bounds: Sequence[int], draws: int
    ) -> dict[str, Any] | None:
        """What the script writes of a table of (user, item); None where it was not set up."""
        python = ENVIRONMENTS / self.environment / "bin" / "python"
        if not python.exists():
            setup = f"python benchmarks/peers/setup.py --only {self.environment}"
            say(f"{self.name} is left out: {setup}")
            return None
        output = folder / "peer.json"
        options = ["--draws", draws, "--bounds", *bounds]
        command = [python, HERE / "peers" / self.script, pairs, output, *options]
        subprocess.run(
            [str(word) for word in command],
            check=True,
            stdout=sys.stderr,
            env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        )
        found: dict[str, Any] = json.loads(output.read_text())
        return found


def add_output(parser: argparse.ArgumentParser, path: Path) -> None:
    """The options of where results are kept."""
    parser.add_argument("--report", action="store_true", help="only print what was measured")
    parser.add_argument("-o", "--output", type=Path, default=path)


def measured_tables(arguments: argparse.Namespace, rows_of: Rows) -> dict[str, Any]:
    """All results, with those of the chosen tables measured anew and written after each table.

    Rows of mechanisms that are not measured now are kept.
    """
    results = json.loads(arguments.output.read_text()) if arguments.output.exists() else {}
    if arguments.report:
        return results
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for table in chosen_tables(arguments, folder):
            say(table.name)
            measured = _measured_table(table, arguments, folder, rows_of)
            old = results.get(table.name, {"rows": []})
            before = [{"draws": row.get("draws", old["draws"]), **row} for row in old["rows"]]
            new = {(row["neighbors"], row["mechanism"]) for row in measured["rows"]}
            kept = [row for row in before if (row["neighbors"], row["mechanism"]) not in new]
            results[table.name] = measured | {"rows": kept + measured["rows"]}
            text = json.dumps(results, indent=1, ensure_ascii=False)
            arguments.output.write_text(f"{text}\n", encoding="utf-8")
    return results


def _measured_table(
    table: Table, arguments: argparse.Namespace, folder: Path, rows_of: Rows
) -> dict[str, Any]:
    with DuckDB() as engine:
        kind = table.kind(1)
        coded, _ = encode(kind, open_log(table.log, engine, kind.extra_columns()), {})
        return {
            "used": table.used,
            "users": coded.people,
            "distinct_items": len(coded.users),
            "pairs": coded.rows,
            "epsilon": EPSILON,
            "delta": float(DELTA),
            "draws": arguments.draws,
            "rows": rows_of(table, coded, arguments, folder),
        }


def at_best(name: str, settings: dict[str, Draw], draws: int, neighbors: str = "add-remove") -> Row:
    """The means of new draws at the setting whose first draw published most."""
    first = {told: one_draw() for told, one_draw in settings.items()} if len(settings) > 1 else {}
    best = max(settings, key=lambda told: first[told]["items"] or 0 if first else 0)
    drawn = [settings[best]() for _ in range(draws)]
    tried = {told: each["items"] for told, each in first.items()}
    return _row(neighbors, name, best, drawn, tried)


def peer_row(peer: Peer, found: dict[str, Any], judge: Callable[[Any, Any], Figures]) -> Row:
    """The means of a peer's draws.

    Args:
        peer: The peer.
        found: What its script wrote.
        judge: Gives the figures of published (items, counts).
    """
    drawn = []
    for published in found["draws"]:
        items = np.array([item for item, _ in published], np.int64)
        counts = np.array([count for _, count in published], np.float64)
        drawn.append(judge(items, counts))
    return _row("add-remove", peer.name, found["setting"], drawn, found["tried"])


def _row(
    neighbors: str, name: str, setting: str, drawn: Sequence[Figures], tried: dict[str, Any]
) -> Row:
    means = _means(drawn)
    say(f"{name}, {setting}: {means['items']['mean']:,.1f} items")
    head = {"neighbors": neighbors, "mechanism": name, "setting": setting, "draws": len(drawn)}
    return head | means | {"tried": tried}


def _means(drawn: Sequence[Figures]) -> dict[str, Any]:
    """Mean, least and most of each figure; None where no draw has it."""
    found = {}
    for name in FIGURES:
        values = [value for each in drawn if (value := each[name]) is not None]
        low, high = min(values, default=None), max(values, default=None)
        mean = sum(values) / len(values) if values else None
        found[name] = {"mean": mean, "low": low, "high": high} if values else None
    return found


def say(text: str) -> None:
    """What has been done, with the time."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
