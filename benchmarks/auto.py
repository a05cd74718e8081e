"""How far `auto` with a look is from the best single choice in hindsight, on a grid of tables.

    python benchmarks/auto.py [--users 1000 10000] [--means 1.2 2 5 15 60] [--exponents 0.7 1.2 1.7]
        [--draws 3] [--neighbors add-remove] [--tables TABLE:USER:COLUMN ...] [-o FILE]

Each generated table has so many users with so many different items on average, of items whose
popularity falls with that power of their rank. A single choice is one mechanism with one bound at
epsilon 1 and delta 1e-6: ZEALOUS by `gaussian` at several m, `selection`, and pooled
rounds with every number of kept items that the look can choose. `auto` spends 0.02 of epsilon on
the look, and the rest on what it chooses. The best of many choices, each drawn a few times, owes
some of its lead to luck, so it is drawn anew, as often again, before `auto` is compared with it.

Results go to auto.json after every table, in place of what was measured of it before. Printed are
all of them, and for each relation and number of users the mean share and the worst, of tables whose
best choice publishes 20 items or more: a draw alone moves smaller ones by more than the choice
does. The goal is a share of 0.95 at worst. `--report` only prints.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from best_setting import HERE, add_output
from looks import LOOK, choice_name, noisy_choice, users_by_range

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.logs.open_log import open_log
from zealous.mechanisms import CalibratedMechanism
from zealous.mechanisms.after_look import CHOICES, Choice
from zealous.mechanisms.choose import MECHANISMS
from zealous.privacy.guarantee import Neighbors
from zealous.study.releases.encoded_log import CachedCounting, encode

DELTA = "1e-6"
GOAL = 0.95  # the least share that was aimed at
FEW = 20  # items, below which a share says little
LOOKS = 20  # drawn for each draw of a release: they cost next to nothing
SINGLE = (*(("gaussian", m) for m in (2, 5, 10, 20)), ("pooled", 10))


def main() -> None:
    arguments = _arguments()
    path = arguments.output
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    for part, name, log, kind in () if arguments.report else _tables(arguments):
        head = {"neighbors": arguments.neighbors, "part": part, "table": name}
        row = head | _measure(log, kind, arguments.neighbors, arguments.draws)
        print(_line(row), file=sys.stderr, flush=True)
        rows = [each for each in rows if any(each[key] != head[key] for key in head)] + [row]
        path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print("\n".join([*map(_line, rows), "", *_parts(rows)]))


def _parts(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """For each part of the grid the mean share and the worst."""
    yield f"| relation | part | tables | draws of each | mean share | worst | goal {GOAL:g} |"
    yield "|---|---|---|---|---|---|---|"
    parts = dict.fromkeys((row["neighbors"], row["part"]) for row in rows)
    for relation, part in parts:
        found = [row for row in rows if (row["neighbors"], row["part"]) == (relation, part)]
        judged = [row for row in found if row["best"] >= FEW]
        shares = [row["share"] for row in judged]
        draws = " to ".join(map(str, sorted({row["draws"] for row in found})))
        head = f"| {relation} | {part} | {len(judged)} of {len(found)} | {draws}"
        if not judged:
            yield f"{head} | | no table of which {FEW} items or more can be published | |"
            continue
        worst = min(judged, key=lambda row: row["share"])
        told = f"{worst['share']:.2f} of {worst['best_name']}, {worst['table']}"
        met = "met" if worst["share"] >= GOAL else "not met"
        yield f"{head} | {sum(shares) / len(shares):.2f} | {told} | {met} |"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--means", type=float, nargs="+", default=[1.2, 2, 5, 15, 60])
    parser.add_argument("--exponents", type=float, nargs="+", default=[0.7, 1.2, 1.7])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--neighbors", choices=get_args(Neighbors), default="add-remove")
    parser.add_argument("--tables", nargs="*", default=[], metavar="FILE:USER:COLUMN")
    add_output(parser, HERE / "auto.json")
    return parser.parse_args()


def _tables(arguments: argparse.Namespace) -> Iterator[tuple[str, str, z.Log, Any]]:
    """The part of the grid that each table is in, its name, its rows and what is counted."""
    kind = z.columns("item", items_per_user=10)
    for users in arguments.users:
        for mean in arguments.means:
            for exponent in arguments.exponents:
                table = _generated(users, mean, exponent)
                part = f"{users:,} users"
                yield part, f"{part}, {mean:g} items, {exponent:g}", z.read_log(table), kind
    for text in arguments.tables:
        path, user, column = text.rsplit(":", 2)
        log = z.read_log(path, columns=z.Columns(user=user))
        yield "given", Path(path).name, log, z.columns(column, items_per_user=10)


def _generated(users: int, mean: float, exponent: float, items: int = 100_000) -> pa.Table:
    """(user, item): numbers of items with a long tail, popularity by a power of the rank."""
    random = np.random.default_rng([users, int(10 * mean), int(10 * exponent)])
    extra = random.gamma(0.7, (mean - 1) / 0.7, users)  # more spread than a geometric number has
    numbers = 1 + random.poisson(extra)
    popularity = np.cumsum(np.arange(1, items + 1) ** -exponent)
    drawn = np.searchsorted(popularity, random.random(numbers.sum()) * popularity[-1])
    pairs = np.unique(np.stack([np.repeat(np.arange(users), numbers), drawn]), axis=1)
    return pa.table({"user": pairs[0], "item": pairs[1].astype(str)})


def _measure(log: z.Log, kind: Any, neighbors: Neighbors, draws: int) -> dict[str, Any]:
    goal = z.Indistinguishability(epsilon=1, delta=DELTA, neighbors=neighbors)
    rest = z.Indistinguishability(epsilon=1 - LOOK, delta=DELTA, neighbors=neighbors)
    with DuckDB() as engine:
        coded, _ = encode(kind, open_log(log, engine, kind.extra_columns()), {})
        counting = CachedCounting(coded)
        keys = [secrets.randbits(64) for _ in range(draws)]

        def published(mechanism: CalibratedMechanism, key: int) -> int:
            with counting.for_key(key) as count:
                return sum(
                    batch.num_rows for batch in mechanism.release(count, secrets.token_bytes)
                )

        single = {f"{name}, m = {m}": MECHANISMS[name].calibrate(goal, m) for name, m in SINGLE}
        single |= {choice_name(each): each.calibrate(goal) for each in CHOICES}
        found = {
            name: float(np.mean([published(each, key) for key in keys]))
            for name, each in single.items()
        }

        best_name = max(found, key=lambda name: found[name])
        new_keys = [secrets.randbits(64) for _ in range(draws)]
        best = float(np.mean([published(single[best_name], key) for key in new_keys]))

        @cache
        def after_look(choice: Choice, key: int) -> int:
            return published(choice.calibrate(rest), key)

        counts = users_by_range(coded.path)
        chosen = [(noisy_choice(counts, neighbors), key) for key in keys for _ in range(LOOKS)]
        auto = float(np.mean([after_look(choice, key) for choice, key in chosen]))
    most_chosen = max((each for each, _ in chosen), key=[each for each, _ in chosen].count)
    return {
        "draws": draws,
        "auto": auto,
        "chosen": choice_name(most_chosen),
        "best": best,
        "best_name": best_name,
        "share": auto / best if best else 1.0,
        "items": found,
    }


def _line(row: dict[str, Any]) -> str:
    return (
        f"{row['table']:34} {row['neighbors']:10} auto {row['auto']:8.1f} ({row['chosen']})   "
        f"best {row['best']:8.1f} ({row['best_name']})   {row['share']:.2f}"
    )


if __name__ == "__main__":
    main()
