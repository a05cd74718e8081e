"""How often tests and the audit fail for a sound program, added up.

A test that draws the operating system's noise says how often in its marker `false_alarm`; every
other draws the same noise in every run (randomness.py).
"""

from __future__ import annotations

import ast
import itertools
import json
import math
import os
import re
import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import conftest
import numpy as np
import pytest
import randomness
from click.testing import CliRunner
from conftest import Forks
from paths import DOCS, ROOT, TESTS

from zealous.audit import (
    other_mechanisms as others,
)
from zealous.audit import (
    small_releases as small,
)
from zealous.audit import (
    whole_releases as bundle,
)
from zealous.audit.audit import FALSE_ALARMS
from zealous.audit.custom_counts import WatchedMechanism
from zealous.audit.custom_mechanism import _run_checks, releases_needed_to_differ
from zealous.audit.measurement import BY_ACCIDENT
from zealous.audit.setting import settings
from zealous.audit.theorems import noise
from zealous.cli import cli
from zealous.mechanisms import Zealous
from zealous.mechanisms.pooled import RecordedRounds, recorded_parameters
from zealous.privacy.calibrate import calibrate
from zealous.privacy.guarantee import Indistinguishability
from zealous.record.codec import structure
from zealous.record.record import PartRecord
from zealous.release.provenance import plan_record

PAGE = DOCS / "reference" / "audit.md"
MOST = 1e-6  # of one run of all tests
STATED = """import json, sys
import pytest


class Stated:
    found = []

    def pytest_collection_finish(self, session):
        for item in session.items:
            for mark in item.iter_markers("false_alarm"):
                self.found.append([item.nodeid.partition("[")[0], *mark.args])


*files, path = sys.argv[1:]
pytest.main(["--collect-only", "-qq", "-pno:cacheprovider", "-m", "false_alarm", *files],
            plugins=[Stated()])
with open(path, "w") as file:
    json.dump(Stated.found, file)
"""


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, float, str]]:
    """The marked tests, each as often as it runs: name, chance, why."""
    marked = [path for path in TESTS.rglob("test_*.py") if "mark.false_alarm(" in path.read_text()]
    found = tmp_path_factory.mktemp("stated") / "found.json"
    subprocess.run(
        [sys.executable, "-c", STATED, *marked, found],
        cwd=ROOT,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=True,
        capture_output=True,
    )
    return [(name, chance, why) for name, chance, why in json.loads(found.read_text())]


def test_a_run_of_all_tests_fails_a_sound_program_less_than_once_in_a_million(
    stated: list[tuple[str, float, str]],
) -> None:
    assert stated
    assert all(0 < chance < MOST and why for _, chance, why in stated)
    assert sum(chance for _, chance, _ in stated) < MOST


DRAWS = re.compile(r"\bpublish(ed|ing)?\(|\.store\(|map_batches\(|\.release\(|\"publish\"|publish=")


