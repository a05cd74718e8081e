"""A plan in a file is carried out exactly as it stands, or not at all."""

from __future__ import annotations

import hashlib
import json
import shlex
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from click.testing import CliRunner
from conftest import Run

import zealous as z
from zealous.cli.plan import plan as plan_command
from zealous.cli.publish import publish as publish_command
from zealous.errors import Refused, UsageError
from zealous.items import lists
from zealous.ledger import FILE_NAME, Ledger
from zealous.logs.log import Log
from zealous.mechanisms.domain import Domain
from zealous.mechanisms.zealous import Zealous
from zealous.planning.plan import Options, Plan
from zealous.planning.plan_file import read_plan, write_plan
from zealous.release.drawing import draw

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
        z.queries(3, by="country", fold_words=True),
        z.query_pairs(2, session_gap=45),
        z.columns("A", "B", items_per_user=7),
    ]
    split: dict[str, str | int] = {"queries": "1/7", "query-pairs": 3, "columns:A+B": "0.1"}
    columns = z.Columns(user="id", query="q", time="when", session="visit", url="link")
    cleaning = z.Cleaning(max_entries_per_user=70, limits=z.Limits(entries=9))
    planned = z.plan(goal, kinds, split=split, select="first").for_log(columns, cleaning)
    assert planned.log is not None
    assert planned.log.columns == replace(columns, url=None), "what it makes use of"
    write_plan(planned, tmp_path / "plan.json")
    found = read_plan(tmp_path / "plan.json")
    assert replace(found, approved_file=None) == planned
    assert found.approved == hashlib.sha256((tmp_path / "plan.json").read_bytes()).hexdigest()


def test_publish_carries_out_a_plan(run: Run, tmp_path: Path) -> None:
    assert run(*PLAN).code == 0
    (tmp_path / "log.csv").write_text(
        "user,time,query,A,B\n" + "".join(f"{n},2026-01-01 10:00,tea cup,1,2\n" for n in range(200))
    )
    done = run("publish", "log.csv", "--plan", "plan.json", "-o", "out")
    assert done.code == 0, done.stderr
    about = json.loads((tmp_path / "out" / "release.json").read_text())
    approved = json.loads((tmp_path / "plan.json").read_text())
    assert about["approved_plan"] == read_plan(tmp_path / "plan.json").approved
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
    with pytest.raises(Refused, match="Plan again"):
        read_plan(changed)


@pytest.mark.parametrize(
    ("where", "name", "value"),
    [
        ((), "accept_delta", "yes"),
        ((), "software", {"name": "zealous", "version": "1", "note": "approved by all"}),
        ((), "software", "anything"),
        (("log", "cleaning"), "max_entries_per_user", True),
        (("log", "cleaning"), "users_excluded_by_list", 0),
        (("parts", 0), "items_per_user", True),
        ((), "note", "approved by all"),
        (("log",), "note", "approved by all"),
        (("log", "columns"), "phone", "phone"),
        (("log",), "columns", {"query": "query"}),
        (("parts", 0), "note", "approved by all"),
        ((), "parts", {"kind": "queries"}),
        ((), "parts", ["queries"]),
        ((), "log", None),
    ],
)
def test_a_plan_holds_values_of_their_types(
    tmp_path: Path, where: tuple[Any, ...], name: str, value: object
) -> None:
    goal = z.ProbabilisticDP(epsilon=10, delta="0.01", users=300)
    path = tmp_path / "plan.json"
    write_plan(z.plan(goal, z.queries(1)).for_log(z.Columns(user="user", query="query")), path)
    read_plan(path)
    found = json.loads(path.read_text())
    inner: Any = found
    for step in where:
        inner = inner[step]
    inner[name] = value
    path.write_text(json.dumps(found))
    with pytest.raises(UsageError, match="damaged"):
        read_plan(path)


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


# The plan is the object that is executed


