"""Planning in the workbench: what the command plans, from public figures alone."""

from __future__ import annotations

import html
import re
import shlex
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from workbench import Workbench, words

from zealous.ledger import Cap, Caps, Ledger
from zealous.planning.plan_file import read_plan

ROWS = "user\tquery\ttime\n" + "".join(f"u{n}\ttea\t2026-03-01 12:00:00\n" for n in range(5))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "log.tsv").write_text(ROWS)
    return folder


@pytest.fixture
def bench(logs: Path) -> Workbench:
    return Workbench(logs)


def chosen(**more: Any) -> dict[str, Any]:
    return {
        "log": "logs/log.tsv",
        "users": "50,000",
        "kind": "queries",
        "most queries": "2",
        **more,
    }


def test_a_plan_says_what_it_means(bench: Workbench) -> None:
    said = words(bench.text("/plan", **chosen()))
    assert "With 99.9 % certainty, this release changes nobody's odds" in said
    assert "A suspicion of 10 % about somebody becomes at most 45.1 %" in said
    assert "an item needs about 42 users" in said
    assert "All registered customers, or last year's number doubled" in said
    strict = words(bench.text("/plan", **chosen(level="strict")))
    assert "becomes at most 23.2 %" in strict
    own = words(bench.text("/plan", **chosen(level="custom", epsilon="6")))
    assert "This bound is weak" in own
    assert "--epsilon 6" in own


def test_where_the_numbers_come_from_is_said_by_somebody_or_unstated(
    bench: Workbench, logs: Path
) -> None:
    bench.post("/plan", **chosen(name="march"))
    assert read_plan(logs / "march.plan.json").parameters_from == "unstated"


def shown_code(page: str, beginning: str) -> str:
    found = re.search(rf"<code>({beginning} .*?)</code>", page, re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"guarantee": "indistinguishable"},
        {"guarantee": "indistinguishable", "delta": "3e-8", "level": "custom", "epsilon": "0.7"},
        {"delta": "0.0123", "unit": "user-day", "parameters_from": "synthetic-log"},
        {"kind": ["queries", "keywords"], "guarantee": "indistinguishable"},
    ],
)
def test_the_command_and_the_python_that_are_shown_write_the_same_plan(
    bench: Workbench, logs: Path, run: Run, tmp_path: Path, more: dict[str, Any], monkeypatch: Any
) -> None:
    Ledger.open(logs / "zealous-ledger.sqlite", create=True, dataset="Ann's <people>")
    page = bench.text("/plan", **chosen(**more))
    arguments = shlex.split(shown_code(page, "zealous plan").replace("\\\n", ""))
    done = run(*arguments[1:-1], tmp_path / "by-command.json")
    assert done.code == 0, done.said
    monkeypatch.chdir(tmp_path)
    exec(shown_code(page, "from pathlib"), {})
    answer = bench.post("/plan", **chosen(name="march", **more))
    assert answer.status_code == 303
    assert answer.headers["location"] == "/approve?plan=logs%2Fmarch.plan.json"
    written = (logs / "march.plan.json").read_bytes()
    assert (tmp_path / "by-command.json").read_bytes() == written
    assert (tmp_path / "release.plan.json").read_bytes() == written
    planned = read_plan(logs / "march.plan.json")
    assert planned.goal.definition == more.get("guarantee", "probabilistic")
    assert planned.goal.neighbors == "replace"
    assert bench.post("/plan", **chosen(name="march")).status_code == 400  # it is taken


def test_delta_is_shown_and_means_what_the_guarantee_says(bench: Workbench) -> None:
    usual = words(bench.text("/plan", **chosen()))
    assert "per person, and 0.001 for anybody at all" in usual
    other = words(bench.text("/plan", **chosen(delta="0.01")))
    assert "With 99 % certainty" in other
    assert "0.01 for anybody at all" in other
    person = words(bench.text("/plan", **chosen(guarantee="indistinguishable", delta="")))
    assert "plus a delta of 1e-6 per person" in person
    assert "apart from what delta allows" in person
    assert "apart from what delta allows" not in usual


