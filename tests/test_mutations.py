"""The audit is audited: it notices every planted bug, and leaves the unharmed program alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import LIBRARIES, Forks, Ran
from mutations import (
    DAYS,
    LEAST,
    MUTATIONS,
    OTHERS,
    QUICK,
    SMALL,
    WHOLE,
    Change,
    Mutation,
    planted,
)
from mutations_mechanisms import MUTATIONS as OF_MECHANISMS
from mutations_mechanisms import OF_KEYWORDS, RESULTS, SMALL_QUERIES, TWO_ROUNDS
from mutations_sets import MUTATIONS as OF_SETS
from mutations_sets import SETS, TESTS
from mutations_strangers import MUTATIONS as OF_STRANGERS

from zealous.audit import measure, per_test, small, statistics
from zealous.audit.neighbours import settings
from zealous.audit.trials import outcomes, tally

# A file, since libraries take a program without one for a conversation with a person.
# Of a plan's pairs only the one is tried that must notice, and of small releases one plan's.
PAIRS = """import json, sys
from dataclasses import replace
from zealous.audit import audit
from zealous.audit.neighbours import settings

trials, where, noticed_by = sys.argv[1:]
if where == "small releases":
    found = audit(int(trials), parts=["small"], plans=settings()[:1] if noticed_by else None)
elif where == "small releases of sets":
    plans = [plan for plan in settings() if plan.of_sets]
    found = audit(int(trials), parts=["small"], plans=plans)
elif where == "small releases of queries":
    plans = [plan for plan in settings() if plan.of_keywords]
    found = audit(int(trials), parts=["small"], plans=plans)
else:
    (plan,) = (plan for plan in settings() if plan.name == where)
    pairs = tuple(pair for pair in plan.pairs if noticed_by in pair.name) or plan.pairs
    found = audit(int(trials), parts=["pairs"], plans=[replace(plan, pairs=pairs)])
print(json.dumps(found.failures()))
"""
# The runs of the command are forks of a process that has imported all that they need: loading
# it again for each takes longer than the rest.
RELEASES = """import json, os, sys
from pathlib import Path
import duckdb, jinja2, pyarrow.csv, pyarrow.parquet
import zealous.cli.publish
from zealous.audit import bundle, others
from zealous.audit.ran import Ran
from zealous.cli import main


def start(log, options):
    printed = log.with_name("stdout")
    child = os.fork()
    if not child:
        os.chdir(log.parent)
        sys.argv = ["zealous", "publish", log.name, *options, "-o", "release"]
        os.dup2(os.open(printed, os.O_WRONLY | os.O_CREAT), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            main()
        except SystemExit as ended:
            sys.stdout.flush()
            os._exit(ended.code or 0)
        finally:
            os._exit(99)

    def finish():
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return Ran(log=log, code=code, stdout=printed.read_text(),
                   directory=log.with_name("release"))

    return finish


bundle.start = others.start = start
os.mkdir("runs")
check = others.check_others if sys.argv[2] == "other mechanisms" else bundle.check_bundle
checks = check(Path("runs").absolute())
print(json.dumps([check.name for check in checks if not check.passed]))
"""
# Other tests than the audit: one must fail, and by what it asserts.
OTHER_TESTS = """import contextlib, json, os, sys
import pytest


class Failed:
    names = []

    def pytest_runtest_logreport(self, report):
        if report.failed:
            told = str(report.longrepr.reprcrash.message)
            assert told.startswith(("assert", "AssertionError")), told
            self.names.append(report.nodeid)


*_, folder, name = sys.argv
options = ["-x", "--noconftest", "-pno:cacheprovider", "--rootdir", folder]
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
with contextlib.redirect_stdout(sys.stderr):
    pytest.main([f"{folder}/{name}", *options], plugins=[Failed()])
print(json.dumps(Failed.names))
"""
THE_COMMAND = "from zealous.cli import main\n\nmain()\n"


@pytest.fixture
def ran(forks: Forks, tmp_path: Path) -> Callable[..., Ran]:
    """Run a program on a copy of the package with the bug in it."""

    def command(program: str, mutation: Mutation, *arguments: object) -> Ran:
        path = tmp_path / "command.py"
        path.write_text(program)
        copy = str(planted(mutation, tmp_path / "copy"))
        return forks(path, *arguments, folder=tmp_path, timeout=300, PYTHONPATH=copy)

    return command


@pytest.fixture(scope="session")
def testing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Forks that have loaded what tests need too."""
    made = Forks(tmp_path_factory.mktemp("testing"), *LIBRARIES, "hypothesis", "pytest",
                 "scipy.stats")  # fmt: skip
    yield made
    made.close()


@pytest.mark.parametrize(
    "mutation",
    [each for each in (*OF_SETS, *OF_STRANGERS) if each.where == TESTS],
    ids=lambda mutation: mutation.name,
)
def test_every_planted_bug_fails_a_test(mutation: Mutation, testing: Forks, tmp_path: Path) -> None:
    path = tmp_path / "command.py"
    path.write_text(OTHER_TESTS)
    copy = str(planted(mutation, tmp_path / "copy"))
    tests = (Path(__file__).parent, mutation.noticed_by)
    done = testing(path, *tests, folder=tmp_path, timeout=300, PYTHONPATH=copy)
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout), done.stderr