def searches(folder: Path) -> Log:
    """A log in which everybody asks for tea, and a public list that has it."""
    rows = "".join(f"{n},2026-01-01 10:00,tea\n" for n in range(200))
    (folder / "log.csv").write_text(f"user,time,query\n{rows}")
    (folder / "list.csv").write_text("query\ntea\n")
    return z.read_log(folder / "log.csv")


def test_what_was_approved_is_what_runs(tmp_path: Path) -> None:
    log, goal = searches(tmp_path), z.Indistinguishability(epsilon=9, delta=0)
    planned = z.plan(
        goal,
        [z.queries(1)],
        domain=tmp_path / "list.csv",
        select="first",
        parameters_from="public-facts",
    ).for_log(log.columns)
    write_plan(planned, tmp_path / "plan.json")
    approved = read_plan(tmp_path / "plan.json")
    assert replace(approved, approved_file=None) == planned, "wherever its files are"
    with pytest.raises(UsageError, match=r"say where list\.csv is"):
        z.publish(log, approved, account=None)
    executed = approved.with_files(domain=tmp_path / "list.csv")
    with mock.patch("zealous.release.publish.draw", wraps=draw) as drawn:
        record = z.publish(log, executed, account=None).record
    assert drawn.call_args.args[0] is executed, "and not what planning it again gives"
    assert record.approved_plan == approved.approved
    assert (record.plan[0].select, record.parameters_from) == ("first", "public-facts")


@pytest.mark.parametrize(
    "other",
    [
        z.Columns(user="time", query="query"),
        z.Columns(user="user", query="time"),
        z.Columns(user="user", query="query", session="time"),
    ],
)
def test_a_plan_is_for_the_columns_that_it_names(other: z.Columns, tmp_path: Path) -> None:
    log, goal = searches(tmp_path), z.Indistinguishability(epsilon=9, delta="1e-4")
    kinds = [z.queries(1), z.query_pairs(1)]
    planned = z.plan(goal, kinds).for_log(z.Columns(user="user", query="query", time="time"))
    asked = replace(log, columns=replace(other, time="time"))
    with pytest.raises(Refused, match="the plan names"):
        z.publish(asked, planned)
    found = replace(
        log, columns=replace(log.columns, session="x"), recognised=frozenset(["session"])
    )
    assert planned.bind(found)[1].columns == planned.bind(log)[1].columns, "nobody approved it"
    cleaned = replace(log, cleaning=z.Cleaning(max_entries_per_user=3))
    with pytest.raises(Refused, match="who is left out"):
        z.publish(cleaned, planned)
    assert not (tmp_path / FILE_NAME).exists()
    record = z.publish(log, planned).record
    assert "One person is one value of the column user." in " ".join(record.assumptions)
    assert Ledger.open(tmp_path / FILE_NAME).history()[0].charge.person == "user"


def test_a_plan_that_names_no_time_allows_a_column_of_that_name_alone(tmp_path: Path) -> None:
    log, goal = searches(tmp_path), z.Indistinguishability(epsilon=9, delta="1e-4")
    planned = z.plan(goal, [z.queries(1)]).for_log(z.Columns(user="user", query="query"))
    assert "time (the time, if the log has it)" in str(planned)
    assert planned.bind(log)[1].columns.time == "time"
    assert planned.bind(replace(log, columns=replace(log.columns, time=None)))[1].columns
    with pytest.raises(Refused, match=r"no column as the time, .* 'when'"):
        planned.bind(replace(log, columns=replace(log.columns, time="when")))


def test_a_plan_for_a_format_names_the_time_that_each_log_of_it_has(
    run: Run, tmp_path: Path
) -> None:
    plan = shlex.split("plan --items queries --users 500 --epsilon 4 --delta 0.01 -o")
    columns = {}
    for name in ("excite", "aol", "csv"):
        assert run(*plan, f"{name}.json", "--format", name).code == 0
        columns[name] = json.loads((tmp_path / f"{name}.json").read_text())["log"]["columns"]
    assert columns["excite"] == {"user": "user", "query": "query", "time": "time"}
    assert columns["aol"]["time"] == "QueryTime"
    assert "time" not in columns["csv"], "a log without times may be published by such a plan"


