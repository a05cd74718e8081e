"""The audit is audited: it notices every planted bug, and leaves the unharmed program alone.

All programs here draw the same noise in every run (see randomness.py), so that none of these tests
fails by chance. Another version of the engine may hand rows over in another order, and so another
noise to each: a planted bug must be noticed so clearly that it would be then, too.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

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
    TESTS,
    WHOLE,
    Change,
    Mutation,
    changed,
    planted,
)
from mutations_composition import MUTATIONS as OF_COMPOSITION
from mutations_inputs import MUTATIONS as OF_INPUTS
from mutations_ledger import MUTATIONS as OF_LEDGER
from mutations_mechanisms import MUTATIONS as OF_MECHANISMS
from mutations_mechanisms import OF_KEYWORDS, RESULTS, SMALL_QUERIES, THREE_ROUNDS
from mutations_pooled import MUTATIONS as OF_POOLED
from mutations_runs import MUTATIONS as OF_RUNS
from mutations_selection_twice import MUTATIONS as OF_SELECTION_TWICE
from mutations_sets import MUTATIONS as OF_SETS
from mutations_sets import SETS
from mutations_spark import MUTATIONS as OF_SPARK
from mutations_strangers import MUTATIONS as OF_STRANGERS
from mutations_verification import MUTATIONS as OF_VERIFICATION
from mutations_workbench import MUTATIONS as OF_WORKBENCH
from paths import TESTS as TESTS_FOLDER
from sampling import sampled
from scipy import stats
from spark import SPARK, need_java

from zealous.audit.audit import FALSE_ALARMS, alpha_per_test, measure_pair
from zealous.audit.confidence_bounds import Claim, EventCounts
from zealous.audit.setting import settings
from zealous.audit.trials import outcomes, tally_outcomes

# A file, since libraries take a program without one for a conversation with a person.
# Of a plan's pairs only the one is tried that must notice, and of small releases one plan's.
PAIRS = """import json, sys
from dataclasses import replace
from zealous.audit import small_releases as small
from zealous.audit.audit import audit
from zealous.audit.setting import settings

trials, where, noticed_by = sys.argv[1:]
if where == "small releases":
    found = audit(int(trials), parts=["small"], plans=settings()[:1] if noticed_by else None)
elif where == "small releases of sets":
    plans = [plan for plan in settings() if small.SETS in plan.small]
    found = audit(int(trials), parts=["small"], plans=plans)
elif where == "small releases of queries":
    plans = [plan for plan in settings() if small.QUERIES in plan.small]
    found = audit(int(trials), parts=["small"], plans=plans)
else:
    (plan,) = (plan for plan in settings() if plan.name == where)
    pairs = tuple(pair for pair in plan.pairs if noticed_by in pair.name) or plan.pairs
    found = audit(int(trials), parts=["pairs"], plans=[replace(plan, pairs=pairs)])
seen = [
    [vars(each), vars(measured.claim)]
    for measured in found.measurements
    if noticed_by in measured.pair and not measured.passed
    for each in [*measured.by_epsilon, *measured.by_delta]
]
print(json.dumps({"failures": found.failures(), "seen": seen}))
"""
# The runs of the command are forks of a process that has imported all that they need: loading
# it again for each takes longer than the rest.
RELEASES = """import json, os, sys
from pathlib import Path
import duckdb, jinja2, pyarrow.csv, pyarrow.parquet
import zealous.cli.publish
from zealous.audit import other_mechanisms as others, whole_releases as bundle
from zealous.audit.runs import Run, publish_arguments
from zealous.cli import main


def start(log, options):
    printed = log.with_name("stdout")
    child = os.fork()
    if not child:
        os.chdir(log.parent)
        sys.argv = ["zealous", *publish_arguments(log, options)]
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
        return Run(log=log, code=code, stdout=printed.read_text(),
                   directory=log.with_name("release"))

    return finish


bundle.start_run = others.start_run = start
os.mkdir("runs")
check = others.check_other_mechanisms if sys.argv[2] == "other mechanisms" else bundle.check_bundle
checks = check(Path("runs").absolute())
failures = [check.name for check in checks if not check.passed]
print(json.dumps({"failures": failures, "seen": []}))
"""
# Other tests than the audit: one must fail, and by what it asserts.
OTHER_TESTS = """import contextlib, json, os, sys
import pytest
from hypothesis import settings


