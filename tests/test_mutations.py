"""The audit is audited: it notices every planted bug, and leaves the unharmed program alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mutations import MUTATIONS, QUICK, Mutation, planted


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
    assert code == 1
    assert any(mutation.noticed_by in each for each in found["violations"]), found["violations"]


def test_a_copy_without_a_bug_passes(tmp_path: Path) -> None:
    code, found = audited(UNHARMED, tmp_path)
    assert found["violations"] == []
    assert code == 0