def draw_on_executors(path: Path) -> Iterator[str]:
    """The tests of a file that publish, or draw noise, and say nothing of a chance."""
    text = path.read_text()
    if not DRAWS.search(text):
        return
    functions = [each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    draws = DRAWS
    for _ in functions:  # those that call a function which draws, and so on
        names = [each.name for each in functions if draws.search(_body(each))]
        draws = re.compile("|".join([DRAWS.pattern, *(rf"\b{name}\b" for name in names)]))
    for each in functions:
        marks = "".join(ast.unparse(mark) for mark in each.decorator_list)
        fixtures = " ".join(argument.arg for argument in each.args.args)
        stated = "false_alarm(" in marks or not each.name.startswith("test_")
        if not stated and draws.search(f"{fixtures} {_body(each)}"):
            yield f"{path.name}::{each.name}"


def _body(function: ast.FunctionDef) -> str:
    return "".join(map(ast.unparse, function.body)).replace("'", '"')


def test_what_executors_of_spark_draw_is_seen() -> None:
    """No stream of a test reaches them: see `randomness`."""
    found = {name for path in TESTS.glob("spark/test_*.py") for name in draw_on_executors(path)}
    assert found == {
        "test_spark_cluster.py::test_the_driver_killed_in_mid_job",  # before anything is published
        "test_spark_golden.py::test_releases_on_spark",  # seeded
        "test_spark_sources.py::test_a_log_of_several_names_needs_a_ledger_by_name",  # refused
        "test_spark_tail.py::test_same_as_the_oracle",  # the oracle's tables
        "test_spark_weighed.py::test_users_choose_on_both_engines_alike",  # by the items' names
    }


def test_the_page_lists_them(stated: list[tuple[str, float, str]]) -> None:
    by_file = sorted((name.rpartition("/")[2], *rest) for name, *rest in stated)
    rows = [
        f"| `{name}` | {len(list(same))} | {chance:.0e} | {why} |"
        for (name, chance, why), same in itertools.groupby(by_file)
    ]
    listed = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert listed == rows


def test_the_page_says_how_often_the_audit_fails_a_sound_program() -> None:
    (said,) = re.findall(r"false alarm is below 1 in ([\d,]+)", PAGE.read_text())
    assert int(said.replace(",", "")) == round(1 / FALSE_ALARMS)


# The same bytes in every run


def test_bytes_follow_from_the_name_of_a_test() -> None:
    def drawn(name: str) -> tuple[bytes, str, int | None]:
        with randomness.fixed(name):
            return os.urandom(8), secrets.token_hex(8), os.cpu_count()

    assert drawn("a") == drawn("a")
    assert drawn("a")[0] != drawn("b")[0]
    assert drawn("a")[2] == 1  # thread of the engine
    with randomness.fixed(None):
        assert os.urandom(8) != drawn("a")[0]


def test_forks_draw_bytes_of_their_own_and_the_same_in_every_run(
    forks: Forks, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os\nhere, there = os.pipe()\n"
        "if not os.fork():\n    os.write(there, os.urandom(8))\n    os._exit(0)\n"
        "print(os.read(here, 8).hex(), os.urandom(8).hex())\n"
    )

    def drawn() -> list[str]:
        with randomness.fixed("a test"):
            runs = [forks(program, folder=tmp_path) for _ in range(2)]
        return [word for run in runs for word in run.stdout.split()]

    assert drawn() == drawn()
    assert len(set(drawn())) == 4


@pytest.mark.parametrize("env", [None, {"A": "b"}])
def test_a_program_from_scratch_draws_bytes_of_its_own_and_the_same_in_every_run(
    env: dict[str, str] | None,
) -> None:
    ask = "import os; print(os.urandom(8).hex())"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {ask!r}])"

    def drawn(stream: str | None) -> list[str]:
        command = [sys.executable, "-c", f"{ask}\n{nested}"]
        with randomness.fixed(stream):
            runs = [subprocess.run(command, env=env, stdout=subprocess.PIPE) for _ in range(2)]
        return [word for run in runs for word in run.stdout.decode().split()]

    once = drawn("a test")
    assert len({*once}) == 4
    assert drawn("a test") == once
    assert not {*once} & {*drawn(None)}


def test_what_a_test_leaves_in_the_project_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "tests").mkdir()
    monkeypatch.setattr(conftest, "ROOT", tmp_path)
    before = conftest._names_in_project()
    (tmp_path / "tests" / "zealous-ledger.sqlite").touch()
    (tmp_path / "tests" / "__pycache__").mkdir()
    left = conftest._names_in_project() - before
    assert left == {str(tmp_path / "tests" / "zealous-ledger.sqlite")}


# What may agree by accident in an audit


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[PartRecord], list[PartRecord]]:
    """The parts of the plans of whole releases, as their options say."""
    folder = tmp_path_factory.mktemp("plans")
    (folder / "sites.txt").write_text("http://site0.example\n")
    (folder / "tags.txt").write_text("t0\n")
    found = []
    for options in (bundle._options(bundle.DECLARED), others._options()):
        asked = [each.replace("../", f"{folder}/") for each in options]
        asked = asked[: asked.index("--ledger")]
        done = CliRunner().invoke(cli, ["plan", *asked, "--json"])
        assert done.exit_code == 0, done.output
        found.append([table_record(part) for part in json.loads(done.stdout)["parts"]])
    return found[0], found[1]


def table_record(part: Mapping[str, Any]) -> PartRecord:
    """The record of a table, from what `plan --json` says of it."""
    own = {name: value for name, value in part.items() if name != "why"}
    return structure({**own, "settings": {}, "select": "random"}, PartRecord)


def of_kind(parts: list[PartRecord], kind: str) -> PartRecord:
    (part,) = (part for part in parts if part.kind == kind)
    return part


def agree(part: PartRecord, rows: int) -> float:
    """The chance that two releases of a table hold the same counts."""
    if part.noise == "discrete-laplace" and part.scale > 1e5:  # a table of it is too long
        return (1 / (4 * part.scale)) ** rows
    return small.collision_probability(noise(part)) ** rows


