"""A session of Spark, what it must be set to, and its errors, which never quote data."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from zealous.engines import executor
from zealous.errors import LogError, ZealousError, missing_extra

# What the SQL means must not hang on how somebody set up the session, nor how much of a log a
# process of Python holds at once, nor whether all rows of one person are sorted in one place.
MEANING = {
    "spark.sql.optimizer.windowGroupLimitThreshold": str(2**31 - 1),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.variable.substitute": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.icu.caseMappings.enabled": "false",  # what is newer than DuckDB's Unicode stays
}
# For a session of our own: quiet, since what Spark logs of a failure quotes data.
_OWN = {
    "spark.app.name": "zealous",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Else Python on the executors would import, and run, a platform.py in its working directory.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}


def make_session(master: str, conf: Mapping[str, str]) -> Any:
    """A session of our own; it ends with the process."""
    try:
        from pyspark import SparkConf, SparkContext
        from pyspark.sql import SparkSession
    except ImportError:
        raise missing_extra("Spark is not installed", "spark") from None
    remote = master.startswith("sc://")
    own = {"spark.app.name": _OWN["spark.app.name"]} if remote else dict(_OWN)
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        own["spark.sql.shuffle.partitions"] = str(4 * (os.cpu_count() or 1))
    where = {"spark.remote" if remote else "spark.master": master}
    settings: dict[str, Any] = {**where, **own, **conf}
    with (
        wrap_errors(
            "Spark cannot be started: it needs Java 17 or later (JAVA_HOME), and a --spark-master "
            "that answers"
        ),
        _java_silenced(),
        _keeping_interrupt(),
    ):
        if not remote:
            # In a thread, which no signal breaks off: a Java that is started halfway never ends.
            with ThreadPoolExecutor(1) as thread:
                made = SparkConf().setAll(list(settings.items()))
                thread.submit(SparkContext._ensure_initialized, conf=made).result()
        return SparkSession.builder.config(map=settings).getOrCreate()


@contextmanager
def _keeping_interrupt() -> Iterator[None]:
    """PySpark takes Ctrl-C for itself, where somebody else had it: give it back."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before not in (None, signal.default_int_handler, signal.getsignal(signal.SIGINT)):
            signal.signal(signal.SIGINT, before)


@contextmanager
def _java_silenced() -> Iterator[None]:
    """Where Java is started, it speaks to nobody for as long as it runs: it would quote data."""
    with suppress(OSError, ValueError):  # nobody may be listening
        sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def wrap_errors(what: str = "the cluster could not run a step") -> Iterator[None]:
    """Spark's own errors quote data: say what could not be done, and what kind of error it was."""
    try:
        with _pyspark_silenced():
            yield
    except Exception as error:
        if not is_spark_error(error):
            raise
        if _was_interrupted(error):
            raise KeyboardInterrupt from None
        raise _without_data(what, error) from None


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether it was raised on the way out of an interrupt, in whose place it then stands."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


@contextmanager
def _pyspark_silenced() -> Iterator[None]:
    """PySpark prints such an error before it raises it, data and all."""
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        yield
        return
    # Made by PySpark itself, since they take arguments that others do not.
    loggers = [
        PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")
    ]
    before = [each.disabled for each in loggers]
    try:
        for each in loggers:
            each.disabled = True
        yield
    finally:
        for each, disabled in zip(loggers, before, strict=True):
            each.disabled = disabled


def is_spark_error(error: BaseException) -> bool:
    """Whether an error is one of Spark's, or of the way to it."""
    module = type(error).__module__
    return module.startswith(("pyspark.", "py4j.", "grpc.")) or isinstance(error, ConnectionError)


def _without_data(what: str, error: BaseException) -> ZealousError:
    text = str(error)
    if executor.OTHER_COLUMNS in text:
        return LogError("the files of the log do not have the same columns")
    if executor.OTHER_DRAW in text:
        return ZealousError(
            "the cluster ran a task twice, and kept the noise of both: nothing is published. Run "
            "it with spark.speculation=false"
        )
    if "PATH_NOT_FOUND" in text:
        return LogError("no log found there: the path must be one that every executor can read")
    if "OutOfMemory" in text:
        what = "the cluster ran out of memory: give the executors more (spark.executor.memory)"
    condition = getattr(error, "getCondition", lambda: None)()
    return ZealousError(f"{what} ({condition or type(error).__name__})")
