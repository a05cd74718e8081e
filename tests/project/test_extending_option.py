"""What an option of `publish` costs: two files, the one of its group and where it is used."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import Forks
from outside import COMMAND, STRICT
from paths import ROOT

# Two files: the option with what it becomes, and the function that uses it.
CHANGES = (
    (
        "cli/options/account.py",
        '    _option("--signed-by"',
        '    _option("--note", metavar="TEXT", help="What to print before counting."),\n'
        '    _option("--signed-by"',
    ),
    (
        "cli/options/account.py",
        '        publisher=given["publisher"],\n',
        '        publisher=given["publisher"],\n        note=given["note"],\n',
    ),
    (
        "release/publish.py",
        "    selection_key: str | None = None,\n",
        "    selection_key: str | None = None,\n    note: str | None = None,\n",
    ),
    (
        "release/publish.py",
        "    say = never_raising(say)\n",
        "    say = never_raising(say)\n    say(f'noted: {note}')\n",
    ),
)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the option."""
    folder = tmp_path_factory.mktemp("option")
    copy = shutil.copytree(
        ROOT / "src" / "zealous", folder / "zealous", ignore=shutil.ignore_patterns("*.pyc.*")
    )
    for name, old, new in CHANGES:
        text = (copy / name).read_text()
        assert text.count(old) == 1, name
        (copy / name).write_text(text.replace(old, new))
    lines = [f"u{user},tea" for user in range(50)]
    (folder / "log.csv").write_text("\n".join(["user,query", *lines]))
    return folder


def test_it_is_in_the_help_and_reaches_the_release(changed: Path, forks: Forks) -> None:
    (changed / "program.py").write_text(STRICT + COMMAND)
    goal = ("--epsilon", 4, "--delta", "0.01", "--users", 100, "--items-per-user", 1)
    published = ("publish", "log.csv", "--items", "queries", *goal, "--no-ledger", "-o", "out")
    runs = [
        forks(changed / "program.py", *arguments, folder=changed, PYTHONPATH=str(changed))
        for arguments in (("publish", "--help-all"), (*published, "--note", "hello"))
    ]
    assert [each.code for each in runs] == [0, 0], runs[1].stderr
    budget = runs[0].stdout.partition("Budget and approval")[2]
    assert "What to print before counting." in budget
    assert "noted: hello" in runs[1].stderr
    assert (changed / "out" / "release.json").exists()
