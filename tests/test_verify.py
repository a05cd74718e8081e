"""zealous verify passes what publish writes, and nothing that was tampered with."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bundles import GOAL, made
from click.testing import CliRunner

from zealous.account import Account
from zealous.cli.verify import verify as command
from zealous.guarantee import Guarantee, Indistinguishability, ProbabilisticDP
from zealous.release import Release, papers
from zealous.review import review
from zealous.verify import Check, verify

About = dict[str, Any]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    return made(folder).write(folder / "out")


@pytest.fixture
def copy(written: Path, tmp_path: Path) -> Path:
    shutil.copytree(written, tmp_path / "out")
    return tmp_path / "out"


def failed(path: Path, **options: Any) -> dict[str, str]:
    checks = verify(path, **options)
    assert all(isinstance(check, Check) for check in checks)
    return {check.name: check.detail for check in checks if not check.ok}


def forge(path: Path, change: Callable[[About], object]) -> None:
    """Change release.json as somebody would who knows the program: hashes and texts agree again."""
    about = json.loads((path / "release.json").read_text())
    change(about)
    rehash(path, about)
    try:
        for name, text in papers(about).items():
            (path / name).write_text(text)
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        pass  # what cannot be told in words is left as it was
    rehash(path, about)
    (path / "release.json").write_text(json.dumps(about))


def rehash(path: Path, about: About) -> None:
    for name in about["sha256"]:
        about["sha256"][name] = hashlib.sha256((path / name).read_bytes()).hexdigest()


# What passes


@pytest.mark.parametrize(
    "goal",
    [
        GOAL,
        ProbabilisticDP(epsilon="0.3", delta="1e-3", users=12_345, neighbors="add-remove"),
        ProbabilisticDP(epsilon="1/3", delta="1/7", users=10**9, unit="user-day"),
        Indistinguishability(epsilon="1e-3", delta="1e-200"),
        Indistinguishability(epsilon=7, delta="1e-6", users=10_000, unit="session"),
    ],
    ids=lambda goal: f"{goal.definition}-{goal.neighbors}-{goal.unit}",
)
def test_what_publish_writes_passes(goal: Guarantee, tmp_path: Path) -> None:
    target = made(tmp_path, goal).write(tmp_path / "out")
    assert failed(target) == {}
    assert {check.name for check in verify(target)} == {
        "release.json", "private", "files", "tables", "guarantee", "words", "budget",
    }  # fmt: skip


def test_another_version_s_words_are_not_compared(copy: Path) -> None:
    forge(copy, lambda about: about["software"].update(version="9.9"))
    forge(copy, lambda about: about["guarantee"].update(in_words="In other words."))
    assert failed(copy) == {}
    assert "not compared" in {check.name: check.detail for check in verify(copy)}["words"]


# Files


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda path: (path / "queries.csv").unlink(), "missing: queries.csv"),
        (lambda path: (path / "secret.txt").write_text("x"), "no part of the release"),
        (lambda path: (path / ".hidden").mkdir(), "no part of the release"),
        (lambda path: (path / "README.md").write_text("x"), "changed since"),
        (lambda path: (path / "statement.html").write_text("x"), "changed since"),
        (lambda path: (path / "queries.parquet").write_bytes(b"PAR1"), "changed since"),
    ],
)
def test_a_changed_directory(change: Callable[[Path], object], told: str, copy: Path) -> None:
    change(copy)
    assert told in failed(copy)["files"]


def test_a_link_is_no_file(copy: Path, tmp_path: Path) -> None:
    shutil.move(copy / "queries.csv", tmp_path / "elsewhere.csv")
    (copy / "queries.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert "file of its own" in failed(copy)["files"]


def test_a_hash_for_each_file(copy: Path) -> None:
    forge(copy, lambda about: about["sha256"].pop("queries.csv"))
    assert "does not list each file" in failed(copy)["files"]


# release.json


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"\xff", b'{"format": "zealous release 99"}', b"[" * 100_000, b"null"],
)
def test_what_is_no_release(content: bytes, copy: Path) -> None:
    (copy / "release.json").write_bytes(content)
    assert set(failed(copy)) == {"release.json"}
    assert set(failed(copy / "nowhere")) == {"release.json"}


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about.pop("selection_key"),
        lambda about: about.update(true_counts={"tea": 60}),
        lambda about: about["guarantee"].update(epsilon="2"),
        lambda about: about["guarantee"].update(users=True),
        lambda about: about["plan"][0].update(tau=1.5),
        lambda about: about["plan"][0]["forecast"].update(users=60),
        lambda about: about["files"]["queries"].update(parquet="../out/queries.parquet"),
        lambda about: about["files"]["queries"].update(csv="/etc/passwd.csv"),
        lambda about: about.update(private="yes"),
        lambda about: about.update(ledger={"tracked": True}),
        lambda about: about.update(review={"parent": "x"}),
        lambda about: about.update(parameters_from="a good feeling"),
    ],
)
def test_the_schema_is_strict(change: Callable[[About], object], copy: Path) -> None:
    forge(copy, change)
    assert set(failed(copy)) == {"release.json"}


def test_no_key_stands_twice_and_no_number_is_nan(copy: Path) -> None:
    text = (copy / "release.json").read_text()
    (copy / "release.json").write_text(text.replace('"private"', '"private": true, "private"', 1))
    assert set(failed(copy)) == {"release.json"}
    (copy / "release.json").write_text(text.replace('"scale": 0.12', '"scale": NaN'))
    assert set(failed(copy)) == {"release.json"}


# Tables


def retable(path: Path, kind: str, change: Callable[[pa.Table], pa.Table], *, both: bool) -> None:
    from zealous.release import _write_csv

    table = change(pq.read_table(path / f"{kind}.parquet"))
    pq.write_table(table, path / f"{kind}.parquet")
    if both:
        _write_csv(table, path / f"{kind}.csv")
    forge(path, lambda about: about["files"][kind].update(rows=table.num_rows))


def with_count(table: pa.Table, count: int) -> pa.Table:
    """The last row's count, changed."""
    counts = [*table["count"].to_pylist()[:-1], count]
    return table.set_column(1, "count", pa.array(counts, pa.int64()))


