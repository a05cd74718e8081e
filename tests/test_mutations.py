"""The audit is audited: it notices every planted bug, and leaves the unharmed program alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mutations import LEAST, MUTATIONS, QUICK, Mutation, planted

from zealous.audit import measure, per_test
from zealous.audit.neighbours import settings
from zealous.audit.trials import outcomes, tally

# A file, since libraries take a program without one for a conversation with a person.
COMMAND = """import json, sys
from zealous.audit import audit

found = audit(int(sys.argv[1]), bundle=sys.argv[2] == "bundle")
print(json.dumps(found.failures()))
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
        env=os.environ | {"PYTHONPATH": str(planted(mutation, directory / "copy"))},
        capture_output=True,
        timeout=300,
    )


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_planted_bug_is_noticed(mutation: Mutation, tmp_path: Path) -> None:
    parts = "bundle" if mutation.trials == LEAST else "trials"
    done = ran(COMMAND, mutation, tmp_path, mutation.trials, parts)
    assert done.returncode == 0, done.stderr.decode()
    violations = json.loads(done.stdout)
    assert any(mutation.noticed_by in each for each in violations), violations


def test_the_command_fails_on_a_bug(tmp_path: Path) -> None:
    done = ran(THE_COMMAND, MUTATIONS[0], tmp_path, "audit", "--trials", QUICK)
    assert done.returncode == 1
    assert b"VIOLATION" in done.stdout
    assert done.stdout.endswith(b"FAILED\n")


def test_the_command_passes_a_copy_without_a_bug(tmp_path: Path) -> None:
    unharmed = Mutation("unharmed", "", ())
    done = ran(THE_COMMAND, unharmed, tmp_path, "audit", "--trials", QUICK, "--json")
    assert done.returncode == 0, done.stdout.decode()
    assert json.loads(done.stdout)["violations"] == []


def test_a_mutation_whose_text_is_gone_does_not_pass_for_noticed(tmp_path: Path) -> None:
    stale = MUTATIONS[0]._replace(changes=(MUTATIONS[0].changes[0]._replace(old="not there"),))
    with pytest.raises(AssertionError, match="is not there"):
        planted(stale, tmp_path / "copy")


def test_structural_bugs_are_noticed_without_chance() -> None:
    assert sum(mutation.trials == LEAST for mutation in MUTATIONS) >= 8


def test_200_runs_of_the_unharmed_program_give_one_false_alarm_at_most() -> None:
    """Runs are packed as copies are: 200 audits of 300 runs on each log, none sharing any."""
    audits, runs = 200, 300
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