def test_a_log_is_read_as_its_plan_says(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"{n},tea\n" for n in range(200))
    (tmp_path / "log.csv").write_text(f"who,what\n{rows}")
    said = shlex.split(
        "plan --items queries --user who --query what --users 500 --epsilon 4 --delta 0.01 "
        "--limits entries=50 -o plan.json"
    )
    done = run(*said)
    assert "One person is one value of the column who." in done.stdout
    publish = ("publish", "log.csv", "--plan", "plan.json", "-o")
    assert "'who' as the person" in run(*publish, "out", "--user", "what").stderr
    assert run(*publish, "out").code == 0
    about = json.loads((tmp_path / "out" / "release.json").read_text())
    assert about["columns"] == {"user": "who", "query": "what"}
    assert about["cleaning"]["limits"]["entries"] == 50
    assert "column `who`" in (tmp_path / "out" / "README.md").read_text()


def test_no_other_plan_passes_for_the_approved_one(tmp_path: Path) -> None:
    log, goal = searches(tmp_path), z.Indistinguishability(epsilon=9, delta=0)
    public = tmp_path / "list.csv"
    planned = z.plan(goal, [z.queries(1)], domain=public).for_log(log.columns)
    write_plan(planned, tmp_path / "plan.json")
    approved = read_plan(tmp_path / "plan.json").with_files(domain=public)
    larger = z.plan(replace(goal, epsilon=Fraction(10)), [z.queries(1)], domain=public)
    (part,) = approved.parts
    assert part.public is not None
    called = replace(part, public=replace(part.public, name="census.csv"))
    for other in (
        replace(larger, approved_file=approved.approved_file),
        replace(approved, approved_file=b"[]"),
        replace(approved, approved_file=b"no plan"),
        replace(approved, select="first"),
        replace(approved, parameters_from="public-facts"),
        replace(approved, seed=7),
        replace(approved, log=None),
        approved.for_log(z.Columns(user="query", query="user")),
        replace(approved, parts=(called,)),
    ):
        with pytest.raises(Refused, match="not the plan that was approved"):
            z.publish(log, other)
    assert not (tmp_path / FILE_NAME).exists()


def test_a_public_file_is_called_as_it_was_planned_or_approved(tmp_path: Path) -> None:
    log, goal = searches(tmp_path), z.Indistinguishability(epsilon=9, delta=0)
    planned = z.plan(goal, [z.queries(1)], domain=tmp_path / "list.csv")
    (part,) = planned.parts
    assert part.public is not None
    called = replace(part, public=replace(part.public, name="census.csv"))
    with pytest.raises(z.ZealousError, match=r"census\.csv is called otherwise"):
        z.publish(log, replace(planned, parts=(called,)))
    assert not (tmp_path / FILE_NAME).exists()
    write_plan(planned.for_log(log.columns), tmp_path / "plan.json")
    moved = (tmp_path / "list.csv").rename(tmp_path / "moved.csv")
    approved = read_plan(tmp_path / "plan.json").with_files(domain=moved)
    public = z.publish(log, approved).record.plan[0].public
    assert public is not None
    assert public.name == "list.csv", "as in the approved file, which has its SHA-256"


def test_a_public_file_that_changed_since_it_was_planned(tmp_path: Path) -> None:
    log, goal = searches(tmp_path), z.Indistinguishability(epsilon=9, delta=0)
    planned = z.plan(goal, [z.queries(1)], domain=tmp_path / "list.csv")
    (tmp_path / "list.csv").write_text("query\ncoffee\n")
    with pytest.raises(z.ZealousError, match="plan again"):
        z.publish(log, planned)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["list.csv", "log.csv"]


def test_a_public_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    """A release names the SHA-256 of the rows that were read, whoever writes to the file then."""
    log, goal = searches(tmp_path), z.Indistinguishability(epsilon=9, delta=0)
    planned = z.plan(goal, [z.queries(1)], domain=tmp_path / "list.csv")
    hash_file = lists._sha256

    def hash_then_change(*given: Any) -> str:
        found = hash_file(*given)
        (tmp_path / "list.csv").write_text("query\ncoffee\n")
        return found

    with mock.patch.object(lists, "_sha256", hash_then_change):
        release = z.publish(log, planned, account=None)
    assert release["queries"].arrow["query"].to_pylist() == ["tea"]


