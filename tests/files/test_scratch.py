"""What a run works with is its owner's alone, and does not outlive it: not even after a kill."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from zealous.engines.duckdb import DuckDB
from zealous.files.scratch import working_directory

# As a run does: stage a log, then work on, until somebody ends it.
STAGES = """import os, sys, time
from pathlib import Path
from zealous.engines.duckdb import DuckDB
from zealous.logs.log import read_log
from zealous.logs.open_log import open_log

log, temporary, umask = sys.argv[1:]
os.umask(int(umask, 8))
with DuckDB(memory="1GB", threads=1, temporary=Path(temporary)) as engine:
    open_log(read_log(log), engine)
    print(engine.directory, flush=True)
    time.sleep(600)
"""


@contextmanager
def staging(tmp_path: Path, umask: str = "022") -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A run that has staged a log, and its working directory."""
    log, program = tmp_path / "log.csv", tmp_path / "stages.py"
    log.write_text("user,query\nu1,a secret\n")
    program.write_text(STAGES)
    with subprocess.Popen(
        [sys.executable, program, log, temporary(tmp_path), umask],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


def temporary(tmp_path: Path) -> Path:
    found = tmp_path / "temporary"
    found.mkdir(exist_ok=True)
    return found


def abandon(place: Path) -> Path:
    """A working directory whose process was killed: with its lock, and nobody who holds it."""
    with working_directory(place) as files:
        (files / "log.parquet").write_text("a secret")
        return files.parent.rename(place / f"{files.parent.name}-moved")


def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    with staging(tmp_path) as (process, directory):
        process.kill()
        process.wait()
        assert list(directory.glob("staged-*.parquet")), "it was killed too early"
        with DuckDB(memory="1GB", temporary=temporary(tmp_path)):
            assert len(list(temporary(tmp_path).iterdir())) == 1
        assert not list(temporary(tmp_path).iterdir())


@pytest.mark.extended
def test_a_killed_command_leaves_nothing_to_the_next(tmp_path: Path) -> None:
    log, place = tmp_path / "log.csv", temporary(tmp_path)
    log.write_text("user,query\n" + "".join(f"u{n},query {n % 999}\n" for n in range(200_000)))
    program = [sys.executable, "-c", "from zealous.cli import main; main()", "publish", str(log)]
    goal = "--items queries --items-per-user 1 --users 200000 --epsilon 1 --delta 1e-6"
    command = [*program, *shlex.split(goal), "--temporary", str(place), "--no-ledger", "-o"]
    process = subprocess.Popen([*command, tmp_path / "a"], stderr=subprocess.DEVNULL)
    try:
        while not list(place.glob("*/*/staged-*")) and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    finally:
        assert process.wait() == -signal.SIGKILL
    assert list(place.glob("*/*/staged-*"))
    subprocess.run([*command, tmp_path / "b"], check=True, capture_output=True)
    assert not list(place.iterdir())
    assert not list(tmp_path.glob(".zealous-*"))


def test_two_runs_at_once_leave_each_other_alone(tmp_path: Path) -> None:
    with staging(tmp_path) as (process, directory):
        place = temporary(tmp_path)
        with DuckDB(memory="1GB", temporary=place) as engine, working_directory(place):
            assert engine.directory.is_dir(), "a run removed what it works with itself"
        assert list(directory.glob("staged-*.parquet"))
        process.send_signal(signal.SIGSTOP)  # one that sleeps is not dead
        with working_directory(temporary(tmp_path)):
            assert list(directory.glob("staged-*.parquet"))


@pytest.mark.parametrize("umask", ["000", "022", "077"])
def test_nobody_else_can_look(umask: str, tmp_path: Path) -> None:
    with staging(tmp_path, umask) as (_, directory):
        (staged,) = directory.glob("staged-*.parquet")
        assert staged.stat().st_mode & 0o777 == 0o600
        for each in (directory, directory.parent):
            assert each.stat().st_mode & 0o777 == 0o700


def test_a_half_removed_one_is_removed(tmp_path: Path) -> None:
    left = abandon(tmp_path)
    (left / "files" / "log.parquet").unlink()
    with working_directory(tmp_path):
        assert not left.exists()


def test_what_is_not_certainly_an_abandoned_one_stays(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    real = abandon(elsewhere)
    place = temporary(tmp_path)
    (place / "zealous-link").symlink_to(real)
    results = place / "zealous-results" / "files"
    results.mkdir(parents=True)
    (place / "zealous-linked-lock").mkdir()
    (place / "zealous-linked-lock" / "zealous.lock").symlink_to(real / "zealous.lock")
    (place / "zealous-file").write_text("")
    os.mkfifo(place / "zealous-fifo")
    more = abandon(place)
    (more / "mine.txt").write_text("")
    other = abandon(place).rename(place / "another-name")
    with working_directory(place):
        pass
    assert (real / "files" / "log.parquet").exists()
    assert (more / "mine.txt").exists()
    assert results.is_dir()
    assert (other / "files").is_dir()
    assert len(list(place.iterdir())) == 7


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to somebody else")
def test_somebody_elses_stays(tmp_path: Path) -> None:
    theirs = abandon(tmp_path)
    os.chown(theirs, 12345, 12345)
    their_lock = abandon(tmp_path)
    os.chown(their_lock / "zealous.lock", 12345, 12345)
    with working_directory(tmp_path):
        assert (theirs / "files" / "log.parquet").exists()
        assert (their_lock / "files" / "log.parquet").exists()


def test_where_there_are_no_locks_nothing_is_taken_for_abandoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no locks available")

    with monkeypatch.context() as patched:
        patched.setattr("fcntl.flock", refuse)
        living = working_directory(tmp_path)
        files = living.__enter__()
    with working_directory(tmp_path):
        assert files.is_dir()
    living.__exit__(None, None, None)
    assert not list(tmp_path.iterdir())
