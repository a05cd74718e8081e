"""A mechanism from outside: what its page says can be done with it, done with the page's code."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from conftest import Forks
from outside import Outside

AUDIT = """
import sys
import tens as module
from zealous.noise import DiscreteLaplace
if sys.argv[1:] == ["faulty"]:
    module.Tens.noise_sampler = lambda self: DiscreteLaplace(scale=self.scale / 4)
from zealous.audit.audit import audit
from zealous.audit.setting import settings
(tens,) = (each for each in settings() if each.part.mechanism.name == "tens")
found = audit(2000, parts=["pairs"], plans=[tens])
print(len(found.measurements), found.passed)
"""
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
    "tens",
)


@pytest.fixture(scope="module")
def tens(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Outside:
    installed = Outside("mechanism.md", tmp_path_factory.mktemp("tens"), forks)
    lines = [f"u{user},{'news' if user % 3 else 'weather'}" for user in range(300)]
    (installed.folder / "log.csv").write_text("\n".join(["user,query", *lines]))
    arguments = ("log.csv", "--items", "queries", *GOAL, "--no-ledger", "-o", "release")
    installed.command("publish", *arguments)
    return installed


def test_it_is_planned(tens: Outside) -> None:
    found = json.loads(tens.command("plan", "--items", "queries", *GOAL, "--json"))
    assert found["mechanism"] == "tens"
    assert found["delta_achieved"] <= 1e-4


@pytest.mark.false_alarm(1e-12, "a hundred people hold what needs thirty")
def test_it_publishes_and_says_how(tens: Outside) -> None:
    release = tens.folder / "release"
    counts = pq.read_table(release / "queries.parquet")["count"].to_pylist()
    assert len(counts) == 2
    assert all(count % 10 == 0 for count in counts)
    assert "rounded up to tens after the noise" in (release / "README.md").read_text()
    about = json.loads((release / "release.json").read_text())
    assert about["guarantee"]["theorem"] == "docs/extending/mechanism.md"
    assert about["plan"][0]["parameters"] == {"step": 10}
    assert "rounded up to tens" in (release / "registry.yaml").read_text()
    assert "docs/extending/mechanism.md" in (release / "statement.html").read_text()


def test_its_release_is_verified(tens: Outside) -> None:
    tens.command("verify", "release")
    record = tens.folder / "release" / "release.json"
    was = record.read_text()
    for wrong in ('{"step": 0}', '{"step": "10"}', '{"other": 10}', '{"step": 10, "more": 1}'):
        about = {**json.loads(was)}
        about["plan"][0]["parameters"] = json.loads(wrong)
        record.write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n")
        tens.command("verify", "release", code=1)
    record.write_text(was)


@pytest.mark.false_alarm(1e-8, "four bounds for each pair of logs of a plan")
def test_it_is_audited(tens: Outside) -> None:
    assert tens.python(AUDIT).split() == ["3", "True"]


def test_a_fault_in_it_is_found(tens: Outside) -> None:
    """Noise of a quarter of its scale."""
    assert tens.python(AUDIT, "faulty").split() == ["3", "False"]
