"""Bugs to plant in seeded releases on Spark, for the golden releases to notice.

On DuckDB none of them changes anything.
"""

from __future__ import annotations

from mutations import TESTS, Change, Mutation

MUTATIONS = [
    Mutation(
        "seeds: on Spark noise falls on items in the order of its partitions",
        TESTS,
        "test_spark_golden.py::test_releases_on_spark[laplace]",
        (
            Change(
                "counting/log_count.py",
                "if not self.ordered:",
                "if not self.ordered or self.source.engine.local() is None:",
            ),
        ),
    ),
    Mutation(
        "seeds: on Spark executors weigh items with noise of their own",
        TESTS,
        "test_spark_golden.py::test_releases_on_spark[pooled]",
        (
            Change(
                "counting/kept.py",
                "as_arrays = ordered or _fits(local, kept)",
                "as_arrays = local is not None and (ordered or _fits(local, kept))",
            ),
        ),
    ),
]