@pytest.mark.parametrize(
    ("change", "both", "told"),
    [
        (lambda table: table.slice(1), False, "CSV and Parquet"),
        (lambda table: table.slice(0, 2).take([1, 0]), True, "not sorted"),
        (lambda table: with_count(table, 1), True, "at or below the threshold"),
        (lambda table: with_count(table, -5), True, "at or below the threshold"),
        (lambda table: pa.concat_tables([table.slice(0, 1)] * 2), True, "twice"),
        (lambda table: table.rename_columns(["user", "count"]), True, "columns"),
        (lambda table: table.append_column("true", table["count"]), True, "columns"),
        (lambda table: table.set_column(0, "query", pa.nulls(len(table), pa.string())), True,
         "empty cells"),
    ],
)  # fmt: skip
def test_changed_tables(
    change: Callable[[pa.Table], pa.Table], both: bool, told: str, copy: Path
) -> None:
    retable(copy, "queries", change, both=both)
    found = failed(copy)
    assert set(found) == {"tables"}
    assert told in found["tables"]


def test_the_threshold_is_exclusive(copy: Path) -> None:
    about = json.loads((copy / "release.json").read_text())
    tau_prime = next(part["tau_prime"] for part in about["plan"] if part["kind"] == "queries")
    retable(copy, "queries", lambda table: with_count(table, tau_prime + 1), both=True)
    assert failed(copy) == {}
    retable(copy, "queries", lambda table: with_count(table, tau_prime), both=True)
    assert set(failed(copy)) == {"tables"}


def test_another_number_of_rows(copy: Path) -> None:
    forge(copy, lambda about: about["files"]["queries"].update(rows=7))
    assert "number of rows" in failed(copy)["tables"]


# The guarantee


def smaller(about: About) -> None:
    """A smaller epsilon for the same noise, consistently throughout."""
    about["guarantee"].update(epsilon=200.0)
    about["guarantee"]["exact"].update(epsilon="200")
    for part in about["plan"]:
        part.update(epsilon=50.0)
        part["exact"].update(epsilon="50")


def one_lower(about: About) -> None:
    for part in about["plan"]:
        part["tau_prime"] -= 1


def more_users(about: About) -> None:
    about["guarantee"]["users"] = about["also_guaranteed"]["users"] = 2_000
    for part in about["plan"]:
        part["users"] = 2_000


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (smaller, "smaller than what its parameters give"),
        (one_lower, ""),
        (lambda about: about["plan"][0].update(delta_achieved=1e-9), "achieve"),
        (lambda about: about["plan"][0].update(items_per_user=12), "smaller than what"),
        (lambda about: about["plan"][0].update(users=900), "not those of the whole"),
        (lambda about: about["plan"][0].update(neighbors="add-remove"), "not those of the whole"),
        (lambda about: about["plan"][0].update(guarantee="indistinguishable"), "weaker"),
        (lambda about: about["guarantee"].update(epsilon=1.0), "rounded number"),
        (lambda about: about["guarantee"]["exact"].update(delta="1/4"), "rounded number"),
        (lambda about: about["plan"][0]["exact"].update(scale="1"), "rounded number"),
        (lambda about: about["also_guaranteed"].update(delta=1e-30), "also guaranteed"),
        (lambda about: about["also_guaranteed"].update(users=5), "also guaranteed"),
        (lambda about: about["plan"][0].update(tau=0), "tau must be"),
        (lambda about: about["plan"].append({**about["plan"][0], "kind": "x"}), "add up to more"),
        (lambda about: about.update(plan=[]), "no plan"),
        (lambda about: about["guarantee"]["exact"].update(epsilon="1/0"), "epsilon must be"),
    ],
)
def test_a_guarantee_that_does_not_follow(
    change: Callable[[About], object], told: str, copy: Path
) -> None:
    forge(copy, change)
    assert told in failed(copy)["guarantee"]


