"""Releases from which rows were taken, beside those they came from."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from bundles import made
from click.testing import CliRunner
from forging import forge, restate
from verified import About, failed, old, resorted, retable, with_count

from zealous.cli.verify import verify as command
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.release.account import Account
from zealous.release.assumptions import OTHERS
from zealous.verification.review import review
from zealous.verification.verify import verify


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    return made(folder).write(folder / "out")


@pytest.fixture(scope="module")
def one_family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger, a parent and its child."""
    folder = tmp_path_factory.mktemp("family")
    file = folder / "a.ledger"
    parent = made(folder, account=Account(ledger=file), period="2026-03").write(folder / "out")
    review(parent, flag_pii=True, output=folder / "child")
    assert failed(folder / "child", ledger=file, parent=parent) == {}
    return folder


@pytest.fixture
def family(one_family: Path, tmp_path: Path) -> tuple[Path, Path, Path]:
    """A ledger, a parent and its child, to be changed."""
    shutil.copytree(one_family, tmp_path, dirs_exist_ok=True)
    return tmp_path / "a.ledger", tmp_path / "out", tmp_path / "child"


def other_neighbors(about: About) -> None:
    for each in (about["guarantee"], *about["plan"]):
        each["neighbors"] = "add-remove"
    about["ledger"]["neighbors"] = "add-remove"
    old(about)


def other_unit(about: About) -> None:
    for each in (about["guarantee"], *about["plan"]):
        each["unit"] = "user-day"
    about["ledger"]["unit"] = "user-day"
    old(about)


def other_period(about: About) -> None:
    about["period"] = about["ledger"]["accounts"]["period"]["within"] = "2026-04"
    old(about)


@pytest.mark.parametrize(
    ("change", "told"),
    [(other_neighbors, "neighbors"), (other_unit, "unit"), (other_period, "period")],
)
def test_a_forged_child_is_found_by_the_ledger(
    change: Callable[[About], object], told: str, family: tuple[Path, Path, Path]
) -> None:
    file, parent, child = family
    forge(child, change)
    assert failed(child) == {}
    assert f"its {told} is not the one charged" in failed(child, ledger=file)["budget"]
    assert set(failed(child, parent=parent)) == {"review"}


def test_other_sessions_than_those_charged(tmp_path: Path) -> None:
    file = tmp_path / "a.ledger"
    goal = ProbabilisticDP(epsilon=400, delta="0.5", users=1_000, unit="session")
    parent = made(tmp_path, goal, account=Account(ledger=file)).write(tmp_path / "out")
    review(parent, flag_pii=True, output=tmp_path / "child")
    assert failed(tmp_path / "child", ledger=file) == {}

    def other(about: About) -> None:
        about["columns"]["session"] = "visit"
        restate(about)

    forge(tmp_path / "child", other)
    assert failed(tmp_path / "child") == {}
    assert "its kind of sessions is not" in failed(tmp_path / "child", ledger=file)["budget"]


def test_a_child_has_the_numbers_of_its_parent(written: Path, tmp_path: Path) -> None:
    review(written, flag_pii=True, output=tmp_path / "child")

    def more(about: About) -> None:
        about["guarantee"].update(epsilon=800.0)
        about["guarantee"]["exact"].update(epsilon="800")
        restate(about)

    forge(tmp_path / "child", more)
    assert "another share of the budget" in failed(tmp_path / "child")["plan"]
    forge(tmp_path / "child", old)
    assert failed(tmp_path / "child") == {}
    told = failed(tmp_path / "child", parent=written)["review"]
    assert told == "not as in the parent: planner, guarantee"


def test_another_definition_than_the_one_charged(tmp_path: Path) -> None:
    file = tmp_path / "a.ledger"
    target = made(tmp_path, account=Account(ledger=file)).write(tmp_path / "out")

    def weaker(about: About) -> None:
        for part in about["plan"]:
            part["guarantee"] = "indistinguishable"
        about["guarantee"]["definition"] = "indistinguishable"
        about["ledger"]["accounts"]["definition"] = "indistinguishable"
        about["software"]["version"] = "0.1.0"
        old(about)

    forge(target, weaker)
    assert failed(target) == {}
    assert "its definition is not the one charged" in failed(target, ledger=file)["budget"]


