"""Bugs to plant for tests on Spark: seeded releases that differ, logs that Spark reads otherwise."""

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
    Mutation(
        "values: each engine writes a number in its own way",
        TESTS,
        "test_spark_values.py::test_values_that_are_no_text[numbers]",
        (Change("logs/values.py", "    whens = ", "    cases = {'true': text}\n    whens = "),),
    ),
    Mutation(
        "values: each engine has its own word for what is infinite",
        TESTS,
        "test_spark_values.py::test_values_that_are_no_text[no numbers]",
        (
            Change(
                "logs/values.py", 'f"when isfinite({name}) and {when} then', 'f"when {when} then'
            ),
        ),
    ),
    Mutation(
        "folders: Spark asks the first file alone for its columns",
        TESTS,
        "test_spark_sources.py::test_several_text_files[an empty one]",
        (
            Change(
                "engines/spark.py",
                "common_header(local, layout)",
                "common_header(local[:1], layout)",
            ),
        ),
    ),
    Mutation(
        "folders: Spark reads Parquet files whose columns are in another order",
        TESTS,
        "test_spark_sources.py::test_two_parquet_files[another order]",
        (
            Change(
                "engines/spark.py",
                "            parquet.common_columns(local)\n",
                "            pass\n",
            ),
        ),
    ),
    Mutation(
        "names: a colon in that of a file",
        TESTS,
        "test_spark_sources.py::test_names_that_spark_cannot_read_are_refused[a:b.csv]",
        (Change("engines/spark.py", 'if any(":" in name for name in names):', "if False:"),),
    ),
    Mutation(
        "names: Spark unpacks what the embedded engine does not read",
        TESTS,
        "test_spark_sources.py::test_compression_that_is_not_read[jsonl.lz4]",
        (
            Change(
                "engines/spark.py",
                "for path in _local(paths):\n            check_compression(path.name)",
                "for path in _local(paths):\n            pass",
            ),
        ),
    ),
]
