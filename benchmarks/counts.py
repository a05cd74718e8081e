"""Two ways to count found keys: m of each user's n at 1, or all of them at min(1, sqrt(m / n)).

    python benchmarks/counts.py [--real visits shop diagnoses] [--tables FILE:USER:COLUMN ...]
        [--draws 3]

Both move counts by at most sqrt(m) in length, so both cost the same noise. Keys are those that
pooled rounds find at epsilon 1 and delta 1e-6, add-remove; the noise on counts is drawn as
continuous, with the calibrated scale of each m. Prints the median relative error of both ways at
every m, and at the best m of each.
"""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from looks import users_by_range
from mechanisms_data import Table, chosen_tables, table_options
from mechanisms_rivals import Pairs

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.logs.open_log import open_log
from zealous.mechanisms.after_look import POOLED, choose
from zealous.mechanisms.pooled import Pooled
from zealous.study.releases.encoded_log import COUNTS, CachedCounting, encode

GOAL = z.Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
BOUNDS = (2, 3, 5, 8, 10, 15, 20, 30, 40, 60, 80)


def main() -> None:
    arguments = table_options(__doc__, draws=3).parse_args()
    print(f"| table | way | {' | '.join(f'm = {m}' for m in BOUNDS)} | best |")
    print(f"|---|---{'|---' * len(BOUNDS)}|---|")
    with tempfile.TemporaryDirectory() as folder:
        for table in chosen_tables(arguments, Path(folder)):
            _measure(table, arguments.draws)


def _measure(table: Table, draws: int) -> None:
    kind = table.kind(1)
    with DuckDB() as engine:
        coded, _ = encode(kind, open_log(table.log, engine, kind.extra_columns()), {})
        held = pq.read_table(coded.path)
        users, items = (held[each].to_numpy().astype(np.int64) for each in ("user", "item"))
        random = np.random.default_rng(secrets.randbits(64))
        pairs = Pairs(users, items, random)
        choice = choose([int(each) for each in users_by_range(coded.path)], "add-remove")
        kept = choice.kept_items_per_user or POOLED[0].kept_items_per_user
        mechanisms = [Pooled.calibrate(GOAL, m, kept_items_per_user=kept) for m in BOUNDS]
        found = []
        for _ in range(draws):
            keys = _keys(mechanisms[0], CachedCounting(coded), pairs.number)
            errors = [_errors(each, pairs, keys, coded.users, random) for each in mechanisms]
            found.append(errors)
    for way, means in zip(("m of n", "all"), np.mean(found, axis=0).T, strict=True):
        cells = " | ".join(f"{100 * each:.1f} %" for each in (*means, min(means)))
        print(f"| {table.name} | {way} | {cells} |", flush=True)


def _keys(mechanism: Pooled, counting: CachedCounting, number: int) -> Any:
    """Which items a release would have."""
    with counting.for_key(secrets.randbits(64)) as count:
        batches = list(mechanism.release(count, secrets.token_bytes))
    keys = np.zeros(number, np.bool_)
    table = pa.Table.from_batches([batch.cast(COUNTS) for batch in batches], COUNTS)
    keys[table["item"].to_numpy()] = True
    return keys


def _errors(
    mechanism: Pooled, pairs: Pairs, keys: Any, users: Any, random: np.random.Generator
) -> tuple[float, float]:
    """The median relative error of both ways, under the same noise."""
    m, true = mechanism.items_per_user, users[keys]
    noise = random.normal(0, float(mechanism.scale), len(true))
    some = np.bincount(pairs.kept(m, keys)[1], minlength=pairs.number)[keys]
    whose, which = pairs.kept(pairs.number, keys)
    weights = np.minimum(1, np.sqrt(m / np.bincount(whose)[whose]))
    every = np.bincount(which, weights, pairs.number)[keys]
    some_off, all_off = (np.abs(np.rint(each + noise) - true) / true for each in (some, every))
    return float(np.median(some_off)), float(np.median(all_off))


if __name__ == "__main__":
    main()
