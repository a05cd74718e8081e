"""What every entry of the comparison is asked for, and how it hands its release over.

Only the standard library: every environment reads it.
"""

import csv
import sys
from collections.abc import Callable, Iterable

EPSILON = 1.0
DELTA = 1e-6
ITEMS_PER_USER = 5

Release = Callable[[str, float, float, int], Iterable[tuple[str, float]]]


def main(release: Release) -> None:
    """`python RUNNER.py INPUT OUTPUT`: Parquet in, CSV out, the number of items on the screen."""
    source, output = sys.argv[1:]
    rows = list(release(source, EPSILON, DELTA, ITEMS_PER_USER))
    with open(output, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    print(len(rows))
