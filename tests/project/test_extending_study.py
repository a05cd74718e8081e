"""A measure and an anonymity method from outside: what their pages say, with the pages' code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Forks
from outside import Outside

from zealous.synthetic import generate

COMPARE = """
import zealous as z
study = z.Study(epsilons=(5,), items_per_user=(1,), k=(10,), draws=1, kinds=("queries",),
                methods=("no-digits",))
found = z.compare(z.read_log("log.parquet"), study, output="study")
print(found.results.value("distinct", "queries", "no-digits") is not None)
"""


def outside(page: str, folder: Path, users: int, forks: Forks) -> Outside:
    installed = Outside(page, folder, forks)
    generate(folder / "log.parquet", users=users, seed=1)
    return installed


@pytest.fixture(scope="module")
def no_digits(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Outside:
    return outside("anonymity_method.md", tmp_path_factory.mktemp("no_digits"), 300, forks)


@pytest.mark.extended
def test_a_measure_is_in_what_is_evaluated(tmp_path: Path, forks: Forks) -> None:
    measure = outside("measure.md", tmp_path, 300, forks)
    arguments = ("--items", "queries", "--items-per-user", 1, "--epsilon", 20, "--delta", "1e-4")
    guarantee = ("--guarantee", "indistinguishable", "--no-ledger")
    measure.command("publish", "log.parquet", *arguments, *guarantee, "-o", "release")
    evaluate = ("study", "evaluate", "release", "--against", "log.parquet")
    assert "top_100_kept" in measure.command(*evaluate)
    rows = json.loads(measure.command(*evaluate, "--json"))["rows"]
    values = [row["value"] for row in rows if row["measure"] == "top_100_kept"]
    assert len(values) > 1
    assert all(0 <= value <= 1 for value in values)


def test_a_method_anonymizes(no_digits: Outside) -> None:
    command = ("study", "anonymize", "log.parquet", "--method", "no-digits", "-o", "out")
    assert "no query holds a digit." in no_digits.command(*command)
    assert "no-digits" in no_digits.command("study", "anonymize", "--help")


@pytest.mark.extended
def test_a_method_is_compared(no_digits: Outside) -> None:
    assert no_digits.python(COMPARE).split()[-1] == "True"


@pytest.mark.extended
def test_a_method_is_attacked(no_digits: Outside) -> None:
    command = ("study", "attack", "log.parquet", "--methods", "no-digits", "--victims", 10)
    no_digits.command(*command, "-o", "attacked")
    found = json.loads((no_digits.folder / "attacked" / "attacks.json").read_text())
    assert "no-digits" in json.dumps(found)