QUERIES, TAGS, LISTED, SETS, RUNS = 12, 40, 32, 80, 4
ASK_A_QUERY, HOLD_A_TAG = bundle._USERS // QUERIES, 300  # people, at least


def test_no_draws_of_an_audit_agree_by_accident(
    plans: tuple[list[PartRecord], list[PartRecord]],
) -> None:
    """That counts agree in any order is at most as likely as n! orders, each with the chance c^n.

    What is so nearly without noise that all runs agree in it must not have any in a single run.
    """
    zealous, other = plans
    orders = math.factorial(QUERIES)
    twice = [of_kind(each, "queries") for each in plans]
    rows = {
        "clicks": LISTED,
        "columns:tag": TAGS,
        "people": 1,
        "things:tag": TAGS,
        "itemsets-1:tag": TAGS,
    }
    exact = [
        (of_kind(zealous, "clicks"), 30),
        (of_kind(zealous, "columns:tag"), TAGS),
        (of_kind(other, "itemsets-2:tag"), SETS),
    ]
    accidents = {
        "the same noise of queries, in any order": sum(orders * agree(p, QUERIES) for p in twice),
        "the same table of the others": sum(agree(of_kind(other, k), n) for k, n in rows.items()),
        "noise where there should be none": sum(
            RUNS * n * 2 * math.exp(-1 / part.scale) for part, n in exact
        ),
        "a query that does not appear": RUNS * QUERIES * missing(twice[0]),
        "a key that does not": RUNS
        * (QUERIES * lost(twice[1], 1) + TAGS * lost(of_kind(other, "columns:tag"), 3)),
        "a thing that does not": RUNS * TAGS * missing(of_kind(other, "things:tag"), HOLD_A_TAG),
        "what one user alone has": twice[1].delta,
        "the same noise under one key": sum(
            small.collision_probability(noise(plan_record(plan.planned)[-1])) ** 100
            for plan in settings()
            if small.NOISE in plan.small
        ),
        "two of four selection keys": 6 / 2**64,
    }
    assert sum(accidents.values()) < BY_ACCIDENT, accidents


def missing(part: PartRecord, users: int = ASK_A_QUERY) -> float:
    """The chance that what so many people have does not pass tau'."""
    law = noise(part)
    assert part.tau_prime is not None
    return float(law.chances[: max(0, part.tau_prime - users + 1 - law.first)].sum())


def lost(part: PartRecord, given: int) -> float:
    """The chance that an item does not become a key in the first round.

    Those who ask a query give nothing else, and those who hold a tag two others.
    """
    first = recorded_parameters(part, RecordedRounds).rounds[0]
    users = ASK_A_QUERY if given == 1 else HOLD_A_TAG
    weight = users * (math.isqrt(1000**2 // given) - 1)
    above = weight - first.threshold / first.part
    return math.erfc(above / first.scale / math.sqrt(2)) / 2


def test_the_logs_are_as_large_as_that() -> None:
    rows = [line.split(",") for line in bundle.background_lines()]
    for column, least in ((1, ASK_A_QUERY), (3, HOLD_A_TAG)):
        holders = Counter(item for _, item in {(row[0], row[column]) for row in rows})
        assert len(holders) == {1: QUERIES, 3: TAGS}[column]
        assert min(holders.values()) >= least


# A mechanism of somebody's own


@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 5, 9])
@pytest.mark.parametrize("draws", [1, 40, 500])
def test_releases_of_a_sound_mechanism_differ(epsilon: float, draws: int) -> None:
    """Laplace noise at the scale of add-remove neighbours differs least of all."""
    releases = releases_needed_to_differ(Indistinguishability(epsilon=epsilon, delta=0), draws)
    if releases is None:
        assert epsilon > 5 or draws < 40
        return
    alpha = math.exp(-epsilon)
    values = alpha ** np.abs(np.arange(-400, 401)) * (1 - alpha) / (1 + alpha)
    same = float((values**releases).sum())
    assert same**draws <= BY_ACCIDENT


def test_a_sound_mechanism_with_next_to_no_noise_passes_its_audit() -> None:
    """Its releases agree nearly always."""
    goal = Indistinguishability(epsilon=30, delta="1e-9")
    best = calibrate(goal, 1)
    made = Zealous(items_per_user=1, scale=best.scale, tau=best.tau, tau_prime=best.tau_prime)
    checks = _run_checks(WatchedMechanism(made), goal, 2)
    assert all(check.passed for check in checks)
    assert releases_needed_to_differ(goal, 500) is None
