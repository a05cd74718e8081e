"""The page about one's own methods and measures: its program runs, and they appear everywhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pages import blocks
from paths import ROOT

from zealous.audit.audit import audit_mechanism
from zealous.privacy.guarantee import Indistinguishability
from zealous.synthetic import generate

BLOCKS = blocks(ROOT / "docs" / "extending" / "quick.md", "python")
PROGRAM = "\n\n".join(BLOCKS)


def test_it_takes_forty_lines() -> None:
    lines = [line for line in PROGRAM.splitlines() if line.strip()]
    assert len(lines) <= 40


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("extended")
    generate(folder / "log.parquet", users=2_000, seed=1)
    (folder / "page.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-W", "error", "page.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.extended
def test_the_program_runs(said: tuple[Path, str]) -> None:
    *methods, audit = said[1].splitlines()
    assert [line.split()[0] for line in methods] == ["zealous", "tens", "no-digits", "k-query"]
    assert all("Spread(mean=" in line for line in methods)
    assert audit.startswith("tens True ")
    assert audit.endswith(" []")


@pytest.mark.extended
def test_what_is_ones_own_is_in_the_table(said: tuple[Path, str]) -> None:
    table = pq.read_table(said[0] / "study" / "internal-results.parquet")
    for method, draws in (("tens", 2), ("no-digits", 1)):
        mine = table.filter(pc.field("method") == method)
        assert {"distinct", "l1", "top_100_kept"} <= set(mine["measure"].to_pylist())
        keywords = (pc.field("kind") == "keywords") & (pc.field("measure") == "top_100_kept")
        values = mine.filter(keywords)["value"].to_pylist()
        assert len(values) == draws
        assert all(0 < value <= 1 for value in values)
    (epsilon,) = set(table.filter(pc.field("method") == "tens")["epsilon"].to_pylist())
    assert epsilon == 5


@pytest.mark.extended
def test_what_is_ones_own_is_in_the_report(said: tuple[Path, str]) -> None:
    (page,) = (said[0] / "study").glob("*.html")
    text = page.read_text()
    for name in ("tens", "no-digits", "top_100_kept"):
        assert name in text


@pytest.mark.extended
def test_the_claim_of_the_page_is_neither_false_nor_idle() -> None:
    """The audit of a smaller claim fails, so that of the page's could have failed."""
    names: dict[str, object] = {}
    exec("\n\n".join(BLOCKS[:2]), names)
    mechanism = names["Tens"]()  # type: ignore[operator]
    found = audit_mechanism(mechanism, trials=4_000)
    assert found.passed
    assert 3 < found.epsilon <= 5
    assert not audit_mechanism(
        mechanism, Indistinguishability(epsilon=2, delta="1e-8"), 4_000
    ).passed
