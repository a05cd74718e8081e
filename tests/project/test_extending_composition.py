"""A rule of composition from outside: plans, releases and verification follow it."""

from __future__ import annotations

import json

import pytest
from conftest import Forks
from outside import Outside

GOAL = (
    "--guarantee",
    "indistinguishable",
    "--epsilon",
    4,
    "--delta",
    "0.4",
    "--items-per-user",
    1,
    "--mechanism",
    "selection",
)
ITEMS = ("--items", "queries,keywords")
WITHOUT = """
import importlib.metadata as metadata
metadata.entry_points = lambda **_: []
from zealous.cli import main
main()
"""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Outside:
    installed = Outside("composition.md", tmp_path_factory.mktemp("product"), forks)
    lines = [f"u{user},news" for user in range(100)]
    (installed.folder / "log.csv").write_text("\n".join(["user,query", *lines]))
    return installed


def test_a_plan_uses_what_it_proves(product: Outside) -> None:
    ours = json.loads(product.python(WITHOUT, "plan", *ITEMS, *GOAL, "--json"))
    found = json.loads(product.command("plan", *ITEMS, *GOAL, "--json"))
    less, more = (sum(part["epsilon"] for part in each["parts"]) for each in (ours, found))
    assert 4 <= less < more


def test_a_release_names_its_proof_and_is_verified_by_it_alone(product: Outside) -> None:
    arguments = ("log.csv", *ITEMS, *GOAL, "--no-ledger", "-o", "release")
    product.command("publish", *arguments)
    record = json.loads((product.folder / "release" / "release.json").read_text())
    assert record["guarantee"]["theorem"] == "docs/extending/composition.md"
    product.command("verify", "release")
    with pytest.raises(AssertionError):
        product.python(WITHOUT, "verify", "release")
