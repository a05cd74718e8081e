"""What the program says and publishes is what the kept files in tests/golden say.

Uses the public names and the command alone, so that it stays as it is while modules move.
`pytest tests/project/test_golden.py -m '' --write-golden` writes the files anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from golden import kept, plans, releases, verdicts
from golden.logs import write_logs
from paths import FIXTURES
from sampling import sampled

AUDIT = "verdicts/audit.json"
VERSIONS = sorted(path.parent.name for path in FIXTURES.glob("*/ledger.sqlite"))
KEPT = {
    *(f"plans/{theme}.jsonl" for theme in plans.THEMES),
    "plans/printed.txt",
    "plans/theory.txt",
    *(f"releases/{name}.txt" for name in releases.CASES),
    "releases/paid.txt",
    *(f"verdicts/{version}.jsonl" for version in VERSIONS),
    "verdicts/forgeries.jsonl",
    AUDIT,
}


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> kept.Golden:
    return kept.Golden(write=request.config.getoption("--write-golden"))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in an empty folder, with nobody's settings."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_there_are_200_plans_and_a_release_of_each_kind() -> None:
    assert len({options for theme in plans.THEMES.values() for options in theme}) >= 200
    assert len(releases.CASES) >= 25


@pytest.mark.parametrize(
    "theme",
    [
        *(theme for theme in plans.THEMES if theme not in plans.composed),
        *sampled(list(plans.composed), str, share=len(plans.composed)),
    ],
)
def test_plans(theme: str, golden: kept.Golden) -> None:
    plans.write_files(Path())
    lines = [plans.answered(options) for options in plans.THEMES[theme]]
    golden.check(f"plans/{theme}.jsonl", "".join(f"{line}\n" for line in lines))


def test_plans_as_people_read_them(golden: kept.Golden) -> None:
    plans.write_files(Path())
    golden.check("plans/printed.txt", "\n".join(map(plans.printed, plans.PRINTED)))
    golden.check("plans/theory.txt", plans.printed_theory())


@pytest.mark.parametrize("name", releases.CASES)
def test_releases(name: str, golden: kept.Golden) -> None:
    write_logs(Path())
    golden.check(f"releases/{name}.txt", releases.published(name))


def test_releases_that_are_paid_for(golden: kept.Golden) -> None:
    write_logs(Path())
    golden.check("releases/paid.txt", verdicts.paid())


@pytest.mark.parametrize("version", VERSIONS)
def test_verdicts_on_releases_of_earlier_versions(version: str, golden: kept.Golden) -> None:
    lines = verdicts.of_fixtures(version)
    golden.check(f"verdicts/{version}.jsonl", "".join(f"{line}\n" for line in lines))


def test_verdicts_on_forgeries(golden: kept.Golden) -> None:
    write_logs(Path())
    lines = verdicts.of_forgeries()
    golden.check("verdicts/forgeries.jsonl", "".join(f"{line}\n" for line in lines))


@pytest.mark.soak
def test_the_audit(golden: kept.Golden) -> None:
    golden.check(AUDIT, verdicts.audited())


def test_nothing_else_is_kept(golden: kept.Golden) -> None:
    found = {path for path in kept.FOLDER.rglob("*") if path.suffix in (".jsonl", ".json", ".txt")}
    for path in found:
        if golden.write and str(path.relative_to(kept.FOLDER)) not in KEPT:
            path.unlink()
    assert {str(path.relative_to(kept.FOLDER)) for path in found if path.exists()} == KEPT
    assert sum(path.stat().st_size for path in found if path.exists()) < 1_650_000
