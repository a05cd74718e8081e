"""Publish the frequent items of people's data with a proven privacy guarantee.

import zealous as z

log = z.read_log("log.parquet")
goal = z.ProbabilisticDP(epsilon=2, delta="1e-3", users=650_000)
release = z.publish(log, goal, [z.queries(items_per_user=5)])
release.write("release/")
"""

from zealous.engines.duckdb import DuckDB
from zealous.engines.spark import Spark
from zealous.errors import ZealousError
from zealous.files.limits import Limits
from zealous.items import (
    clicks,
    columns,
    itemsets,
    keywords,
    phrase_pairs,
    queries,
    query_clicks,
    query_pairs,
    sequences,
    tail,
)
from zealous.logs.log import Cleaning, Columns, read_log
from zealous.planning.plan import plan
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
from zealous.release.account import Account
from zealous.release.bundle import read_release
from zealous.release.publish import publish
from zealous.study.compare import compare, evaluate
from zealous.study.grid.study import Study
from zealous.version import VERSION

__version__ = VERSION

__all__ = [
    "Account",
    "Cleaning",
    "Columns",
    "DuckDB",
    "Indistinguishability",
    "Limits",
    "ProbabilisticDP",
    "Spark",
    "Study",
    "ZealousError",
    "__version__",
    "clicks",
    "columns",
    "compare",
    "evaluate",
    "itemsets",
    "keywords",
    "phrase_pairs",
    "plan",
    "publish",
    "queries",
    "query_clicks",
    "query_pairs",
    "read_log",
    "read_release",
    "sequences",
    "tail",
]