@pytest.mark.parametrize(
    "mutation",
    [*MUTATIONS, *OF_MECHANISMS, *(each for each in OF_SETS if each.where != TESTS)],
    ids=lambda mutation: mutation.name,
)
def test_every_planted_bug_is_noticed(mutation: Mutation, ran: Callable[..., Ran]) -> None:
    program = RELEASES if mutation.where in (WHOLE, OTHERS) else PAIRS
    done = ran(program, mutation, mutation.trials, mutation.where, mutation.noticed_by)
    assert done.code == 0, done.stderr
    violations = json.loads(done.stdout)
    assert any(mutation.noticed_by in each for each in violations), violations


@pytest.mark.parametrize(
    ("where", "program"),
    [
        (WHOLE, RELEASES),
        (SMALL, PAIRS),
        (DAYS, PAIRS),
        (TWO_ROUNDS, PAIRS),
        (SETS, PAIRS),
        (RESULTS, PAIRS),
        (OF_KEYWORDS, PAIRS),
        (SMALL_QUERIES, PAIRS),
    ],
)
def test_nothing_is_noticed_where_no_bug_was_planted(
    where: str, program: str, ran: Callable[..., Ran]
) -> None:
    done = ran(program, Mutation("unharmed", where, "", ()), QUICK, where, "")
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_the_command_fails_on_a_bug(ran: Callable[..., Ran]) -> None:
    (leak,) = [each for each in MUTATIONS if each.name == "reject count in the bundle"]
    sooner = (
        Change("audit/small.py", f"RUNS = {small.RUNS}", "RUNS = 20"),
        Change("audit/__init__.py", "(check_bundle, check_others)", "(check_bundle,)"),
    )
    leak = leak._replace(changes=leak.changes + sooner)
    done = ran(THE_COMMAND, leak, "audit", "--trials", LEAST)
    assert done.code == 1
    assert "VIOLATION" in done.stdout
    assert done.stdout.endswith("FAILED\n")


def test_a_mutation_whose_text_is_gone_does_not_pass_for_noticed(tmp_path: Path) -> None:
    stale = MUTATIONS[0]._replace(changes=(MUTATIONS[0].changes[0]._replace(old="not there"),))
    with pytest.raises(AssertionError, match="is not there"):
        planted(stale, tmp_path / "copy")


def test_structural_bugs_are_noticed_without_chance() -> None:
    assert sum(mutation.where == WHOLE for mutation in MUTATIONS) >= 12


def test_200_runs_of_the_unharmed_program_give_one_false_alarm_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Runs are packed as copies are: 200 audits of 100 runs on each log, none sharing any."""
    monkeypatch.setattr(statistics, "at_least", cache(statistics.at_least))
    audits, runs = 200, LEAST
    plans = settings()
    alpha = per_test(plans)
    alarms = np.zeros(audits, bool)
    for setting in plans:
        seen = outcomes(setting, audits * runs)
        for pair, outcome in zip(setting.pairs, seen, strict=True):
            each = runs // pair.every // 2 * 2
            for number in range(audits):
                mine = tally(setting, pair, outcome[:, number * each : (number + 1) * each])
                alarms[number] |= not measure(setting, pair, mine, alpha).passed
    assert alarms.sum() <= 1