def test_beside_a_plan_nothing_is_planned(tmp_path: Path) -> None:
    log, goal = searches(tmp_path), z.Indistinguishability(epsilon=9, delta="1e-4")
    planned = z.plan(goal, [z.queries(1)])
    with pytest.raises(UsageError, match="either a plan, or a goal and kinds"):
        z.publish(log, planned, [z.queries(1)])
    with pytest.raises(UsageError, match="either a plan, or a goal and kinds"):
        z.publish(log, planned, select="first")
    assert not (tmp_path / FILE_NAME).exists()


def test_publish_takes_what_plan_takes() -> None:
    parameters = signature(z.plan).parameters.values()
    beside = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
    assert beside - {"log"} == set(Options.__annotations__)


@pytest.mark.parametrize("wrong", [{"select": "best"}, {"parameters_from": "a dream"}])
def test_a_plan_is_checked_when_it_is_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(wrong))} must be one of"):
        z.plan(z.Indistinguishability(epsilon=9, delta="1e-4"), [z.queries(1)], **wrong)


def test_a_plan_without_a_person_is_not_approved(tmp_path: Path) -> None:
    planned = z.plan(z.Indistinguishability(epsilon=9, delta="1e-4"), [z.queries(1)])
    with pytest.raises(UsageError, match="which column is the person"):
        write_plan(planned.for_log(z.Columns(query="query")), tmp_path / "plan.json")
    assert not (tmp_path / "plan.json").exists()


def test_a_table_has_no_choice_of_its_own(tmp_path: Path) -> None:
    """A plan says once how each user's items are chosen."""
    goal = z.ProbabilisticDP(epsilon=10, delta="0.01", users=300)
    path = tmp_path / "plan.json"
    write_plan(z.plan(goal, z.queries(1)).for_log(z.Columns(user="user", query="query")), path)
    found = json.loads(path.read_text())
    assert "select" not in found["parts"][0]
    found["parts"][0]["select"] = "random"
    path.write_text(json.dumps(found))
    with pytest.raises(Refused, match="Plan again"):
        read_plan(path)


def test_a_plan_with_a_seed_is_not_approved(tmp_path: Path) -> None:
    planned = z.plan(z.Indistinguishability(epsilon=9, delta="1e-4"), [z.queries(1)], seed=7)
    with pytest.raises(UsageError, match="which column is the person"):
        write_plan(planned, tmp_path / "plan.json")
    planned = planned.for_log(z.Columns(user="user", query="query"))
    with pytest.raises(UsageError, match="not private"):
        write_plan(planned, tmp_path / "plan.json")
    assert not (tmp_path / "plan.json").exists()


def test_a_plan_that_promises_more_than_it_keeps_is_refused(tmp_path: Path) -> None:
    log, goal = searches(tmp_path), z.Indistinguishability(epsilon=9, delta="1e-4")
    planned = z.plan(goal, [z.queries(1), z.keywords(1)])
    part, other = planned.parts
    less = z.Indistinguishability(epsilon=8, delta="1e-4")
    anybody = z.ProbabilisticDP(epsilon=9, delta="1e-4", users=300)
    loud = z.plan(z.Indistinguishability(epsilon=90, delta="1e-4"), [z.queries(1), z.keywords(1)])
    forgeries = (
        replace(planned, goal=less),
        replace(planned, goal=anybody),
        replace(planned, parts=(replace(part, goal=goal), other)),
        replace(planned, parts=(replace(part, mechanism=loud.parts[0].mechanism), other)),
    )
    executed = []
    for forged in forgeries:
        with suppress(Refused):
            executed.append(z.publish(log, forged, account=None))
    assert not executed


