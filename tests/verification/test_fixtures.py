"""Releases and ledgers of earlier versions verify for ever."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from paths import FIXTURES

from zealous.ledger import Ledger
from zealous.verification.verify import verify

RELEASES = sorted(path.parent for path in FIXTURES.glob("*/*/release.json"))


def test_the_fixtures_are_there() -> None:
    assert len(RELEASES) >= 13


@pytest.mark.parametrize("release", RELEASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_an_earlier_version_released_passes(release: Path, tmp_path: Path) -> None:
    ledger = shutil.copy(release.with_name("ledger.sqlite"), tmp_path)
    parent = release.with_name(release.name.removesuffix("-reviewed"))
    checks = verify(release, ledger, parent if parent != release else None)
    assert {check.name: check.detail for check in checks if check.ok is False} == {}
    assert {check.name for check in checks if check.ok is None} <= {"words"}


@pytest.mark.parametrize("release", RELEASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_it_passes_from_its_files_alone(release: Path) -> None:
    checks = verify(release)
    assert {check.name: check.detail for check in checks if check.ok is False} == {}


@pytest.mark.parametrize("version", sorted(FIXTURES.glob("*/ledger.sqlite")))
def test_the_ledger_of_an_earlier_version_is_sound(version: Path, tmp_path: Path) -> None:
    ledger = Ledger.open(shutil.copy(version, tmp_path))
    assert ledger.verify(releases=[version.parent]) == []
    assert len(ledger.history()) >= 10
