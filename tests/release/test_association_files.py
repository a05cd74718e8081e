"""Rules in a release: their files, what `verify` says of them, the command."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from rule_tables import (
    SETS,
    part,
    rows,
    table,
    tables,
)

import zealous as z
from zealous.cli.associations import print_strongest_rules
from zealous.items import itemsets, sequences
from zealous.release.bundle import Release
from zealous.release.table import Table, sorted_table
from zealous.release.text.readme import readme_text
from zealous.verification.review import review
from zealous.verification.verify import verify

BASKETS = {("bread", "butter", "jam"): 60, ("bread", "=tea"): 80, ("bread",): 90, ("soap",): 170}
GOAL = z.ProbabilisticDP(epsilon=20_000, delta="0.1", users=1000)  # as good as no noise


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """People with baskets, who bought one thing an hour, the last of a basket first."""
    lines = ["user,product,time"]
    everybody = [basket for basket, people in BASKETS.items() for _ in range(people)]
    for user, basket in enumerate(everybody):
        for hour, each in enumerate(reversed(basket)):
            lines.append(f"u{user},{each},2026-03-01 {hour:02}:00:00")
    path = tmp_path_factory.mktemp("baskets") / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return z.read_log(path)


@pytest.fixture(scope="module")
def made(log: Any) -> Release:
    kinds = itemsets("product", max_size=3, items_per_user=4)
    return z.publish(log, GOAL, kinds, account=None)


def checks(directory: Path) -> dict[str, tuple[bool | None, str]]:
    return {check.name: (check.ok, check.detail) for check in verify(directory)}


def rewritten(directory: Path, name: str, text: str) -> None:
    """Change a file, and its SHA-256 with it."""
    (directory / name).write_text(text)
    about = json.loads((directory / "release.json").read_text())
    about["sha256"][name] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    (directory / "release.json").write_text(json.dumps(about, indent=2))


def test_a_release_has_its_rules_and_explains_them(made: Release, tmp_path: Path) -> None:
    directory = tmp_path / "release"
    made.write(directory)
    text = (directory / "associations.csv").read_text()
    header, *lines = text.splitlines()
    assert header == (
        "if_1,if_2,then,count_if,count_then,count_both,support,support_low,support_high,"
        "confidence,confidence_low,confidence_high,lift,lift_low,lift_high"
    )
    assert len(lines) == 2 * 4 + 3
    assert any(line.startswith("'=tea,,bread,80,230,80,0.2,") for line in lines)
    told = (directory / "README.md").read_text()
    assert "### Association rules in `itemsets:product`: `associations.csv`" in told
    assert "The interval covers the noise only" in told
    assert "low estimate" in told
    assert {name: found for name, found in checks(directory).items() if not found[0]} == {}


@pytest.mark.parametrize("change", ["row", "number", "header", "order"])
def test_verify_refuses_changed_rules(made: Release, tmp_path: Path, change: str) -> None:
    directory = tmp_path / "release"
    made.write(directory)
    text = (directory / "associations.csv").read_text()
    lines = text.splitlines(keepends=True)
    changed = {
        "row": "".join(lines[:-1]),
        "number": text.replace("bread", "brood", 1),
        "header": text.replace("lift_high", "lift_top"),
        "order": "".join([lines[0], *reversed(lines[1:])]),
    }[change]
    (directory / "associations.csv").write_text(changed)
    assert "changed since" in checks(directory)["files"][1]
    rewritten(directory, "associations.csv", changed)
    assert checks(directory)["rows"] == (False, "associations.csv is not what the tables give")


def test_verify_misses_the_rules(made: Release, tmp_path: Path) -> None:
    directory = tmp_path / "release"
    made.write(directory)
    (directory / "associations.csv").unlink()
    assert "associations.csv" in checks(directory)["files"][1]


def test_both_families_in_one_release(log: Any, tmp_path: Path) -> None:
    sets, ordered = (
        family("product", max_size=2, items_per_user=4) for family in (itemsets, sequences)
    )
    kinds = {kind.name(): kind for kind in (*sets, *ordered)}
    directory = tmp_path / "release"
    z.publish(log, GOAL, list(kinds.values()), account=None).write(directory)
    assert {name: found for name, found in checks(directory).items() if not found[0]} == {}
    of_sets, of_sequences = (
        rows(directory / f"associations-{family}-product.csv")
        for family in ("itemsets", "sequences")
    )
    assert len(of_sets) == 8
    assert {(each["if_1"], each["then"]) for each in of_sequences} == {
        ("jam", "butter"),
        ("butter", "bread"),
        ("'=tea", "bread"),
    }
    assert "had `then` next" in (directory / "README.md").read_text()


@pytest.mark.parametrize(("term", "left"), [("jam", 4), ("everyone", 0), ("nothing", 11)])
def test_a_reviewed_release(made: Release, tmp_path: Path, term: str, left: int) -> None:
    """A child has the rules that its own rows give: none without the number of people."""
    made.write(tmp_path / "parent")
    (tmp_path / "block.txt").write_text(f"{term}\n")
    child = tmp_path / "child"
    review(tmp_path / "parent", block=tmp_path / "block.txt", output=child)
    assert len(rows(child / "associations.csv")) == left
    found = {check.name: check for check in verify(child, parent=tmp_path / "parent")}
    assert {name for name, check in found.items() if not check.ok} == set()


def test_a_release_without_sets_is_as_it_was(log: Any, made: Release, tmp_path: Path) -> None:
    plain = z.publish(log, GOAL, [z.columns("product", items_per_user=4)], account=None)
    plain.write(tmp_path / "release")
    assert not list((tmp_path / "release").glob("associations*"))
    assert "ssociation" not in readme_text(plain.record)
    assert "ssociation" in readme_text(made.record)


def test_the_strongest_are_printed(made: Release, capsys: pytest.CaptureFixture[str]) -> None:
    print_strongest_rules(made)
    out = capsys.readouterr().out
    assert "The strongest of associations.csv" in out
    assert "butter → jam" in out
    assert out.count("→") == 5
    assert "soap" not in out


def test_where_nothing_stands_out(made: Release, capsys: pytest.CaptureFixture[str]) -> None:
    tables = dict(made.tables)
    for kind in ("itemsets-2:product", "itemsets-3:product"):
        tables[kind] = Table(arrow=made[kind].arrow.slice(0, 0))
    print_strongest_rules(replace(made, tables=tables))
    assert "more than chance" in " ".join(capsys.readouterr().out.split())
    few = sorted_table(table({("bread", "jam"): 1}, 2), ("item_1", "item_2"))
    print_strongest_rules(replace(made, tables={**tables, "itemsets-2:product": few}))
    assert "more than chance" in " ".join(capsys.readouterr().out.split())


def test_a_rule_without_upper_end_is_printed(
    made: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tuple(part(each.kind) for each in made.record.plan)
    counts = {("a",): 8, ("b",): 8, ("a", "b"): 40}
    found = {kind: Table(arrow=each) for kind, each in tables([900], counts, SETS, 3).items()}
    print_strongest_rules(
        replace(made, record=structs.replace(made.record, plan=plan), tables=found)
    )
    assert "112 (52.4 or more)" in capsys.readouterr().out
