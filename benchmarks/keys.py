"""Which items are found where none is counted: how many, and the covered mass they hold.

    python benchmarks/peers/setup.py --only dp_mm_domain    (once; see peers/README.md)
    python benchmarks/keys.py [--users 50000] [--real visits shop diagnoses]
        [--tables FILE:USER:COLUMN ...] [--draws 5] [-o FILE]

At epsilon 1 and delta 1e-6, add-remove, each at its best setting (best_setting.py). Of ours:
`selection`, whose counts cost nothing; `pooled` as it is released, with counts for a fifth of mu^2;
and `pooled` with 0.999 of mu^2 for keys, which is not in the product. Beside them the set unions
of mechanisms_rivals.py with the whole budget for keys, and the weighted and the policy Gaussian of
Google's dp_mm_domain as they are published.

Results go to keys.json, and are printed as Markdown; `--report` only prints.
"""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from best_setting import (
    DELTA,
    EPSILON,
    HERE,
    Draw,
    Figures,
    Peer,
    Row,
    add_output,
    at_best,
    measured_tables,
    peer_row,
)
from looks import choice_name
from mechanisms_data import Table, table_options
from mechanisms_rivals import BOUNDS, Find, Ints, Pairs, find_keys

import zealous as z
from zealous.mechanisms import CalibratedMechanism
from zealous.mechanisms.after_look import POOLED
from zealous.mechanisms.choose import MECHANISMS
from zealous.mechanisms.pooled import Pooled
from zealous.study.mechanism_comparison import measure_draw
from zealous.study.releases.encoded_log import CachedCounting, EncodedLog

GOAL = z.Indistinguishability(epsilon=EPSILON, delta=DELTA, neighbors="add-remove")
UNIONS = ("weighted Gaussian", "policy Gaussian", "DP-SIPS")
PEERS = (
    Peer("dp_mm_domain, weighted Gaussian", "dp_mm_domain", "dp_mm_domain_weighted.py"),
    Peer("dp_mm_domain, policy Gaussian", "dp_mm_domain", "dp_mm_domain_policy.py"),
)


class KeysAlone(Pooled):
    """Pooled rounds that spend next to nothing on counts."""

    shape = replace(Pooled.shape, share=Fraction(999, 1000))


def main() -> None:
    parser = table_options(__doc__, users=[50_000], draws=5)
    parser.add_argument("--bounds", type=int, nargs="+", default=BOUNDS)
    add_output(parser, HERE / "keys.json")
    for name, found in measured_tables(parser.parse_args(), _rows).items():
        print("\n".join(_markdown(name, found)))


def _rows(
    table: Table, coded: EncodedLog, arguments: argparse.Namespace, folder: Path
) -> list[Row]:
    """All figures of one table."""
    settings = _ours(CachedCounting(coded)) | _unions(coded, arguments.bounds)
    rows = [at_best(name, each, arguments.draws) for name, each in settings.items()]
    for peer in PEERS:
        found = peer.draws(coded.path, folder, arguments.bounds, arguments.draws)
        if found is not None:
            rows.append(peer_row(peer, found, lambda items, _: _figures(coded.users, items)))
    return rows


def _ours(counting: CachedCounting) -> dict[str, dict[str, Draw]]:
    """For each mechanism its settings."""

    def drawn(mechanism: CalibratedMechanism) -> Draw:
        return lambda: measure_draw(mechanism, counting, secrets.randbits(64))

    alone = {
        f"{each.kept_items_per_user} kept": drawn(
            KeysAlone.calibrate(GOAL, 1, kept_items_per_user=each.kept_items_per_user)
        )
        for each in POOLED
    }
    return {
        "selection": {"m = 1": drawn(MECHANISMS["selection"].calibrate(GOAL, 1))},
        "pooled": {choice_name(each): drawn(each.calibrate(GOAL)) for each in POOLED},
        "pooled, keys alone": alone,
    }


def _unions(coded: EncodedLog, bounds: list[int]) -> dict[str, dict[str, Draw]]:
    """Set unions of the literature."""
    random = np.random.default_rng(secrets.randbits(64))
    held = pq.read_table(coded.path)
    users, items = (held[column].to_numpy().astype(np.int64) for column in ("user", "item"))
    pairs = Pairs(users, items, random)

    def settled(name: str, bound: int) -> Draw:
        find: Find = find_keys(name, pairs, bound, EPSILON, float(DELTA), random)
        return lambda: _figures(coded.users, np.flatnonzero(find()))

    return {name: {f"{each} items": settled(name, each) for each in bounds} for name in UNIONS}


def _figures(users: Ints, items: Ints) -> Figures:
    """How many there are, and what they cover; there are no counts that could be off."""
    covered = float(users[items].sum() / users.sum())
    return {"items": len(items), "covered": covered, "error": None, "relative_error": None}


def _markdown(name: str, found: dict[str, Any]) -> Iterator[str]:
    yield (
        f"\n**{name}**: {found['users']:,} people, {found['distinct_items']:,} different items, "
        f"{found['pairs'] / found['users']:.1f} each; {found['used']}\n"
    )
    yield "| mechanism | setting | items | covered mass |"
    yield "|---|---|---|---|"
    for row in found["rows"]:
        items, covered = row["items"], 100 * row["covered"]["mean"]
        spread = f"{items['mean']:,.1f} ({items['low']:,.0f} to {items['high']:,.0f})"
        yield f"| {row['mechanism']} | {row['setting']} | {spread} | {covered:.1f} % |"


if __name__ == "__main__":
    main()
