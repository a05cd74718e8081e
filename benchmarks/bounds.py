"""How many items ZEALOUS publishes at each m under the probabilistic guarantee.

    python benchmarks/bounds.py [--real visits shop diagnoses] [--users 50000]
        [--tables FILE:USER:COLUMN ...] [--epsilons 1 2] [--neighbors replace] [--draws 3]

At delta 0.001, with the users of the table as the declared number. Expected numbers, from the exact
chance of each item; the means of some ways to keep m items of each user. What a look at items per
user could gain is the best column over a fixed one.

The last column is of two releases at m = 1, the second of what the first did not publish: a tenth
of epsilon and delta, and the rest. Epsilons and deltas of the probabilistic guarantee add up, also
where the second follows from what the first published (docs/proofs/look.md).
"""

from __future__ import annotations

import argparse
import secrets
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow.parquet as pq
from mechanisms_data import Table, chosen_tables, table_options
from mechanisms_rivals import Floats, Keys, Pairs

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.logs.open_log import open_log
from zealous.mechanisms.zealous import Zealous
from zealous.privacy.guarantee import Neighbors
from zealous.study.releases.encoded_log import encode

DELTA = Fraction(1, 1000)
BOUNDS = (1, 2, 3, 5, 10, 20)
FIRST = Fraction(1, 10)  # of epsilon and delta, for the first of two releases


def main() -> None:
    parser = table_options(__doc__, users=[50_000], draws=3)
    parser.add_argument("--epsilons", type=Fraction, nargs="+", default=[1, 2])
    parser.add_argument("--neighbors", choices=get_args(Neighbors), default="replace")
    arguments = parser.parse_args()
    print(f"| table | epsilon | {' | '.join(f'm = {m}' for m in BOUNDS)} | two releases |")
    print(f"|---|---|{'---|' * len(BOUNDS)}---|")
    with tempfile.TemporaryDirectory() as folder:
        for table in chosen_tables(arguments, Path(folder)):
            _measure(table, arguments)


def _measure(table: Table, arguments: argparse.Namespace) -> None:
    kind = table.kind(1)
    with DuckDB() as engine:
        coded, _ = encode(kind, open_log(table.log, engine, kind.extra_columns()), {})
        held = pq.read_table(coded.path)
    users, items = (held[each].to_numpy().astype(np.int64) for each in ("user", "item"))
    random = np.random.default_rng(secrets.randbits(64))
    for epsilon in arguments.epsilons:

        def calibrated(m: int, share: Fraction, epsilon: Any = epsilon) -> Zealous:
            goal = z.ProbabilisticDP(
                epsilon=epsilon * share,
                delta=DELTA * share,
                users=coded.people,
                neighbors=arguments.neighbors,
            )
            return Zealous.calibrate(goal, m)

        at_once = [calibrated(m, Fraction(1)) for m in BOUNDS]
        first, second = calibrated(1, FIRST), calibrated(1, 1 - FIRST)
        found = []
        for _ in range(arguments.draws):
            pairs = Pairs(users, items, random)
            keys = random.random(pairs.number) < _chances(first, pairs)
            two = keys.sum() + _chances(second, pairs, ~keys).sum()
            found.append([*(_chances(each, pairs).sum() for each in at_once), two])
        cells = " | ".join(f"{each:.1f}" for each in np.mean(found, axis=0))
        print(f"| {table.name} | {epsilon} | {cells} |", flush=True)


def _chances(mechanism: Zealous, pairs: Pairs, only: Keys | None = None) -> Floats:
    """The chance of each item to be published."""
    kept = pairs.kept(mechanism.items_per_user, only)[1]
    counts, places = np.unique(np.bincount(kept, minlength=pairs.number), return_inverse=True)
    chances = [mechanism.publication_probability(int(count)) for count in counts]
    return np.array(chances)[places]


if __name__ == "__main__":
    main()
