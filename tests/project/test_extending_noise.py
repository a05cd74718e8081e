"""A law of noise from outside: a sampler and its accounting, as their page writes them."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from conftest import Forks
from outside import Outside

GOAL = (
    "--guarantee",
    "indistinguishable",
    "--epsilon",
    4,
    "--delta",
    "1e-4",
    "--items-per-user",
    1,
    "--mechanism",
    "bounded",
)
AUDIT = """
import sys
import bounded
if sys.argv[1:] == ["faulty"]:
    bounded.Bounded.noise_sampler = lambda self: bounded.sampler(self.scale / 4)
from zealous.audit.audit import audit
from zealous.audit.setting import settings
(tried,) = (each for each in settings() if each.part.mechanism.name == "bounded")
print(audit(2000, parts=["pairs"], plans=[tried]).passed)
"""
COMPOSED = """
from fractions import Fraction
import zealous as z
from zealous.planning.together import proven_delta
goal = z.Indistinguishability(epsilon=4, delta="1e-4")
mechanism = {"queries": "bounded", "keywords": "laplace"}
planned = z.plan(goal, [z.queries(2), z.keywords(2)], mechanism=mechanism)
added = sum(part.goal.epsilon for part in planned.parts)
print(proven_delta(goal, planned.parts) <= goal.delta, added >= goal.epsilon)
"""


@pytest.fixture(scope="module")
def bounded(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Outside:
    installed = Outside("noise.md", tmp_path_factory.mktemp("bounded"), forks)
    lines = [f"u{user},{'news' if user % 3 else 'weather'}" for user in range(300)]
    (installed.folder / "log.csv").write_text("\n".join(["user,query", *lines, "v,alone"]))
    arguments = ("log.csv", "--items", "queries", *GOAL, "--no-ledger", "-o", "release")
    installed.command("publish", *arguments)
    return installed


@pytest.mark.false_alarm(1e-12, "a hundred people hold what needs thirteen")
def test_a_release_with_it_is_published_described_and_verified(bounded: Outside) -> None:
    release = bounded.folder / "release"
    part = json.loads((release / "release.json").read_text())["plan"][0]
    assert part["noise"] == "bounded-discrete-laplace"
    assert part["tau_prime"] == 1 + 12 * part["scale"]
    assert part["delta_achieved"] <= 1e-4
    assert set(pq.read_table(release / "queries.parquet")["query"].to_pylist()) == {
        "news",
        "weather",
    }
    assert "bounded discrete Laplace" in (release / "README.md").read_text()
    bounded.command("verify", "release")


def test_it_is_planned_together_with_others(bounded: Outside) -> None:
    assert bounded.python(COMPOSED).split() == ["True", "True"]


@pytest.mark.false_alarm(1e-8, "four bounds for each pair of logs of a plan")
def test_it_is_audited(bounded: Outside) -> None:
    assert bounded.python(AUDIT).split() == ["True"]


def test_a_fault_in_it_is_found(bounded: Outside) -> None:
    """Noise of a quarter of its scale."""
    assert bounded.python(AUDIT, "faulty").split() == ["False"]
