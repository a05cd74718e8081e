"""What `verify` says of a release: its files, its record, its command."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from bundles import GOAL, made
from click.testing import CliRunner
from forging import forge
from verified import About, failed, retable

from zealous.cli.verify import verify as command
from zealous.errors import ReleaseError
from zealous.items import Kind, columns, phrase_pairs, queries, query_pairs
from zealous.logs.log import read_log
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP
from zealous.release.bundle import Release
from zealous.release.publish import publish
from zealous.verification.verify import SHOWN, verify


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    return made(folder).write(folder / "out")


@pytest.fixture
def copy(written: Path, tmp_path: Path) -> Path:
    shutil.copytree(written, tmp_path / "out")
    return tmp_path / "out"


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
        "release.json",
        "private",
        "files",
        "tables",
        "rows",
        "plan",
        "guarantee",
        "words",
        "budget",
    }


@pytest.mark.parametrize(
    "kind",
    [
        columns("query", "url", items_per_user=2),
        columns("a+b", items_per_user=2, by="land"),
        queries(3, fold_words=True, by="land"),
        query_pairs(2, session_gap=5),
        phrase_pairs(2, by="land"),
    ],
    ids=lambda kind: kind.name(),
)
def test_every_kind_is_made_anew_as_it_was(kind: Kind, tmp_path: Path) -> None:
    lines = [f"{n}\tgreen tea\tx\tb{n % 2}\tde\t2026-03-01 12:00:00" for n in range(60)]
    text = "\n".join(["user\tquery\turl\ta+b\tland\ttime", *lines]) + "\n"
    (tmp_path / "log.tsv").write_text(text)
    target = publish(read_log(tmp_path / "log.tsv"), GOAL, [kind], account=None)
    assert failed(target.write(tmp_path / "out")) == {}


def test_another_version_s_words_are_not_compared(copy: Path) -> None:
    forge(copy, lambda about: about["software"].update(version="0.1.0"))
    forge(copy, lambda about: about["guarantee"].update(in_words="In other words."))
    assert failed(copy) == {}
    assert [check.name for check in verify(copy) if check.ok is None] == ["words"]
    ran = CliRunner().invoke(command, [str(copy)])
    assert ran.exit_code == 0
    assert "not checked" in ran.stdout
    assert "Passed, except for what was not checked." in ran.stdout
    assert "All checks passed" not in ran.stdout
    ran = CliRunner().invoke(command, [str(copy), "--json"])
    assert ran.exit_code == 0
    told = {check["name"]: check["ok"] for check in json.loads(ran.stdout)["checks"]}
    assert {name for name, ok in told.items() if ok is None} == {"words"}
    (copy / "more").write_text("x")
    assert "FAILED: do not" in CliRunner().invoke(command, [str(copy)]).stdout


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


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"\xff", b'{"format": "zealous release 99"}', b"[" * 100_000, b"null"],
)
def test_what_is_no_release(content: bytes, copy: Path) -> None:
    (copy / "release.json").write_bytes(content)
    assert set(failed(copy)) == {"release.json"}


def test_what_is_no_release_at_all_is_said_to_be_none(copy: Path) -> None:
    with pytest.raises(ReleaseError, match="there is no"):
        verify(copy / "nowhere")
    with pytest.raises(ReleaseError, match=r"is no release.* releases below it: out"):
        verify(copy.parent)
    (copy / "release.json").write_text('{"name": "a release of something else"}')
    for each in (copy, copy.parent):
        ran = CliRunner().invoke(command, [str(each)])
        assert ran.exit_code != 0
        assert "FAILED" not in ran.output


def test_errata_are_shown_and_break_nothing(copy: Path) -> None:
    (copy / "ERRATA.md").write_text("# Errata\n\nThe period is wrong.\n")
    checks = {check.name: check for check in verify(copy)}
    assert all(check.ok is not False for check in checks.values())
    assert checks["errata"].detail.endswith("# Errata The period is wrong.")
    (copy / "ERRATA.md").unlink()
    (copy / "ERRATA.md").symlink_to(copy / "README.md")
    assert "files" in failed(copy)


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about.pop("selection_key"),
        lambda about: about.update(true_counts={"tea": 60}),
        lambda about: about["guarantee"].update(epsilon=True),
        lambda about: about["guarantee"].update(users=True),
        lambda about: about["plan"][0].update(tau=1.5),
        lambda about: about["plan"][0]["forecast"].update(users=60),
        lambda about: about["files"]["queries"].update(parquet="../out/queries.parquet"),
        lambda about: about["files"]["queries"].update(csv="/etc/passwd.csv"),
        lambda about: about.update(private="yes"),
        lambda about: about.update(ledger={"tracked": True}),
        lambda about: about.update(review={"parent": "x"}),
        lambda about: about.update(parameters_from="a good feeling"),
        lambda about: about.pop("columns"),
        lambda about: about["columns"].pop("user"),
        lambda about: about["columns"].update(password="pw"),
        lambda about: about["plan"][0]["settings"].update(by=7),
        lambda about: about["plan"][0]["settings"].update(note="x"),
        lambda about: about.update(period="March"),
        lambda about: about.update(period="2026-01..2026-03"),
        lambda about: about.update(created="2026-02-30"),
        lambda about: about.update(created="2999-01-01"),
        lambda about: about["cleaning"].update(max_entries_per_user=0),
    ],
)
def test_the_schema_is_strict(change: Callable[[About], object], copy: Path) -> None:
    forge(copy, change)
    assert set(failed(copy)) == {"release.json"}


def test_a_clock_that_is_a_day_ahead(copy: Path) -> None:
    today = datetime.now(UTC).date()
    forge(copy, lambda about: about.update(created=str(today + timedelta(days=1))))
    assert failed(copy) == {}
    forge(copy, lambda about: about.update(created=str(today + timedelta(days=3))))
    assert "future" in failed(copy)["release.json"]


def test_reviews_without_end(copy: Path) -> None:
    text = (copy / "release.json").read_text()
    one = (
        '{"parent": "' + "ab" * 32 + '", "parent_id": "x", "rules": [], "removed": {}, "earlier": '
    )
    deep = text.replace('"review": null', f'"review": {one * 300}null{"}" * 300}')
    (copy / "release.json").write_text(deep)
    assert failed(copy)


def test_no_key_stands_twice_and_no_number_is_nan(copy: Path) -> None:
    text = (copy / "release.json").read_text()
    (copy / "release.json").write_text(text.replace('"private"', '"private": true, "private"', 1))
    assert set(failed(copy)) == {"release.json"}
    (copy / "release.json").write_text(text.replace('"scale": 0.12', '"scale": NaN'))
    assert set(failed(copy)) == {"release.json"}


def test_the_command(copy: Path) -> None:
    ran = CliRunner().invoke(command, [str(copy)])
    assert ran.exit_code == 0
    assert "All checks passed." in ran.stdout
    assert "cannot show that noise was drawn" in " ".join(ran.stdout.split())
    (copy / "more").write_text("x")
    ran = CliRunner().invoke(command, [str(copy), "--json"])
    assert ran.exit_code == 1
    found = json.loads(ran.stdout)
    assert found["ok"] is False
    assert found["shown"] == SHOWN
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
