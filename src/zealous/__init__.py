"""Publish the frequent items of people's data with a proven privacy guarantee.

    import zealous as z

    log = z.read_log("log.parquet")
    goal = z.ProbabilisticDP(epsilon=2, delta="1e-3", users=650_000)
    release = z.publish(log, goal, z.queries(5))
    release.write("release")

The log: `read_log` returns a `Log`; `Columns`, `Cleaning` and `Limits` say how it is read, and
    `DuckDB` and `Spark` on which engine.
The guarantee: `ProbabilisticDP`, `Indistinguishability`.
What to publish: `queries`, `keywords`, `clicks`, `query_clicks`, `query_pairs`, `phrase_pairs`,
    `tail`; of any table `columns`, `itemsets`, `sequences`.
Plan and publish: `plan` and `read_plan` return a `Plan`, which `publish` carries out; `Account` and
    `Period` say what is charged, and for when.
The release: `Release`, `Table`, `read_release`; `verify` returns a `Verdict`; `review`, `changes`.
The privacy budget: `Ledger`, `read_ledger`, `Cap`, `Caps`.
The study: `evaluate`, `compare`, `Study`.
Errors: `ZealousError`, `Refused`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from zealous.version import VERSION

if TYPE_CHECKING:
    from zealous.engines.duckdb import DuckDB
    from zealous.engines.spark import Spark
    from zealous.errors import Refused, ZealousError
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
    from zealous.ledger.budgets import Cap, Caps
    from zealous.ledger.ledger import Ledger
    from zealous.logs.log import Cleaning, Columns, Log, read_log
    from zealous.planning.plan import Plan, plan
    from zealous.planning.plan_file import read_plan
    from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
    from zealous.privacy.period import Period
    from zealous.release.account import Account, read_ledger
    from zealous.release.bundle import Release, read_release
    from zealous.release.publish import publish
    from zealous.release.table import Table
    from zealous.series.changes import changes
    from zealous.study.compare import compare, evaluate
    from zealous.study.grid.study import Study
    from zealous.verification.review import review
    from zealous.verification.verify import Verdict, verify

__version__ = VERSION

__all__ = [
    "Account",
    "Cap",
    "Caps",
    "Cleaning",
    "Columns",
    "DuckDB",
    "Indistinguishability",
    "Ledger",
    "Limits",
    "Log",
    "Period",
    "Plan",
    "ProbabilisticDP",
    "Refused",
    "Release",
    "Spark",
    "Study",
    "Table",
    "Verdict",
    "ZealousError",
    "__version__",
    "changes",
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
    "read_ledger",
    "read_log",
    "read_plan",
    "read_release",
    "review",
    "sequences",
    "tail",
    "verify",
]

# Where each is, to be imported when it is first used: `import zealous` loads next to nothing.
_MODULES = {
    "Account": "zealous.release.account",
    "Cap": "zealous.ledger.budgets",
    "Caps": "zealous.ledger.budgets",
    "Cleaning": "zealous.logs.log",
    "Columns": "zealous.logs.log",
    "DuckDB": "zealous.engines.duckdb",
    "Indistinguishability": "zealous.privacy.guarantee",
    "Ledger": "zealous.ledger.ledger",
    "Limits": "zealous.files.limits",
    "Log": "zealous.logs.log",
    "Period": "zealous.privacy.period",
    "Plan": "zealous.planning.plan",
    "ProbabilisticDP": "zealous.privacy.guarantee",
    "Refused": "zealous.errors",
    "Release": "zealous.release.bundle",
    "Spark": "zealous.engines.spark",
    "Study": "zealous.study.grid.study",
    "Table": "zealous.release.table",
    "Verdict": "zealous.verification.verify",
    "ZealousError": "zealous.errors",
    "changes": "zealous.series.changes",
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
    "read_ledger": "zealous.release.account",
    "read_log": "zealous.logs.log",
    "read_plan": "zealous.planning.plan_file",
    "read_release": "zealous.release.bundle",
    "review": "zealous.verification.review",
    "sequences": "zealous.items",
    "tail": "zealous.items",
    "verify": "zealous.verification.verify",
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
