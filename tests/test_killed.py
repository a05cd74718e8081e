"""Nothing is drawn that was not charged, and no release is torn, whenever a run is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import zealous as z
from zealous.account import Account
from zealous.ledger import Ledger
from zealous.publish import publish_to
from zealous.verify import verify

RUNS = 333  # of which some are spared, to time the others' deaths
GOAL = z.ProbabilisticDP(epsilon=20, delta="0.01", users=200)


def test_three_hundred_runs_killed_at_random_moments(tmp_path: Path) -> None:
    log, folder = tmp_path / "log.csv", tmp_path / "out"
    log.write_text("user,query\n" + "".join(f"{n},tea\n{n},own {n}\n" for n in range(150)))
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("kill.py"), log, folder, str(RUNS)],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=400,
    )
    told = json.loads(done.stdout)
    ledger = Ledger.open(folder / "ledger.sqlite")
    assert ledger.verify() == []
    entries = {entry.release: entry for entry in ledger.history()}
    made = {path.name for path in folder.iterdir() if path.name.startswith("run-")}

    assert set(told["drew"]) <= set(entries), "noise was drawn and nobody paid"
    assert made <= set(told["drew"])
    for name in made:
        found = verify(folder / name)
        assert all(check.ok for check in found), (name, found)
    released = {name for name, entry in entries.items() if entry.state == "released"}
    assert released <= made, "the ledger says released, and nothing is there"
    for name in sorted(released)[:5]:  # each reads the whole ledger; below it is read for all
        found = verify(folder / name, ledger.path)
        assert all(check.ok for check in found), (name, found)
    assert ledger.verify(releases=[folder / name for name in released]) == []

    assert RUNS - told["spared"] >= 300
    # The kills fell everywhere: before the charge, after it, and after the end.
    assert RUNS - len(entries) >= 10
    assert len(set(entries) - made) >= 10
    assert len(made) >= 10

    # Repeating a run returns what was made, and pays for what was not.
    for name in [*sorted(made)[:5], *sorted(set(entries) - made)[:5]]:
        before = len(ledger.history())
        bytes_before = (folder / name / "release.json").read_bytes() if name in made else None
        publish_to(
            folder / name,
            z.read_log(log),
            GOAL,
            [z.queries(1)],
            account=Account(ledger=ledger.path, id=name),
        )
        assert len(ledger.history()) - before == (0 if name in made else 1)
        assert ledger.find(name)[-1].state == "released"
        if bytes_before is not None:
            assert (folder / name / "release.json").read_bytes() == bytes_before
    settled = [each for each in ledger.history() if each.state == "released"]
    assert ledger.verify(releases=[folder / entry.release for entry in settled]) == []
