"""The audit is audited: it notices every planted bug, and leaves the unharmed program alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mutations import LEAST, MUTATIONS, Mutation, planted

from zealous.audit import measure, per_test
from zealous.audit.neighbours import settings
from zealous.audit.trials import outcomes, tally

# A file, since libraries take a program without one for a conversation with a person.
COMMAND = "from zealous.cli.audit import audit\n\naudit()\n"
UNHARMED = Mutation("unharmed", "", ())


def audited(mutation: Mutation, directory: Path) -> tuple[int, dict[str, Any]]:
    command = directory / "command.py"
    command.write_text(COMMAND)
    done = subprocess.run(
        [sys.executable, command, "--trials", str(mutation.trials), "--json"],
        env=os.environ | {"PYTHONPATH": str(planted(mutation, directory / "copy"))},
        capture_output=True,
        timeout=300,
    )
    assert done.stdout, done.stderr.decode()
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_planted_bug_is_noticed(mutation: Mutation, tmp_path: Path) -> None:
    code, found = audited(mutation, tmp_path)
    assert any(mutation.noticed_by in each for each in found["violations"]), found["violations"]
    assert code == 1


def test_a_copy_without_a_bug_passes(tmp_path: Path) -> None:
    code, found = audited(UNHARMED, tmp_path)
    assert found["violations"] == []
    assert code == 0


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
