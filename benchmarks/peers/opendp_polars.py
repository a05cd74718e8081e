"""Users per item by OpenDP's Polars interface.

    python opendp_polars.py INPUT OUTPUT

One row for each of a user's items, then five random rows of each user: five random items.
`truncate_num_groups` would say it in one step; opendp_first.py says why it is not used here.
"""

from typing import Any

import opendp.prelude as dp
import polars as pl
from setting import main


def release(
    source: str, epsilon: float, delta: float, items_per_user: int
) -> list[tuple[str, float]]:
    query = (
        rows_of(source, epsilon, delta)
        .truncate_per_group(1, by=["item"], keep="first")
        .truncate_per_group(items_per_user)
        .group_by("item")
        .agg(dp.len(signed=True))
    )
    return query.release().collect().rows()


def rows_of(source: str, epsilon: float, delta: float) -> Any:
    """A query on the rows of a file, with the whole budget."""
    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=pl.scan_parquet(source),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("user")),
        privacy_loss=dp.loss_of(epsilon=epsilon, delta=delta),
        split_evenly_over=1,
    )
    return context.query()


if __name__ == "__main__":
    main(release)
