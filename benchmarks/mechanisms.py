"""What each mechanism publishes with counts, each at its best setting, beside peers and rivals.

    python benchmarks/peers/setup.py --only pipelinedp opendp      (once; or they are left out)
    python benchmarks/mechanisms.py [--users 50000 500000] [--real visits shop diagnoses]
        [--tables FILE:USER:COLUMN ...] [--draws 5] [--neighbors add-remove replace] [-o FILE]

At epsilon 1 and delta 1e-6, each at its best setting (best_setting.py): m, and for pooled rounds
what the look of `auto` can choose. `auto` looks, for 0.02 of epsilon, in each draw. Real releases
of the table as numbers, with real noise, thrown away.

Peers (PipelineDP and OpenDP, in environments of their own) and the set unions of
mechanisms_rivals.py are measured under add-remove, the relation of their claims.

Real tables stand in ../shared/data where available. Results go to mechanisms.json after every
table, in place of what was measured before, and all are printed as Markdown, with what pooled
rounds were to reach and whether they do. `--report` only prints, `--only pooled auto` measures
some mechanisms and keeps the others' rows.
"""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
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
from looks import LOOK, choice_name, noisy_choice, users_by_range
from mechanisms_data import Table, table_options
from mechanisms_rivals import BOUNDS, REPEATED, RIVALS, Pairs, draw, repeat_selection

import zealous as z
from zealous.mechanisms import CalibratedMechanism
from zealous.mechanisms.after_look import POOLED
from zealous.mechanisms.choose import MECHANISMS
from zealous.privacy.guarantee import Neighbors
from zealous.study.mechanism_comparison import compare_with_truth, measure_draw
from zealous.study.releases.encoded_log import CachedCounting, EncodedLog

PEERS = (
    Peer("PipelineDP", "pipelinedp", "pipelinedp_gaussian.py"),
    Peer("OpenDP", "opendp", "opendp_best.py"),
)
ONE_HISTOGRAM = ("zealous", "laplace", "gaussian")
HISTOGRAM_BOUNDS = (1, 2, 3, 5, 10, 30)
KEY_BOUNDS = (2, 10, 40)
TWICE_BOUNDS = (3, 10, 40)
LARGE_BOUNDS = (5, 10, 15, 20)  # of a large table
NOT_OTHERS = ("pooled", "auto")  # which are compared with all others
RELATIONS = ("add-remove", "replace")
TARGETS = {  # items of pooled rounds, as a multiple of those of the best other
    "online_retail": 3.0,
    "generated, 50,000 users": 1.45,
    "generated, 500,000 users": 1.45,
    "patient_diagnoses": 1.05,
    "page visits": 1.05,
}
REPEATED_SELECTION = "repeated selection"
NAMES = (
    *(*ONE_HISTOGRAM, "selection", "selection-twice", *NOT_OTHERS, *RIVALS, REPEATED_SELECTION),
    *(each.name for each in PEERS),
)


def main() -> None:
    arguments = _arguments()
    results = measured_tables(arguments, _rows)
    for name, found in results.items():
        print("\n".join(_markdown(name, found)))
    print("\n".join(_targets(results)))


def _arguments() -> argparse.Namespace:
    parser = table_options(__doc__, users=[50_000, 500_000], draws=5)
    parser.add_argument("--neighbors", nargs="+", default=RELATIONS)
    parser.add_argument("--bounds", type=int, nargs="+", help="m to try, in place of the usual")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="MECHANISM")
    add_output(parser, HERE / "mechanisms.json")
    return parser.parse_args()


def _rows(
    table: Table, coded: EncodedLog, arguments: argparse.Namespace, folder: Path
) -> list[Row]:
    """All figures of one table."""
    rows = []
    for relation in arguments.neighbors:
        counting = CachedCounting(coded)
        for name, settings in _ours(table, counting, relation, arguments.bounds).items():
            if name in arguments.only:
                rows.append(at_best(name, settings, arguments.draws, relation))
    if "add-remove" in arguments.neighbors:
        for name, settings in _rivals(coded, arguments).items():
            rows.append(at_best(name, settings, arguments.draws))
        bounds = arguments.bounds or ((10, 15) if table.large else HISTOGRAM_BOUNDS)
        for peer in (each for each in PEERS if each.name in arguments.only):
            found = peer.draws(coded.path, folder, bounds, arguments.draws)
            if found is not None:
                rows.append(peer_row(peer, found, partial(compare_with_truth, coded.users)))
    return rows


