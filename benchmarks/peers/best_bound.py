"""What a peer publishes at its best setting: for the scripts beside it.

INPUT is a Parquet table of (user, item), whole numbers, each pair once. Every way of a peer is
tried once with every bound on the items of a user, and the setting that publishes the most items is
drawn anew as often as asked. OUTPUT is JSON: `tried`, items by setting; `setting`; `draws`, each a
list of [item, count]. Peers that count nothing give a count of 0.
"""

import argparse
import json
from collections.abc import Callable, Mapping

import pyarrow.parquet as pq

Rows = list[tuple[int, int]]
Published = list[tuple[int, float]]
Release = Callable[[Rows, int], Published]


def items_by_user(rows: Rows) -> list[list[int]]:
    """A list for each user."""
    found: dict[int, list[int]] = {}
    for user, item in rows:
        found.setdefault(user, []).append(item)
    return list(found.values())


def main(ways: Mapping[str, Release]) -> None:
    """`python PEER.py INPUT OUTPUT [--bounds M ...] [--draws N]`.

    Args:
        ways: The ways in which a peer can do it, by name.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--bounds", type=int, nargs="+", default=[1, 2, 3, 5, 8, 10, 15, 20, 30])
    parser.add_argument("--draws", type=int, default=5)
    arguments = parser.parse_args()
    table = pq.read_table(arguments.input, columns=["user", "item"])
    rows = list(zip(table["user"].to_pylist(), table["item"].to_pylist(), strict=True))
    settings = {
        ", ".join(filter(None, (f"m = {bound}", name))): (release, bound)
        for bound in arguments.bounds
        for name, release in ways.items()
    }
    tried = {}
    if len(settings) > 1:
        tried = {told: len(release(rows, bound)) for told, (release, bound) in settings.items()}
    best = max(settings, key=lambda told: tried.get(told, 0))
    release, bound = settings[best]
    draws = [release(rows, bound) for _ in range(arguments.draws)]
    with open(arguments.output, "w", encoding="utf-8") as file:
        json.dump({"tried": tried, "setting": best, "draws": draws}, file)