def _changed(planned: Plan, change: str) -> Plan:
    """A plan that keeps what it promises, and that nobody planned."""
    (part,) = planned.parts
    assert isinstance(part.mechanism, Zealous)
    parameters = part.mechanism
    match change:
        case "a delta that it does not achieve":
            part = replace(part, delta=Fraction(1, 10**9))
        case "a larger threshold":
            part = replace(part, mechanism=replace(parameters, tau_prime=parameters.tau_prime + 5))
        case "a scale that no noise can be drawn with":
            odd = replace(parameters, scale=Fraction(2**70 + 1, 2**68), tau_prime=90)
            part = replace(part, mechanism=odd)
        case "fewer items a user than the noise is for":
            part = replace(part, mechanism=replace(parameters, items_per_user=1))
        case "more items a user than the noise is for":
            part = replace(part, kind=z.queries(50))
        case "a larger goal than its parts have":
            return replace(planned, goal=replace(planned.goal, epsilon=Fraction(10)))
    return replace(planned, parts=(part,))


@pytest.mark.parametrize(
    "change",
    [
        "a delta that it does not achieve",
        "a larger threshold",
        "a scale that no noise can be drawn with",
        "fewer items a user than the noise is for",
        "more items a user than the noise is for",
        "a larger goal than its parts have",
    ],
)
def test_a_plan_that_was_changed_is_refused_before_it_is_charged(
    change: str, tmp_path: Path
) -> None:
    log, goal = searches(tmp_path), z.ProbabilisticDP(epsilon=9, delta="1e-3", users=300)
    planned = z.plan(goal, [z.queries(2)])
    changed = _changed(planned, change)
    assert changed != planned
    with pytest.raises(Refused, match="plan again"):
        z.publish(log, changed)
    assert not (tmp_path / FILE_NAME).exists()


def test_a_plan_with_a_delta_that_nobody_confirmed_is_refused(tmp_path: Path) -> None:
    log, goal = searches(tmp_path), z.Indistinguishability(epsilon=9, delta="1e-2", users=300)
    planned = z.plan(goal, [z.queries(1)], accept_delta=True)
    with pytest.raises(Refused, match="accept_delta=True"):
        z.publish(log, replace(planned, accept_delta=False))
    assert not (tmp_path / FILE_NAME).exists()
    assert z.publish(log, planned).record.guarantee.delta == 0.01


@pytest.mark.parametrize("approved", [False, True])
def test_it_is_planned_once_and_a_public_file_is_hashed_once_and_checked_once(
    approved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches(tmp_path)
    monkeypatch.chdir(tmp_path)
    wish = ["--items", "queries", "--items-per-user", "1", "--epsilon", "9"]
    public = ["--domain", "list.csv"]
    if approved:
        assert CliRunner().invoke(plan_command, [*wish, *public, "-o", "plan.json"]).exit_code == 0
        wish = ["--plan", "plan.json"]
    with (
        mock.patch.object(Domain, "calibrate", wraps=Domain.calibrate) as calibrated,
        mock.patch.object(lists, "_sha256", wraps=lists._sha256) as hashed,
    ):
        done = CliRunner().invoke(publish_command, ["log.csv", *wish, *public, "-o", "out"])
    assert done.exit_code == 0, done.output
    assert calibrated.call_count == 2, "when it is planned, and when it is checked"
    assert hashed.call_count == 2, "when it is planned with, and when it is read"


def test_a_plan_without_a_person_says_which_column_it_assumes(tmp_path: Path) -> None:
    log, goal = searches(tmp_path), z.Indistinguishability(epsilon=9, delta="1e-4")
    assumed = z.plan(goal, z.queries(1)).for_log(z.Columns(user="user", query="query"))
    other = replace(log, columns=z.Columns(user="uid", query="query"))
    with pytest.raises(Refused, match=r"every plan made without .*user.* does.*plan again"):
        assumed.bind(other)
    undated = replace(log, columns=z.Columns(user="user", query="query", time="placed"))
    with pytest.raises(Refused, match=r"no column as the time.*placed.: plan again with"):
        assumed.bind(undated)