def test_a_step_of_the_slider_is_quick_and_touches_no_data(bench: Workbench, logs: Path) -> None:
    asked = chosen(level="custom", part="result", epsilon="2")
    assert "<html" not in bench.text("/plan", **asked)
    (logs / "log.tsv").write_text("user\tquery\ttime\n")  # the header is all that is read
    taken = []
    for step in range(10):
        started = time.process_time()
        bench.text("/plan", **asked | {"epsilon": f"{1 + step / 7:.2f}"})
        taken.append(time.process_time() - started)
    assert sorted(taken)[5] < 0.1  # in half of them or more


def test_a_plan_says_what_is_left_of_the_budget(bench: Workbench, logs: Path) -> None:
    ledger = Ledger.open(logs / "zealous-ledger.sqlite", create=True, dataset="<b>people</b>")
    ledger.set_caps(Caps(all=Cap(epsilon=3, delta=1)))  # type: ignore[arg-type]
    page = bench.text("/plan", **chosen())
    assert "0 of 3, 2 after this release" in words(page)
    assert "<b>people</b>" not in page
    over = words(bench.text("/plan", **chosen(level="permissive")))
    assert "This release would go over the cap" in over
    bench.post("/plan", **chosen(name="march"))
    binding = read_plan(logs / "march.plan.json").log
    assert binding is not None
    assert binding.dataset == "<b>people</b>"


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": "none"},
        {"level": "custom", "epsilon": "0"},
        {"level": "custom", "epsilon": "x"},
        {"level": "custom", "epsilon": "1e9"},
        {"level": "custom", "epsilon": "7/3"},  # no command can repeat it
        {"delta": "1"},
        {"delta": "0.00123456789012345"},
        {"guarantee": "absolute"},
        {"guarantee": "indistinguishable", "delta": "0.001"},  # of each person
        {"users": "many"},
        {"unit": "planet"},
        {"log": "logs/../log.tsv"},
        {"most queries": "0"},
        {"ledger": "logs/log.tsv"},
        {"parameters_from": "the stars"},
        {"like": "logs/log.tsv"},
    ],
)
def test_what_cannot_be_planned_is_said(bench: Workbench, wrong: dict[str, str]) -> None:
    found = bench.get("/plan", params=chosen(**wrong))
    assert found.status_code in (400, 404)
    assert "This did not work" in words(found.text)


def test_opening_a_page_writes_nothing(bench: Workbench, logs: Path) -> None:
    before = sorted(logs.rglob("*"))
    bench.text("/plan", **chosen(name="march", csrf=bench.csrf()))
    for path in ("/approve", "/publish", "/ledger"):
        bench.text(path)
    assert sorted(logs.rglob("*")) == before


def test_items_to_expect_are_those_of_an_invented_log(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zealous.web.items_to_expect._PEOPLE", 4_000)
    bench = Workbench(logs, scratch=tmp_path)
    asked = chosen(like="*synthetic", part="result", level="custom", users="3000")
    asked |= {"kind": "keywords", "most keywords": "5"}
    first = bench.text("/plan", **asked)
    assert "is being made" in first
    assert "data-again" in first
    for _ in range(6_000):
        page = bench.text("/plan", **asked, epsilon="20")
        if "data-again" not in page:
            break
        time.sleep(0.1)
    expected = re.compile(r"about ([\d,]+), as in an invented search log of ([\d,]+) users")
    number, people = expected.search(page).groups()  # type: ignore[union-attr]
    assert 0 < int(number.replace(",", "")) < 3000
    assert people == "3,000"
    (tmp_path / "expected-searches.parquet").unlink()  # it is counted once
    started = time.process_time()
    less = expected.search(bench.text("/plan", **asked, epsilon="3"))
    assert time.process_time() - started < 0.5
    assert less is not None
    assert int(less[1]) < int(number.replace(",", ""))
