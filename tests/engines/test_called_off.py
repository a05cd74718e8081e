"""An interrupt ends what an engine is at, however long it would go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from zealous.engines.spark_session import _keeping_interrupt

# Ends by itself after weeks; READ is what one of the cases below says.
PROGRAM = """
import os, signal, threading, time
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.files import interrupts

interrupts.raise_on([signal.SIGTERM])


def stop():
    while time.process_time() < begun + 0.5:  # by then its threads are at it
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)


with DuckDB(threads=2) as engine:
    engine.append_rows("many", [Step("many", "select range as n from range(1000000)")])
    pairs = Step("pairs", "select sum(hash(a.n + b.n)) as s from many as a, many as b")
    begun = time.process_time()
    threading.Thread(target=stop).start()
    try:
        READ
    except KeyboardInterrupt:
        interrupts.ignore_more()
        print("interrupted")
print(os.listdir("tmp"))
"""
READS = {
    "rows": "engine.rows([pairs])",
    "batches": "list(engine.batches([pairs]))",
    "append_rows": "engine.append_rows('kept', [pairs])",
    "materialize": "engine.materialize('kept', [pairs], lambda batch: batch)",
}


@pytest.mark.parametrize("read", READS)
def test_a_query_of_duckdb_is_called_off(read: str, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM.replace("READ", READS[read])))
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "interrupted\n[]\n", done.stderr
    assert done.stderr == ""


def test_where_spark_cannot_be_started_ctrl_c_is_handled_as_before() -> None:
    def ours(*_: object) -> None:
        pass

    def fail() -> None:
        with _keeping_interrupt():
            signal.signal(signal.SIGINT, signal.default_int_handler)  # as PySpark does
            raise ValueError("no Java")

    before = signal.signal(signal.SIGINT, ours)
    try:
        with pytest.raises(ValueError, match="no Java"):
            fail()
        assert signal.getsignal(signal.SIGINT) is ours
    finally:
        signal.signal(signal.SIGINT, before)


# What a library takes for a missing pandas.
IMPORTING = """
import signal, time
import pyarrow as pa
from zealous.files import interrupts

interrupts.raise_on([signal.SIGTERM])
try:
    pa.chunked_array([], pa.int64()).to_numpy()
    print("forgotten")
    time.sleep(30)
except KeyboardInterrupt:
    interrupts.ignore_more()
    print("interrupted")
"""


def test_a_signal_that_arrow_forgets_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(IMPORTING)
    (tmp_path / "pandas.py").write_text("import signal\nsignal.raise_signal(signal.SIGTERM)\n")
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "forgotten\ninterrupted\n", done.stderr
