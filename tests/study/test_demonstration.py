"""What the demo shows is measured in that run."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from zealous.study.demonstration import Demonstration, demonstrate
from zealous.study.demonstration_text import as_object, story_text
from zealous.synthetic import is_personal


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def found(folder: Path) -> Demonstration:
    return demonstrate(folder, users=12_000)


@pytest.mark.extended
def test_the_story(found: Demonstration) -> None:
    lines = story_text(found, Path("demo"), width=80).splitlines()
    assert 35 <= len(lines) <= 50
    assert max(map(len, lines)) <= 80
    assert "12,000 invented people" in lines[0]
    assert sum(str(found.person[0].user) in line for line in lines[1:6]) == 5
    assert any(is_personal(line) for line in lines[1:6])
    assert "  100 of 100  k-anonymity, 9 accounts a guess" in lines
    assert "  Verified, with its ledger: 9 checks passed." in lines
    assert sum(line.startswith("  demo/release/") for line in lines) == 3


@pytest.mark.extended
def test_the_figures_are_those_of_the_files(found: Demonstration, folder: Path) -> None:
    figures = as_object(found)
    published, per_person = figures["releases"]
    with (folder / "release" / "queries.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert published["queries"] == len(rows) > 0
    assert published["personal_queries"] == sum(is_personal(row["query"]) for row in rows)
    assert published["queries"] < per_person["queries"]
    for row, top in zip(rows, figures["top"], strict=False):
        assert (row["query"], int(row["count"])) == (top["query"], top["people"])
        assert top["low"] < top["people"] < top["high"]


@pytest.mark.extended
def test_both_are_attacked(found: Demonstration) -> None:
    k_anonymity, ours = as_object(found)["attacks"]
    assert (k_anonymity["right"], k_anonymity["of"]) == (100, 100)
    assert ours["right"] < 90  # 62 on average: of 100 guesses 90 are right once in 10^9 runs
    assert ours["accounts"] > k_anonymity["accounts"]
