"""Checks that one peer alone needs; see check.py."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable
from typing import Any

from setting import Release


def sampling(release: Release) -> str:
    """truncate_num_groups(keep="sample"), its default:"""
    path = write([(user, name) for user in range(500) for name in "abc"])
    return f"released {len(list(release(path, 1.0, 1e-6, 3, 'sample')))}"  # type: ignore[call-arg]


def strictness(release: Release) -> str:
    """A row a person, no truncation; 100,000 items of one row, delta 0.01. Share over delta:"""
    import opendp.prelude as dp
    import polars as pl

    context = dp.Context.compositor(
        data=pl.LazyFrame({"item": [f"item {number}" for number in range(100_000)]}),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0, delta=0.01),
        split_evenly_over=1,
    )
    query = context.query().group_by("item").agg(dp.len(signed=True))
    (limit,) = query.summarize()["threshold"]
    released = query.release().collect()
    share = over_delta(released.height / 100_000, 100_000)
    return f"{share}; threshold {limit}, least count published {released['len'].min()}"


def lower_level(release: Release) -> str:
    """make_laplace_threshold at scale 1, threshold 5. Share of counts of 1 published, its delta:"""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    mechanism = dp.m.make_laplace_threshold(domain, metric, scale=1.0, threshold=5)
    _, delta = mechanism.map((1, 1, 1))
    published = mechanism({f"item {number}": 1 for number in range(100_000)})
    return f"{len(published) / 100_000:.5f}, {delta:.5f}; least count {min(published.values())}"


def small(release: Release) -> str:
    """Epsilon 50, delta 1e-6, m 5, where a threshold of 3 would do:"""
    path = write([(user, name) for user in range(500) for name in "abc"])
    return f"released {len(list(release(path, 50.0, 1e-6, 5)))}"


def rounding(release: Release) -> str:
    """1,000 items of 100 users each, epsilon 1, m 1. Mean of count - 100, two deviations:"""
    path = write([(user, f"item {user // 100}") for user in range(100_000)])
    errors = [count - 100 for _, count in release(path, 1.0, 1e-6, 1)]
    mean = sum(errors) / len(errors)
    return f"{mean:.2f} +- {2 * math.sqrt(2 / len(errors)):.2f}, of {len(errors)} items"


def budget(release: Release) -> str:
    """Cost that it reports, having been given epsilon 1, of one count, and of two:"""
    from smartnoise_sql import QUERY, reader

    log = reader(write([(1, "a"), (2, "a")]), 1.0, 0.01, 5)
    two = QUERY.replace("AS users", "AS users, COUNT(*) AS n")
    costs = [log.get_privacy_cost(query) for query in (QUERY, two)]
    return "; ".join(f"epsilon {e:.3g}, delta {d:.3g}" for e, d in costs)


def limit(release: Release) -> str:
    """The threshold at epsilon 1, delta 1e-6, m 5:"""
    from smartnoise_sql import QUERY, reader

    log = reader(write([(1, "a"), (2, "a")]), 1.0, 1e-6, 5)
    log.execute(QUERY)
    return f"{log.tau:.2f}"


def keys(release: Release) -> str:
    """groupby of a column whose values are not listed:"""
    from tmlt.analytics import QueryBuilder

    QueryBuilder("rows").groupby(["item"]).count()
    return "accepted"


def described(release: Release) -> str:
    """What its own mechanism says of itself at epsilon 1, delta 1e-6, m 5:"""
    from pipeline_dp import dp_computations
    from pipeline_dp.aggregate_params import PartitionSelectionStrategy as Strategy

    return dp_computations.ThresholdingMechanism(
        1.0, 1e-6, Strategy.LAPLACE_THRESHOLDING, 5, None
    ).describe()


def halved(release: Release) -> str:
    """The same as for `integers`, with its defaults, which spend budget on choosing items:"""
    import pipeline_dp
    from pipelinedp_query import users_per_item

    rows = [(user, f"item {user // 100}") for user in range(20_000)]
    budget = pipeline_dp.NaiveBudgetAccountant(1.0, 1e-6)
    backend = pipeline_dp.LocalBackend()
    counted = list(users_per_item(rows, backend, budget, 5, thresholding=False))
    return f"{len(counted)} of 200 published"


MORE = {
    "opendp_polars": (strictness, lower_level, small),
    "opendp_first": (sampling,),
    "pipelinedp_local": (described, halved),
    "smartnoise_sql": (budget, limit, rounding),
    "tumult_analytics": (keys,),
}


def over_delta(share: float, items: int) -> str:
    """A share of items over delta = 0.01, with two standard deviations."""
    spread = math.sqrt(share * (1 - share) / items)
    return f"{share / 0.01:.3f} +- {2 * spread / 0.01:.3f}"


def write(pairs: Iterable[tuple[Any, str]]) -> str:
    """(user, item) rows in a Parquet file of the current folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    user, item = zip(*pairs, strict=True)
    table = pa.table({"user": pa.array(user, pa.int64()), "item": pa.array(item, pa.string())})
    with tempfile.NamedTemporaryFile(dir=".", suffix=".parquet", delete=False) as file:
        pq.write_table(table, file)
    return file.name
