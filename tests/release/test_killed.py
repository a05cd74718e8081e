"""Nothing is drawn that was not charged, and no release is torn, whenever a run is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from paths import SUPPORT

import zealous as z
from zealous.ledger import Ledger
from zealous.release.account import Account
from zealous.verification.verify import verify

GOAL = z.ProbabilisticDP(epsilon=20, delta="0.01", users=200)
BATCHES = 25  # of runs at most, until kills fell everywhere


def killed(log: Path, folder: Path, first: int, runs: int) -> dict[str, Any]:
    """What so many runs told; some of them are spared, to time the others' deaths."""
    done = subprocess.run(
        [sys.executable, SUPPORT / "kill.py", log, folder, str(first), str(runs)],
        env=os.environ | {"TMPDIR": str(folder.parent)},
        capture_output=True,
        text=True,
        check=True,
        timeout=900,
    )
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("runs", "each"),  # so many kills at least before the charge, after it, and after the end
    [(16, 2), pytest.param(1_000, 10, marks=pytest.mark.soak)],
)
def test_runs_killed_at_random_moments(runs: int, each: int, tmp_path: Path) -> None:
    log, folder = tmp_path / "log.csv", tmp_path / "out"
    log.write_text("user,query\n" + "".join(f"{n},tea\n{n},own {n}\n" for n in range(150)))
    folder.mkdir()
    drew: set[str] = set()
    for batch in range(BATCHES):
        drew |= set(killed(log, folder, batch * runs, runs)["drew"])
        ledger = Ledger.open(folder / "ledger.sqlite")
        entries = {entry.release: entry for entry in ledger.history()}
        made = {path.name for path in folder.iterdir() if path.name.startswith("run-")}
        uncharged = (batch + 1) * runs - len(entries)
        if min(uncharged, len(set(entries) - made), len(made)) >= each:
            break
    else:
        pytest.fail("the kills did not fall everywhere")
    assert ledger.verify() == []

    assert drew <= set(entries), "noise was drawn and nobody paid"
    assert made <= drew
    for name in made:
        found = verify(folder / name)  # without the ledger its budget is not checked
        assert all(check.ok or check.name == "budget" for check in found), (name, found)
        assert found.ok
    released = {name for name, entry in entries.items() if entry.state == "released"}
    assert released <= made, "the ledger says released, and nothing is there"
    for name in sorted(released)[:5]:  # each reads the whole ledger; below it is read for all
        found = verify(folder / name, ledger.path)
        assert all(check.ok for check in found), (name, found)
    assert ledger.verify(releases=[folder / name for name in released]) == []

    # Repeating a run returns what was made, and pays for what was not.
    for name in [*sorted(made)[:3], *sorted(set(entries) - made)[:3]]:
        before = len(ledger.history())
        bytes_before = (folder / name / "release.json").read_bytes() if name in made else None
        z.publish(
            z.read_log(log),
            GOAL,
            [z.queries(1)],
            account=Account(ledger=ledger.path, id=name),
            output=folder / name,
        )
        assert len(ledger.history()) - before == (0 if name in made else 1)
        assert ledger.attempts(name)[-1].state == "released"
        if bytes_before is not None:
            assert (folder / name / "release.json").read_bytes() == bytes_before
    settled = [entry for entry in ledger.history() if entry.state == "released"]
    assert ledger.verify(releases=[folder / entry.release for entry in settled]) == []
