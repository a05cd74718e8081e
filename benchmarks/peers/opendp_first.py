"""Users per item by OpenDP, each user's items being those that come first in the alphabet.

    python opendp_first.py INPUT OUTPUT

A faster way, and another release: everybody keeps the same favoured items, one fewer than asked
for. The random choice of `truncate_num_groups`, its default, fails in 0.16.0; see README.md.
"""

import opendp.prelude as dp
import polars as pl
from opendp_polars import rows_of
from setting import main


def release(
    source: str, epsilon: float, delta: float, items_per_user: int, keep: str = "first"
) -> list[tuple[str, float]]:
    query = (
        rows_of(source, epsilon, delta)
        .truncate_num_groups(items_per_user, by=["item"], keep=keep)
        .group_by("user", "item")
        .agg(pl.len())
        .group_by("item")
        .agg(dp.len(signed=True))
    )
    return query.release().collect().rows()


if __name__ == "__main__":
    main(release)
