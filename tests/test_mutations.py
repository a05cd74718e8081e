"""The audit is audited: it notices every planted bug, and leaves the unharmed program alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mutations import DAYS, LEAST, MUTATIONS, QUICK, SMALL, WHOLE, Mutation, planted

from zealous.audit import measure, per_test
from zealous.audit.neighbours import settings
from zealous.audit.trials import outcomes, tally

# A file, since libraries take a program without one for a conversation with a person.
PAIRS = """import json, sys
from zealous.audit import audit
from zealous.audit.neighbours import settings

plans = [plan for plan in settings() if plan.name == sys.argv[2]] or None
parts = ["pairs"] if plans else ["small"]
found = audit(int(sys.argv[1]), parts=parts, plans=plans)
print(json.dumps(found.failures()))
"""
# The runs of the command are forks of a process that has imported all that they need: loading
# it again for each takes longer than the rest.
RELEASES = """import json, os, sys
from pathlib import Path
import duckdb, jinja2, pyarrow.csv, pyarrow.parquet
import zealous.cli.publish
from zealous.audit import bundle
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


bundle.start = start
os.mkdir("runs")
checks = bundle.check_bundle(Path("runs").absolute())
print(json.dumps([check.name for check in checks if not check.passed]))
"""
THE_COMMAND = "from zealous.cli import main\n\nmain()\n"


def ran(
    program: str, mutation: Mutation, directory: Path, *arguments: object
) -> subprocess.CompletedProcess[bytes]:
    """Run a program on a copy of the package with the bug in it."""
    command = directory / "command.py"
    command.write_text(program)
    return subprocess.run(
        [sys.executable, command, *map(str, arguments)],
        cwd=directory,
        env=os.environ | {"PYTHONPATH": str(planted(mutation, directory / "copy"))},
        capture_output=True,
        timeout=300,
    )


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_planted_bug_is_noticed(mutation: Mutation, tmp_path: Path) -> None:
    program = RELEASES if mutation.where == WHOLE else PAIRS
    done = ran(program, mutation, tmp_path, mutation.trials, mutation.where)
    assert done.returncode == 0, done.stderr.decode()
    violations = json.loads(done.stdout)
    assert any(mutation.noticed_by in each for each in violations), violations


@pytest.mark.parametrize(("where", "program"), [(WHOLE, RELEASES), (SMALL, PAIRS), (DAYS, PAIRS)])
def test_nothing_is_noticed_where_no_bug_was_planted(
    where: str, program: str, tmp_path: Path
) -> None:
    done = ran(program, Mutation("unharmed", where, "", ()), tmp_path, QUICK, where)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == []


def test_the_command_fails_on_a_bug(tmp_path: Path) -> None:
    (leak,) = [each for each in MUTATIONS if each.name == "reject count in the bundle"]
    done = ran(THE_COMMAND, leak, tmp_path, "audit", "--trials", LEAST)
    assert done.returncode == 1
    assert b"VIOLATION" in done.stdout
    assert done.stdout.endswith(b"FAILED\n")


def test_the_command_passes_a_copy_without_a_bug(tmp_path: Path) -> None:
    unharmed = Mutation("unharmed", "", "", ())
    done = ran(THE_COMMAND, unharmed, tmp_path, "audit", "--trials", LEAST, "--json")
    assert done.returncode == 0, done.stdout.decode()
    assert json.loads(done.stdout)["violations"] == []


def test_a_mutation_whose_text_is_gone_does_not_pass_for_noticed(tmp_path: Path) -> None:
    stale = MUTATIONS[0]._replace(changes=(MUTATIONS[0].changes[0]._replace(old="not there"),))
    with pytest.raises(AssertionError, match="is not there"):
        planted(stale, tmp_path / "copy")


def test_structural_bugs_are_noticed_without_chance() -> None:
    assert sum(mutation.where == WHOLE for mutation in MUTATIONS) >= 12


def test_200_runs_of_the_unharmed_program_give_one_false_alarm_at_most() -> None:
    """Runs are packed as copies are: 200 audits of 200 runs on each log, none sharing any."""
    audits, runs = 200, 200
    plans = settings()
    alpha = per_test(plans)
    alarms = np.zeros(audits, bool)
    for setting in plans:
        seen = outcomes(setting, audits * runs)
        for pair, outcome in zip(setting.pairs, seen, strict=True):
            for number in range(audits):
                mine = outcome[:, number * runs : (number + 1) * runs]
                alarms[number] |= not measure(setting, pair, tally(pair, mine), alpha).passed
    assert alarms.sum() <= 1
