"""The K most frequent items: everything published and cut to K, beside a mechanism made for K.

    python benchmarks/top.py [--real visits shop diagnoses] [--tables FILE:USER:COLUMN ...]
        [--top 10 100] [--draws 5]

At epsilon 1 and delta 1e-6, add-remove. Published and then cut: pooled rounds as `auto` chooses
them without noise in its look, the same with half of mu^2 for counts in place of a fifth, and
`gaussian`. Made for K: the limited domain of Durfee and Rogers (2019), which names up to K items
and counts none, at the best of several settings; it is written again here with continuous noise.

Printed is the share of the true K that is there, the users of what is there over those of the true
K, and the median relative error of counts.
"""

from __future__ import annotations

import math
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from looks import users_by_range
from mechanisms_data import chosen_tables, table_options
from mechanisms_rivals import Ints, Pairs

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.logs.open_log import open_log
from zealous.mechanisms import CalibratedMechanism
from zealous.mechanisms.after_look import Choice, choose
from zealous.mechanisms.choose import MECHANISMS
from zealous.mechanisms.pooled import Pooled
from zealous.study.releases.encoded_log import COUNTS, CachedCounting, encode

EPSILON, DELTA = 1, "1e-6"
GOAL = z.Indistinguishability(epsilon=EPSILON, delta=DELTA, neighbors="add-remove")
GAUSSIAN_BOUNDS = (3, 10, 30)
LIMITED = [(bound, times) for bound in (1, 5, 20, 100) for times in (2, 10)]

Draw = Callable[[], tuple[Ints, Any]]


class HalfForCounts(Pooled):
    """Pooled rounds that spend more on counts."""

    shape = replace(Pooled.shape, share=Fraction(1, 2))


def main() -> None:
    parser = table_options(__doc__, draws=5)
    parser.add_argument("--top", type=int, nargs="+", default=[10, 100])
    arguments = parser.parse_args()
    print("| table | K | how | of the true K | their users | median relative error |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for table in chosen_tables(arguments, Path(folder)):
            _measure(table.name, table.log, table.kind(1), arguments.top, arguments.draws)


def _measure(name: str, log: z.Log, kind: Any, tops: list[int], draws: int) -> None:
    with DuckDB() as engine:
        coded, _ = encode(kind, open_log(log, engine, kind.extra_columns()), {})
        counting = CachedCounting(coded)
        held = pq.read_table(coded.path)
        users, items = (held[each].to_numpy().astype(np.int64) for each in ("user", "item"))
        pairs = Pairs(users, items, np.random.default_rng(secrets.randbits(64)))
        choice = choose([int(each) for each in users_by_range(coded.path)], "add-remove")
        published = _published(choice, counting)
        for top in tops:
            limited = {"limited domain": [_limited(pairs, top, *each) for each in LIMITED]}
            for how, settings in (published | limited).items():
                drawn = [
                    np.mean([_judge(*draw(), coded.users, top) for _ in range(draws)], axis=0)
                    for draw in settings
                ]
                share, mass, error = max(drawn, key=lambda each: float(each[1]))
                told = "" if how == "limited domain" else f"{100 * error:.1f} %"
                print(
                    f"| {name} | {top} | {how} | {100 * share:.0f} % | {100 * mass:.1f} % "
                    f"| {told} |",
                    flush=True,
                )


def _published(choice: Choice, counting: CachedCounting) -> dict[str, list[Draw]]:
    """What is published whole, by name: several settings where the best is taken."""

    def drawn(mechanism: CalibratedMechanism) -> Draw:
        def draw() -> tuple[Ints, Any]:
            with counting.for_key(secrets.randbits(64)) as count:
                batches = list(mechanism.release(count, secrets.token_bytes))
            table = pa.Table.from_batches([batch.cast(COUNTS) for batch in batches], COUNTS)
            return table["item"].to_numpy(), table["count"].to_numpy()

        return draw

    made = {"gaussian": [MECHANISMS["gaussian"].calibrate(GOAL, m) for m in GAUSSIAN_BOUNDS]}
    if choice.kept_items_per_user is None:
        return {name: list(map(drawn, each)) for name, each in made.items()} | {
            "selection": [drawn(choice.calibrate(GOAL))]
        }
    pooled: dict[str, type[Pooled]] = {"pooled": Pooled, "pooled, half for counts": HalfForCounts}
    made |= {
        name: [
            each.calibrate(
                GOAL, choice.items_per_user, kept_items_per_user=choice.kept_items_per_user
            )
        ]
        for name, each in pooled.items()
    }
    return {name: list(map(drawn, each)) for name, each in made.items()}


def _judge(items: Ints, counts: Any, users: Ints, top: int) -> tuple[float, float, float]:
    """Of the K largest published counts."""
    first = np.argsort(-counts)[:top]
    found, true = items[first], np.argsort(-users)[:top]
    if not len(found):
        return 0.0, 0.0, math.nan
    error = np.median(np.abs(counts[first] - users[found]) / users[found])
    return (
        len(np.intersect1d(found, true)) / top,
        float(users[found].sum() / users[true].sum()),
        float(error),
    )


def _limited(pairs: Pairs, top: int, bound: int, times: int) -> Draw:
    """Durfee and Rogers, Algorithm 1: of the K * times largest those above a noisy threshold."""
    random, delta = np.random.default_rng(secrets.randbits(64)), float(DELTA) / 2
    each, looked_at = _epsilon_of_each(top, delta), top * times

    def draw() -> tuple[Ints, Any]:
        counts = np.bincount(pairs.kept(bound)[1], minlength=pairs.number)
        order = np.argsort(-counts)
        beyond = counts[order[looked_at]] if looked_at < len(order) else 0
        least = beyond + 1 + math.log(min(bound, looked_at) / delta) / each
        noisy = counts[order[:looked_at]] + random.gumbel(0, 1 / each, len(order[:looked_at]))
        chosen = np.argsort(-noisy)[:top]
        chosen = chosen[noisy[chosen] >= least + random.gumbel(0, 1 / each)]
        return order[chosen], noisy[chosen]

    return draw


def _epsilon_of_each(top: int, delta: float) -> float:
    """By their composition of K choices to EPSILON at delta."""
    low, high = 0.0, 1.0
    root = math.sqrt(top * math.log(1 / delta))
    while high - low > 1e-9:
        each = (low + high) / 2
        advanced = top * each * math.tanh(each / 2) + each * math.sqrt(2) * root
        bounded_range = top * each**2 / 2 + each * root / math.sqrt(2)
        fits = min(top * each, advanced, bounded_range) <= EPSILON
        low, high = (each, high) if fits else (low, each)
    return low


if __name__ == "__main__":
    main()
