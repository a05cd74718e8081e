"""The workbench sees the folders it was given, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from workbench import Workbench

from zealous.errors import UsageError
from zealous.web.folders import Folders, NotThere


@pytest.fixture
def root(tmp_path: Path) -> Path:
    inside = tmp_path / "logs"
    (inside / "a").mkdir(parents=True)
    (inside / "a" / "plan.json").write_text("{}")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "release.json").write_text("{}")
    (tmp_path / "logs-other").mkdir()
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "loop").symlink_to(inside / "loop")
    return inside


OUTSIDE = (
    *("logs/../secret", "logs/a/../../secret", "../secret", "/etc/passwd", "logs//etc", "logs/./a"),
    *(
        "logs/link",
        "logs/link/release.json",
        "logs/loop",
        "logs\\..\\secret",
        "logs/a\0",
        "logs/none",
    ),
    *("", ".", "..", "other", "logs-other", "logs/%2e%2e/secret", "logs/..%2fsecret", "~/x"),
)


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_leads_outside(root: Path, name: str) -> None:
    with pytest.raises(NotThere):
        Folders([root]).path(name)


def test_nothing_leads_outside_by_an_address(root: Path) -> None:
    bench = Workbench(root)
    for name in (*OUTSIDE, "logs%2f..%2fsecret", "logs%252f..%252fsecret"):
        if "\0" in name or not name:
            continue
        for path in (f"/explore?release={name}", f"/explore/file?release={name}&file=release.json"):
            assert bench.get(path).status_code in (400, 404), path
    for path in ("/static/../security.py", "/static/..%2fsecurity.py", "/static/%2e%2e/app.py"):
        assert bench.get(path).status_code == 404


def test_what_a_series_has_drawn_and_not_published_is_not_seen(root: Path) -> None:
    """A run that was killed may have left it; nobody explores, reviews or signs that."""
    drawn = root / "ledger.sqlite.drafts" / "5c1f0a" / "drawn" / "2026-03"
    drawn.mkdir(parents=True)
    (drawn / "release.json").write_text("{}")
    (root / "to-drafts").symlink_to(drawn)
    folders = Folders([root])
    assert folders.look().releases == ()
    for name in ("logs/ledger.sqlite.drafts/5c1f0a/drawn/2026-03", "logs/to-drafts"):
        with pytest.raises(NotThere):
            folders.path(name)


def test_names_lead_inside(root: Path) -> None:
    folders = Folders([root, root, root / "a"])
    assert folders.names == ("logs", "a")
    assert folders.path("logs/a/plan.json") == root / "a" / "plan.json"
    assert folders.name_of(root / "a" / "plan.json") == "logs/a/plan.json"
    assert folders.look().plans == ("logs/a/plan.json", "a/plan.json")
    assert not folders.look().releases  # what a link leads to is not listed


@pytest.mark.parametrize(
    "name", ["../x", "a/b", ".hidden", "-o", "", " ", "x\ny", "a" * 200, "x\0"]
)
def test_new_files_have_plain_names(root: Path, name: str) -> None:
    with pytest.raises(UsageError):
        Folders([root]).new_path("logs", name)


def test_a_new_file_takes_no_place_that_is_taken(root: Path) -> None:
    folders = Folders([root])
    assert folders.new_path("logs", "march 2026.json") == root / "march 2026.json"
    os.symlink("nowhere", root / "dangling")
    for taken in ("a", "dangling"):
        with pytest.raises(UsageError, match="exists"):
            folders.new_path("logs", taken)
    with pytest.raises(NotThere):
        folders.new_path("logs/link", "x")


def test_two_folders_of_one_name_stay_apart(tmp_path: Path) -> None:
    for parent in ("one", "two"):
        (tmp_path / parent / "logs").mkdir(parents=True)
    folders = Folders([tmp_path / "one" / "logs", tmp_path / "two" / "logs"])
    assert folders.names == ("logs", "logs-2")
    assert folders.path("logs-2") == tmp_path / "two" / "logs"
    with pytest.raises(UsageError, match="no folder"):
        Folders([tmp_path / "none"])
