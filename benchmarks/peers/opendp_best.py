"""Users per item by OpenDP, at its best bound, law of noise and choice of items.

    python opendp_best.py INPUT OUTPUT [--bounds 1 2 3 5 8 10 15 20 30] [--draws 5]

Both laws are tried at every bound, each with random items of a user and with those that come first
in an order that is the same for all; README.md says what is odd about the latter. OpenDP must be
told that a user has each item once, or Gaussian noise is m times as large where sqrt(m) will do. It
states Gaussian noise as zCDP: its rho is the largest that OpenDP itself converts to epsilon at half
of delta; the other half is for items that one user alone has. See best_bound.py.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import opendp.prelude as dp
import polars as pl
from best_bound import Published, Rows, main
from setting import DELTA, EPSILON

dp.enable_features("contrib")

Truncate = Callable[[Any, int], Any]


def release(loss: Callable[[], object], truncate: Truncate, rows: Rows, bound: int) -> Published:
    """(item, count)."""
    context = dp.Context.compositor(
        data=pl.LazyFrame(rows, schema=["user", "item"], orient="row"),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("user")),
        privacy_loss=loss(),
        split_evenly_over=1,
    )
    once = context.query().truncate_per_group(1, by=["item"], keep="first")
    return (
        truncate(once, bound).group_by("item").agg(dp.len(signed=True)).release().collect().rows()
    )


def _laplace() -> object:
    return dp.loss_of(epsilon=EPSILON, delta=DELTA)


def _gaussian() -> object:
    return dp.loss_of(rho=_rho(), delta=DELTA / 2)


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


def _random_items(query: Any, bound: int) -> Any:
    return query.truncate_per_group(bound)


def _first_items(query: Any, bound: int) -> Any:
    return query.truncate_num_groups(bound, by=["item"], keep="first")


LAWS = {"Laplace": _laplace, "Gaussian": _gaussian}
CHOICES: dict[str, Truncate] = {"random items": _random_items, "first items": _first_items}

if __name__ == "__main__":
    main(
        {
            f"{law}, {choice}": partial(release, loss, truncate)
            for law, loss in LAWS.items()
            for choice, truncate in CHOICES.items()
        }
    )
