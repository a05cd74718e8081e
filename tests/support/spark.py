"""One Spark session for all tests that need one: `pytest_plugins = ("spark",)` in their module.

Give such a module `pytestmark = SPARK`; by its name, test_spark_*, it shares one Java with others.
PYTEST_DONT_REWRITE: it is imported by its name too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from cluster import SWIFT

from zealous import Spark, read_log
from zealous.engines.duckdb import DuckDB
from zealous.engines.engine import Engine
from zealous.engines.sql import identifier
from zealous.logs.log import Log

Engines = tuple[DuckDB, Spark]

SPARK = pytest.mark.spark
# Tiny tables: compiling a query costs more than running it, for Spark and for Java.
QUICK = {
    "spark.driver.extraJavaOptions": SWIFT,
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.files.openCostInBytes": "0",
    "spark.python.worker.reuse": "true",
}


def java() -> int:
    """The version of Java that Spark would start; 0 where there is none."""
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if command is None or not Path(command).exists():
        return 0
    told = subprocess.run([command, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', told.stderr)
    return int(found[1]) if found else 0


def need_java() -> None:
    """Skip loudly where there is no Java 17, and fail where everything has to run."""
    if java() >= 17:
        return
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail("no Java 17: the Spark tests did not run", pytrace=False)
    pytest.skip("SKIPPED: no Java 17: Spark tests did not run")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Spark:
    """Our own session on two threads; it ends with the process."""
    need_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    warehouse = str(tmp_path_factory.mktemp("warehouse"))  # else one is made in the project
    engine = Spark(master="local[2]", conf=QUICK | {"spark.sql.warehouse.dir": warehouse})
    assert engine.session is not None  # started here, and not within the first test's time
    return engine


@pytest.fixture(scope="module")
def engines(spark: Spark) -> Iterator[Engines]:
    """Both, to be compared."""
    with DuckDB(memory="2GB", threads=1) as duck, spark:
        yield duck, spark


def read(engine: Engine, path: Any, preset: str | None = None, **options: Any) -> Log:
    """The same log for either engine."""
    return read_log(path, preset, engine=engine if isinstance(engine, Spark) else None, **options)


def md5_rank(_: Engine, key: int, columns: Sequence[str]) -> str:
    """SQL of either engine, in place of `rank_key`; the oracle computes the same."""
    return f"md5('{key}|' || " + " || '|' || ".join(map(identifier, columns)) + ")"
