"""Users per item by OpenDP's Polars interface.

    python opendp_polars.py INPUT OUTPUT

`truncate_num_groups(keep="sample")`, the default, fails in 0.16.0 (see README.md), so each user
keeps the items that come first in the alphabet.
"""

import opendp.prelude as dp
import polars as pl
from setting import main


def release(
    source: str, epsilon: float, delta: float, items_per_user: int, keep: str = "first"
) -> list[tuple[str, float]]:
    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=pl.scan_parquet(source),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("user")),
        privacy_loss=dp.loss_of(epsilon=epsilon, delta=delta),
        split_evenly_over=1,
    )
    query = (
        context.query()
        .truncate_num_groups(items_per_user, by=["item"], keep=keep)
        .group_by("user", "item")
        .agg(pl.len())
        .group_by("item")
        .agg(dp.len(signed=True))
    )
    return query.release().collect().rows()


if __name__ == "__main__":
    main(release)
