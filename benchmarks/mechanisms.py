"""What each mechanism publishes, on a generated log and on real tables, beside the best peer.

    python benchmarks/peers/setup.py --only pipelinedp       (once; without it the peer is left out)
    python benchmarks/mechanisms.py [--users 500000] [--draws 3] [--items-per-user 10]
        [--epsilons 0.5 1 2 5] [--bounds M ...] [--only generated visits shop] [--peer PYTHON]

Every mechanism at epsilon 0.5, 1, 2 and 5 and delta 1e-6, under both neighbour relations, as
`zealous study mechanisms` does it. A prior is what `rounds` publishes of an earlier log under the
same guarantee: another generated log, the other half of the visitors, the shop's months before
July. The peer is PipelineDP with Gaussian noise and thresholding at epsilon 1, neighbours that add
or remove a user, and whichever m publishes the most; beside it stand the mechanisms of one
histogram, at theirs.

The real tables stand in ../shared/data where available. Writes mechanisms.json after every table,
and prints Markdown. The generated log takes most of the time.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from mechanisms_data import Table, generated, shop, visits

import zealous as z
from zealous.cli.study.mechanisms import as_object
from zealous.engines.duckdb import DuckDB
from zealous.errors import LogError
from zealous.items import Kind
from zealous.logs.open_log import open_log
from zealous.study.mechanism_comparison import (
    COMPARED_MECHANISMS,
    EPSILONS,
    NEIGHBORS,
    compare_mechanisms,
)
from zealous.study.releases.encoded_log import encode

HERE = Path(__file__).resolve().parent
PEER = HERE / "data" / "peers" / "pipelinedp" / "bin" / "python"
DELTA = "1e-6"
ONE_HISTOGRAM = ("zealous", "laplace", "gaussian")
TABLES = {"generated": generated, "visits": visits, "shop": shop}


def main() -> None:
    arguments = _arguments()
    results: dict[str, Any] = {
        "date": f"{date.today()}",
        "delta": float(DELTA),
        "items_per_user": arguments.items_per_user,
        "draws": arguments.draws,
        "tables": {},
    }
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name in arguments.only:
            for made_table in TABLES[name](folder, arguments.users):
                table = replace(made_table, bounds=arguments.bounds or made_table.bounds)
                _say(f"{table.name}")
                results["tables"][table.name] = _measured(table, arguments, folder)
                text = json.dumps(results, indent=1, ensure_ascii=False)
                arguments.output.write_text(f"{text}\n", encoding="utf-8")
    for name, found in results["tables"].items():
        print("\n".join(_markdown(name, found)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=500_000, help="of the generated log")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--items-per-user", type=int, default=10)
    parser.add_argument("--epsilons", nargs="+", default=EPSILONS)
    parser.add_argument("--bounds", type=int, nargs="+", help="m that are tried for the best")
    parser.add_argument("--only", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--peer", type=Path, default=PEER, metavar="PYTHON")
    parser.add_argument("--output", type=Path, default=HERE / "mechanisms.json", metavar="FILE")
    return parser.parse_args()


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _measured(table: Table, arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """All figures of one table."""
    draws, kind = arguments.draws, table.kind(arguments.items_per_user)
    started = time.perf_counter()
    found = compare_mechanisms(
        table.log, kind, epsilons=arguments.epsilons, delta=DELTA, draws=draws, say=_say
    )
    about = as_object(kind, found) | {"table_seconds": time.perf_counter() - started}
    if table.earlier is not None:
        about["rows"] += _with_prior(table, kind, arguments, folder)
    return about | {
        "best_m": _best(table, draws),
        "peer": _peer(table, arguments, folder),
        "publish_seconds": _published(table, kind, folder),
    }


def _with_prior(
    table: Table, kind: Kind, arguments: argparse.Namespace, folder: Path
) -> list[dict[str, Any]]:
    """The rows of `prior`: under each guarantee with what the earlier log would have published."""
    rows = []
    assert table.earlier is not None
    for relation in NEIGHBORS:
        for epsilon in arguments.epsilons:
            goal = z.Indistinguishability(epsilon=epsilon, delta=DELTA, neighbors=relation)
            earlier = z.publish(table.earlier, goal, [kind], mechanism="rounds", account=None)
            place = folder / "earlier"
            earlier.write(place)
            try:
                found = compare_mechanisms(
                    table.log,
                    kind,
                    epsilons=[epsilon],
                    delta=DELTA,
                    neighbors=[relation],
                    mechanisms=["prior"],
                    draws=arguments.draws,
                    prior=place,
                    say=_say,
                )
            except LogError:  # nothing was published: no prior
                continue
            finally:
                shutil.rmtree(place)
            rows += as_object(kind, found)["rows"]
    return rows


def _best(table: Table, draws: int) -> dict[str, dict[str, Any]]:
    """At epsilon 1, add-remove, the mechanisms of one histogram at the m that publishes most."""
    found: dict[str, dict[str, Any]] = {}
    for m in table.bounds:
        compared = compare_mechanisms(
            table.log,
            table.kind(m),
            epsilons=["1"],
            delta=DELTA,
            neighbors=["add-remove"],
            mechanisms=ONE_HISTOGRAM,
            draws=draws,
        )
        for row in as_object(table.kind(m), compared)["rows"]:
            best = found.get(row["mechanism"])
            if best is None or row["items"]["mean"] > best["items"]["mean"]:
                found[row["mechanism"]] = row
    return found


def _peer(table: Table, arguments: argparse.Namespace, folder: Path) -> dict[str, Any] | None:
    """PipelineDP on the same pairs of people and things."""
    if not arguments.peer.exists():
        _say("the peer is left out: python benchmarks/peers/setup.py --only pipelinedp")
        return None
    pairs, output = folder / "pairs.parquet", folder / "peer.json"
    with DuckDB() as engine:
        kind = table.kind(1)
        coded, _ = encode(kind, open_log(table.log, engine, kind.extra_columns()), {})
        shutil.copy(coded.path, pairs)
    script = HERE / "peers" / "pipelinedp_gaussian.py"
    options = ["--draws", arguments.draws, "--bounds", *table.bounds]
    command = [arguments.peer, script, pairs, output, *options]
    subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr)
    found: dict[str, Any] = json.loads(output.read_text())
    return found


def _published(table: Table, kind: Kind, folder: Path) -> dict[str, float]:
    """Seconds of a whole release from the file to the directory, at epsilon 1, add-remove."""
    goal = z.Indistinguishability(epsilon=1, delta=DELTA, neighbors="add-remove")
    found = {}
    for name, each in COMPARED_MECHANISMS.items():
        if each.public_input is None:
            m = 1 if name == "selection" else kind.items_per_user
            started = time.perf_counter()
            release = z.publish(table.log, goal, [table.kind(m)], mechanism=name, account=None)
            release.write(folder / "whole")
            found[name] = time.perf_counter() - started
            shutil.rmtree(folder / "whole")
    return found


def _markdown(name: str, found: dict[str, Any]) -> Iterator[str]:
    """Beside the peer at epsilon 1; then items at every epsilon."""
    peer = _mean(found["peer"]["draws"]) if found["peer"] else None
    yield f"\n**{name}**: {found['users']:,} people, {found['distinct_items']:,} different items\n"
    yield (
        "| epsilon 1, add-remove | m | items | of the peer's | covered mass | count error "
        "| median error | noise | seconds |\n|---|---|---|---|---|---|---|---|---|"
    )
    if peer:
        yield _line("PipelineDP, its best m", found["peer"]["bound"], peer, peer)
    for row in found["best_m"].values():
        yield _line(f"{row['mechanism']}, its best m", row["items_per_user"], _means(row), peer)
    for row in found["rows"]:
        if (row["neighbors"], row["epsilon"]) == ("add-remove", 1):
            yield _line(row["mechanism"], row["items_per_user"], _means(row), peer)
    yield "\n| items |" + "".join(
        f" {relation} {epsilon} |" for relation in NEIGHBORS for epsilon in EPSILONS
    )
    yield "|---" * (1 + len(NEIGHBORS) * len(EPSILONS)) + "|"
    cells = {
        (row["mechanism"], row["neighbors"], row["epsilon"]): row["items"] for row in found["rows"]
    }
    for mechanism in dict.fromkeys(row["mechanism"] for row in found["rows"]):
        items = [
            cells.get((mechanism, relation, float(epsilon)))
            for relation in NEIGHBORS
            for epsilon in EPSILONS
        ]
        yield f"| {mechanism} | {' | '.join(map(_spread, items))} |"


def _spread(items: dict[str, float | None] | None) -> str:
    if items is None or items["mean"] is None:
        return "–"
    return f"{items['mean']:,.0f} ({items['low']:,}..{items['high']:,})"


def _mean(draws: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(each[name] for each in draws) / len(draws) for name in draws[0]}


def _means(row: dict[str, Any]) -> dict[str, float]:
    return {name: value["mean"] for name, value in row.items() if isinstance(value, dict)}


def _line(name: str, m: int, row: dict[str, Any], peer: dict[str, float] | None) -> str:
    if row["items"] is None:
        return f"| {name} | {m} | – | | | | | | |"
    ratio = f"{row['items'] / peer['items']:.2f}" if peer and peer["items"] else ""
    error = "" if row["error"] is None else f"{row['error']:.1f}"
    relative = row.get("relative_error")
    median = "" if relative is None else f"{100 * relative:.1f} %"
    noise = "" if row.get("noise") is None else f"{row['noise']:.1f}"
    return (
        f"| {name} | {m} | {row['items']:,.0f} | {ratio} | {100 * row['covered']:.1f} % | {error} "
        f"| {median} | {noise} | {row['seconds']:.1f} |"
    )


if __name__ == "__main__":
    main()