def _ours(
    table: Table, counting: CachedCounting, relation: Neighbors, bounds: Sequence[int] | None
) -> dict[str, dict[str, Draw]]:
    """For each mechanism its settings."""
    goal = z.Indistinguishability(epsilon=EPSILON, delta=DELTA, neighbors=relation)
    rest = z.Indistinguishability(epsilon=EPSILON * (1 - LOOK), delta=DELTA, neighbors=relation)
    ranges = users_by_range(counting.coded.path)

    def measured(mechanism: CalibratedMechanism) -> Draw:
        return lambda: measure_draw(mechanism, counting, secrets.randbits(64))

    def after_look() -> Figures:
        mechanism = noisy_choice(ranges, relation).calibrate(rest)
        return measure_draw(mechanism, counting, secrets.randbits(64))

    def at(name: str, tried: Sequence[int]) -> dict[str, Draw]:
        tried = bounds or (LARGE_BOUNDS if table.large else tried)
        return {f"m = {m}": measured(MECHANISMS[name].calibrate(goal, m)) for m in tried}

    pooled = POOLED[2::2] if table.large else POOLED
    return {
        **{name: at(name, HISTOGRAM_BOUNDS) for name in ONE_HISTOGRAM},
        "selection": {"m = 1": measured(MECHANISMS["selection"].calibrate(goal, 1))},
        "selection-twice": at("selection-twice", TWICE_BOUNDS),
        "pooled": at("pooled", KEY_BOUNDS)
        | {choice_name(each): measured(each.calibrate(goal)) for each in pooled},
        "auto": {"by its look": after_look},
    }


def _rivals(coded: EncodedLog, arguments: argparse.Namespace) -> dict[str, dict[str, Draw]]:
    """Set unions of the literature, with counts, and selection that is repeated."""
    bounds = arguments.bounds or BOUNDS
    random = np.random.default_rng(secrets.randbits(64))
    held = pq.read_table(coded.path)
    users, items = (held[column].to_numpy().astype(np.int64) for column in ("user", "item"))
    pairs = Pairs(users, items, random)

    def settled(name: str, bound: int) -> Draw:
        release = draw(name, pairs, bound, EPSILON, float(DELTA), random)
        return lambda: compare_with_truth(coded.users, *release())

    def repeated(shares: str) -> Draw:
        release = repeat_selection(pairs, list(map(Fraction, shares.split())), EPSILON, DELTA)
        return lambda: compare_with_truth(coded.users, *release())

    unions = [name for name in RIVALS if name in arguments.only]
    made = {name: {f"{each} items": settled(name, each) for each in bounds} for name in unions}
    if REPEATED_SELECTION in arguments.only:
        made[REPEATED_SELECTION] = {each: repeated(each) for each in REPEATED}
    return made


def _markdown(name: str, found: dict[str, Any]) -> Iterator[str]:
    """A table for each relation, and how pooled rounds and auto compare with the best other."""
    for relation in dict.fromkeys(row["neighbors"] for row in found["rows"]):
        rows = [row for row in found["rows"] if row["neighbors"] == relation]
        yield (
            f"\n**{name}**, {relation}: {found['users']:,} people, {found['distinct_items']:,} "
            f"different items, {found['pairs'] / found['users']:.1f} each; {found['used']}\n"
        )
        yield "| mechanism | setting | items | covered mass | mean error | median relative error |"
        yield "|---|---|---|---|---|---|"
        yield from map(_line, rows)
        best = _best_other(rows)
        for row in rows:
            if row["mechanism"] in NOT_OTHERS and best["items"]["mean"]:
                ratio = row["items"]["mean"] / best["items"]["mean"]
                yield f"\n{row['mechanism']}: {ratio:.2f} of {best['mechanism']}, the best other"


def _best_other(rows: Sequence[Row]) -> Row:
    """The row of most items, of those that `pooled` and `auto` are compared with."""
    others = [row for row in rows if row["mechanism"] not in NOT_OTHERS]
    return max(others, key=lambda row: row["items"]["mean"])


def _targets(results: Mapping[str, Any]) -> Iterator[str]:
    """What pooled rounds were to reach on each table under each relation, and what they do."""
    yield "\n**Targets**: items of `pooled`, as a multiple of those of the best other"
    yield "(under replace the best other of ours: peers and rivals are measured under add-remove)\n"
    yield "| table | relation | draws | pooled | best other | ratio | target | |"
    yield "|---|---|---|---|---|---|---|---|"
    for (name, target), relation in product(TARGETS.items(), RELATIONS):
        found = results.get(name, {"rows": [], "draws": 0})
        rows = [row for row in found["rows"] if row["neighbors"] == relation]
        pooled = next((row for row in rows if row["mechanism"] == "pooled"), None)
        if pooled is None or len(rows) == 1:
            yield f"| {name} | {relation} | | | | | {target:g} | not measured |"
            continue
        best = _best_other(rows)
        items, most = pooled["items"]["mean"], best["items"]["mean"]
        met = items >= target * most
        cells = [name, relation, pooled.get("draws", found["draws"]), f"{items:,.1f}"]
        cells += [f"{best['mechanism']} {most:,.1f}", f"{items / most:.2f}" if most else ""]
        yield f"| {' | '.join(map(str, cells))} | {target:g} | {'met' if met else 'not met'} |"


def _line(row: dict[str, Any]) -> str:
    items = row["items"]
    cells = [
        row["mechanism"],
        row["setting"],
        f"{items['mean']:,.1f} ({items['low']:,.0f} to {items['high']:,.0f})",
        f"{100 * row['covered']['mean']:.1f} %" if row["covered"] else "",
        f"{row['error']['mean']:.1f}" if row["error"] else "",
        f"{100 * row['relative_error']['mean']:.1f} %" if row["relative_error"] else "",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
