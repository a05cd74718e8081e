"""--tail through the command line and from Python: what it costs, what is written, what refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import pyarrow.parquet as pq
import pytest
import yaml
from click.testing import CliRunner
from conftest import Ran, Run
from oracle import md5_place, md5_rank
from sampling import sampled
from tail_oracle import FACTS, NAMES, Entry, expected, had, many, write

import zealous as z
from zealous.cli.inspect import inspect as inspect_command
from zealous.cli.plan import plan as plan_command
from zealous.cli.publish import publish as publish_command
from zealous.cli.study.guarantees import guarantees as guarantees_command
from zealous.cli.study.mechanisms import mechanisms as mechanisms_command
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.items import itemsets, sequences, tail
from zealous.ledger import FILE_NAME, Ledger
from zealous.planning.plan_file import read_plan, write_plan
from zealous.record.codec import to_json
from zealous.verification.verify import verify

ITEMS = ["--items", "queries,keywords", "--items-per-user", 5]
GOAL = ["--users", 500, "--epsilon", 2, "--delta", "0.001"]
# All but exact: the noise is 0, and what a few people have appears.
EXACT = ["--users", 500, "--epsilon", 9000, "--delta", "0.5"]
Publish = Callable[..., Ran]
Refusal = Callable[..., str]


def log(path: Path, users: int = 60, *, time: bool = True) -> Path:
    """All ask for the weather; each has rare queries of her own that begin as others' do."""
    lines = ["user,query,time" if time else "user,query"]
    for n in range(users):
        for query in ("weather", f"cheap flights to p{n}", f"is it p{n} x"):
            lines.append(f"u{n},{query}" + f",2026-03-01 {n % 24:02}:10" * time)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def publish(run: Run, tmp_path: Path) -> Publish:
    """Publish log.csv, which has times where it is not there yet; what fails leaves nothing."""
    path = tmp_path / "log.csv"

    def command(*arguments: object, out: str = "out") -> Ran:
        if not path.exists():
            log(path)
        before = {*tmp_path.iterdir(), tmp_path / "tmp"}
        ran = run("publish", "log.csv", *arguments, "-o", out)
        assert "unforeseen" not in ran.said
        assert "Traceback" not in ran.said
        if ran.code:
            assert set(tmp_path.iterdir()) == before
        return ran

    return command


def about(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "release.json").read_text())
    return found


def table(folder: Path, name: str) -> dict[str, int]:
    rows = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return {next(iter(row.values())): row["count"] for row in rows}


def spent(parts: list[dict[str, Any]]) -> dict[str, Fraction]:
    return {part["kind"]: Fraction(part["exact"]["epsilon"]) for part in parts}


def sound(folder: Path, **how: Any) -> None:
    """Everything passes; without its ledger, the charge is not compared with it."""
    other = {check.name: check.detail for check in verify(folder, **how) if check.ok is not True}
    if "ledger" not in how:
        other.pop("budget", None)
    assert other == {}


# What it holds


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return many(300)


