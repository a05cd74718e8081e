"""`make soak` stops in time, tells what it did not reach, and hides no failure."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import soak
from paths import TESTS
from soak import PARTS, Part, Result, chosen, rotated, run, table

LONG = 600.0  # seconds: no sound run of what is here takes as long
FAKE = """import sys, time
*outcomes, code, seconds, told = sys.argv[1:]
with open(told, "w") as file:
    file.writelines(f"{outcome} a test\\n" for outcome in outcomes)
time.sleep(float(seconds))
sys.exit(int(code))
"""
PART = Part("fake", (), 10)


def fake(*outcomes: str, code: int = 0, seconds: float = 0) -> soak.Command:
    told = [*outcomes, str(code), str(seconds)]
    return lambda _, path: [sys.executable, "-c", FAKE, *told, str(path)]


def test_parts_are_chosen_by_name_and_all_where_none_is_named() -> None:
    assert chosen([]) == list(PARTS)
    assert [part.name for part in chosen(["noise", "kills"])] == ["kills", "noise"]
    assert len({part.name for part in PARTS}) == len(PARTS)


def test_no_test_is_left_out_by_the_folders_of_a_part() -> None:
    """What a part picks by a word of a name stands in the folders that it names."""
    for part in PARTS:
        folders = {each for each in part.options if each.startswith("tests/")}
        if not folders:
            continue
        word = part.options[part.options.index("-k") + 1]
        found = {
            f"tests/{path.relative_to(TESTS).parts[0]}"
            for path in TESTS.rglob("test_*.py")
            for text in [path.read_text()]
            if re.search(r"mark\.soak", text)
            if word in path.stem or re.search(rf"def test_\w*{word}", text)
        }
        assert found <= folders, part.name


def test_each_commit_begins_with_one_part_and_all_are_begun_with() -> None:
    assert rotated("abc", "4") == ["b", "c", "a"]
    assert rotated("", "4") == []
    assert {rotated(PARTS, f"{n:x}")[0] for n in range(100)} == set(PARTS)


@pytest.mark.parametrize(
    ("outcomes", "code", "verdict"),
    [
        (["passed", "passed"], 0, "passed"),
        (["passed", "failed"], 1, "failed"),
        (["passed"], 3, "failed"),  # what failed is no test
        ([], 5, "failed"),  # no test was selected
    ],
)
def test_a_part_that_comes_to_its_end(outcomes: list[str], code: int, verdict: str) -> None:
    found = run(PART, fake(*outcomes, code=code), LONG)
    assert (found.verdict, found.tests) == (verdict, Counter(outcomes))


@pytest.mark.parametrize("outcome", ["passed", "failed"])
def test_a_part_that_is_ended(outcome: str) -> None:
    """It sleeps for longer than it has, and tells its outcome before that."""
    begun = time.monotonic()
    found = run(PART, fake(outcome, seconds=LONG), 1)
    assert time.monotonic() - begun < LONG
    if found.tests:  # else the machine did not let it come as far in its time
        assert found.verdict == {"passed": "not finished", "failed": "failed"}[outcome]
    else:
        assert found.verdict == "not finished"


def test_parts_after_the_deadline_are_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def takes_all(part: Part, command: object, seconds: float) -> Result:
        now[0] += seconds
        return Result(part.name, "not finished", seconds)

    monkeypatch.setattr(soak, "run", takes_all)
    monkeypatch.setattr("soak.time.monotonic", lambda: now[0])
    parts = [PART._replace(name=name, minutes=15) for name in "abcd"]
    found = soak.soak(parts, 40, fake())
    assert [result.verdict for result in found] == ["not finished"] * 3 + ["not reached"]
    assert [result.seconds for result in found] == [900, 900, 40 * 60 - 1800 - soak.TO_END, 0]
    assert now[0] + soak.TO_END <= 40 * 60
    assert table(found).splitlines()[-1].split() == ["d", "not", "reached", "0"]


def test_a_part_that_there_is_not_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, Path(soak.__file__), "nothing"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "no such part: nothing" in done.stderr


def test_outcomes_are_told_and_the_first_test_follows_from_the_commit(tmp_path: Path) -> None:
    told = tmp_path / "told"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-pno:cacheprovider",
            "-pno:xdist",
            "-k",
            "by_name or each_commit or is_refused",
            "--begin=4",
            f"--tell={told}",
            __file__,
        ],
        capture_output=True,
        text=True,
        cwd=soak.ROOT,
    )
    assert done.returncode == 0, done.stdout
    names = [line.rpartition("::")[2] for line in told.read_text().splitlines()]
    assert names == [
        "test_each_commit_begins_with_one_part_and_all_are_begun_with",
        "test_a_part_that_there_is_not_is_refused",
        "test_parts_are_chosen_by_name_and_all_where_none_is_named",
    ]
    assert all(line.startswith("passed ") for line in told.read_text().splitlines())
