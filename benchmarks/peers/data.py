"""One table of people and things for every entry of the comparison, made once.

    python benchmarks/peers/data.py [--rows 2000000 10000000]

(user, item) rows like those of a search log: a few items that many people have, a long tail that
one person has alone, a few very active users, and repeated rows. Twenty rows a user on average.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "data" / "peers"
ROWS = (2_000_000, 10_000_000)
FREQUENT, RARE = 1_000_000, 1_000_000_000  # two vocabularies: Zipf's, and one of rare things


def main() -> None:
    import duckdb

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    for rows in parser.parse_args().rows:
        path = table(rows)
        with duckdb.connect() as connection:
            figures = connection.execute(_SHAPE, [str(path)]).fetchone()
        names = ("rows", "distinct rows", "users", "items", "most rows of a user", "of an item")
        print(path.name, *(f"{n} {v:,}" for n, v in zip(names, figures or (), strict=True)))


def table(rows: int) -> Path:
    """The Parquet file with so many rows; made if it is not there."""
    import duckdb

    path = FOLDER / f"rows-{rows}.parquet"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        drawn = _draw(rows)  # noqa: F841 (DuckDB finds the table by its name)
        unfinished = path.with_suffix(".unfinished")
        with duckdb.connect() as connection:
            connection.execute(
                "copy (select user, 'query ' || item as item from drawn) "
                f"to '{unfinished}' (format parquet)"
            )
        unfinished.rename(path)
    return path


def _draw(rows: int) -> Any:
    import numpy as np
    import pyarrow as pa

    generator = np.random.default_rng(7)
    users = rows // 20
    activity = generator.pareto(1.5, users) + 0.2
    user = np.searchsorted(np.cumsum(activity) / activity.sum(), generator.random(rows))
    weights = 1 / np.arange(1, FREQUENT + 1) ** 1.05
    item = np.searchsorted(np.cumsum(weights) / weights.sum(), generator.random(rows))
    rare = generator.random(rows) < 0.25
    item[rare] = FREQUENT + generator.integers(RARE, size=int(rare.sum()))
    again = generator.random(rows) < 0.15  # the same person asks the same thing once more
    source = np.where(again, generator.integers(rows, size=rows), np.arange(rows))
    return pa.table({"user": user[source], "item": item[source]})


_SHAPE = """
select count(*), count(distinct (user, item)), count(distinct user), count(distinct item),
    max(rows_of_user), max(rows_of_item)
from (select user, item, count(*) over (partition by user) as rows_of_user,
        count(*) over (partition by item) as rows_of_item from read_parquet($1))
"""

if __name__ == "__main__":
    main()