@pytest.mark.parametrize("select", ["random", "first"])
def test_a_whole_release_against_the_oracle(
    select: Any, entries: list[Entry], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all but no noise each table is what its published smaller ones and the log give."""
    monkeypatch.setattr(DuckDB, "rank_key", lambda _, key, columns: md5_rank(key, columns))
    monkeypatch.setattr(DuckDB, "rank_bin", lambda _, rank: md5_place(rank))
    goal = z.ProbabilisticDP(epsilon=9000, delta="0.9", users=10_000)
    kinds = [z.queries(3), z.keywords(9), *tail(2)]
    release = z.publish(
        z.read_log(write(tmp_path / "log.parquet", entries)),
        goal,
        kinds,
        select=select,
        account=None,
        engine=DuckDB(memory="2GB", threads=1),
    )
    tables = {
        name: dict(zip(*(column.to_pylist() for column in each.arrow.columns), strict=True))
        for name, each in release.tables.items()
    }
    assert list(tables) == ["queries", "keywords", *NAMES]
    assert all(tables.values())
    key = int(release.record.selection_key, 16)
    for name in NAMES:
        bound = 1 if name in FACTS else 2
        right = expected(name, entries, tables, bound=bound, select=select, key=key, listed=True)
        assert +Counter(tables[name]) == right, name
    for size, words in ((1, "keywords"), (2, "ngrams-2"), (3, "ngrams-3")):
        assert set(tables[f"prefixes-{size}"]) == set(tables[words])
    assert len(tables["scripts"]) == 13
    assert len(tables["hours"]) == 24
    for name in FACTS:
        assert sum(tables[name].values()) == len(had(name, entries, tables))
    release.write(tmp_path / "out")
    assert [each for each in verify(tmp_path / "out") if each.ok is not True] == []


def test_the_tables(publish: Publish, tmp_path: Path) -> None:
    ran = publish(*ITEMS, *EXACT, "--tail", 9000)
    assert ran.code == 0, ran.said
    out = tmp_path / "out"
    assert table(out, "queries") == {"weather": 60}
    assert set(table(out, "keywords")) >= {"weather", "cheap", "flights", "to", "is", "it", "x"}
    assert table(out, "ngrams-2") == {"cheap flights": 60, "flights to": 60, "is it": 60}
    assert table(out, "ngrams-3") == {"cheap flights to": 60}
    begun = {phrase: count for phrase, count in table(out, "prefixes-1").items() if count}
    assert begun == {"cheap": 60, "is": 60}
    assert table(out, "prefixes-2") == {"cheap flights": 60, "is it": 60, "flights to": 0}
    assert table(out, "prefixes-3") == {"cheap flights to": 60}
    assert table(out, "lengths") == {"4": 60} | dict.fromkeys([*"12356789", "10+"], 0)
    assert table(out, "scripts")["latin"] == 60
    assert table(out, "with-keywords") == {"yes": 60, "no": 0}
    questions = table(out, "questions")
    assert sum(questions.values()) == 60
    assert 10 < questions["yes"] < 50  # one of two by chance, p < 1e-7
    assert sum(table(out, "hours").values()) == 60
    assert set(table(out, "hours").values()) == {2, 3}
    sound(out, ledger=tmp_path / FILE_NAME)


# What it costs


# Their losses compose, which takes as long as all that is published here.
COMPOSED: list[tuple[str, str, list[str]]] = [
    ("3", "2", ["--guarantee", "indistinguishable", "--neighbors", "add-remove"]),
    (
        "2",
        "5",
        ["--mechanism", "queries=laplace,keywords=laplace", "--guarantee", "indistinguishable"],
    ),
]


@pytest.mark.parametrize(
    ("epsilon", "tail", "more"),
    [
        ("2", "1", []),
        ("1/3", "1/7", ["--split", "queries=2,keywords=5"]),
        ("0.1", "1e-3", ["--split", "keywords=0.3,queries=0.1"]),
        *sampled(COMPOSED, lambda case: f"composed-{case[0]}", share=2),
    ],
)
def test_the_total_is_exactly_what_is_said(
    epsilon: str, tail: str, more: list[str], run: Run
) -> None:
    goal = ["--users", 500, "--epsilon", epsilon, "--delta", "1e-4", *more]
    plain, longer = (
        json.loads(run("plan", *ITEMS, *goal, *with_tail, "--json").stdout)
        for with_tail in ([], ["--tail", tail])
    )
    without, found = spent(plain["parts"]), spent(longer["parts"])
    assert list(found) == ["queries", "keywords", *NAMES]
    assert longer["epsilon"] == float(Fraction(epsilon) + Fraction(tail))
    if "indistinguishable" in more:  # losses compose: the parts tell less than their sum
        assert sum(found.values()) >= Fraction(epsilon) + Fraction(tail)
        assert longer["delta_achieved"] <= 1e-4
        return
    assert {name: found[name] for name in without} == without
    assert sum(without.values()) == Fraction(epsilon)
    assert sum(found.values()) == Fraction(epsilon) + Fraction(tail)
    deltas = {part["kind"]: Fraction(part["exact"]["delta"]) for part in longer["parts"]}
    assert sum(deltas.values()) == Fraction("1e-4")
    assert all(deltas[name] == 0 for name in NAMES if not name.startswith("ngrams"))
    assert longer["parts"][:2] == plain["parts"]  # the tail takes no delta
    mechanisms = {part["kind"]: part["mechanism"] for part in longer["parts"]}
    assert mechanisms["ngrams-2"] == mechanisms["ngrams-3"] == "of-smaller"
    assert {mechanisms[name] for name in NAMES[2:]} == {"listed"}


def test_shares_within_the_tail(run: Run) -> None:
    parts = json.loads(run("plan", *ITEMS, *GOAL, "--tail", 3, "--json").stdout)["parts"]
    kinds = tail(5)
    total = sum(kind.budget_weight() for kind in kinds)
    found = spent(parts)
    assert all(found[kind.name()] == 3 * kind.budget_weight() / total for kind in kinds)
    most = {part["kind"]: part["items_per_user"] for part in parts}
    assert most == dict.fromkeys(most, 5) | dict.fromkeys(FACTS, 1)


def test_everything_that_is_written_says_the_total(publish: Publish, tmp_path: Path) -> None:
    ran = publish(*ITEMS, *GOAL, "--tail", "0.5")
    assert ran.code == 0, ran.said
    assert "epsilon = 2.5, delta = 0.001" in " ".join(ran.stdout.split())
    out = tmp_path / "out"
    found = about(out)
    assert found["guarantee"]["exact"] == {"epsilon": "5/2", "delta": "1/1000"}
    assert sum(spent(found["plan"]).values()) == Fraction(5, 2)
    for account in ("all", "period"):
        assert found["ledger"]["accounts"][account]["exact"]["epsilon"] == "5/2"
    (entry,) = Ledger.open(tmp_path / FILE_NAME).history()
    assert (entry.charge.epsilon, entry.charge.delta) == (Fraction(5, 2), Fraction(1, 1000))
    assert "epsilon = 2.5" in (out / "README.md").read_text()
    assert "epsilon = 2.5, delta =\n0.001</b> in total" in (out / "statement.html").read_text()
    registry = yaml.safe_load((out / "registry.yaml").read_text())["deployment"]
    assert registry["privacy_loss"]["privacy_parameters"] == {"epsilon": 2.5, "delta": 0.001}
    for name in NAMES:
        assert f"<td>{name}</td>" in (out / "statement.html").read_text()
        assert f"{name}: at most" in registry["implementation"]["mechanisms"]
    sound(out, ledger=tmp_path / FILE_NAME)


def test_the_ledger_keeps_to_its_cap_with_the_tail(
    run: Run, publish: Publish, tmp_path: Path
) -> None:
    log(tmp_path / "log.csv")
    capped = run(
        "ledger", "init", "log.csv", "--dataset", "x", "--cap-epsilon", 2.5, "--cap-delta", 1
    )
    assert capped.code == 0, capped.said
    ran = publish(*ITEMS, *GOAL, "--tail", "0.6")
    assert ran.code == 1
    assert "cap" in ran.stderr
    assert Ledger.open(tmp_path / FILE_NAME).history() == ()
    assert publish(*ITEMS, *GOAL, "--tail", "0.5").code == 0
    more = publish(*ITEMS, "--users", 500, "--epsilon", "0.1", "--delta", "0.001", out="more")
    assert more.code == 1


def test_an_id_is_that_of_the_same_tail(publish: Publish, tmp_path: Path) -> None:
    first = publish(*ITEMS, *GOAL, "--tail", 1, "--id", "one")
    again = publish(*ITEMS, *GOAL, "--tail", 1, "--id", "one", out="again")
    assert (first.code, again.code) == (0, 0)
    assert not (tmp_path / "again").exists()
    other = publish(*ITEMS, *GOAL, "--tail", 2, "--id", "one", out="other")
    assert other.code == 1
    assert "with other parameters" in other.stderr
    assert len(Ledger.open(tmp_path / FILE_NAME).history()) == 1


# Logs of other kinds


def test_a_log_without_times_has_no_hours(run: Run, publish: Publish, tmp_path: Path) -> None:
    log(tmp_path / "log.csv", time=False)
    ran = publish(*ITEMS, *GOAL, "--tail", 1)
    assert ran.code == 0, ran.said
    found = spent(about(tmp_path / "out")["plan"])
    assert [name for name in NAMES if name not in found] == ["hours"]
    assert sum(found.values()) == 3
    assert found["queries"] == found["keywords"] == 1
    assert not (tmp_path / "out" / "hours.csv").exists()
    sound(tmp_path / "out")
    first = publish(*ITEMS, *GOAL, "--tail", 1, "--select", "first", out="first")
    assert first.code == 2
    assert "--select first needs a column with the time" in first.stderr


@pytest.mark.extended
def test_hardly_anybody_and_nobody(publish: Publish, tmp_path: Path) -> None:
    """Nothing is published to make phrases of; once it is paid for, that must be no error."""
    for users in (3, 0):
        log(tmp_path / "log.csv", users)
        ran = publish(*ITEMS, *GOAL, "--tail", 1, "--unattended", out=f"out{users}")
        assert ran.code == 0, ran.said
        out = tmp_path / f"out{users}"
        for name in ("queries", "keywords", *NAMES[:5]):
            assert table(out, name) == {}
        for name in FACTS:
            assert len(table(out, name)) > 1
        assert "prefixes-2: it has the items of ngrams-2, which is empty too." in ran.stdout
        assert "ngrams-2: no item made of published ones stood out" in ran.stdout
        assert "which is empty too." in (out / "README.md").read_text()
        sound(out)


@pytest.mark.extended
@pytest.mark.parametrize(
    "more",
    [
        ["--guarantee", "indistinguishable", "--neighbors", "add-remove", "--delta", "1e-6"],
        ["--split", "queries=1,keywords=3", "--period", "2026-03"],
    ],
    ids=lambda more: "-".join(more).replace("--", ""),
)
def test_with_other_options(more: list[str], publish: Publish, tmp_path: Path) -> None:
    ran = publish(*ITEMS, *EXACT, "--tail", 9000, *more)
    assert ran.code == 0, ran.said
    out = tmp_path / "out"
    assert table(out, "ngrams-3") == {"cheap flights to": pytest.approx(60, abs=9)}
    assert sum(table(out, "lengths").values()) == 60
    sound(out, ledger=tmp_path / FILE_NAME)


def test_beside_other_kinds(publish: Publish, tmp_path: Path) -> None:
    items = [
        "--items",
        "queries,query-pairs,keywords",
        "--items-per-user",
        "queries=1,query-pairs=2,keywords=7",
    ]
    ran = publish(*items, *GOAL, "--tail", 1)
    assert ran.code == 0, ran.said
    most = {part["kind"]: part["items_per_user"] for part in about(tmp_path / "out")["plan"]}
    assert most["ngrams-2"] == most["prefixes-1"] == 7
    assert list(most)[:3] == ["queries", "query-pairs", "keywords"]


def test_some_of_them_by_their_names(publish: Publish, tmp_path: Path) -> None:
    items = [
        "--items",
        "queries,keywords,ngrams-2,prefixes-2,hours",
        "--items-per-user",
        "queries=1,keywords=7,ngrams-2=3,prefixes-2=2,hours=1",
    ]
    ran = publish(*items, *EXACT)
    assert ran.code == 0, ran.said
    assert sum(spent(about(tmp_path / "out")["plan"]).values()) == 9000
    assert sum(table(tmp_path / "out", "prefixes-2").values()) == 120
    sound(tmp_path / "out")


# A plan in a file


def test_a_plan_is_carried_out(run: Run, publish: Publish, tmp_path: Path) -> None:
    planned = run("plan", *ITEMS, *GOAL, "--tail", "1/3", "--select", "first", "-o", "plan.json")
    assert planned.code == 0, planned.said
    assert "epsilon = 2.33334" in planned.stdout
    ran = publish("--plan", "plan.json")
    assert ran.code == 0, ran.said
    found, approved = about(tmp_path / "out"), json.loads((tmp_path / "plan.json").read_text())
    assert found["guarantee"]["exact"]["epsilon"] == approved["goal"]["epsilon"] == "7/3"
    assert found["approved_plan"] == read_plan(tmp_path / "plan.json").approved
    assert [part["kind"] for part in found["plan"]] == ["queries", "keywords", *NAMES]
    for stated, wanted in zip(found["plan"], approved["parts"], strict=True):
        ranked = stated["kind"].startswith("ngrams")  # by what was published, whatever --select is
        assert stated["select"] == ("random" if ranked else "first")
        assert {**stated, "select": None} == {**wanted, "select": None}
    sound(tmp_path / "out", ledger=tmp_path / FILE_NAME)
    more = publish("--plan", "plan.json", "--tail", 1, out="more")
    assert more.code == 2
    assert "leave out --tail" in more.stderr


def test_a_plan_with_hours_needs_times(run: Run, publish: Publish, tmp_path: Path) -> None:
    run("plan", *ITEMS, *GOAL, "--tail", 1, "-o", "plan.json")
    log(tmp_path / "log.csv", time=False)
    ran = publish("--plan", "plan.json")
    assert ran.code == 2
    assert "the log has no column 'time'" in ran.stderr
    assert not (tmp_path / FILE_NAME).exists()


def test_a_plan_survives_the_file(tmp_path: Path) -> None:
    goal = z.ProbabilisticDP(epsilon="1/3", delta="1e-9", users=10_000, neighbors="add-remove")
    planned = z.plan(goal, [z.queries(2), z.keywords(4), *tail(3)])
    planned = planned.for_log(z.Columns(user="user", time="time"), z.Cleaning())
    write_plan(planned, tmp_path / "plan.json")
    found = read_plan(tmp_path / "plan.json")
    assert replace(found, approved_file=None) == planned


@pytest.mark.parametrize("split", [{}, {"queries": 2, "keywords": 5}])
def test_python_asks_for_the_same_tail(split: dict[str, int], run: Run) -> None:
    said = ",".join(f"{kind}={weight}" for kind, weight in split.items())
    options = ["--split", said] if split else []
    found = json.loads(run("plan", *ITEMS, *GOAL, "--tail", "1/7", *options, "--json").stdout)
    goal = z.ProbabilisticDP(epsilon=2, delta="0.001", users=500)
    planned = z.plan(goal, [z.queries(5), z.keywords(5)], tail="1/7", split=split or None)
    assert planned.goal.epsilon == 2 + Fraction(1, 7)
    stated = {part.name(): str(part.goal.epsilon) for part in planned.parts}
    assert stated == {part["kind"]: part["exact"]["epsilon"] for part in found["parts"]}


@pytest.mark.parametrize("time", [True, False])
def test_python_tells_of_hours_where_the_log_has_times(time: bool, tmp_path: Path) -> None:
    read = z.read_log(log(tmp_path / "log.csv", time=time))
    goal = z.ProbabilisticDP(epsilon=9000, delta="0.5", users=500)
    kinds = [z.queries(5), z.keywords(5)]
    release = z.publish(read, goal, kinds, tail=1, account=None)
    assert [*release] == ["queries", "keywords", *(n for n in NAMES if time or n != "hours")]
    planned = z.plan(goal, kinds, tail=1, log=read)
    assert planned.log is not None
    assert planned.log.columns == read.columns
    assert [part.name() for part in planned.parts] == [*release]


def test_python_names_the_arguments_of_a_tail() -> None:
    goal = z.ProbabilisticDP(epsilon=2, delta="0.001", users=500)
    with pytest.raises(UsageError) as raised:
        z.plan(goal, z.queries(5), tail=1)
    assert str(raised.value) == "tail needs queries and keywords among the kinds"
    with pytest.raises(UsageError, match="read_log"):
        z.plan(goal, z.queries(5), log="log.csv")  # type: ignore[arg-type]


# What is refused, before anything is read or charged


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Refusal:
    """What a command says that does nothing."""
    monkeypatch.chdir(tmp_path)
    log(tmp_path / "log.csv")

    def command(called: click.Command, *arguments: object) -> str:
        before = sorted(tmp_path.iterdir())
        ran = CliRunner().invoke(called, list(map(str, arguments)))
        assert isinstance(ran.exception, UsageError)
        assert ran.output == ""
        assert sorted(tmp_path.iterdir()) == before
        return str(ran.exception)

    return command


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--tail", "0"], "--tail must be above 0: it is the epsilon that it costs"),
        (["--tail=-1"], "--tail must be above 0"),
        (["--tail", "much"], "--tail must be a number"),
        (["--tail", ""], "--tail must be a number"),
        (["--tail", "nan"], "--tail must be a number"),
        (["--tail", "inf"], "--tail must be a number"),
        (["--tail", "1", "--by", "country"], "--tail goes with neither --by nor --fold-words"),
        (["--tail", "1", "--fold-words"], "--tail goes with neither --by nor --fold-words"),
        (["--tail", "1", "--split", "queries=1"], "--split must name the --items, each once"),
        (["--tail", "1", "--split", "queries=1,keywords=1,hours=1"], "--split must name the"),
        (["--tail", "1", "--split", "queries=1,keywords=0"], "--split must be above 0"),
        (["--tail", "1", "--split", "queries=-1,keywords=1"], "--split must be above 0"),
        (["--tail", "1", "--domain", "lengths=list.txt"], "--domain"),
        (["--tail", "1", "--mechanism", "queries=zealous,lengths=laplace"], "use listed, or auto"),
        (["--tail", "1", "--mechanism", "listed"], "for what is made of other items alone"),
    ],
)
def test_what_is_no_tail(given: list[str], said: str, refused: Refusal, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("1\n2\n")
    assert said in refused(publish_command, "log.csv", *ITEMS, *GOAL, *given, "-o", "out")
    assert said in refused(plan_command, *ITEMS, *GOAL, *given)


@pytest.mark.parametrize("items", ["queries", "keywords", "clicks,queries", "columns:query"])
def test_it_needs_queries_and_keywords(items: str, refused: Refusal) -> None:
    said = "--tail needs queries and keywords among the --items"
    goal = ["--items-per-user", 5, *GOAL, "--tail", 1]
    assert refused(publish_command, "log.csv", "--items", items, *goal, "-o", "out") == said
    assert refused(plan_command, "--items", items, *goal) == said
    assert refused(plan_command, *goal) == said


def test_its_kinds_come_once_and_in_order(refused: Refusal) -> None:
    for items in ("queries,keywords,lengths", "queries,lengths,keywords"):
        most = ",".join(f"{name}=1" for name in items.split(","))
        found = refused(
            plan_command, "--items", items, "--items-per-user", most, *GOAL, "--tail", 1
        )
        assert found == "each kind of items can be named once"
    found = refused(
        plan_command, "--items", "lengths,queries,keywords", "--items-per-user", 1, *GOAL
    )
    assert "lengths are to be published after queries" in found
    found = refused(plan_command, "--items", "queries,lengths", "--items-per-user", 2, *GOAL)
    assert "items_per_user is 1" in found


def test_a_log_with_lists_of_keywords(run: Run, tmp_path: Path) -> None:
    rows = [{"user": f"u{n}", "query": "a b", "words": ["a", "b"]} for n in range(9)]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    ran = run("publish", "log.jsonl", "--keywords", "words", *ITEMS, *GOAL, "--tail", 1, "-o", "o")
    assert ran.code == 2
    assert "--tail takes the words of the queries themselves" in ran.stderr
    assert not (tmp_path / FILE_NAME).exists()


def test_where_it_would_do_nothing_it_is_no_option(refused: Refusal) -> None:
    for called in (inspect_command, mechanisms_command):
        assert "--tail" not in {name for each in called.params for name in each.opts}
    given = ["--scale", 5, "--tau", 1, "--tau-prime", 100, "--items-per-user", 5]
    assert refused(guarantees_command, *given, "--tail", 1).endswith("do not go with --tail")


# In Python


def test_in_python(tmp_path: Path) -> None:
    """An epsilon of their own is a matter of `split`."""
    for public in (itemsets, sequences, tail):
        assert public.__name__ in z.__all__
        assert getattr(z, public.__name__) is public
        assert public.__doc__
    path = log(tmp_path / "log.csv", time=False)
    kinds = [kind for kind in tail(5) if kind.name() != "hours"]
    total = sum(kind.budget_weight() for kind in kinds)
    split = {"queries": 1, "keywords": 1} | {
        kind.name(): Fraction(1, 2) * kind.budget_weight() / total for kind in kinds
    }
    goal = z.ProbabilisticDP(epsilon="5/2", delta="0.001", users=500)
    release = z.publish(
        z.read_log(path), goal, [z.queries(5), z.keywords(5), *kinds], split=split, account=None
    )
    found = spent(to_json(release.record)["plan"])
    assert found["queries"] == found["keywords"] == 1
    assert sum(found.values()) == Fraction(5, 2)
    with pytest.raises(UsageError, match="hours need a column with the time"):
        z.publish(z.read_log(path), goal, [z.queries(5), z.keywords(5), *tail(5)], account=None)


# What the recipient reads


def section(readme: str, name: str) -> str:
    return readme.partition(f"### `{name}`: ")[2].partition("\n#")[0]


KEY = "selected by a public random key, each different one with the same probability"


@pytest.mark.extended
@pytest.mark.parametrize(
    ("more", "units", "each", "how"),
    [
        ([], "users", "Each user", KEY),
        (["--select", "first"], "users", "Each user", "the first in time"),
        (
            ["--select", "frequent", "--unit", "user-day"],
            "user-days",
            "Each user on each day",
            "the one asked most often",
        ),
    ],
)
def test_the_readme_explains_each_table(
    more: list[str], units: str, each: str, how: str, publish: Publish, tmp_path: Path
) -> None:
    assert publish(*ITEMS, *EXACT, "--tail", 9000, *more).code == 0
    assert table(tmp_path / "out", "ngrams-3") == {"cheap flights to": 60}
    assert sum(table(tmp_path / "out", "lengths").values()) == 60
    sound(tmp_path / "out", ledger=tmp_path / FILE_NAME)
    readme = (tmp_path / "out" / "README.md").read_text()
    for name in FACTS:
        text = section(readme, name)
        assert "- `value` says of a query that is not in `queries` " in text
        assert f"`count` is the number of {units}, each with one such query" in text
        assert f"{each} counts at most once, with one such query ({how})." in text
        assert f"All possible items are published, including those of no {units}." in text
    for name, words in {
        "ngrams-2": "2 consecutive words",
        "ngrams-3": "3 consecutive words",
    }.items():
        text = section(readme, name)
        assert f"An item is {words} of queries that are not in `queries`. " in text
        assert f"`count` is the number of {units} that asked such queries" in text
        assert f"{each} contributes at most 5 items. Those whose least frequent part" in text
        assert "random key" not in text
    firsts = {1: "the first word", 2: "the first 2 words", 3: "the first 3 words"}
    for size, words in {1: "keywords", 2: "ngrams-2", 3: "ngrams-3"}.items():
        text = section(readme, f"prefixes-{size}")
        assert f"An item is {firsts[size]} of queries that are not in `queries`." in text
        assert f"Only items of `{words}` are counted" in text
    assert "at which hour of the day it was asked" in section(readme, "hours")
    assert "a query asked at several hours is one query for each" in section(readme, "hours")
    assert "whether one of its words is in `keywords`" in section(readme, "with-keywords")


def test_the_readme_explains_things_and_sets(run: Run, tmp_path: Path) -> None:
    rows = ["customer,invoice,product", *(f"{n},{n},{name}" for n in range(60) for name in "ab")]
    (tmp_path / "shop.csv").write_text("\n".join(rows) + "\n")
    items = [
        "--items",
        "itemsets:product,sequences:product",
        "--basket",
        "invoice",
        "--max-size",
        2,
        "--items-per-user",
        4,
    ]
    ran = run("publish", "shop.csv", "--user", "customer", *items, *EXACT, "--no-ledger", "-o", "o")
    assert ran.code == 0, ran.said
    readme = (tmp_path / "o" / "README.md").read_text()
    said = {
        "people": "`count` is the number of users with an entry in the log.\n- Each user counts "
        "once.",
        "things:product": "An item is a single thing.",
        "itemsets-1:product": "An item is a single thing, counted for the same users",
        "itemsets-2:product": "An item is a set of 2 different things of one user with the same "
        "`invoice`.\n- Each user contributes at most 4 things, those with the largest counts in "
        "`things:product`, and all sets of these: at most 6.",
        "sequences-2:product": "An item is a sequence of 2 things of one user, each with the next "
        "`invoice`.\n- Each user contributes at most 4 things",
    }
    for name, text in said.items():
        assert text in section(readme, name), name
    assert "The table is empty: no item made of published ones" in section(
        readme, "sequences-2:product"
    )
    sound(tmp_path / "o")


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.extended
def test_a_reviewed_release(run: Run, publish: Publish, tmp_path: Path) -> None:
    goal = [*ITEMS, *EXACT, "--tail", 9000, "--period", "2026-03", "--people", "the shop's"]
    assert publish(*goal, "--signed-by", "somebody").code == 0
    (tmp_path / "block.txt").write_text("cheap\n")
    ran = run("review", "out", "--block", "block.txt", "--flag-pii", "-o", "child")
    assert ran.code == 0, ran.said
    child = tmp_path / "child"
    for name in ("queries", "keywords", *NAMES):
        assert not [item for item in table(child, name) if "cheap" in item]
    assert table(child, "ngrams-2").keys() == {"flights to", "is it"}
    sound(child, parent=tmp_path / "out")
    if CHROMIUM is not None:  # else nobody looks on how many pages each is
        assert [printed(tmp_path / name / "statement.html") for name in ("out", "child")] == [3, 3]


def printed(page: Path) -> int:
    """On how many pages it is printed."""
    pdf, profile = page.with_suffix(".pdf"), page.parents[1] / "profile"
    subprocess.run(
        [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={profile}",
            f"--print-to-pdf={pdf}",
            page.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=600,
    )
    return len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))
