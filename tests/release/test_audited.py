"""What a release states of the audit of the version that made it."""

from __future__ import annotations

import json
import re

import audit_page
import audited
import pytest
import review
from bundles import GOAL
from records import changed, record_of

from zealous.audit.audit import Audit
from zealous.audit.whole_releases import Check
from zealous.items import queries
from zealous.planning.plan import plan
from zealous.record.codec import structure
from zealous.record.record import AuditFigures
from zealous.release.build import AUDITED, audit_figures, build_hash
from zealous.release.text.circumstances import circumstances
from zealous.version import VERSION

FIGURES = {"build": "ab" * 32, "day": "2026-11-18", "pairs": 80, "runs": 20_000}


def stated(**software: object) -> str:
    own = {"name": "zealous", "version": VERSION, "build": build_hash()}
    record = changed(record_of(plan(GOAL, queries(1))), software={**own, **software})
    return dict(circumstances(record))["How the program was tested"]


def test_the_figures_that_come_with_the_program_are_those_of_an_audit() -> None:
    """Of another version: run tools/audited.py before this one is tagged."""
    found = json.loads(AUDITED.read_text())
    figures = structure(found["figures"], AuditFigures)
    assert figures.runs >= audited.RUNS
    assert audit_figures() == (figures if found["version"] == VERSION else None)


def test_the_page_of_the_audit_has_the_figures_of_this_version() -> None:
    page = audit_page.PAGE.read_text()
    found = json.loads(audit_page.FIGURES.read_text())
    kept = json.loads(AUDITED.read_text())["figures"]
    assert (len(found["pairs"]), found["runs"]) == (kept["pairs"], kept["runs"])
    assert audit_page.with_tables(page, found) == page, "run tools/audited.py"
    assert review.AUDITED.sub(review.audit_figures(), page) == page, "run tools/review.py"
    assert f"{kept['pairs']} pairs of neighbouring logs" in page
    tables = page.partition(audit_page.START)[2].partition(audit_page.END)[0]
    number = r"([\d.e-]+)"
    rows = re.findall(rf"^\| [^|]+ \| [^|]+ \| {number} \| {number} \| {number} \|", tables, re.M)
    assert len(rows) > 20
    for claimed, proven, detectable in rows:
        assert float(proven) <= float(claimed) < float(detectable)


def test_a_release_tells_which_build_was_tried() -> None:
    said = "80 pairs of logs, each published 20,000 times, no violation (2026-11-18)."
    other = stated(audit=FIGURES)
    assert (
        f"The audit of version {VERSION} tried another build of it (abababababab): {said}" in other
    )
    same = stated(audit={**FIGURES, "build": build_hash()})
    assert f"tried the build that made this release: {said}" in same
    assert "No figures of it come with this version" in stated()


def test_a_violation_is_never_written_as_none() -> None:
    sound = Audit(trials=100, measurements=[], checks=[Check(name="one", passed=True)])
    assert json.loads(audited.text(sound))["figures"]["build"] == build_hash()
    broken = Audit(trials=100, measurements=[], checks=[Check(name="one", passed=False)])
    with pytest.raises(SystemExit, match="VIOLATION\none"):
        audited.text(broken)
