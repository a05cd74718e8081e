"""Publish the frequent items of people's data with a proven privacy guarantee.

import zealous as z

log = z.read_log("log.parquet")
goal = z.ProbabilisticDP(epsilon=2, delta="1e-3", users=650_000)
release = z.publish(log, goal, [z.queries(items_per_user=5)])
release.write("release/")
"""

from importlib import import_module
from typing import TYPE_CHECKING

from zealous.version import VERSION

if TYPE_CHECKING:
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
    from zealous.planning.plan_file import read_plan
    from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
    from zealous.privacy.period import Period
    from zealous.release.bundle import read_release
    from zealous.release.charging import Account
    from zealous.release.publish import publish
    from zealous.study.compare import compare, evaluate
    from zealous.study.grid.study import Study

__version__ = VERSION

__all__ = [
    "Account",
    "Cleaning",
    "Columns",
    "DuckDB",
    "Indistinguishability",
    "Limits",
    "Period",
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
    "read_plan",
    "read_release",
    "sequences",
    "tail",
]

# Where each is, to be imported when it is first used: `import zealous` loads next to nothing.
_MODULES = {
    "Account": "zealous.release.charging",
    "Cleaning": "zealous.logs.log",
    "Columns": "zealous.logs.log",
    "DuckDB": "zealous.engines.duckdb",
    "Indistinguishability": "zealous.privacy.guarantee",
    "Limits": "zealous.files.limits",
    "Period": "zealous.privacy.period",
    "ProbabilisticDP": "zealous.privacy.guarantee",
    "Spark": "zealous.engines.spark",
    "Study": "zealous.study.grid.study",
    "ZealousError": "zealous.errors",
    "clicks": "zealous.items",
    "columns": "zealous.items",
    "compare": "zealous.study.compare",
    "evaluate": "zealous.study.compare",
    "itemsets": "zealous.items",
    "keywords": "zealous.items",
    "phrase_pairs": "zealous.items",
    "plan": "zealous.planning.plan",
    "publish": "zealous.release.publish",
    "queries": "zealous.items",
    "query_clicks": "zealous.items",
    "query_pairs": "zealous.items",
    "read_log": "zealous.logs.log",
    "read_plan": "zealous.planning.plan_file",
    "read_release": "zealous.release.bundle",
    "sequences": "zealous.items",
    "tail": "zealous.items",
}

if not TYPE_CHECKING:  # else any name would be one for a type checker

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(_MODULES[name]), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return __all__
