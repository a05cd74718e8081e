"""Users per item by OpenDP, with Laplace or Gaussian noise, at its best bound.

    python opendp_best.py INPUT OUTPUT [--bounds 1 2 3 5 8 10 15 20 30] [--draws 5]

Both laws are tried at every bound, and the one that publishes more counts. OpenDP states Gaussian
noise as zCDP: its rho is the largest that OpenDP itself converts to epsilon at half of delta; the
other half is for items that one user alone has. See best_bound.py.
"""

from functools import cache

import opendp.prelude as dp
import polars as pl
from best_bound import Published, Rows, main
from setting import DELTA, EPSILON

dp.enable_features("contrib")


def release(rows: Rows, bound: int) -> Published:
    """(item, count): of the two laws the one that publishes more, which favours this peer."""
    table = pl.LazyFrame(rows, schema=["user", "item"], orient="row")
    laplace = dp.loss_of(epsilon=EPSILON, delta=DELTA)
    gaussian = dp.loss_of(rho=_rho(), delta=DELTA / 2)
    return max((_published(table, bound, loss) for loss in (laplace, gaussian)), key=len)


def _published(table: pl.LazyFrame, bound: int, loss: object) -> Published:
    context = dp.Context.compositor(
        data=table,
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("user")),
        privacy_loss=loss,
        split_evenly_over=1,
    )
    query = context.query().truncate_per_group(bound).group_by("item").agg(dp.len(signed=True))
    return query.release().collect().rows()


@cache
def _rho() -> float:
    """The largest rho that OpenDP converts to (EPSILON, DELTA / 2)."""
    low, high = 1.0, 100.0
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    while high - low > 1e-4:
        scale = (low + high) / 2
        curve = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale)).map(1.0)
        low, high = (low, scale) if curve.epsilon(DELTA / 2) <= EPSILON else (scale, high)
    return 1 / (2 * high**2)


if __name__ == "__main__":
    main(release)
