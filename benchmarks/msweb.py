"""The UCI table "Anonymous Microsoft Web Data" as a log, for `zealous study compare`.

    python benchmarks/msweb.py anonymous-msweb.csv.gz -o msweb.csv
    zealous study compare msweb.csv --user user --query query --session session -o study

Each visitor is a user and each area of the site that she visited a query, named as the table names
it. All that a visitor visited is one session. The table has neither times nor clicks, so that there
are no query pairs. It describes real people: neither it nor the log belongs in the project.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path


def log_rows(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """User and query, from lines of which A names an area, C a visitor and V a visit.

    >>> list(log_rows(['A,7,1,"Tea","/tea"', "C,x,3,", "V,7,1"]))
    [('3', 'Tea')]
    """
    areas: dict[str, str] = {}
    visitor = ""
    for row in csv.reader(lines):
        if not row:
            continue
        if row[0] == "A":
            areas[row[1]] = row[3]
        elif row[0] == "C":
            visitor = row[2]
        elif row[0] == "V":
            yield visitor, areas[row[1]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    with (
        gzip.open(arguments.table, "rt", encoding="latin-1", newline="") as source,
        arguments.output.open("w", encoding="utf-8", newline="") as target,
    ):
        writer = csv.writer(target)
        writer.writerow(("user", "session", "query"))
        writer.writerows((user, user, query) for user, query in log_rows(source))
    print(f"wrote {arguments.output}")


if __name__ == "__main__":
    main()
