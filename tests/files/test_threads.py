"""Work in threads is done in order, and an interrupt leaves nobody waiting."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from zealous.files.threads import in_threads

INTERRUPTED = """
import sys
from zealous.files.threads import in_threads

steps = 0


def split(until):
    def trace(*_):
        global steps
        steps += 1
        if steps == until:
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        return list(in_threads(str, range(4), 2))
    except KeyboardInterrupt:
        return None
    finally:
        sys.settrace(None)


assert split(0) == ["0", "1", "2", "3"]
for step in range(1, steps + 1):
    steps = 0
    split(step)
print("ended")
"""


def test_an_interrupt_at_whatever_step_leaves_nobody_waiting(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(INTERRUPTED)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "ended\n", done.stderr


@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_made_comes_in_the_order_of_the_things(threads: int) -> None:
    def slow_at_first(number: int) -> int:
        time.sleep((20 - number) / 4000)
        return number

    assert list(in_threads(slow_at_first, range(20), threads)) == [*range(20)]


def test_one_thread_works_in_order() -> None:
    """A seeded draw needs that."""
    done: list[int] = []
    assert list(in_threads(done.append, range(20), 1)) == [None] * 20
    assert done == [*range(20)]


def test_few_things_are_taken_ahead() -> None:
    things = iter(range(50))
    made = in_threads(str, things, 2)
    assert next(made) == "0"
    assert next(things) <= 4


def test_an_error_is_raised_where_what_is_made_would_be() -> None:
    def fail(number: int) -> int:
        if number == 2:
            raise ArithmeticError
        return number

    made = in_threads(fail, range(20), 3)
    assert [next(made), next(made)] == [0, 1]
    with pytest.raises(ArithmeticError):
        next(made)