def test_a_child_is_compared_with_its_parent(family: tuple[Path, Path, Path]) -> None:
    file, parent, child = family
    told = {check.name: check.detail for check in verify(child)}["review"]
    assert told.endswith("not compared with its parent (--parent DIR)")
    told = {check.name: check.detail for check in verify(child, parent=parent)}["review"]
    assert "every row left stands in the parent" in told
    ran = CliRunner().invoke(command, [str(child), "--parent", str(parent), "--ledger", str(file)])
    assert ran.exit_code == 0
    assert "All checks passed." in ran.stdout
    assert "no filtered child" in failed(parent, parent=child)["review"]
    assert "there is no" in failed(child, parent=child / "nowhere")["review"]


def test_a_grandchild_is_compared_with_the_child(
    family: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, parent, child = family
    review(child, flag_pii=True, output=tmp_path / "grandchild")
    assert failed(tmp_path / "grandchild", parent=child) == {}
    assert "not the parent" in failed(tmp_path / "grandchild", parent=parent)["review"]


def with_row(table: pa.Table) -> pa.Table:
    """One more row, at the top."""
    row = {"query": ["who is anna"], "count": [table["count"][0].as_py() + 1]}
    return pa.concat_tables([pa.table(row, schema=table.schema), table])


def removed(about: About, kind: str, rows: int) -> None:
    about["review"]["removed"][kind] += rows


@pytest.mark.parametrize(
    ("change", "rows", "told"),
    [
        (with_row, -1, "does not hold"),
        (lambda table: with_count(table, table["count"][0].as_py() + 1), 0, "does not hold"),
        (lambda table: table.slice(1), 0, "another number"),
        (lambda table: table, 1, "another number"),
    ],
)
def test_rows_that_are_not_the_parent_s(
    change: Callable[[pa.Table], pa.Table], rows: int, told: str, family: tuple[Path, Path, Path]
) -> None:
    _, parent, child = family
    retable(child, "queries", lambda table: resorted(change(table)), both=True)
    forge(child, lambda about: removed(about, "queries", rows))
    assert failed(child) == {}
    assert told in failed(child, parent=parent)["review"]


def test_less_of_the_parent_is_a_child_too(family: tuple[Path, Path, Path]) -> None:
    _, parent, child = family
    retable(child, "queries", lambda table: table.slice(1), both=True)
    forge(child, lambda about: removed(about, "queries", 1))
    assert failed(child, parent=parent) == {}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda about: about["review"].update(parent="ab" * 32), "SHA-256"),
        (lambda about: about["review"].update(parent_id="x"), "another id"),
        (lambda about: about["review"].update(earlier=dict(about["review"])), "other reviews"),
        (lambda about: about["ledger"].update(dataset="x"), "ledger"),
        (lambda about: about.update(selection_key="0" * 16), "selection_key"),
        (lambda about: about["columns"].update(query="q"), "columns"),
        (lambda about: about["cleaning"].update(users_excluded_by_list=True), "cleaning"),
        (lambda about: about.update(approved_plan="ab" * 32), "approved_plan"),
        (lambda about: about["assumptions"].insert(-1, OTHERS), "assumptions"),
    ],
)
def test_what_a_child_must_inherit(
    change: Callable[[About], object], told: str, family: tuple[Path, Path, Path]
) -> None:
    _, parent, child = family
    forge(child, change)
    assert failed(child) == {}
    assert told in failed(child, parent=parent)["review"]


def test_a_child_of_an_unsound_parent(family: tuple[Path, Path, Path]) -> None:
    _, parent, child = family
    (parent / "more").write_text("x")
    assert "the parent does not pass; files" in failed(child, parent=parent)["review"]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda about: about["review"]["removed"].pop("queries"), "review"),
        (lambda about: removed(about, "queries", -1000), "review"),
        (
            lambda about: about["also_guaranteed"].update(
                definition="probabilistic", epsilon=400.0, delta=0.5
            ),
            "guarantee",
        ),
        (lambda about: about.update(also_guaranteed=None), "words"),
        (lambda about: about["also_guaranteed"].update(theorem="docs/proofs/x.md"), "words"),
        (lambda about: about["assumptions"].pop(), "words"),
    ],
)
def test_what_a_child_may_say(
    change: Callable[[About], object], name: str, family: tuple[Path, Path, Path]
) -> None:
    forge(family[2], change)
    assert name in failed(family[2])


def test_no_part_of_a_child_hides_its_users(family: tuple[Path, Path, Path]) -> None:
    def mixed(about: About) -> None:
        about["plan"][0]["guarantee"] = "indistinguishable"
        restate(about)

    forge(family[2], mixed)
    assert "another than that of the whole" in failed(family[2])["guarantee"]
