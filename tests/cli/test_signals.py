"""A signal in the middle of a run ends it: it says so, quotes no data and leaves nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from conftest import COMMAND, Ran
from sampling import sampled


@pytest.fixture(scope="module")
def big_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log that takes some seconds."""
    path = tmp_path_factory.mktemp("big") / "log.csv"
    chance = np.random.default_rng(1)
    words = pa.array([f"qzx {n} thing{n % 77} other{n % 1003}" for n in range(20_000)])
    table = pa.table(
        {
            "user": pa.array(chance.integers(0, 50_000, 800_000)),
            "query": words.take(pa.array(chance.integers(0, 20_000, 800_000))),
        }
    )
    pacsv.write_csv(table, path, pacsv.WriteOptions(quoting_style="none"))
    return path


SIGNALS = [*product((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), ("reading", "counting"))]


@pytest.mark.parametrize(
    ("sent", "stage"),
    sampled(SIGNALS, lambda case: f"{case[0].name}-{case[1]}", share=3, group=lambda case: case[1]),
)
def test_a_signal_in_the_middle(
    sent: signal.Signals, stage: str, big_log: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "spill").mkdir()
    arguments = ["publish", big_log, "--items", "keywords,queries", "--users", 50_000, "--epsilon",
                 2, "--delta", 0.5, "--items-per-user", 5, "-o", "out/release", "--temporary",
                 "spill", "--threads", 1]  # fmt: skip
    with subprocess.Popen(
        [COMMAND, *map(str, arguments)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL),  # whatever the tests ignore
    ) as process:
        assert process.stderr is not None
        said = ""
        while stage not in said:
            line = process.stderr.readline()
            assert line, "ended before it was reached"
            said += line
        while not any((tmp_path / "spill").iterdir()):
            assert process.poll() is None, "ended before it worked on anything"
            time.sleep(0.01)
        process.send_signal(sent)
        stdout, stderr = process.communicate(timeout=600)
    ran = Ran(process.returncode, stdout, said + stderr)
    assert "qzx" not in ran.said.lower()
    assert "unforeseen" not in ran.said
    assert "Traceback" not in ran.said
    assert ran.stdout == ""
    assert ran.code == 1
    assert "interrupted; no release was left half-written" in ran.stderr
    assert list((tmp_path / "out").iterdir()) == []
    assert list((tmp_path / "spill").iterdir()) == []


ONE_COMMAND = """
import atexit
import signal
import sys
from contextlib import suppress

from zealous import cli
from zealous.cli import terminal
from zealous.errors import LedgerError, UsageError, ZealousError


def stop():
    signal.raise_signal(signal.SIGTERM)


def command(**_):
    {}


cli.cli.main = command
sys.argv = ["zealous"]
cli.main()
"""


INTERRUPTED = "zealous: interrupted; no release was left half-written\n"


def run(command: str) -> tuple[int, str]:
    """The exit code and what the program says where its command is this."""
    program = [sys.executable, "-P", "-c", ONE_COMMAND.format(command)]
    ran = subprocess.run(program, capture_output=True, text=True, timeout=120)
    assert ran.stdout == ""
    return ran.returncode, ran.stderr


@pytest.mark.parametrize("error", ["ZealousError('gone')", "UsageError('gone')", "KeyError"])
def test_an_error_that_a_library_makes_of_a_signal_is_not_shown(error: str) -> None:
    said = run(f"with suppress(KeyboardInterrupt): stop()\n    raise {error}")
    assert said == (1, INTERRUPTED)


def test_no_signal_hides_that_a_release_is_paid_for() -> None:
    said = "with suppress(KeyboardInterrupt): stop()\n    raise LedgerError('it is in out/release')"
    assert run(said) == (1, "zealous: it is in out/release\n")


def test_a_signal_while_finished_work_is_printed_says_that_it_is_there() -> None:
    kept = "with terminal.keeping_finished_work('the release is there')"
    said = f"{kept}:\n        with suppress(KeyboardInterrupt): stop()\n        raise RuntimeError"
    for command in (said, f"{kept}: stop()"):
        code, text = run(command)
        assert code == 1
        assert text.startswith("zealous: the release is there; ")
        assert text.endswith(INTERRUPTED)


def test_a_signal_after_the_end_changes_no_exit_code() -> None:
    assert run("atexit.register(stop)") == (0, "")


def test_a_signal_while_an_error_is_told_does_not_quote_it() -> None:
    said = "terminal.note = lambda _: stop()\n    raise RuntimeError('a line of the log')"
    assert run(said) == (1, "")