def test_a_threshold_too_low_by_one_is_found(tmp_path: Path) -> None:
    goal = ProbabilisticDP(epsilon=2, delta="0.001", users=500_000)
    target = made(tmp_path, goal).write(tmp_path / "out")
    forge(target, one_lower)
    assert "smaller than what its parameters give" in failed(target)["guarantee"]


def test_more_users_than_the_delta_allows(tmp_path: Path) -> None:
    goal = ProbabilisticDP(epsilon=2, delta="0.001", users=1_000)
    target = made(tmp_path, goal).write(tmp_path / "out")
    forge(target, more_users)
    assert "smaller than what its parameters give" in failed(target)["guarantee"]


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about["guarantee"].update(in_words="Nobody is ever at risk."),
        lambda about: about["guarantee"].update(title="perfect privacy"),
        lambda about: about["assumptions"].pop(),
        lambda about: about["assumptions"].append("None of this matters."),
    ],
)
def test_words_that_the_numbers_do_not_say(change: Callable[[About], object], copy: Path) -> None:
    forge(copy, change)
    assert set(failed(copy)) == {"words"}


def test_a_paper_that_says_something_else(copy: Path) -> None:
    (copy / "statement.html").write_text("All is well.")
    about = json.loads((copy / "release.json").read_text())
    digest = hashlib.sha256((copy / "statement.html").read_bytes()).hexdigest()
    about["sha256"]["statement.html"] = digest
    (copy / "release.json").write_text(json.dumps(about))
    assert failed(copy) == {"words": "statement.html does not say what release.json says"}


def test_a_seeded_release_fails_plainly(tmp_path: Path) -> None:
    target = made(tmp_path, seed=3).write(tmp_path / "out", not_private=True)
    assert "NOT PRIVATE" in failed(target)["private"]


def test_the_key_must_be_there(copy: Path) -> None:
    forge(copy, lambda about: about.update(selection_key=""))
    assert "key" in failed(copy)["private"]


# The ledger


def test_an_untracked_release_is_in_no_ledger(copy: Path, tmp_path: Path) -> None:
    assert "not tracked" in {check.name: check.detail for check in verify(copy)}["budget"]
    assert set(failed(copy, ledger=tmp_path / "any.ledger")) == {"budget"}


def test_a_tracked_release_against_its_ledger(tmp_path: Path) -> None:
    book, other = tmp_path / "a.ledger", tmp_path / "b.ledger"
    target = made(tmp_path, account=Account(ledger=book)).write(tmp_path / "out")
    made(tmp_path, account=Account(ledger=other)).write(tmp_path / "other")
    assert failed(target) == {}
    assert failed(target, ledger=book) == {}
    assert set(failed(target, ledger=other)) == {"budget"}
    assert set(failed(target, ledger=tmp_path / "none.ledger")) == {"budget"}
    review(target, flag_pii=True, output=tmp_path / "child")
    review(tmp_path / "child", flag_pii=True, output=tmp_path / "grandchild")
    for name in ("child", "grandchild"):
        assert failed(tmp_path / name, ledger=book) == {}
        assert set(failed(tmp_path / name, ledger=other)) == {"budget"}
    forge(tmp_path / "child", lambda about: about["review"].update(parent="ab" * 32))
    assert "parent" in failed(tmp_path / "child", ledger=book)["budget"]


def test_an_account_printed_too_small(tmp_path: Path) -> None:
    account = Account(ledger=tmp_path / "a.ledger")
    target = made(tmp_path, account=account).write(tmp_path / "out")
    forge(target, lambda about: about["ledger"]["accounts"]["all"].update(epsilon=1.0))
    assert "smaller in print" in failed(target)["budget"]


# The command


def test_the_command(copy: Path) -> None:
    ran = CliRunner().invoke(command, [str(copy)])
    assert ran.exit_code == 0
    assert "All checks passed." in ran.stdout
    (copy / "more").write_text("x")
    ran = CliRunner().invoke(command, [str(copy), "--json"])
    assert ran.exit_code == 1
    found = json.loads(ran.stdout)
    assert found["ok"] is False
    assert [check["name"] for check in found["checks"] if not check["ok"]] == ["files"]
    assert "FAILED" in CliRunner().invoke(command, [str(copy)]).stdout


def test_nothing_of_a_row_is_quoted(copy: Path, release_rows: Callable[[Path], set[str]]) -> None:
    shown = release_rows(copy)
    retable(copy, "queries", lambda table: table.slice(0, 2).take([1, 0]), both=False)
    assert not any(text in detail for detail in failed(copy).values() for text in shown)


@pytest.fixture
def release_rows() -> Callable[[Path], set[str]]:
    return lambda path: set(pq.read_table(path / "queries.parquet")["query"].to_pylist())


def test_read_by_hand(written: Path) -> None:
    """The hashes are those that anybody's tools give."""
    about = json.loads((written / "release.json").read_text())
    for name, digest in about["sha256"].items():
        assert hashlib.sha256((written / name).read_bytes()).hexdigest() == digest
    assert isinstance(made(written.parent), Release)
