"""Which mechanism is used, from Python and from the command line, and what a release says of it."""

from __future__ import annotations

import json
import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from paths import ROOT

import zealous as z
from zealous.cli import cli
from zealous.errors import Refused, UsageError
from zealous.mechanisms.choose import MECHANISMS, choose_mechanism
from zealous.mechanisms.protocol import public_input_name
from zealous.planning.declared import PublicFile
from zealous.planning.plan import covers_replaced, plan_with_files
from zealous.planning.plan_file import read_plan
from zealous.verification.verify import verify

LOOSE = z.Indistinguishability(epsilon=20, delta="1e-9", neighbors="add-remove")
MADE_OF_OTHERS = (
    "after-look",
    "results",
    "of-keywords",
    "of-smaller",
    "of-smaller-gaussian",
    "listed",
)
ANY_KIND = [name for name in MECHANISMS if name not in (*MADE_OF_OTHERS, "selection")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A hundred users who ask two common things and one of their own."""
    lines = ["user,query"]
    for n in range(100):
        lines += [f"u{n},Weather", f"u{n},weather  today", f"u{n},private thing {n}"]
    log = tmp_path / "log.csv"
    log.write_text("\n".join(lines) + "\n")
    (tmp_path / "list.csv").write_text("query,count\nweather,9\nWeather today,7\nsnow,1\nsnow,1\n")
    return log


def files(name: str, path: Path) -> dict[str, Any]:
    used = public_input_name(MECHANISMS[name])
    return {used: path.with_name("list.csv")} if used else {}


@pytest.mark.parametrize("name", ANY_KIND)
def test_each_publishes_what_is_frequent_and_verifies(name: str, path: Path) -> None:
    release = z.publish(
        z.read_log(path), LOOSE, [z.queries(2)], mechanism=name, account=None, **files(name, path)
    )
    found = {row["query"]: row["count"] for row in release["queries"].arrow.to_pylist()}
    frequent = {"weather", "weather today"}
    assert frequent <= found.keys()
    extra = {"snow"} if name in ("domain", "prior") else set()
    assert found.keys() <= frequent | extra
    if name == "domain":
        assert found.keys() == {*frequent, "snow"}
        assert abs(found["snow"]) < 10
    directory = path.with_name(f"release-{name}")
    release.write(directory)
    assert {check.name: check.detail for check in verify(directory) if not check.ok} == {}
    about = json.loads((directory / "release.json").read_text())
    (part,) = about["plan"]
    assert part["mechanism"] == name
    assert ("public" in part) == (MECHANISMS[name].public_input is not None)
    assert about["guarantee"]["theorem"].startswith("docs/proofs/")
    assert (ROOT / about["guarantee"]["theorem"]).is_file()
    for paper in ("README.md", "statement.html", "registry.yaml"):
        assert (directory / paper).read_text()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"scale": 0.5}, "rounded"),
        ({"exact.scale": "1/3", "scale": 1 / 3}, "smaller than what"),
        ({"tau_prime": 0}, "tau_prime must be"),
        ({"mechanism": "gaussian"}, ""),
    ],
)
def test_another_claim_than_the_parameters_give_is_found(
    path: Path, change: dict[str, Any], told: str
) -> None:
    release = z.publish(z.read_log(path), LOOSE, [z.queries(2)], mechanism="laplace", account=None)
    directory = path.with_name("release")
    release.write(directory)
    about = json.loads((directory / "release.json").read_text())
    for key, value in change.items():
        *above, last = key.split(".")
        place = about["plan"][0]
        for name in above:
            place = place[name]
        place[last] = value
    (directory / "release.json").write_text(json.dumps(about))
    failed = {check.name: check.detail for check in verify(directory) if check.ok is False}
    assert told in failed["guarantee"]


def test_rounds_with_less_noise_than_claimed_are_found(path: Path) -> None:
    goal = z.Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
    release = z.publish(z.read_log(path), goal, [z.queries(2)], mechanism="pooled", account=None)
    directory = path.with_name("release")
    release.write(directory)
    text = (directory / "release.json").read_text()
    about = json.loads(text)
    for change in ({"threshold": 2001}, {"scale": 2}, {"part": 1000}):
        forged = json.loads(text)
        forged["plan"][0]["parameters"]["rounds"][0] |= change
        (directory / "release.json").write_text(json.dumps(forged))
        failed = {check.name for check in verify(directory) if check.ok is False}
        assert {"guarantee", "plan"} <= failed, change
    none = {**about["plan"][0]["parameters"], "rounds": []}
    forged = {**about, "plan": [{**about["plan"][0], "parameters": none}]}
    (directory / "release.json").write_text(json.dumps(forged))
    assert any(check.ok is False for check in verify(directory))


@pytest.mark.parametrize(
    ("goal", "m", "given", "best"),
    [
        (z.ProbabilisticDP(epsilon=1, delta="0.001", users=1000), 5, None, "zealous"),
        (z.ProbabilisticDP(epsilon=1, delta="0.001", users=1000), 5, "domain", "domain"),
        (LOOSE, 1, None, "selection"),
        (LOOSE, 5, None, "pooled"),
        (LOOSE, 5, "prior", "prior"),
        (LOOSE, 5, "domain", "domain"),
    ],
)
def test_auto_looks_at_public_facts_alone(goal: Any, m: int, given: Any, best: str) -> None:
    found, why = choose_mechanism("auto", goal, z.queries(m), given)
    assert found.name == best
    assert why


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"mechanism": "magic"}, "mechanism must be auto or one of"),
        ({"mechanism": "domain"}, "say domain"),
        ({"mechanism": "gaussian", "domain": "list.csv"}, "makes no use of domain"),
        ({"domain": "list.csv", "prior": "list.csv"}, "one public file"),
        ({"domain": "none.csv"}, "neither a file nor"),
        ({"domain": {"keywords": "list.csv"}}, "not published"),
        ({"mechanism": {"keywords": "laplace"}}, "not published"),
        ({"mechanism": "selection"}, "1"),
    ],
)
def test_what_does_not_fit_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch, options: Any, told: str
) -> None:
    monkeypatch.chdir(path.parent)
    with pytest.raises(z.ZealousError, match=told):
        z.publish(z.read_log(path), LOOSE, [z.queries(2)], account=None, **options)


@pytest.mark.parametrize("name", [name for name in ANY_KIND if name not in ("zealous", "domain")])
def test_only_zealous_gives_the_probabilistic_guarantee(name: str, path: Path) -> None:
    goal = z.ProbabilisticDP(epsilon=4, delta="0.01", users=200)
    with pytest.raises(UsageError, match="probabilistic"):
        z.publish(z.read_log(path), goal, [z.queries(2)], mechanism=name, **files(name, path))


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_a_domain_needs_neither_delta_nor_users(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    result = run(
        *shlex.split(
            "publish log.csv --items queries --items-per-user 2 --domain list.csv --epsilon 2 "
            "--no-ledger -o out --json"
        )
    )
    assert result.exit_code == 0, result.output
    about = json.loads((path.parent / "out" / "release.json").read_text())
    assert about["guarantee"]["delta"] == 0
    assert about["guarantee"]["title"] == "epsilon-differential privacy (delta = 0)"
    assert about["also_guaranteed"] is None
    assert (
        "delta"
        not in (path.parent / "out" / "registry.yaml")
        .read_text()
        .split("privacy_parameters:")[1]
        .split("privacy_parameters_details")[0]
    )


def test_delta_goes_to_those_who_need_it() -> None:
    goal = z.Indistinguishability(epsilon=3, delta="1e-6")
    words = PublicFile(use="domain", name="words.txt", sha256="0" * 64)
    planned = plan_with_files(goal, [z.queries(2), z.keywords(2)], {"keywords": words})
    assert [float(part.goal.delta) for part in planned.parts] == [1e-6, 0]
    assert planned.goal == goal


def test_a_release_over_a_list_is_charged_without_delta(path: Path) -> None:
    account = z.Account(ledger=path.with_name("ledger.sqlite"))
    release = z.publish(
        z.read_log(path), LOOSE, [z.queries(2)], domain=path.with_name("list.csv"), account=account
    )
    stamp = release.record.ledger
    assert stamp is not None
    assert (stamp.accounts.all.epsilon, stamp.accounts.all.delta) == (20, 0)


def test_a_plan_names_the_public_file_and_takes_no_other(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    asked = (
        "--items",
        "queries",
        "--items-per-user",
        "2",
        "--domain",
        "list.csv",
        "--epsilon",
        "2",
    )
    assert run("plan", *asked, "-o", "plan.json").exit_code == 0
    (part,) = read_plan("plan.json").parts
    assert part.public is not None
    assert part.public.name == "list.csv"
    carried_out = ("publish", "log.csv", "--plan", "plan.json", "--no-ledger")
    with pytest.raises(UsageError, match="not those of the plan"):
        run(*carried_out, "-o", "a")
    assert run(*carried_out, "--domain", "list.csv", "-o", "b").exit_code == 0
    Path("list.csv").write_text("query\nsomething else\n")
    with pytest.raises(UsageError, match="not those of the plan"):
        run(*carried_out, "--domain", "list.csv", "-o", "c")
    assert not Path("c").exists()


def test_rates_without_clicks_are_refused() -> None:
    with pytest.raises(UsageError, match="--rates needs"):
        run(
            *shlex.split(
                "plan --items queries --items-per-user 5 --guarantee indistinguishable --epsilon 1 "
                "--delta 1e-6 --rates"
            )
        )


def test_what_two_thresholds_and_laplace_noise_can_tell_is_refused_for_others() -> None:
    asked = shlex.split(
        "--guarantee indistinguishable --items-per-user 5 --epsilon 1 --delta 1e-6 "
        "--mechanism gaussian"
    )
    theory = "study guarantees"
    for command in ("plan --advise", f"{theory} --curve", f"{theory} --accounts-per-person 2"):
        with pytest.raises(UsageError, match="use --mechanism zealous or laplace"):
            run(*command.split(), *asked)
    result = run("plan", *asked, "--json")
    told = json.loads(result.stdout)
    assert (told["mechanism"], told["noise"], told["tau_prime"]) == (
        "gaussian",
        "discrete-gaussian",
        69,
    )


def test_numbers_that_are_none_do_not_stop_a_run(tmp_path: Path) -> None:
    """Beside them, whole numbers and others are read as they would be without."""
    nan = float("nan")
    values = [1.0] * 60 + [7.5] * 50 + [nan] * 40 + [float("inf")]
    table = pa.table({"user": [f"u{n}" for n in range(len(values))], "size": pa.array(values)})
    pq.write_table(table, tmp_path / "log.parquet")
    log = z.read_log(tmp_path / "log.parquet", columns=z.Columns(user="user"))
    goal = z.Indistinguishability(epsilon=50, delta="1e-6")
    release = z.publish(log, goal, [z.columns("size", items_per_user=1)], account=None)
    assert {"1", "7.5"} <= set(release["columns:size"].arrow["size"].to_pylist())


@pytest.mark.parametrize("delta", ["0.1", "1e-6"])
def test_a_ledger_is_charged_only_what_it_knows_to_suffice(delta: str, path: Path) -> None:
    """By Laplace noise below m/epsilon two moved counts can tell more than twice what one tells."""
    goal = z.Indistinguishability(epsilon=1, delta=delta, neighbors="add-remove")
    planned = z.plan(goal, [z.queries(1)], mechanism="laplace")
    (part,) = planned.parts
    twice = z.Indistinguishability(epsilon=2, delta=delta)
    assert covers_replaced(planned) == (part.mechanism.delta(twice) <= goal.delta)
    assert covers_replaced(planned) == (delta == "1e-6")
    ledger = path.parent / "ledger.sqlite"
    account = z.Account(ledger=ledger)
    z.publish(z.read_log(path), goal, [z.queries(1)], mechanism="laplace", account=None)
    with nullcontext() if delta == "1e-6" else pytest.raises(Refused, match="lower delta"):
        z.publish(z.read_log(path), goal, [z.queries(1)], mechanism="laplace", account=account)
    assert ledger.exists() == (delta == "1e-6")