class Failed:
    names = []

    def pytest_runtest_logreport(self, report):
        if report.failed:
            told = str(report.longrepr.reprcrash.message)
            assert told.startswith(("assert", "AssertionError", "Failed: DID NOT RAISE")), told
            self.names.append(report.nodeid)


*_, folder, name = sys.argv
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")
options = ["-x", "-m", "", "--noconftest", "-pno:cacheprovider", "--rootdir", folder]
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
with contextlib.redirect_stdout(sys.stderr):
    pytest.main([f"{folder}/{name}", *options], plugins=[Failed()])
print(json.dumps(Failed.names))
"""
THE_COMMAND = "from zealous.cli import main\n\nmain()\n"
ALL = (
    *MUTATIONS,
    *OF_COMPOSITION,
    *OF_INPUTS,
    *OF_LEDGER,
    *OF_MECHANISMS,
    *OF_POOLED,
    *OF_RUNS,
    *OF_SELECTION_TWICE,
    *OF_SETS,
    *OF_SPARK,
    *OF_STRANGERS,
    *OF_VERIFICATION,
    *OF_WORKBENCH,
)
MISSED = 1e-6  # at most so often would a planted bug be missed if other noise were drawn


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
    made = Forks(
        tmp_path_factory.mktemp("testing"), *LIBRARIES, "hypothesis", "pytest", "scipy.stats"
    )
    yield made
    made.close()


def noticed_how(mutation: Mutation) -> str:
    """Of bugs that are noticed in the same way some are planted at each commit."""
    if mutation.where in (TESTS, WHOLE, OTHERS):
        return mutation.where
    return "small" if mutation.where.startswith(SMALL) else "pairs"


def planted_sampled(mutations: Iterable[Mutation]) -> list[Any]:
    return sampled([*mutations], lambda each: each.name, share=30, group=noticed_how)


def test_every_planted_bug_can_still_be_planted(tmp_path: Path) -> None:
    """All of them at every commit, whether it is their turn or not."""
    for number, mutation in enumerate(ALL):
        for file, text in changed(mutation).items():
            path = tmp_path / f"bug_{number}" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    # A name that is gone would make of a bug a crash, which anything notices.
    ruff = (sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E9,F821", "-q")
    done = subprocess.run([*ruff, "--output-format", "concise", tmp_path], capture_output=True)
    assert done.returncode == 0, done.stdout.decode()
    assert len({mutation.name for mutation in ALL}) == len(ALL)


HERE = [each for each in ALL if each.where == TESTS and each not in OF_SPARK]


@pytest.mark.parametrize("mutation", planted_sampled(HERE))
def test_every_planted_bug_fails_a_test(mutation: Mutation, testing: Forks, tmp_path: Path) -> None:
    _fails_a_test(mutation, testing, tmp_path)


@SPARK
@pytest.mark.extended
@pytest.mark.parametrize("mutation", OF_SPARK, ids=lambda each: each.name)
def test_every_planted_bug_fails_a_test_on_spark(
    mutation: Mutation, testing: Forks, tmp_path: Path
) -> None:
    need_java()
    _fails_a_test(mutation, testing, tmp_path)


def _fails_a_test(mutation: Mutation, testing: Forks, tmp_path: Path) -> None:
    path = tmp_path / "command.py"
    path.write_text(OTHER_TESTS)
    copy = str(planted(mutation, tmp_path / "copy"))
    file = mutation.noticed_by.partition("::")[0]
    (tests,) = TESTS_FOLDER.rglob(file)
    shared = [each for each in sys.path if str(TESTS_FOLDER) in each]
    done = testing(
        path,
        tests.parent,
        mutation.noticed_by,
        folder=tmp_path,
        timeout=300,
        PYTHONPATH=os.pathsep.join([copy, *shared]),
    )
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("mutation", planted_sampled(each for each in ALL if each.where != TESTS))
def test_every_planted_bug_is_noticed(mutation: Mutation, ran: Callable[..., Ran]) -> None:
    program = RELEASES if mutation.where in (WHOLE, OTHERS) else PAIRS
    done = ran(program, mutation, mutation.trials, mutation.where, mutation.noticed_by)
    assert done.code == 0, done.stderr
    told = json.loads(done.stdout)
    assert any(mutation.noticed_by in each for each in told["failures"]), told["failures"]
    if told["seen"]:
        chance = min(missed(EventCounts(**seen), Claim(**claim)) for seen, claim in told["seen"])
        assert chance <= MISSED, "noticed by luck: more trials"


def missed(seen: EventCounts, claim: Claim) -> float:
    """About the chance that an event does not contradict the claim when it is measured again."""
    p, q = seen.bounds()
    factor = math.exp(claim.epsilon) if seen.there is not None else 0.0
    variance = _variance(seen.here, seen.trials)
    variance += factor**2 * _variance(seen.there or 0, seen.trials)
    return float(stats.norm.sf((p - factor * q - claim.delta) / math.sqrt(variance)))


def _variance(successes: int, trials: int) -> float:
    """Of a share; not 0 where all or none were seen."""
    share = successes / trials
    return max(share * (1 - share), 1 / trials) / trials


UNHARMED = (WHOLE, SMALL, DAYS, THREE_ROUNDS, SETS, RESULTS, OF_KEYWORDS, SMALL_QUERIES)


@pytest.mark.parametrize("where", sampled(UNHARMED, str, share=8))
def test_nothing_is_noticed_where_no_bug_was_planted(where: str, ran: Callable[..., Ran]) -> None:
    program = RELEASES if where == WHOLE else PAIRS
    done = ran(program, Mutation("unharmed", where, "", ()), QUICK, where, "")
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout)["failures"] == []


def test_the_command_fails_on_a_bug(ran: Callable[..., Ran]) -> None:
    (bug,) = [each for each in MUTATIONS if each.name == "tau' truncated instead of rounded up"]
    sooner = Change("audit/audit.py", "get_args(Part),\n    plans", '("pairs",),\n    plans')
    done = ran(
        THE_COMMAND, bug._replace(changes=(*bug.changes, sooner)), "audit", "--trials", LEAST
    )
    assert done.code == 1, done.stderr
    assert "VIOLATION" in done.stdout
    assert done.stdout.endswith("FAILED\n")


def test_a_mutation_whose_text_is_gone_does_not_pass_for_noticed(tmp_path: Path) -> None:
    stale = MUTATIONS[0]._replace(changes=(MUTATIONS[0].changes[0]._replace(old="not there"),))
    with pytest.raises(AssertionError, match="is not there"):
        planted(stale, tmp_path / "copy")


def test_structural_bugs_are_noticed_without_chance() -> None:
    assert sum(mutation.where == WHOLE for mutation in MUTATIONS) >= 12


def test_missing_a_planted_bug_is_as_likely_as_it_says() -> None:
    chance = np.random.default_rng(3)
    claim, alpha, n, p, q = Claim(epsilon=1.0, delta=0.1), 1e-9, 4_000, 0.5, 0.1
    again = [
        EventCounts(here=int(here), there=int(there), trials=n, alpha=alpha)
        for here, there in chance.binomial(n, [p, q], (2_000, 2))
    ]
    share = np.mean([not seen.violates(claim) for seen in again])
    said = missed(EventCounts(here=int(n * p), there=int(n * q), trials=n, alpha=alpha), claim)
    assert 0.1 < share < 0.9
    assert said == pytest.approx(share, abs=0.08)


OFTEN = 0.2  # each of some audits may raise a false alarm by that much: some do, and not too many


@pytest.mark.parametrize("audits", [10, pytest.param(200, marks=pytest.mark.soak)])
def test_runs_of_the_unharmed_program_give_no_false_alarm(
    audits: int,
) -> None:
    """Runs are packed as copies are: audits of 100 runs on each log, none sharing any."""
    plans = settings()
    alpha = alpha_per_test(plans)
    often = alpha * OFTEN / FALSE_ALARMS
    alarms = np.zeros((2, audits), bool)
    for setting in plans:
        seen = outcomes(setting, audits * LEAST)
        for pair, outcome in zip(setting.pairs, seen, strict=True):
            each = LEAST // pair.every // 2 * 2
            for number in range(audits):
                mine = tally_outcomes(
                    setting, pair, outcome[:, number * each : (number + 1) * each]
                )
                for row, error in zip(alarms, (alpha, often), strict=True):
                    row[number] |= not measure_pair(setting, pair, mine, error).passed
    assert not alarms[0].any()
    assert alarms[1].sum() <= stats.binom.isf(1e-9, audits, OFTEN)
