"""What a peer publishes at its best bound on the items of a user: for the scripts beside it.

INPUT is a Parquet table of (user, item), whole numbers, each pair once. Every bound is tried once,
and the one that publishes the most items is drawn anew as often as asked. OUTPUT is JSON: `tried`,
items by bound; `bound`; `draws`, each a list of [item, count].
"""

import argparse
import json
from collections.abc import Callable

import pyarrow.parquet as pq

Rows = list[tuple[int, int]]
Published = list[tuple[int, float]]


def main(release: Callable[[Rows, int], Published]) -> None:
    """`python PEER.py INPUT OUTPUT [--bounds M ...] [--draws N]`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--bounds", type=int, nargs="+", default=[1, 2, 3, 5, 8, 10, 15, 20, 30])
    parser.add_argument("--draws", type=int, default=5)
    arguments = parser.parse_args()
    table = pq.read_table(arguments.input, columns=["user", "item"])
    rows = list(zip(table["user"].to_pylist(), table["item"].to_pylist(), strict=True))
    tried = {}
    if len(arguments.bounds) > 1:
        tried = {bound: len(release(rows, bound)) for bound in arguments.bounds}
    best = max(tried or arguments.bounds, key=lambda bound: tried.get(bound, 0))
    draws = [release(rows, best) for _ in range(arguments.draws)]
    with open(arguments.output, "w", encoding="utf-8") as file:
        json.dump({"tried": tried, "bound": best, "draws": draws}, file)
