"""The files beside the code agree with it: versions, the changelog, the licence, the fixtures."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from datetime import date

import yaml
from paths import ROOT

from zealous.version import VERSION

CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
KINDS_OF_CHANGE = ["Added", "Changed", "Deprecated", "Fixed", "Removed", "Security"]


def test_the_changelog_has_the_form_of_keep_a_changelog() -> None:
    first, *earlier = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)
    assert first in ("Unreleased", f"Unreleased ({VERSION})")
    assert earlier
    for heading in earlier:
        assert re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)? (- \d{4}-\d\d-\d\d|\(never tagged\))", heading)
    for section in re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert kinds == [kind for kind in KINDS_OF_CHANGE if kind in kinds]


def test_releases_of_each_version_of_the_changelog_are_kept() -> None:
    versions = re.findall(r"^## (\d\S*)", CHANGELOG, re.MULTILINE)
    kept = {path.parent.name for path in (ROOT / "tests" / "fixtures").glob("*/ledger.sqlite")}
    assert kept == set(versions)


def test_the_citation_names_this_version_and_licence() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert citation["version"] == VERSION
    day = date.fromisoformat(str(citation["date-released"])).isoformat()
    made = re.findall(rf"^## {re.escape(VERSION)} - (\S+)$", CHANGELOG, re.MULTILINE)
    assert made in ([], [day])
    assert citation["license"] == project["license"] == "Apache-2.0"
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in project["authors"]
    ]
    for name in project["license-files"]:
        assert "Apache License" in (ROOT / name).read_text()


def test_workflows_try_every_version_of_python_that_is_claimed() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    claimed = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == claimed
    assert project["requires-python"] == f">={claimed[0]}"


def test_no_two_test_files_have_one_name() -> None:
    """Pytest would collect one of them alone, and only where both folders are run together."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert not [name for name, often in names.items() if often > 1]
