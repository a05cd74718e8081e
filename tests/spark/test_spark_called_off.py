"""A signal ends a run while Spark works, however long it would go on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

# Ends by itself after days.
PROGRAM = """
import os, signal, threading, time
import pyarrow as pa
from zealous.engines.spark import Spark
from zealous.engines.sql import Step
from zealous.files import interrupts

interrupts.raise_on([signal.SIGTERM])


def stop():
    tracker = engine.session.sparkContext.statusTracker()
    while not tracker.getActiveJobsIds():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)


with Spark(master="local[2]") as engine:
    engine.add_table("many", pa.table({"n": range(100_000)}))
    many = ("many as " + name for name in "abc")
    pairs = Step("pairs", f"select max(a.n + b.n + c.n) as s from {', '.join(many)}")
    threading.Thread(target=stop).start()
    try:
        list(engine.batches([pairs]))
    except KeyboardInterrupt:
        interrupts.ignore_more()
        print("interrupted")
"""


def test_a_job_is_called_off(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout == "interrupted\n", done.stderr[-2000:]
