"""What a release tells of the queries that are too rare to be published.

    python benchmarks/tail.py [--users 500000] [--draws 1] [--tails 0.5 1 2]

Publishes queries and keywords of a generated log at epsilon 2 and delta 1e-6 (indistinguishable,
add-remove, `auto`), and then with `--tail` at epsilon 0.5, 1 and 2 more; beside each, what the same
epsilon more gives when it is spent on queries and keywords instead. Every release is compared with
the log, and its suggestions are tried on all queries of another log, with other people: nothing is
sampled. The tail is what one more release at epsilon 2, drawn apart, does not publish: the same for
all, and no release is measured on what it happened to miss. `alone` is the release with the tail
without its tables of the tail; `itself` is what could be suggested without privacy.

Prints Markdown and writes tail.json after every release; where that is not another file by
--output, draws docs/figures/tail.svg from it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from mechanisms_data import generated_log
from tail_measures import completion, coverage, distances
from tail_queries import Asked, read_asked

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.items.rare_queries import Hours, Lengths, Questions, Scripts, WithKeywords
from zealous.logs.log import Log
from zealous.logs.open_log import open_log
from zealous.study.measures.phrases import words

HERE = Path(__file__).resolve().parent
JSON, PICTURES = HERE / "tail.json", HERE.parent / "tools" / "pictures.py"
EPSILON, DELTA, TAILS = 2, "1e-6", ("0.5", "1", "2")
ITEMS_PER_USER = {"queries": 5, "keywords": 10}
FACTS = [each(items_per_user=1) for each in (Lengths, Questions, Scripts, Hours, WithKeywords)]
Tables = Mapping[str, pa.Table]


def main() -> None:
    arguments = _arguments()
    source = generated_log(arguments.users)
    log, others = _asked(source), _asked(generated_log(arguments.users, seed=8))
    found: dict[str, Any] = {
        "date": f"{date.today()}",
        "users": arguments.users,
        "entries": int(log.entries.sum()),
        "different": len(log),
        "others": int(others.entries.sum()),
        "epsilon": EPSILON,
        "delta": float(DELTA),
        "items_per_user": ITEMS_PER_USER,
        "releases": [],
    }
    published = _published(source, EPSILON, None)["queries"]
    truth = {"queries": pa.table({"query": log.queries, "count": log.entries})}
    found["itself"] = _plain(completion(truth, published, others))
    for draw in range(arguments.draws):
        for epsilon, tail in _budgets(arguments.tails):
            _say(f"draw {draw + 1}: epsilon {epsilon:g}, tail {tail}")
            started = time.perf_counter()
            tables = _published(source, epsilon, tail)
            seconds = time.perf_counter() - started
            alone = {name: tables[name] for name in ITEMS_PER_USER}
            found["releases"].append(
                {
                    "epsilon": epsilon,
                    "tail": None if tail is None else float(tail),
                    "draw": draw,
                    "seconds": seconds,
                    "rows": {name: each.num_rows for name, each in tables.items()},
                    "coverage": _plain(coverage(tables, published, log)),
                    "completion": _plain(completion(tables, published, others)),
                    "alone": _plain(completion(alone, published, others)),
                    "distances": _plain(_distances(tables, source)),
                }
            )
            text = json.dumps(found, indent=1)
            arguments.output.write_text(f"{text}\n", encoding="utf-8")
    print("\n".join(_markdown(found)))
    if arguments.output == JSON:
        subprocess.run([sys.executable, PICTURES, "tail"], check=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=500_000, help="of the generated log")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--tails", nargs="+", default=TAILS, help="epsilons of the tail")
    parser.add_argument("--output", type=Path, default=JSON, metavar="FILE")
    return parser.parse_args()


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _budgets(tails: Sequence[str]) -> Iterator[tuple[float, str | None]]:
    """Epsilon of queries and keywords, and of the tail."""
    yield EPSILON, None
    for tail in tails:
        yield EPSILON, tail
        yield EPSILON + float(tail), None


def _asked(log: Log) -> Asked:
    with DuckDB() as engine:
        return read_asked(open_log(log, engine))


def _published(log: Log, epsilon: float, tail: str | None) -> Tables:
    """The tables of a release, made by the command."""
    most = ",".join(f"{name}={number}" for name, number in ITEMS_PER_USER.items())
    options = [
        *("--items", ",".join(ITEMS_PER_USER), "--items-per-user", most),
        *("--guarantee", "indistinguishable", "--neighbors", "add-remove"),
        *("--epsilon", f"{epsilon:g}", "--delta", DELTA, "--mechanism", "auto", "--no-ledger"),
        *(("--tail", tail) if tail else ()),
    ]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "release"
        command = [Path(sys.executable).with_name("zealous"), "publish", log.paths[0], "-o", place]
        subprocess.run([*map(str, command), *options], check=True, capture_output=True)
        tables = z.read_release(place).tables
    return {name: each.arrow for name, each in tables.items()}


def _distances(tables: Tables, log: Log) -> dict[str, Any]:
    """Of the distributions; without the tail, of the lengths that the published queries have."""
    if Lengths.label not in tables:
        queries = tables["queries"]
        lengths = np.minimum(words(queries["query"].combine_chunks()).lengths(), 10)
        counts = np.bincount(lengths, queries["count"].to_numpy(), 11)[1:].astype(np.int64)
        tables = {**tables, Lengths.label: pa.table({"value": Lengths.values, "count": counts})}
    with DuckDB() as engine:
        return dict(distances(tables, FACTS, open_log(log, engine)))


def _plain(figures: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    return {name: each._asdict() for name, each in figures.items()}


def _markdown(found: Mapping[str, Any]) -> Iterator[str]:
    """Tables with a line for each figure and a column for each release."""
    all_of = found["releases"]
    yield f"{found['users']:,} users, {found['entries']:,} entries, {found['different']:,} queries"
    names = list(dict.fromkeys(name for each in all_of for name in each["rows"]))
    rows = {name: [f"{each['rows'].get(name, '')}" for each in all_of] for name in names}
    yield from _table("rows", all_of, rows)
    for what in ("coverage", "completion", "alone"):
        for part in ("traffic", "different"):
            shares = {
                name: [_shown(each[what][name][part]) for each in all_of]
                for name in all_of[0][what]
            }
            yield from _table(f"{what}, {part}", all_of, shares)
    for part in ("people", "queries"):
        apart = {
            kind.label: [_apart(each["distances"].get(kind.label), part) for each in all_of]
            for kind in FACTS
        }
        yield from _table(f"distance, {part}", all_of, apart)
    yield from _table("time", all_of, {"seconds": [f"{each['seconds']:.0f}" for each in all_of]})
    itself = (f"{name} {_shown(share['traffic'])}" for name, share in found["itself"].items())
    yield f"\nCompletion without privacy, from the log itself: {', '.join(itself)}"


def _table(title: str, releases: Sequence[Any], rows: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f"\n| {title} | {' | '.join(map(_name, releases))} |"
    yield "|---" * (1 + len(releases)) + "|"
    yield from (f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())


def _name(release: Mapping[str, Any]) -> str:
    tail = f" + tail {release['tail']:g}" if release["tail"] else ""
    return f"{release['epsilon']:g}{tail}"


def _shown(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _apart(found: Mapping[str, float | None] | None, part: str) -> str:
    value = found[part] if found else None
    return "" if value is None else f"{value:.4f}"


if __name__ == "__main__":
    main()
