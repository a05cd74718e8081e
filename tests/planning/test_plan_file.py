"""A plan in a file is carried out exactly as it stands, or not at all."""

from __future__ import annotations

import hashlib
import json
import shlex
from pathlib import Path

import pytest
from conftest import Run

import zealous as z
from zealous.errors import Refused, UsageError
from zealous.planning.plan_file import Approved, read_plan, write_plan

PLAN = shlex.split(
    "plan --items queries,keywords,columns:A+B "
    "--items-per-user queries=2,keywords=5,columns:A+B=1 "
    "--split queries=1,keywords=2,columns:A+B=1/2 --users 500 --epsilon 12 --delta 0.001 "
    "--unit user-day --select frequent --fold-words --parameters-from public-facts "
    "-o plan.json"
)


def test_a_plan_survives_the_file(tmp_path: Path) -> None:
    goal = z.Indistinguishability(
        epsilon="1/3", delta="1e-9", users=100, neighbors="add-remove", unit="session"
    )
    kinds = [
        z.queries(3, by="country", fold=True),
        z.query_pairs(2, session_gap=45),
        z.columns("A", "B", items_per_user=7),
    ]
    split: dict[str, str | int] = {"queries": "1/7", "query-pairs": 3, "columns:A+B": "0.1"}
    planned = z.plan(goal, kinds, split=split)
    write_plan(Approved(planned=planned, select="first"), tmp_path / "plan.json")
    found = read_plan(tmp_path / "plan.json")
    assert found.planned == planned
    assert found.select == "first"
    assert z.plan(goal, found.kinds(), split=found.split()) == planned
    assert found.sha256 == hashlib.sha256((tmp_path / "plan.json").read_bytes()).hexdigest()


def test_publish_carries_out_a_plan(run: Run, tmp_path: Path) -> None:
    assert run(*PLAN).code == 0
    (tmp_path / "log.csv").write_text(
        "user,time,query,A,B\n" + "".join(f"{n},2026-01-01 10:00,tea cup,1,2\n" for n in range(200))
    )
    done = run("publish", "log.csv", "--plan", "plan.json", "-o", "out")
    assert done.code == 0, done.stderr
    about = json.loads((tmp_path / "out" / "release.json").read_text())
    approved = json.loads((tmp_path / "plan.json").read_text())
    assert about["approved_plan"] == read_plan(tmp_path / "plan.json").sha256
    assert about["parameters_from"] == "public-facts"
    for stated, wanted in zip(about["plan"], approved["parts"], strict=True):
        assert stated["select"] == "frequent"
        assert {**stated, "select": None} == {**wanted, "select": None}


def test_a_plan_allows_no_other_parameters(run: Run, tmp_path: Path) -> None:
    run(*PLAN)
    (tmp_path / "log.csv").write_text("user,time,query,A,B\n1,2026-01-01 10:00,x,1,2\n")
    for more in (
        ["--epsilon", "13"],
        ["--items", "queries"],
        ["--select", "random"],
        ["--unit", "user"],
        ["--fold-words"],
    ):
        done = run("publish", "log.csv", "--plan", "plan.json", *more, "-o", "out")
        assert done.code == 2
        assert more[0] in done.stderr
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"tau_prime": ', '"tau_prime": 1'),
        ('"epsilon": "12"', '"epsilon": "13"'),
        ('"users": 500', '"users": 400'),
        ('"in_words": "', '"in_words": "Nothing to see. '),
        ('"parameters_from": "public-facts"', '"parameters_from": "this-log"'),
    ],
)
def test_a_changed_plan_is_refused(run: Run, tmp_path: Path, old: str, new: str) -> None:
    run(*PLAN)
    text = (tmp_path / "plan.json").read_text()
    assert old in text
    changed = tmp_path / "changed.json"
    changed.write_text(text.replace(old, new, 1))
    if "this-log" in new:  # an honest change of what nothing follows from
        assert read_plan(changed).parameters_from == "this-log"
        return
    with pytest.raises(Refused, match="Plan again"):
        read_plan(changed)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "zealous plan 1"}', "\xff"])
def test_what_is_no_plan(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.json").write_text(text, encoding="latin-1")
    with pytest.raises(UsageError, match=r"plan\.json"):
        read_plan(tmp_path / "plan.json")


def test_a_plan_is_not_overwritten_and_names_its_items(run: Run, tmp_path: Path) -> None:
    assert run(*PLAN).code == 0
    again = run(*PLAN)
    assert again.code == 2
    assert "exists already" in again.stderr
    nameless = ["plan", "--users", 9, "--items-per-user", 1, "--epsilon", 1, "--delta", "0.1"]
    assert "--items" in run(*nameless, "-o", "other.json").stderr
